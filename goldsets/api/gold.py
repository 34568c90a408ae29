"""Gold: how much a queue mixes in, proposing and approving, challenges; for leads. For raters: what they are told."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.challenging import challenge, decide_challenge
from goldsets.actions.gold import (
    approve_gold,
    decline_gold,
    propose_change,
    propose_gold,
    retire_gold,
    set_feedback,
    set_gold_rate,
)
from goldsets.actions.importing_gold import import_gold_rows
from goldsets.api.statistics import EstimateOut
from goldsets.enums import GoldState
from goldsets.models import GoldChallenge, GoldItem, GoldKey
from goldsets.queries.feedback import told_answers
from goldsets.queries.gold import challenges_of, gold_pool
from goldsets.queries.listings import challenge_by_uid, gold_by_queue_item, gold_of, gold_policy, open_key
from reviews.api.base import AssayView, Text, Whole, YesNo, allowed, queue_for
from reviews.errors import Conflict, NotFound
from reviews.models import Project, QueueItem
from reviews.queries.waiting import queue_item_by_uid


# --- A queue's policy and pool ----------------------------------------------------------------------------------------
class ForecastOut(serializers.Serializer[Any]):
    pool = serializers.IntegerField(help_text="Gold items in use.")
    raters = serializers.IntegerField()
    rate = serializers.FloatField()
    days = serializers.FloatField(allow_null=True, help_text="Until the first rater has met all of it.")
    more = serializers.IntegerField(help_text="Further items needed for 30 days, or until the queue is done.")
    words = serializers.CharField()


class ExposureOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    met = serializers.IntegerField()
    own = serializers.IntegerField(help_text="Judged as plain items before, so never met as gold.")
    of = serializers.IntegerField()
    a_day = serializers.FloatField(help_text="Items they judged a day in the last two weeks.")


class BalanceOut(serializers.Serializer[Any]):
    title = serializers.CharField()
    counts = serializers.ListField(child=serializers.ListField(), help_text="[class, gold items]")


class GoldPolicyOut(serializers.Serializer[Any]):
    rate = serializers.FloatField(
        min_value=0, max_value=0.5, help_text="The share of what each rater is dealt that is gold; 0 is none."
    )
    feedback_items = serializers.IntegerField(
        allow_null=True, help_text="After so many further judgments a rater is told how an answer compares."
    )
    feedback_days = serializers.IntegerField(allow_null=True, help_text="Or after so many days.")


class PoolOut(GoldPolicyOut):
    forecast = ForecastOut()
    exposure = ExposureOut(many=True)
    balance = BalanceOut(many=True)
    families = serializers.ListField(child=serializers.ListField(), help_text="[family, gold items]")


class Rate(serializers.FloatField):
    """A JSON number; neither text nor true counts as one."""

    def to_internal_value(self, data: Any) -> float:
        if type(data) not in (int, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class PolicyIn(serializers.Serializer[Any]):
    rate = Rate(min_value=0, max_value=0.5, required=False)
    feedback_items = Whole(required=False, allow_null=True, min_value=1)
    feedback_days = Whole(required=False, allow_null=True, min_value=1)


class GoldOfQueue(AssayView):
    @extend_schema(operation_id="gold_pool_read", tags=["gold"], responses=PoolOut)
    def get(self, request: Request, uid: str) -> Response:
        """How much gold the queue mixes in, how long it will last, who has met how much of it. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        pool = gold_pool(queue)
        return Response(
            {
                **GoldPolicyOut(gold_policy(queue)).data,
                "forecast": asdict(pool.forecast),
                "exposure": [asdict(row) for row in pool.exposure],
                "balance": [asdict(row) for row in pool.balance],
                "families": pool.families,
            }
        )

    @extend_schema(operation_id="gold_policy_set", tags=["gold"], request=PolicyIn, responses=GoldPolicyOut)
    def put(self, request: Request, uid: str) -> Response:
        """Set how much gold the queue mixes in and when raters are told; what is left out stays. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        asked, now = self.body(PolicyIn), gold_policy(queue)
        if "rate" in asked:
            set_gold_rate(actor=request.user, queue=queue, rate=asked["rate"])
        if "feedback_items" in asked or "feedback_days" in asked:
            set_feedback(
                actor=request.user,
                queue=queue,
                items=asked.get("feedback_items", now.feedback_items),
                days=asked.get("feedback_days", now.feedback_days),
            )
        return Response(GoldPolicyOut(gold_policy(queue)).data)


# --- Gold items -------------------------------------------------------------------------------------------------------
class KeyOut(serializers.ModelSerializer[GoldKey]):
    """One version of what a gold item expects."""

    expected = serializers.DictField(
        child=serializers.DictField(), help_text='{criterion: {"value", "also": [values as good], "tolerance"}}'
    )
    label = serializers.UUIDField(source="label.uid", allow_null=True, default=None)
    guideline = serializers.CharField()
    proposed_by = serializers.CharField()
    decided_by = serializers.CharField(allow_null=True)

    class Meta:
        model = GoldKey
        fields = [
            *("uid", "number", "state", "source", "expected", "label", "guideline", "note"),
            *("proposed_by", "proposed_at", "decided_by", "decided_at"),
        ]


class GoldOut(serializers.ModelSerializer[GoldItem]):
    """A settled item shown blind. `queue_item` names it here and among the items of the queue; `key` holds now."""

    queue_item = serializers.UUIDField(source="queue_item.uid")
    queue = serializers.UUIDField(source="queue.uid")
    item = serializers.UUIDField(source="queue_item.item.uid")
    title = serializers.CharField(source="queue_item.item.subject.title")
    state = serializers.ChoiceField(GoldState.choices)
    key = KeyOut(allow_null=True)
    keys = KeyOut(many=True)

    class Meta:
        model = GoldItem
        fields = [
            *("queue_item", "queue", "item", "title", "state", "retired_because", "times_used", "key", "keys"),
            "added_at",
        ]


class DoubtOut(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="disputed, missed, leaked, guideline or relabelled")
    words = serializers.CharField()


class LeakOut(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    right_before = serializers.IntegerField()
    right_after = serializers.IntegerField()
    pace_before = serializers.FloatField(allow_null=True)
    pace_after = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    words = serializers.CharField()


class MeasuredGoldOut(serializers.Serializer[Any]):
    """What the answers so far say of a gold item as a test."""

    queue_item = serializers.UUIDField()
    right = EstimateOut(help_text="The share of raters who got it right.")
    tells = EstimateOut(help_text="Its correlation with being right on the rest.")
    leak = LeakOut()
    doubts = DoubtOut(many=True)


class MeasuredList(serializers.Serializer[Any]):
    items = MeasuredGoldOut(many=True)


class GoldQuery(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    state = serializers.ChoiceField(GoldState.choices, required=False)


class GoldIn(serializers.Serializer[Any]):
    queue_item = serializers.UUIDField(help_text="A settled item of a queue, as `queues[].uid` of an item names it.")
    tolerance = serializers.JSONField(
        required=False,
        help_text="How far a number may be off, or how many labels of steps: for all, or {criterion: number}; else 1.",
    )
    also = serializers.DictField(
        child=serializers.ListField(), required=False, help_text="{criterion: [values that are as good]}"
    )
    note = Text(required=False, max_length=2000)


class Gold(AssayView):
    @extend_schema(operation_id="gold_list", tags=["gold"], parameters=[GoldQuery], responses=GoldOut(many=True))
    def get(self, request: Request) -> Response:
        """The gold of a queue with every version of what it expects. For leads."""
        asked = self.asked(GoldQuery)
        rows = gold_of(queue_for(request.user, asked.pop("queue"), "manage_queue"))
        return self.page(rows.filter(**asked), GoldOut)

    @extend_schema(operation_id="gold_propose", tags=["gold"], request=GoldIn, responses={201: GoldOut})
    def post(self, request: Request) -> Response:
        """Propose a settled item as gold. It is dealt once somebody else has approved it. For leads."""
        asked = self.body(GoldIn)
        queue_item = _queue_item(request.user, asked.pop("queue_item"))
        propose_gold(actor=request.user, queue_item=queue_item, **asked)
        return Response(GoldOut(gold_by_queue_item(queue_item.uid)).data, status=201)


class GoldMeasured(AssayView):
    @extend_schema(operation_id="gold_measured", tags=["gold"], responses=MeasuredList)
    def get(self, request: Request, uid: str) -> Response:
        """How hard each gold item is, whether it tells good raters from bad, what speaks against it. For leads."""
        pool = gold_pool(queue_for(request.user, uid, "manage_queue"))
        items = [
            {
                "queue_item": row.gold.queue_item.uid,
                "right": row.right.as_dict(),
                "tells": row.tells.as_dict(),
                "leak": asdict(row.leak),
                "doubts": [asdict(doubt) for doubt in row.doubts],
            }
            for row in pool.rows
        ]
        return Response({"items": items})


class ReasonIn(serializers.Serializer[Any]):
    reason = Text(required=False, max_length=300)


class GoldRetire(AssayView):
    @extend_schema(operation_id="gold_retire", tags=["gold"], request=ReasonIn, responses=GoldOut)
    def post(self, request: Request, uid: str) -> Response:
        """Deal it no more. What raters did on it stays and counts. For leads."""
        retire_gold(actor=request.user, gold_item=_gold(request.user, uid), **self.body(ReasonIn))
        return Response(GoldOut(gold_by_queue_item(uid)).data)


class GoldApprove(AssayView):
    @extend_schema(operation_id="gold_approve", tags=["gold"], request=None, responses=GoldOut)
    def post(self, request: Request, uid: str) -> Response:
        """Put what somebody else proposed to use. For a second lead, or an admin where there is one lead."""
        approve_gold(actor=request.user, key=_proposed(request.user, uid))
        return Response(GoldOut(gold_by_queue_item(uid)).data)


class GoldDecline(AssayView):
    @extend_schema(operation_id="gold_decline", tags=["gold"], request=ReasonIn, responses=GoldOut)
    def post(self, request: Request, uid: str) -> Response:
        """Refuse what somebody else proposed. For a second lead, or an admin where there is one lead."""
        decline_gold(actor=request.user, key=_proposed(request.user, uid), **self.body(ReasonIn))
        return Response(GoldOut(gold_by_queue_item(uid)).data)


class ChangeIn(serializers.Serializer[Any]):
    values = serializers.DictField(
        required=False, help_text='{gate: "pass" | "fail", criterion: value, "step-labels": {step: value}}'
    )
    also = serializers.DictField(child=serializers.ListField(), required=False)
    tolerance = serializers.DictField(required=False)
    note = Text(required=False, max_length=2000)


class GoldChange(AssayView):
    @extend_schema(operation_id="gold_change", tags=["gold"], request=ChangeIn, responses={201: GoldOut})
    def post(self, request: Request, uid: str) -> Response:
        """Propose another version of what gold expects; without values it confirms it under the newest guideline.

        For leads. Somebody else approves it; then standing is computed anew.
        """
        propose_change(actor=request.user, gold_item=_gold(request.user, uid), **self.body(ChangeIn))
        return Response(GoldOut(gold_by_queue_item(uid)).data, status=201)


class RefusedRowOut(serializers.Serializer[Any]):
    place = serializers.CharField()
    reason = serializers.CharField()


class GoldReceiptOut(serializers.Serializer[Any]):
    proposed = serializers.IntegerField()
    refused = RefusedRowOut(many=True)


class RowsIn(serializers.Serializer[Any]):
    rows = serializers.ListField(
        child=serializers.DictField(),
        help_text='Each {"item" or "task", "gates", "criteria", "also", "tolerance", "failure", "note"}.',
    )


class GoldImport(AssayView):
    @extend_schema(operation_id="gold_import", tags=["gold"], request=RowsIn, responses=GoldReceiptOut)
    def post(self, request: Request, uid: str) -> Response:
        """Propose expected values from outside as gold, row by row. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        rows = [(f"row {number}", row) for number, row in enumerate(self.body(RowsIn)["rows"], start=1)]
        receipt = import_gold_rows(actor=request.user, queue=queue, rows=rows)
        refused = [{"place": place, "reason": reason} for place, reason in receipt.refused]
        return Response({"proposed": receipt.proposed, "refused": refused})


