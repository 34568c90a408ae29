"""Releases: terms, the checklist of a version, signatures, withdrawals, and licences of sources."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.releasing import sign_release, state_licence, withdraw_version, write_terms
from goldsets.api.statistics import BeingCountedOut, EstimateOut
from goldsets.models import Dataset, DatasetVersion
from goldsets.queries.datasets import dataset_by_uid, version_by_number
from goldsets.queries.releases import licences_of, release_page, terms_of
from goldsets.stats.checklist import TERMS
from goldsets.tasks import look_at_release
from reviews.api.base import AssayView, Text, allowed, project_for
from reviews.errors import NotFound


class TermsIn(serializers.Serializer[Any]):
    """What is left out is as the defaults have it."""

    terms = serializers.DictField(help_text=f"Numbers by name: {', '.join(TERMS)}.")


class TermsOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    terms = serializers.DictField(child=serializers.FloatField())
    written_by = serializers.CharField()
    written_at = serializers.DateTimeField()


class CheckOut(serializers.Serializer[Any]):
    """One check. `passed` is null for what is told and decides nothing."""

    key = serializers.CharField()
    title = serializers.CharField()
    passed = serializers.BooleanField(allow_null=True)
    said = serializers.CharField()
    wanted = serializers.CharField(allow_blank=True)
    estimate = EstimateOut(allow_null=True)


class ReleaseSignatureOut(serializers.Serializer[Any]):
    person = serializers.CharField()
    signed_at = serializers.DateTimeField()


class WithdrawalOut(serializers.Serializer[Any]):
    reason = serializers.CharField()
    withdrawn_by = serializers.CharField()
    withdrawn_at = serializers.DateTimeField()


class ReaderOut(serializers.Serializer[Any]):
    person = serializers.CharField()
    times = serializers.IntegerField()
    last = serializers.DateTimeField()


class ReleaseOut(serializers.Serializer[Any]):
    """`checks` are as signed where somebody has signed, and as they were last gone through otherwise."""

    state = serializers.CharField(help_text="not released, signed once, released or withdrawn.")
    holds = serializers.BooleanField(help_text="Terms were written before it and every check holds.")
    terms = TermsOut(allow_null=True)
    checks = CheckOut(many=True)
    counted_at = serializers.DateTimeField(
        allow_null=True, help_text="Everything until then is in the checks; null where somebody has signed them."
    )
    stale = serializers.BooleanField(help_text="Something happened since, and they are being gone through anew.")
    checklist_sha256 = serializers.CharField(source="release.checklist_sha256", required=False)
    signatures = ReleaseSignatureOut(many=True)
    withdrawal = WithdrawalOut(allow_null=True)
    read = serializers.CharField(source="read_words")
    readers = ReaderOut(many=True)


class WithdrawIn(serializers.Serializer[Any]):
    reason = Text(max_length=1000)


class LicenceIn(serializers.Serializer[Any]):
    source = Text(max_length=300)
    licence = Text(max_length=120)


class LicencesOut(serializers.Serializer[Any]):
    licences = serializers.DictField(child=serializers.CharField(), help_text="By source; the latest word holds.")


def _dataset(person: Any, uid: Any, permission: str) -> Dataset:
    nothing = "There is no such data set, or you are not in its project."
    return allowed(person, permission, dataset_by_uid(uid), nothing, project_of=lambda found: found.project)


def _version(person: Any, uid: Any, number: int, permission: str = "view_leaks") -> DatasetVersion:
    version = version_by_number(_dataset(person, uid, permission), number)
    if version is None:
        raise NotFound("This data set has no such version.")
    return version


class Terms(AssayView):
    @extend_schema(operation_id="release_terms_list", tags=["datasets"], responses=TermsOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What versions must reach, the latest first. For leads, engineers and admins."""
        return self.page(terms_of(_dataset(request.user, uid, "view_leaks")), TermsOut)

    @extend_schema(operation_id="release_terms_write", tags=["datasets"], request=TermsIn, responses={201: TermsOut})
    def post(self, request: Request, uid: str) -> Response:
        """Write terms for versions that are begun from now on. For leads and admins."""
        dataset = _dataset(request.user, uid, "sign")
        made = write_terms(actor=request.user, dataset=dataset, **self.body(TermsIn))
        return Response(TermsOut(made).data, status=201)


class ReleaseOfVersion(AssayView):
    @extend_schema(operation_id="release_read", tags=["datasets"], responses={200: ReleaseOut, 202: BeingCountedOut})
    def get(self, request: Request, uid: str, number: int) -> Response:
        """The checklist, who signed, and who downloaded. For leads, engineers and admins."""
        version = _version(request.user, uid, number)
        seen = look_at_release(version)
        if seen and seen.kept is None:
            words = "The checklist is being gone through for the first time. Ask again in a moment."
            return Response({"detail": words}, status=202, headers={"Retry-After": "2"})
        return Response(ReleaseOut(release_page(version, seen)).data)

    @extend_schema(operation_id="release_sign", tags=["datasets"], request=None, responses=ReleaseOut)
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Sign the checklist. With the second signature the version is released. For leads and admins."""
        version = _version(request.user, uid, number, "sign")
        sign_release(actor=request.user, version=version)
        return Response(ReleaseOut(release_page(version, None)).data)


class Withdraw(AssayView):
    @extend_schema(operation_id="version_withdraw", tags=["datasets"], request=WithdrawIn, responses=ReleaseOut)
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Give the version out no more; the answer names who downloaded it. For leads and admins."""
        version = _version(request.user, uid, number, "sign")
        withdraw_version(actor=request.user, version=version, **self.body(WithdrawIn))
        return Response(ReleaseOut(release_page(version, look_at_release(version))).data)


class Licences(AssayView):
    @extend_schema(operation_id="licences_read", tags=["datasets"], responses=LicencesOut)
    def get(self, request: Request, slug: str) -> Response:
        """Licences of the project's sources. For leads and engineers."""
        return Response({"licences": licences_of(project_for(request.user, slug, "export"))})

    @extend_schema(operation_id="licences_state", tags=["datasets"], request=LicenceIn, responses=LicencesOut)
    def post(self, request: Request, slug: str) -> Response:
        """State under which licence runs of a source may be used. For leads and engineers."""
        project = project_for(request.user, slug, "export")
        state_licence(actor=request.user, project=project, **self.body(LicenceIn))
        return Response({"licences": licences_of(project)})
