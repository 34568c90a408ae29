"""Probes of graders: make them, check them blind, put them to versions, read how these stood up, promote one."""

import json
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.probe_work import MOST_IMPORTED, import_answers, start_probes
from goldsets.actions.probes import MOST_PROBES, check_probe, make_probes, promote_version, set_hook
from goldsets.api.graders import grader_for, version_for
from goldsets.api.judges import Dollars
from goldsets.api.statistics import EstimateOut
from goldsets.enums import ProbeKind, ProbeRunState, ProbeSource, ProbeState
from goldsets.models import GraderPromotion, Probe, ProbeAnswer, ProbeRun
from goldsets.queries.probes import (
    answers_of,
    exported_probes,
    matrix_of,
    next_to_check,
    probe_by_uid,
    probe_run_by_uid,
    probes_of,
    questions_of,
    runs_of_version,
)
from goldsets.tasks import run_probes
from reviews.api.base import AssayView, Text, Whole, YesNo, allowed, project_for
from reviews.errors import Invalid
from reviews.queries.listings import queue_in

# What tells the expected verdict of a probe.
TELLING = ("kind", "parent", "passes", "changed", "steps")
NO_PROBE = "There is no such probe, or you are not in its project."
NO_RUN = "There is no such run of probes, or you are not in its project."


class ProbeOut(serializers.ModelSerializer[Probe]):
    """A run with a known verdict: `passes` is expected, `said` is what the expert said of it without being told."""

    parent = serializers.UUIDField(source="parent.uid", required=False)
    kind = serializers.ChoiceField(ProbeKind.choices, required=False)
    passes = serializers.BooleanField(required=False)
    state = serializers.ChoiceField(ProbeState.choices)
    steps = serializers.ListField(child=serializers.IntegerField(), required=False)

    class Meta:
        model = Probe
        fields = [
            "uid",
            "kind",
            "parent",
            "passes",
            "changed",
            "steps",
            "state",
            "said",
            "note",
            "checked_at",
            "made_at",
        ]

    def to_representation(self, probe: Probe) -> dict[str, Any]:
        """What is expected is absent until an expert has said what they see."""
        row = super().to_representation(probe)
        return row if probe.state != ProbeState.PROPOSED else {name: row[name] for name in row if name not in TELLING}


class ProbesIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    most = Whole(required=False, min_value=1, max_value=MOST_PROBES, help_text="Of each kind; 5 if left out.")


class ProbesMadeOut(serializers.Serializer[Any]):
    made = serializers.DictField(child=serializers.IntegerField(), help_text="How many, by kind.")


class BlindProbeOut(serializers.Serializer[Any]):
    """A run to give a verdict on. Nothing says how it was made or what is expected."""

    uid = serializers.UUIDField()
    criterion = serializers.CharField(source="grader.criterion", help_text="Empty: whether every gate passes.")
    questions = serializers.SerializerMethodField()
    run = serializers.DictField(source="document")

    def get_questions(self, probe: Probe) -> list[str]:
        return [row.title for row in questions_of(probe)]


class ProbeCheckIn(serializers.Serializer[Any]):
    passes = YesNo(allow_null=True, help_text="null where it cannot be told.")
    note = Text(required=False, max_length=2000)


class ProbeCheckedOut(serializers.Serializer[Any]):
    uid = serializers.UUIDField()
    state = serializers.ChoiceField(ProbeState.choices)


