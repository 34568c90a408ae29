"""Standing: what gold says of each rater, what the rule proposes, and what leads make of it. For leads."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.standing import (
    change_standing,
    confirm_move,
    decline_move,
    review_standings,
    set_standing_policy,
)
from goldsets.api.gold import Rate
from goldsets.api.statistics import BeingCountedOut, EstimateOut, being_counted
from goldsets.enums import StandingState, WorkPolicy
from goldsets.models import StandingMove, StandingPolicy
from goldsets.queries.listings import move_by_uid
from goldsets.queries.standing import moves_of, policy_of, proposed_moves, queue_standing
from goldsets.stats.sequential import Verdict
from goldsets.tasks import look_at_agreement
from reviews.api.base import AssayView, Text, Whole, YesNo, allowed, queue_for


class SequentialOut(serializers.Serializer[Any]):
    """Wald's test: the log of the likelihood ratio after each answer, and which bound it met."""

    verdict = serializers.ChoiceField([str(verdict) for verdict in Verdict])
    at = serializers.IntegerField(help_text="After so many answers it was decided; 0 while it is not.")
    n = serializers.IntegerField()
    errors = serializers.IntegerField()
    path = serializers.ListField(child=serializers.FloatField())
    fail_at = serializers.FloatField()
    pass_at = serializers.FloatField()
    words = serializers.CharField()


class ChartOut(serializers.Serializer[Any]):
    rang = serializers.BooleanField()
    at = serializers.IntegerField()
    turned = serializers.IntegerField(help_text="After so many answers it last stood at 0 before it rang.")
    path = serializers.ListField(child=serializers.IntegerField())
    step = serializers.IntegerField(help_text="What an error adds; a right answer takes 1.")
    limit = serializers.IntegerField()
    run_length = serializers.FloatField(
        help_text="Mean answers before it rings for somebody with error rate p0; exact."
    )
    run_length_at_p1 = serializers.FloatField()
    words = serializers.CharField()


class ConfusedOut(serializers.Serializer[Any]):
    expected = serializers.CharField()
    said = serializers.CharField()
    items = serializers.ListField(child=serializers.UUIDField())


class LeanOut(serializers.Serializer[Any]):
    kinder = serializers.IntegerField(help_text="Answers above what is expected.")
    stricter = serializers.IntegerField()
    n = serializers.IntegerField()
    p = serializers.FloatField(allow_null=True)
    method = serializers.CharField()
    words = serializers.CharField()


class OnGoldOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    n = serializers.IntegerField()
    right = serializers.IntegerField()
    accuracy = EstimateOut()
    test = SequentialOut()
    drift = ChartOut()
    lean = LeanOut(allow_null=True)
    confused = ConfusedOut(many=True)


class MoveOut(serializers.ModelSerializer[StandingMove]):
    """One step of a standing: proposed by rule or made by a lead."""

    rater_id = serializers.IntegerField(source="standing.rater_id")
    rater = serializers.CharField(source="standing.rater")
    decided_by = serializers.CharField(allow_null=True)

    class Meta:
        model = StandingMove
        fields = [
            *(
                "uid",
                "rater_id",
                "rater",
                "before",
                "after",
                "by_rule",
                "why",
                "state",
                "good_until",
                "work",
                "touched",
            ),
            *("proposed_at", "decided_by", "decided_at"),
        ]


class StandingOut(serializers.Serializer[Any]):
    """What gold says of a rater, with a Wilson interval, and how they agree with the others."""

    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    active = serializers.BooleanField()
    simulated = serializers.BooleanField()
    n_judgments = serializers.IntegerField()
    median_seconds = EstimateOut(allow_null=True)
    others_seconds = EstimateOut(allow_null=True, help_text="What the others usually take, where they are far slower.")
    state = serializers.ChoiceField(StandingState.choices)
    since = serializers.DateTimeField(allow_null=True)
    tested_from = serializers.DateTimeField(allow_null=True, help_text="Test and drift count answers after this.")
    test = SequentialOut()
    drift = ChartOut()
    gold_n = serializers.IntegerField()
    gold_right = serializers.IntegerField()
    accuracy = EstimateOut()
    criteria = OnGoldOut(many=True)
    missed = serializers.ListField(child=serializers.UUIDField())
    all_gold_seen = serializers.BooleanField()
    with_others = EstimateOut(allow_null=True)
    alpha_change = EstimateOut(allow_null=True)
    criterion_of_change = serializers.CharField(allow_blank=True)


class StandingList(serializers.Serializer[Any]):
    raters = StandingOut(many=True)
    proposed = MoveOut(many=True)


class StandingOfQueue(AssayView):
    @extend_schema(
        operation_id="queues_standing", tags=["agreement"], responses={200: StandingList, 202: BeingCountedOut}
    )
    def get(self, request: Request, uid: str) -> Response:
        """How each rater stands, and what the rule proposes. For leads."""
        queue = queue_for(request.user, uid, "view_agreement")
        kept = look_at_agreement(queue).kept
        if kept is None:
            return being_counted()
        return Response(
            {
                "raters": [asdict(standing) for standing in queue_standing(queue, kept=kept)],
                "proposed": MoveOut(proposed_moves(queue), many=True).data,
            }
        )


