"""Leaks: benchmark lists, what a version's leak check found, and the signatures that let it pass."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.benchmarks import register_benchmark
from goldsets.actions.leaks import read_report, sign_leak
from goldsets.models import BenchmarkList, LeakReport
from goldsets.queries.datasets import dataset_by_uid, version_by_number
from goldsets.queries.leaks import KINDS, benchmark_lists
from reviews.api.base import AssayView, Text, allowed, project_for
from reviews.errors import NotFound


class BenchmarkOut(serializers.ModelSerializer[BenchmarkList]):
    added_by = serializers.CharField()

    class Meta:
        model = BenchmarkList
        fields = ["uid", "name", "source", "licence", "text_count", "added_by", "added_at"]


class BenchmarkIn(serializers.Serializer[Any]):
    """Each text is a string, an object with `text` and `id`, or where it may not be copied one with `sha256`."""

    name = Text(max_length=120)
    source = Text(max_length=300)
    licence = Text(max_length=120)
    texts = serializers.ListField(child=serializers.JSONField())


class NearSideOut(serializers.Serializer[Any]):
    part = serializers.CharField(help_text="request, step N, run, or benchmark.")
    name = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    split = serializers.CharField()
    item = serializers.UUIDField(allow_null=True)
    excerpt = serializers.CharField(allow_blank=True)


class NearPairOut(serializers.Serializer[Any]):
    """Two near texts, and how much of their five-word pieces they share."""

    kind = serializers.ChoiceField(KINDS)
    similarity = serializers.FloatField()
    let_pass = serializers.BooleanField()
    ours = NearSideOut()
    theirs = NearSideOut()


class LeakSignatureOut(serializers.Serializer[Any]):
    person = serializers.CharField()
    reason = serializers.CharField()
    signed_at = serializers.DateTimeField()


class LeakReportOut(serializers.Serializer[Any]):
    """`leaks` pairs refuse the version; it takes two people to let them pass in the next."""

    leaks = serializers.IntegerField()
    runs = serializers.IntegerField(source="findings.runs")
    against_runs = serializers.IntegerField(source="findings.against_runs")
    against_texts = serializers.IntegerField(source="findings.against_texts")
    threshold = serializers.FloatField(source="findings.threshold")
    pairs = NearPairOut(source="findings.pairs", many=True)
    signatures = LeakSignatureOut(many=True)
    made_at = serializers.DateTimeField()


class SignLeakIn(serializers.Serializer[Any]):
    reason = Text(max_length=1000)


class Benchmarks(AssayView):
    @extend_schema(operation_id="benchmarks_list", tags=["datasets"], responses=BenchmarkOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's benchmark lists. For leads and engineers."""
        return self.page(benchmark_lists(project_for(request.user, slug, "export")), BenchmarkOut)

    @extend_schema(
        operation_id="benchmarks_create", tags=["datasets"], request=BenchmarkIn, responses={201: BenchmarkOut}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Register texts that nothing which trains may come near. For leads and engineers."""
        project = project_for(request.user, slug, "export")
        made = register_benchmark(actor=request.user, project=project, **self.body(BenchmarkIn))
        return Response(BenchmarkOut(made).data, status=201)


def _report(person: Any, uid: Any, number: int) -> LeakReport:
    nothing = "There is no such data set, or you are not in its project."
    dataset = allowed(person, "view_leaks", dataset_by_uid(uid), nothing, project_of=lambda found: found.project)
    version = version_by_number(dataset, number)
    if version is None:
        raise NotFound("This data set has no such version.")
    return read_report(actor=person, version=version)


class Leaks(AssayView):
    @extend_schema(operation_id="leaks_read", tags=["datasets"], responses=LeakReportOut)
    def get(self, request: Request, uid: str, number: int) -> Response:
        """What the leak check of a version found, the nearest first. For leads, engineers and admins."""
        return Response(LeakReportOut(_report(request.user, uid, number)).data)


class LeaksSign(AssayView):
    @extend_schema(operation_id="leaks_sign", tags=["datasets"], request=SignLeakIn, responses=LeakReportOut)
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Sign that what leaks may leave all the same. It takes two people. For leads and admins."""
        report = _report(request.user, uid, number)
        sign_leak(actor=request.user, report=report, **self.body(SignLeakIn))
        return Response(LeakReportOut(_report(request.user, uid, number)).data)
