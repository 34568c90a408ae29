"""Items: what was imported, where it stands, and, for those who may see it, how the run ended."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.originals import read_original
from reviews.api.base import AssayView, ProjectQuery, allowed, project_for
from reviews.api.steps import StepsQuery, StepWindow
from reviews.enums import ItemKind, OutcomeResult, Provenance, QueueItemState, Role, Split, WaitsFor
from reviews.models import Item
from reviews.queries.blind_item import steps_from
from reviews.queries.items import reveals
from reviews.queries.listings import (
    about_tasks,
    in_queues,
    item_by_uid,
    items_of,
    phase_of,
    redacted_items,
    role_in,
    viewer_of,
)
from reviews.visibility import Thing, visible


class TaskOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    family = serializers.CharField()
    title = serializers.CharField()
    split = serializers.ChoiceField(Split.choices)
    slices = serializers.DictField()


class SourceOut(serializers.Serializer[Any]):
    format = serializers.CharField(source="source_format")
    name = serializers.CharField(source="source_name")
    place = serializers.CharField(source="source_place")


class OutcomeOut(serializers.Serializer[Any]):
    result = serializers.ChoiceField(OutcomeResult.choices)
    reward = serializers.FloatField(allow_null=True)
    data = serializers.DictField()


class LaterScoreOut(serializers.Serializer[Any]):
    """What a grader or a user said of a run after it had come in."""

    grader = serializers.CharField()
    value = serializers.JSONField()
    explanation = serializers.CharField()
    created_at = serializers.DateTimeField()


class PlaceOut(serializers.Serializer[Any]):
    """An item in a queue; `uid` names it in disagreements and adjudications."""

    uid = serializers.UUIDField()
    queue = serializers.UUIDField(source="queue.uid")
    state = serializers.ChoiceField(QueueItemState.choices)
    waits_for = serializers.ChoiceField(WaitsFor.choices, allow_blank=True)
    rule = serializers.CharField(source="rule.name", required=False, help_text="The rule on arrival that brought it.")
    priority = serializers.IntegerField(required=False, help_text="The rule's, from 0 to 9.")

    FROM_RULE = frozenset({"rule", "priority"})


class CandidateOut(serializers.Serializer[Any]):
    """One of the runs of a comparison. How it ended, and the model, are there only for those who may see them."""

    position = serializers.IntegerField()
    item = serializers.UUIDField(source="trajectory.item.uid", help_text="The item of the run alone.")
    content_hash = serializers.CharField(source="trajectory.content_hash")
    step_count = serializers.IntegerField(source="trajectory.step_count")
    shared = serializers.IntegerField(help_text="How many first steps all candidates have in common.")
    versions = serializers.DictField(source="trajectory.versions")
    outcome = OutcomeOut(source="trajectory.outcome", required=False)
    model = serializers.CharField(source="trajectory.outcome.model", required=False)

    HIDDEN = frozenset({"outcome", "model"})


class ItemOut(serializers.ModelSerializer[Item]):
    """Outcome, model and source are there only for those who may see them at this point."""

    content_hash = serializers.CharField(source="content")
    step_count = serializers.IntegerField(source="trajectory.step_count", required=False, help_text="Of one run.")
    kind = serializers.ChoiceField(ItemKind.choices)
    provenance = serializers.ChoiceField(Provenance.choices)
    task = TaskOut(source="subject")
    candidates = CandidateOut(many=True, required=False, help_text="The runs of a comparison, in its own order.")
    differs_in = serializers.CharField(required=False, help_text="The decision in which a comparison's runs part.")
    versions = serializers.DictField(source="trajectory.versions", required=False)
    queues = PlaceOut(source="queue_items", many=True)
    source = SourceOut(source="trajectory", required=False)
    outcome = OutcomeOut(source="trajectory.outcome", required=False)
    later_scores = LaterScoreOut(
        source="trajectory.later_scores",
        many=True,
        required=False,
        help_text="Those that came with the run are in its outcome.",
    )
    model = serializers.CharField(source="trajectory.outcome.model", required=False)

    class Meta:
        model = Item
        fields = ["uid", "kind", "provenance", "content_hash", "step_count", "task", "versions", "queues", "created_at"]
        fields += ["candidates", "differs_in", "source", "outcome", "later_scores", "model"]

    THINGS = {"source": Thing.SOURCE, "outcome": Thing.OUTCOME, "later_scores": Thing.OUTCOME, "model": Thing.MODEL}

    def to_representation(self, item: Item) -> dict[str, Any]:
        seen = visible(viewer_of(item, self.context["role"]), phase_of(item))
        row = super().to_representation(item)
        row["queues"] = [self._place(place, seen) for place in row["queues"]]
        if item.kind == ItemKind.TRAJECTORY:
            del row["candidates"], row["differs_in"]
        elif Thing.OUTCOME not in seen:
            row["candidates"] = [self._blind(candidate) for candidate in row["candidates"]]
        return {name: value for name, value in row.items() if self.THINGS.get(name) in (None, *seen)}

    @staticmethod
    def _blind(candidate: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in candidate.items() if name not in CandidateOut.HIDDEN}

    @staticmethod
    def _place(place: dict[str, Any], seen: frozenset[Thing]) -> dict[str, Any]:
        """A rule may speak of how the run ended, so it is named only to those who may know that."""
        by_rule = Thing.OUTCOME in seen and "rule" in place
        return {name: value for name, value in place.items() if by_rule or name not in PlaceOut.FROM_RULE}


class ItemsQuery(ProjectQuery):
    queue = serializers.UUIDField(required=False)
    state = serializers.ChoiceField(QueueItemState.choices, required=False, help_text="In that queue, or in any.")
    family = serializers.CharField(required=False, max_length=100)
    task = serializers.CharField(required=False, max_length=200, help_text="The key of the task.")
    split = serializers.ChoiceField(Split.choices, required=False)
    kind = serializers.ChoiceField(ItemKind.choices, required=False)


QUEUE_FILTERS = {"queue": "queue__uid", "state": "state"}
TASK_FILTERS = {"family": "family", "task": "key", "split": "split"}


class Items(AssayView):
    @extend_schema(operation_id="items_list", tags=["items"], parameters=[ItemsQuery], responses=ItemOut(many=True))
    def get(self, request: Request) -> Response:
        """The items of a project. For leads and engineers."""
        asked = self.asked(ItemsQuery)
        project = project_for(request.user, asked.pop("project"), "view_items")
        rows = items_of(project, reader=request.user)
        in_queue = {QUEUE_FILTERS[name]: asked.pop(name) for name in QUEUE_FILTERS if name in asked}
        rows = in_queues(rows, **in_queue) if in_queue else rows
        rows = about_tasks(rows, **{TASK_FILTERS[name]: asked[name] for name in TASK_FILTERS if name in asked})
        rows = rows.filter(kind=asked["kind"]) if "kind" in asked else rows
        return self.page(rows, ItemOut, role=role_in(request.user, project))


def readable_item(person: Any, uid: Any) -> tuple[Item, Role]:
    nothing = "There is no such item, or you are not in its project."
    item = item_by_uid(uid, reader=person)
    item = allowed(person, "view_items", item, nothing, project_of=lambda item: item.project)
    return item, role_in(person, item.project)


class ItemDetail(AssayView):
    @extend_schema(operation_id="items_read", tags=["items"], responses=ItemOut)
    def get(self, request: Request, uid: str) -> Response:
        """One item. For leads and engineers."""
        item, role = readable_item(request.user, uid)
        return Response(ItemOut(item, context={"role": role}).data)


class ItemOriginal(AssayView):
    @extend_schema(
        operation_id="items_original",
        tags=["items"],
        responses={
            (200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, description="The row, as it came.")
        },
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """The row of an item exactly as it was imported. For engineers, and for leads once the item is settled."""
        item, original = read_original(actor=request.user, uid=uid)
        disposition = f'attachment; filename="{item.uid}.json"'
        return HttpResponse(
            original, content_type="application/octet-stream", headers={"Content-Disposition": disposition}
        )


class RedactedOut(serializers.Serializer[Any]):
    """A run of which text was replaced; its original is at `items/{item}/original/`."""

    item = serializers.UUIDField(source="uid")
    source = SourceOut(source="trajectory")
    redactions = serializers.DictField(source="trajectory.redactions", child=serializers.IntegerField())
    content_hash = serializers.CharField(source="trajectory.content_hash")
    created_at = serializers.DateTimeField(source="trajectory.created_at")


class Redacted(AssayView):
    @extend_schema(operation_id="redacted_list", tags=["items"], responses=RedactedOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The runs that came in while the project redacted, for admins, who alone open their originals."""
        return self.page(redacted_items(project_for(request.user, slug, "read_redacted")), RedactedOut)


class ItemSteps(AssayView):
    @extend_schema(operation_id="items_steps", tags=["items"], parameters=[StepsQuery], responses=StepWindow)
    def get(self, request: Request, uid: str) -> Response:
        """The run of an item, a window of steps at a time. For leads and engineers."""
        first = self.asked(StepsQuery)["from"]
        item, _role = readable_item(request.user, uid)
        return Response(steps_from(item.run, first=first, reveal=reveals(item)))