class StoodOut(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(ProbeKind.choices)
    probes = serializers.IntegerField(help_text="Approved ones.")
    answered = serializers.IntegerField()
    held = serializers.IntegerField()
    worse = serializers.IntegerField(help_text="Wrong now, and right with the version before.")
    rate = EstimateOut()


class VersionStoodOut(serializers.Serializer[Any]):
    """`missing` says what keeps the version from being promoted."""

    version = serializers.IntegerField(source="version.number")
    run = serializers.SerializerMethodField()
    kinds = StoodOut(source="rows", many=True)
    missing = serializers.ListField(child=serializers.CharField())
    promoted = serializers.SerializerMethodField()

    def get_run(self, stood: Any) -> str | None:
        return str(stood.run.uid) if stood.run else None

    def get_promoted(self, stood: Any) -> bool:
        return stood.promotion is not None


class ProbeMatrixOut(serializers.Serializer[Any]):
    versions = VersionStoodOut(many=True, help_text="The newest first, at most eight.")


class ProbeRunIn(serializers.Serializer[Any]):
    budget = Dollars(required=False, help_text="US dollars; a judging model needs one.")


class ProbeRunOut(serializers.ModelSerializer[ProbeRun]):
    source = serializers.ChoiceField(ProbeSource.choices)
    state = serializers.ChoiceField(ProbeRunState.choices)

    class Meta:
        model = ProbeRun
        fields = ["uid", "source", "state", "error", "budget", "spent", "created_at", "finished_at"]


class ProbeAnswerOut(serializers.ModelSerializer[ProbeAnswer]):
    probe = serializers.UUIDField(source="probe.uid")
    kind = serializers.CharField(source="probe.kind")
    expected = serializers.BooleanField(source="probe.passes")

    class Meta:
        model = ProbeAnswer
        fields = ["probe", "kind", "expected", "value", "passes", "held", "why", "cost", "seconds", "tokens"]


class ProbeScoreIn(serializers.Serializer[Any]):
    probe = serializers.UUIDField()
    value = serializers.FloatField(allow_null=True)
    why = Text(required=False, max_length=2000)


class ProbeScoresIn(serializers.Serializer[Any]):
    scores = serializers.ListField(child=ProbeScoreIn(), max_length=MOST_IMPORTED, allow_empty=False)


class HookIn(serializers.Serializer[Any]):
    url = Text(max_length=500)


class HookOut(serializers.Serializer[Any]):
    """The secret is told this once. It signs requests as webhooks are signed."""

    url = serializers.CharField()
    secret = serializers.CharField()


class PromoteIn(serializers.Serializer[Any]):
    reason = Text(required=False, max_length=2000, help_text="Why, where something is missing. For leads.")


class PromotionOut(serializers.ModelSerializer[GraderPromotion]):
    version = serializers.IntegerField(source="version.number")
    missing = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = GraderPromotion
        fields = ["uid", "version", "missing", "reason", "promoted_at"]


class Probes(AssayView):
    @extend_schema(operation_id="probes_list", tags=["graders"], responses=ProbeOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """A grader's probes with what is expected of each. For leads and engineers."""
        return self.page(probes_of(grader_for(request.user, uid)), ProbeOut)

    @extend_schema(operation_id="probes_make", tags=["graders"], request=ProbesIn, responses={201: ProbesMadeOut})
    def post(self, request: Request, uid: str) -> Response:
        """Propose probes made from the settled runs of a queue. For leads and engineers."""
        grader = grader_for(request.user, uid, "manage_graders")
        asked = self.body(ProbesIn)
        queue = queue_in(grader.project, asked.pop("queue"))
        if queue is None:
            raise Invalid({"queue": "This project has no such queue."})
        return Response({"made": make_probes(actor=request.user, grader=grader, queue=queue, **asked)}, status=201)


class ProbeMatrix(AssayView):
    @extend_schema(operation_id="probes_matrix", tags=["graders"], responses=ProbeMatrixOut)
    def get(self, request: Request, uid: str) -> Response:
        """How the latest versions stood up, by kind of probe. For leads and engineers."""
        return Response(ProbeMatrixOut({"versions": matrix_of(grader_for(request.user, uid))}).data)


class Hook(AssayView):
    @extend_schema(operation_id="grader_hook_set", tags=["graders"], request=HookIn, responses={201: HookOut})
    def post(self, request: Request, uid: str) -> Response:
        """Say at which address a grader is asked about probes. For leads and engineers."""
        grader = grader_for(request.user, uid, "manage_graders")
        return Response(HookOut(set_hook(actor=request.user, grader=grader, **self.body(HookIn))).data, status=201)


class ProbeToCheck(AssayView):
    @extend_schema(operation_id="probe_to_check", tags=["graders"], responses={200: BlindProbeOut, 204: None})
    def get(self, request: Request, slug: str) -> Response:
        """The next run of the project's probes that waits for a verdict. For experts and leads."""
        probe = next_to_check(project_for(request.user, slug, "judge"), request.user)
        return Response(BlindProbeOut(probe).data) if probe else Response(status=204)


class ProbeCheck(AssayView):
    @extend_schema(operation_id="probe_check", tags=["graders"], request=ProbeCheckIn, responses=ProbeCheckedOut)
    def post(self, request: Request, uid: str) -> Response:
        """Give a verdict on a probe's run. Where it is the one expected, the probe counts. For experts and leads."""
        probe = allowed(
            request.user, "judge", probe_by_uid(uid), NO_PROBE, project_of=lambda found: found.grader.project
        )
        return Response(ProbeCheckedOut(check_probe(actor=request.user, probe=probe, **self.body(ProbeCheckIn))).data)


class VersionProbes(AssayView):
    @extend_schema(operation_id="probe_runs_list", tags=["graders"], responses=ProbeRunOut(many=True))
    def get(self, request: Request, uid: str, number: int) -> Response:
        """Runs of probes put to a version. For leads and engineers."""
        version = version_for(request.user, uid, number)
        return self.page(runs_of_version(version).order_by("pk"), ProbeRunOut)

    @extend_schema(operation_id="probes_put", tags=["graders"], request=ProbeRunIn, responses={202: ProbeRunOut})
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Put all approved probes to a version. For leads and engineers."""
        version = version_for(request.user, uid, number, "manage_graders")
        run = start_probes(actor=request.user, version=version, **self.body(ProbeRunIn))
        run_probes.delay(run.pk)
        return Response(ProbeRunOut(run).data, status=202)


class ProbesOut(AssayView):
    @extend_schema(
        operation_id="probes_export", tags=["graders"], responses={(200, "application/x-ndjson"): OpenApiTypes.STR}
    )
    def get(self, request: Request, uid: str, number: int) -> HttpResponse:
        """Approved probes as JSON lines, without what is expected, for a grader elsewhere. For leads and engineers."""
        version = version_for(request.user, uid, number, "manage_graders")
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in exported_probes(version))
        return HttpResponse(lines, content_type="application/x-ndjson")


class ProbeScores(AssayView):
    @extend_schema(operation_id="probes_scores", tags=["graders"], request=ProbeScoresIn, responses={201: ProbeRunOut})
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Bring in what a grader elsewhere said of exported probes. For leads and engineers."""
        version = version_for(request.user, uid, number, "manage_graders")
        run = import_answers(actor=request.user, version=version, **self.body(ProbeScoresIn))
        return Response(ProbeRunOut(run).data, status=201)


class Promote(AssayView):
    @extend_schema(operation_id="grader_promote", tags=["graders"], request=PromoteIn, responses={201: PromotionOut})
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Promote a version that no kind of probe fooled. For leads and engineers; with a reason, for leads."""
        version = version_for(request.user, uid, number, "manage_graders")
        made = promote_version(actor=request.user, version=version, **self.body(PromoteIn))
        return Response(PromotionOut(made).data, status=201)


class ProbeRunAnswers(AssayView):
    @extend_schema(operation_id="probe_run_answers", tags=["graders"], responses=ProbeAnswerOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What a version said of each probe. For leads and engineers."""
        run = allowed(
            request.user,
            "view_graders",
            probe_run_by_uid(uid),
            NO_RUN,
            project_of=lambda found: found.version.grader.project,
        )
        return self.page(answers_of(run).order_by("pk"), ProbeAnswerOut)
