"""Taking a queue over to another version of its rubric or guideline."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.succeeding import succeed_with_gold
from reviews.actions.versions import move_queue
from reviews.api.base import AssayView, queue_for
from reviews.api.queues import QueueOut, answer
from reviews.api.rubrics import guideline_for, rubric_for


class TakeOverIn(serializers.Serializer[Any]):
    rubric = serializers.UUIDField(required=False, help_text="The version of the rubric to go by.")
    guideline = serializers.UUIDField(required=False, help_text="The version of the guideline to go by. One at least.")
    how = serializers.ChoiceField(
        ["move", "succeed"], help_text="Move the queue itself, or open a new one for what is unfinished."
    )


class TakeOver(AssayView):
    @extend_schema(operation_id="queues_take_over", tags=["queues"], request=TakeOverIn, responses=QueueOut)
    def post(self, request: Request, uid: UUID) -> Response:
        """Take a queue over to another version of its rubric or guideline. For leads.

        Moving is refused once something was judged. The answer is the queue that goes on, set up as the one before.
        """
        queue, given = queue_for(request.user, uid, "manage_queue"), self.body(TakeOverIn)
        act = move_queue if given["how"] == "move" else succeed_with_gold
        versions: dict[str, Any] = {}
        if "rubric" in given:
            versions["rubric"] = rubric_for(queue.project, given["rubric"])
        if "guideline" in given:
            versions["guideline"] = guideline_for(queue.project, given["guideline"])
        return answer(act(actor=request.user, queue=queue, **versions), request.user)
