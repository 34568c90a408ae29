"""Judgments whose rationale speaks for the other verdict, for leads alone."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.rationales import look
from goldsets.api.statistics import EstimateOut
from goldsets.queries.rationales import flag_by_uid, rationales_page
from reviews.api.base import AssayView, YesNo, allowed, queue_for


class RationaleFlagOut(serializers.Serializer[Any]):
    """`rater` is empty until the item is settled."""

    uid = serializers.UUIDField()
    item = serializers.UUIDField()
    title = serializers.CharField()
    rater = serializers.CharField(allow_blank=True)
    verdict = serializers.CharField(help_text="pass or fail: what the judgment says.")
    rationale = serializers.CharField()
    probability = serializers.FloatField(help_text="Of the other verdict, by the words alone.")
    at = serializers.DateTimeField()
    settled = serializers.BooleanField()


class RationalesOut(serializers.Serializer[Any]):
    """`words` say why nothing could be learnt yet; empty where it could."""

    rows = RationaleFlagOut(many=True, help_text="At most fifty, the most striking first.")
    listed_of = serializers.IntegerField()
    kept_back = serializers.IntegerField(
        help_text="On items that still collect judgments, that you judge, or that you are to answer first."
    )
    precision = EstimateOut(help_text="Of those that leads looked at, how many really part from their verdict.")
    fitted = serializers.IntegerField(source="watch.fitted", default=0)
    families = serializers.IntegerField(source="watch.families", default=0)
    words = serializers.CharField(source="watch.words", default="", allow_blank=True)


class LookIn(serializers.Serializer[Any]):
    parts = YesNo(help_text="Whether the rationale really speaks for the other verdict.")


class LookOut(serializers.Serializer[Any]):
    parts = serializers.BooleanField()
    at = serializers.DateTimeField()


class Rationales(AssayView):
    @extend_schema(operation_id="queues_rationales", tags=["agreement"], responses=RationalesOut)
    def get(self, request: Request, uid: str) -> Response:
        """Judgments whose words speak for the other verdict. For leads."""
        queue = queue_for(request.user, uid, "adjudicate")
        return Response(RationalesOut(rationales_page(queue, request.user)).data)


class RationaleLooked(AssayView):
    @extend_schema(operation_id="rationales_look", tags=["agreement"], request=LookIn, responses={201: LookOut})
    def post(self, request: Request, uid: str) -> Response:
        """Say whether words and verdict really part. Neither judgment nor label changes by it. For leads."""
        nothing = "There is no such flag, or you are not in its project."
        flag = allowed(
            request.user, "adjudicate", flag_by_uid(uid), nothing, project_of=lambda found: found.judgment.queue.project
        )
        made = look(actor=request.user, flag=flag, **self.body(LookIn))
        return Response(LookOut(made).data, status=201)
