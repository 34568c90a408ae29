"""Stages: reviewers at work in a queue, in shadow or deciding, and what live items say of them. For leads."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.staging import change_stage, let_decide, retire_stage, roll_back, start_stage
from goldsets.api.gold import Rate
from goldsets.api.judges import Dollars
from goldsets.api.standing import ChartOut
from goldsets.api.statistics import EstimateOut
from goldsets.enums import StageOutcome, StagePhase, StageState, StageWork
from goldsets.models import Stage, StageVerdict
from goldsets.queries.stages import live_of, reviewer_in, stage_by_uid, stages_of, told_verdicts
from reviews.api.base import AssayView, Text, allowed, queue_for
from reviews.enums import Basis
from reviews.errors import Invalid


class StageOut(serializers.ModelSerializer[Stage]):
    """`takes` has the verdicts it decides, 1 for a pass and 0 for a fail; `good_until` is when it was last good."""

    queue = serializers.UUIDField(source="queue.uid")
    reviewer = serializers.UUIDField(source="reviewer.uid")
    reviewer_number = serializers.IntegerField(source="reviewer.number")
    state = serializers.ChoiceField(StageState.choices)
    work = serializers.ChoiceField(StageWork.choices)
    takes = serializers.ListField(child=serializers.IntegerField())

    class Meta:
        model = Stage
        fields = [
            *("uid", "queue", "reviewer", "reviewer_number", "state", "audit_share", "work", "takes", "started_at"),
            *("decides_from", "ended_at", "why", "good_until", "given_back", "budget"),
        ]


class KindOut(serializers.Serializer[Any]):
    """What it stands alone for on live items: verdicts that say this, and were sure, against what people settled."""

    verdict = serializers.IntegerField(help_text="1: passes, 0: fails.")
    agreement = EstimateOut()
    risk = EstimateOut(help_text="Its upper end holds however often it is looked at.")
    limit = serializers.FloatField(help_text="How often such a verdict may be wrong, as its assurance has it.")
    more = serializers.IntegerField(allow_null=True, help_text="Further items without an error that bear it out.")
    holds = serializers.BooleanField()
    words = serializers.CharField()


class ShiftOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    then = serializers.FloatField()
    now = serializers.FloatField(allow_null=True)
    shift = serializers.FloatField(allow_null=True, help_text="In standard deviations of single items.")
    n = serializers.IntegerField()
    drifted = serializers.BooleanField()
    words = serializers.CharField()


class CountsOut(serializers.Serializer[Any]):
    watched = serializers.IntegerField(help_text="In shadow.")
    deferred = serializers.IntegerField()
    taken = serializers.IntegerField()
    audited = serializers.IntegerField()


class StageWatchedOut(serializers.Serializer[Any]):
    audited = EstimateOut()
    on_gold = EstimateOut()
    chart = ChartOut()
    shifts = ShiftOut(many=True)


class AskingOut(serializers.Serializer[Any]):
    """How far a judge has come with what it is to be asked. Amounts are US dollars."""

    spent = serializers.DecimalField(max_digits=12, decimal_places=6)
    budget = serializers.DecimalField(max_digits=12, decimal_places=6)
    waiting = serializers.IntegerField(help_text="Items about which it has not been asked.")
    held_up = serializers.CharField(help_text="Why it is not asked just now; empty where it is.")


class LiveOut(serializers.Serializer[Any]):
    """A stage with all that is known of it. `why_not` says why it may not decide; empty where it may."""

    stage = StageOut()
    counts = CountsOut()
    agreement = EstimateOut(help_text="In shadow, where it was sure.")
    agreement_of_all = EstimateOut(help_text="In shadow, on every verdict.")
    kinds = KindOut(many=True)
    why_not = serializers.ListField(child=serializers.CharField())
    watched = StageWatchedOut()
    asking = AskingOut(allow_null=True, help_text="Of a judge; null for a reviewer that asks nobody.")


class StageVerdictOut(serializers.ModelSerializer[StageVerdict]):
    """A verdict on an item that is settled; of others nothing is told."""

    item = serializers.UUIDField(source="queue_item.item.uid")
    phase = serializers.ChoiceField(StagePhase.choices)
    outcome = serializers.ChoiceField(StageOutcome.choices)
    evidence = serializers.JSONField()
    basis = serializers.ChoiceField(Basis.choices, help_text="Of the item's label.")

    class Meta:
        model = StageVerdict
        fields = ["item", "phase", "verdict", "confidence", "sure", "outcome", "evidence", "at", "basis"]


class StartIn(serializers.Serializer[Any]):
    reviewer = serializers.UUIDField(help_text="A signed one, compiled under the queue's rubric and guideline.")
    audit_share = Rate(required=False, help_text="From 0.01 to 1; 0.1 where it is left out.")
    work = serializers.ChoiceField(StageWork.choices, required=False)
    budget = Dollars(required=False, help_text="What a judge may take for being asked; for no other reviewer.")


class StageChangeIn(serializers.Serializer[Any]):
    audit_share = Rate(required=False)
    work = serializers.ChoiceField(StageWork.choices, required=False)
    budget = Dollars(required=False, help_text="What its judge may take in all.")


class RollBackIn(serializers.Serializer[Any]):
    why = Text(max_length=2000)
    work = serializers.ChoiceField(StageWork.choices, required=False, help_text="Left out: what the stage says.")


class RetireIn(serializers.Serializer[Any]):
    why = Text(max_length=2000)


class StagesOfQueue(AssayView):
    @extend_schema(operation_id="stages_list", tags=["reviewers"], responses=StageOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """Every stage the queue has had, the latest first. For leads."""
        return self.page(stages_of(queue_for(request.user, uid, "view_agreement")), StageOut)

    @extend_schema(operation_id="stage_start", tags=["reviewers"], request=StartIn, responses={201: StageOut})
    def post(self, request: Request, uid: str) -> Response:
        """Put a signed reviewer in shadow. For leads."""
        queue, asked = queue_for(request.user, uid, "manage_queue"), self.body(StartIn)
        reviewer = reviewer_in(queue, asked.pop("reviewer"))
        if reviewer is None:
            raise Invalid({"reviewer": "There is no signed reviewer with this id for the queue."})
        stage = start_stage(actor=request.user, queue=queue, reviewer=reviewer, **asked)
        return Response(StageOut(stage).data, status=201)


class StageDetail(AssayView):
    @extend_schema(operation_id="stage_read", tags=["reviewers"], responses=LiveOut)
    def get(self, request: Request, uid: str) -> Response:
        """What live items say of a stage. For leads."""
        return Response(LiveOut(live_of(_stage(request.user, uid, "view_agreement"))).data)

    @extend_schema(operation_id="stage_change", tags=["reviewers"], request=StageChangeIn, responses=StageOut)
    def patch(self, request: Request, uid: str) -> Response:
        """Change how much is audited, what becomes of its labels at a rollback, or a judge's budget. For leads."""
        stage = _stage(request.user, uid, "manage_queue")
        return Response(StageOut(change_stage(actor=request.user, stage=stage, **self.body(StageChangeIn))).data)