def _queue_item(person: Any, uid: Any, permission: str = "manage_queue") -> QueueItem:
    nothing = "There is no such item in a queue of yours."
    row = queue_item_by_uid(uid)
    return allowed(person, permission, row, nothing, project_of=lambda row: row.queue.project)


def _gold(person: Any, uid: Any, permission: str = "manage_queue") -> GoldItem:
    gold = gold_by_queue_item(_queue_item(person, uid, permission).uid)
    if gold is None:
        raise NotFound("This item is not gold.")
    return gold


def _proposed(person: Any, uid: Any) -> GoldKey:
    """What waits for this person's approval; the action says whether they may give it."""
    key = open_key(_gold(person, uid, "view_project"))
    if key is None:
        raise Conflict("Nothing is proposed for this item.")
    return key


# --- Challenges -------------------------------------------------------------------------------------------------------
class ChallengeOut(serializers.ModelSerializer[GoldChallenge]):
    queue_item = serializers.UUIDField(source="placement.gold_item.queue_item.uid")
    rater = serializers.CharField(source="placement.rater")
    version = serializers.IntegerField(source="key.number")
    decided_by = serializers.CharField(allow_null=True)

    class Meta:
        model = GoldChallenge
        fields = [
            *("uid", "queue_item", "rater", "version", "reason", "state", "answer", "decided_by"),
            *("created_at", "decided_at"),
        ]


