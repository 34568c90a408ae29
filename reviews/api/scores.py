"""Scores that graders and users give to runs after these came in: a receipt for each."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.scoring import LONGEST_NAME, MOST_SCORES, STATUSES, ScoreReceipt, post_scores
from reviews.api.base import AssayView, Text, Whole, project_for
from reviews.api.runs import InQueue
from reviews.trajectories.feedback import MOST_CHARACTERS


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "boolean"}, {"type": "string"}]})
class ScoreValue(serializers.Field[Any, Any, Any, Any]):
    """A number, true or false, or a text; the action says what is wrong with it."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class CitedIn(serializers.Serializer[Any]):
    """A step of the run that the grader cites, with the words it quotes."""

    step = Whole(min_value=1, max_value=10**6)
    quote = Text(required=False, allow_blank=True, default="", max_length=2000)


class ScoreIn(serializers.Serializer[Any]):
    """Name the run by its item, or as its source calls it (`run_id` of a chat row, the trace's id of LangSmith)."""

    item = serializers.UUIDField(required=False)
    run = Text(required=False, max_length=100)
    grader = Text(max_length=LONGEST_NAME, help_text="Rules ask for it as score.NAME.")
    value = ScoreValue()
    explanation = Text(required=False, max_length=MOST_CHARACTERS)
    evidence = serializers.ListField(
        child=CitedIn(), required=False, max_length=50, help_text="What the grader rests it on."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("item") and not attrs.get("run"):
            raise serializers.ValidationError("Name the run, by item or by run.")
        return attrs


class ScoresIn(serializers.Serializer[Any]):
    scores = serializers.ListField(child=ScoreIn(), max_length=MOST_SCORES, allow_empty=False)


class ScoreReceiptOut(serializers.Serializer[Any]):
    """What became of one score. A refused one has a reason; `queues` are those that the item is in because of it."""

    status = serializers.ChoiceField(STATUSES)
    item = serializers.UUIDField(required=False)
    reason = serializers.CharField(required=False)
    queues = InQueue(many=True)


class ScoresOut(serializers.Serializer[Any]):
    created = serializers.IntegerField()
    already_there = serializers.IntegerField()
    refused = serializers.IntegerField()
    scores = ScoreReceiptOut(many=True)


class Scores(AssayView):
    @extend_schema(operation_id="scores_post", tags=["imports"], request=ScoresIn, responses=ScoresOut)
    def post(self, request: Request, slug: str) -> Response:
        """Say what graders or users thought of runs that are in already. For leads and engineers.

        Rules on arrival that ask for one of these graders are tried again. The same score again is there already and
        changes nothing, so a request whose answer was lost is simply sent again. Raters see none of it.
        """
        project = project_for(request.user, slug, "import")
        receipts = post_scores(actor=request.user, project=project, scores=self.body(ScoresIn)["scores"])
        counts = {status: sum(receipt.status == status for receipt in receipts) for status in STATUSES}
        return Response({**counts, "scores": [_said(receipt) for receipt in receipts]})


def _said(receipt: ScoreReceipt) -> dict[str, Any]:
    if receipt.item is None:
        return {"status": receipt.status, "reason": receipt.reason, "queues": []}
    queues = [{"queue": rule.queue.uid, "rule": rule.name} for rule in receipt.rules]
    return {"status": receipt.status, "item": receipt.item.uid, "queues": queues}
