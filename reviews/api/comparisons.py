"""Comparisons: runs laid beside each other to be preferred, one at a time or many with a receipt for each."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.pairing import (
    CREATED,
    MOST,
    MOST_PER_TASK,
    STATUSES,
    Made,
    make_comparison,
    make_comparisons,
    make_comparisons_by_task,
)
from reviews.api.base import AssayView, Text, Whole, project_for
from reviews.api.items import ItemOut
from reviews.enums import Provenance
from reviews.errors import Invalid
from reviews.models import Project, Queue
from reviews.queries.listings import item_by_uid, queue_in, role_in
from reviews.queries.pairing import items_named


class ComparisonIn(serializers.Serializer[Any]):
    """Two to eight runs of one task, or of several tasks that begin with the same request."""

    items = serializers.ListField(child=serializers.UUIDField(), max_length=2 * MOST)
    shared = Whole(required=False, min_value=0, help_text="How many first steps are shown once; found if left out.")
    provenance = serializers.ChoiceField(Provenance.choices, required=False)
    differs_in = Text(required=False, help_text="The one decision in which the runs part, for leads.")


class ManyIn(serializers.Serializer[Any]):
    """Either rows of items, or tuples of every task's runs."""

    comparisons = ComparisonIn(many=True, required=False)
    per_task = Whole(required=False, help_text=f"Up to so many of each task, at most {MOST_PER_TASK}.")
    size = Whole(required=False, help_text="How many candidates each has, where `per_task` is given; 2 if left out.")
    family = Text(required=False, help_text="Of the tasks of this family only.")
    queue = serializers.UUIDField(required=False, help_text="Put what comes of it into this queue.")


class ComparisonReceipt(serializers.Serializer[Any]):
    """What became of one row. A refused one has a reason instead of an item."""

    status = serializers.ChoiceField(STATUSES)
    item = serializers.UUIDField(required=False)
    reason = serializers.CharField(required=False)


class ManyOut(serializers.Serializer[Any]):
    created = serializers.IntegerField()
    already_there = serializers.IntegerField()
    refused = serializers.IntegerField()
    comparisons = ComparisonReceipt(many=True, help_text="In the order of the rows.")


class Comparisons(AssayView):
    @extend_schema(
        operation_id="comparisons_create",
        tags=["items"],
        request=ComparisonIn,
        responses={
            201: ItemOut,
            200: OpenApiResponse(ItemOut, description="They stood beside each other already."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Lay runs beside each other. For leads and engineers."""
        project = project_for(request.user, slug, "compare")
        asked = self.body(ComparisonIn)
        items = items_named(project, asked.pop("items"))
        made = make_comparison(actor=request.user, project=project, items=items, **asked)
        item = item_by_uid(made.item.uid, reader=request.user) if made.item else None
        answer = ItemOut(item, context={"role": role_in(request.user, project)}).data
        return Response(answer, status=201 if made.status == CREATED else 200)


class ManyComparisons(AssayView):
    @extend_schema(operation_id="comparisons_create_many", tags=["items"], request=ManyIn, responses=ManyOut)
    def post(self, request: Request, slug: str) -> Response:
        """Make many comparisons, a receipt for each. For leads and engineers.

        Asking again makes nothing twice, so a request whose answer was lost is simply sent again.
        """
        project = project_for(request.user, slug, "compare")
        asked = self.body(ManyIn)
        queue = _queue(project, asked)
        if ("comparisons" in asked) == ("per_task" in asked):
            raise Invalid({"comparisons": "Give either rows of items, or how many to make per task."})
        if "comparisons" in asked:
            made = make_comparisons(actor=request.user, project=project, rows=asked["comparisons"], queue=queue)
        else:
            wanted = {"most": asked["per_task"], "size": asked.get("size", 2), "family": asked.get("family", "")}
            made = make_comparisons_by_task(actor=request.user, project=project, queue=queue, **wanted)
        counts = {status: sum(each.status == status for each in made) for status in STATUSES}
        return Response({**counts, "comparisons": [_said(each) for each in made]})


def _queue(project: Project, asked: dict[str, Any]) -> Queue | None:
    if "queue" not in asked:
        return None
    queue = queue_in(project, asked["queue"])
    if queue is None:
        raise Invalid({"queue": "This project has no such queue."})
    return queue


def _said(made: Made) -> dict[str, Any]:
    if made.item is None:
        return {"status": made.status, "reason": made.reason}
    return {"status": made.status, "item": made.item.uid}