class Challenges(AssayView):
    @extend_schema(operation_id="challenges_list", tags=["gold"], responses=ChallengeOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What raters object to in gold they were told of. For leads."""
        return self.page(challenges_of(queue_for(request.user, uid, "manage_queue")), ChallengeOut)


class ChallengeAnswerIn(serializers.Serializer[Any]):
    uphold = YesNo()
    answer = Text(max_length=4000, help_text="What the rater reads.")


class ChallengeAnswer(AssayView):
    @extend_schema(operation_id="challenges_answer", tags=["gold"], request=ChallengeAnswerIn, responses=ChallengeOut)
    def post(self, request: Request, uid: str) -> Response:
        """Answer a challenge. Upholding it, propose a correction or retire the gold then. For leads."""

        def project_of(row: GoldChallenge) -> Project:
            return row.placement.gold_item.queue.project

        nothing = "There is no such challenge in a project of yours."
        made = allowed(request.user, "manage_queue", challenge_by_uid(uid), nothing, project_of=project_of)
        made = decide_challenge(actor=request.user, challenge=made, **self.body(ChallengeAnswerIn))
        return Response(ChallengeOut(made).data)


# --- What a rater is told ---------------------------------------------------------------------------------------------
class CheckedLineOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    said = serializers.CharField()
    expected = serializers.CharField()
    right = serializers.BooleanField(allow_null=True)


class CheckedOut(serializers.Serializer[Any]):
    """One of your answers that was held against a known one."""

    assignment = serializers.UUIDField(source="placement.assignment.uid")
    queue = serializers.UUIDField(source="queue.uid")
    title = serializers.CharField()
    at = serializers.DateTimeField()
    right = serializers.BooleanField()
    lines = CheckedLineOut(many=True)
    challenge = serializers.CharField(source="challenge.state", default=None, allow_null=True)
    answer = serializers.CharField(source="challenge.answer", default="")


class CheckedList(serializers.Serializer[Any]):
    answers = CheckedOut(many=True)


class Checked(AssayView):
    @extend_schema(operation_id="checked_list", tags=["judging"], responses=CheckedList)
    def get(self, request: Request) -> Response:
        """Your answers that you are told of by now, the latest first."""
        return Response({"answers": CheckedOut(told_answers(request.user), many=True).data})


class ChallengeIn(serializers.Serializer[Any]):
    reason = Text(max_length=4000)


class CheckedChallenge(AssayView):
    @extend_schema(
        operation_id="checked_challenge", tags=["judging"], request=ChallengeIn, responses={201: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Say that the known answer is wrong, and why. A lead answers."""
        made = challenge(actor=request.user, uid=uid, reason=self.body(ChallengeIn)["reason"])
        return Response({"uid": made.uid, "state": made.state}, status=201)
