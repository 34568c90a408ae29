"""How long judgments take, and which are worth a look."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.api.statistics import EstimateOut
from goldsets.queries.pace import queue_pace
from reviews.api.base import AssayView, queue_for


class RaterPaceOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    n = serializers.IntegerField()
    gold = serializers.IntegerField(help_text="How many of them were on gold.")
    low = serializers.FloatField(help_text="Lower quartile, seconds.")
    median = EstimateOut()
    high = serializers.FloatField(help_text="Upper quartile, seconds.")
    ratio = EstimateOut(help_text="Median time over the queue's on runs of about the same length.")
    fast = serializers.IntegerField(help_text="Judgments worth a look because they were fast.")
    slow = serializers.IntegerField()


class LookAtOut(serializers.Serializer[Any]):
    rater = serializers.CharField()
    item = serializers.UUIDField()
    title = serializers.CharField()
    steps = serializers.IntegerField()
    at = serializers.DateTimeField()
    seconds = serializers.IntegerField()
    expected = serializers.FloatField()
    fast = serializers.BooleanField()
    times = serializers.FloatField(help_text="How many times faster or slower than expected.")


class PaceOut(serializers.Serializer[Any]):
    """`words` say why nothing can be marked; empty where the rule could be applied."""

    n = serializers.IntegerField()
    untimed = serializers.IntegerField(help_text="Judgments without a time; they are left out.")
    low = serializers.FloatField(allow_null=True)
    median = EstimateOut()
    high = serializers.FloatField(allow_null=True)
    raters = RaterPaceOut(many=True)
    look_at = LookAtOut(many=True, help_text="At most fifty, on settled items, the furthest first.")
    kept_back = serializers.IntegerField(help_text="As many more on items that are not settled yet.")
    words = serializers.CharField(allow_blank=True)


class QueuePaceView(AssayView):
    @extend_schema(operation_id="queues_pace", tags=["agreement"], responses=PaceOut)
    def get(self, request: Request, uid: str) -> Response:
        """How long judgments take, by rater, and which are worth a look. For leads."""
        return Response(queue_pace(queue_for(request.user, uid, "view_agreement")).as_dict())