class StageVerdicts(AssayView):
    @extend_schema(operation_id="stage_verdicts", tags=["reviewers"], responses=StageVerdictOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """Its verdicts on items that are settled, the latest first. For leads."""
        return self.page(told_verdicts(_stage(request.user, uid, "view_agreement")), StageVerdictOut)


class StageDecide(AssayView):
    @extend_schema(operation_id="stage_decide", tags=["reviewers"], request=None, responses=StageOut)
    def post(self, request: Request, uid: str) -> Response:
        """Let it decide what live items bear out; refused with what is missing where nothing is. For leads."""
        return Response(StageOut(let_decide(actor=request.user, stage=_stage(request.user, uid, "manage_queue"))).data)


class StageRollBack(AssayView):
    @extend_schema(operation_id="stage_roll_back", tags=["reviewers"], request=RollBackIn, responses=StageOut)
    def post(self, request: Request, uid: str) -> Response:
        """Stop it and leave everything open to people. For leads."""
        stage, asked = _stage(request.user, uid, "manage_queue"), self.body(RollBackIn)
        return Response(StageOut(roll_back(actor=request.user, stage=stage, **asked)).data)


class StageRetire(AssayView):
    @extend_schema(operation_id="stage_retire", tags=["reviewers"], request=RetireIn, responses=StageOut)
    def post(self, request: Request, uid: str) -> Response:
        """Take it out for good; its labels stay. For leads."""
        stage, asked = _stage(request.user, uid, "manage_queue"), self.body(RetireIn)
        return Response(StageOut(retire_stage(actor=request.user, stage=stage, **asked)).data)


def _stage(person: Any, uid: Any, permission: str) -> Stage:
    nothing = "There is no such stage in a project of yours."
    return allowed(person, permission, stage_by_uid(uid), nothing, project_of=lambda stage: stage.queue.project)