class StandingPolicyOut(serializers.ModelSerializer[StandingPolicy]):
    class Meta:
        model = StandingPolicy
        fields = ["p0", "p1", "alpha", "beta", "run_length", "automatic", "work"]


class StandingPolicyIn(serializers.Serializer[Any]):
    p0 = Rate(required=False, help_text="The error rate that is good enough.")
    p1 = Rate(required=False, help_text="The error rate that is not.")
    alpha = Rate(required=False, help_text="How often the test may fail somebody as good as p0.")
    beta = Rate(required=False, help_text="How often it may pass somebody as bad as p1.")
    run_length = Whole(
        required=False, help_text="Gold answers between two false alarms of the drift chart, on average."
    )
    automatic = YesNo(required=False, help_text="Carry out what the rule proposes without a lead.")
    work = serializers.ChoiceField(WorkPolicy.choices, required=False)


class StandingPolicyOfQueue(AssayView):
    @extend_schema(operation_id="standing_policy_read", tags=["agreement"], responses=StandingPolicyOut)
    def get(self, request: Request, uid: str) -> Response:
        """The test raters are put to, and what follows. For leads."""
        return Response(StandingPolicyOut(policy_of(queue_for(request.user, uid, "view_agreement"))).data)

    @extend_schema(
        operation_id="standing_policy_set", tags=["agreement"], request=StandingPolicyIn, responses=StandingPolicyOut
    )
    def put(self, request: Request, uid: str) -> Response:
        """Change what is given. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        policy = set_standing_policy(actor=request.user, queue=queue, **self.body(StandingPolicyIn))
        return Response(StandingPolicyOut(policy).data)


class MoveList(serializers.Serializer[Any]):
    moves = MoveOut(many=True)


class StandingReview(AssayView):
    @extend_schema(operation_id="standing_review", tags=["agreement"], request=None, responses=MoveList)
    def post(self, request: Request, uid: str) -> Response:
        """Put everybody to the test now; it happens by itself every few minutes. Gives what is new. For leads."""
        queue = queue_for(request.user, uid, "view_agreement")
        new = review_standings(queue=queue, actor=request.user)
        return Response({"moves": MoveOut(new, many=True).data})


class StandingMoves(AssayView):
    @extend_schema(operation_id="standing_moves", tags=["agreement"], responses=MoveOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """Every step of every standing in the queue, the latest first. For leads."""
        return self.page(moves_of(queue_for(request.user, uid, "view_agreement")), MoveOut)


class ChangeStandingIn(serializers.Serializer[Any]):
    state = serializers.ChoiceField(StandingState.choices)
    why = Text(max_length=2000)
    work = serializers.ChoiceField(WorkPolicy.choices, required=False)
    words = Text(required=False, max_length=500, help_text="What a paused rater is told.")


class StandingOfRater(AssayView):
    @extend_schema(operation_id="standing_change", tags=["agreement"], request=ChangeStandingIn, responses=MoveOut)
    def post(self, request: Request, uid: str, rater: int) -> Response:
        """A lead's own step, such as pausing somebody or letting them come back. For leads."""
        queue, asked = queue_for(request.user, uid, "manage_queue"), self.body(ChangeStandingIn)
        after = asked.pop("state")
        return Response(
            MoveOut(change_standing(actor=request.user, queue=queue, rater_id=rater, after=after, **asked)).data
        )


class ConfirmIn(serializers.Serializer[Any]):
    work = serializers.ChoiceField(WorkPolicy.choices, required=False, help_text="Left out: what the policy says.")
    words = Text(required=False, max_length=500, help_text="What a paused rater is told.")


class MoveConfirm(AssayView):
    @extend_schema(operation_id="standing_confirm", tags=["agreement"], request=ConfirmIn, responses=MoveOut)
    def post(self, request: Request, uid: str) -> Response:
        """Carry out what the rule proposes. For leads."""
        return Response(
            MoveOut(confirm_move(actor=request.user, move=_move(request.user, uid), **self.body(ConfirmIn))).data
        )


class DeclineIn(serializers.Serializer[Any]):
    why = Text(required=False, max_length=2000)


class MoveDecline(AssayView):
    @extend_schema(operation_id="standing_decline", tags=["agreement"], request=DeclineIn, responses=MoveOut)
    def post(self, request: Request, uid: str) -> Response:
        """Leave the standing as it is; the test begins anew. For leads."""
        return Response(
            MoveOut(decline_move(actor=request.user, move=_move(request.user, uid), **self.body(DeclineIn))).data
        )


def _move(person: Any, uid: Any) -> StandingMove:
    nothing = "There is no such proposal in a project of yours."
    return allowed(person, "manage_queue", move_by_uid(uid), nothing, project_of=lambda row: row.standing.queue.project)
