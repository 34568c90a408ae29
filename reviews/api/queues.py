"""Queues and what is put into them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.queueing import add_items, change_queue, create_queue
from reviews.api.base import AssayView, Text, Whole, YesNo, project_for, queue_for
from reviews.enums import QueueOrder, QueueState, Role, SettleRule
from reviews.errors import Invalid
from reviews.models import Queue
from reviews.queries.listings import (
    items_by_uid,
    items_outside,
    projects_with_role,
    queues_of,
    role_in,
    rubric_and_guideline,
)

MOST_ITEMS = 10_000


class Version(serializers.Serializer[Any]):
    uid = serializers.UUIDField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class ItemCounts(serializers.Serializer[Any]):
    collecting = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="For a lead.")
    passed_on = serializers.IntegerField(help_text="Sent back to raters, set apart or split out.")
    settled = serializers.IntegerField()


HIDDEN_FROM_EXPERTS = [
    *(
        "overlap",
        "overlap_cap",
        "sure_from",
        "repeat_rate",
        "repeat_after",
        "domains",
        "order",
        "settle_rule",
        "shows_prelabel",
        "lead_answers_first",
        "items",
    ),
]


class QueueOut(serializers.ModelSerializer[Queue]):
    """A queue. Experts do not see how it is set up nor how far it is."""

    project = serializers.CharField(source="project.slug")
    rubric = Version()
    guideline = Version()
    overlap = serializers.IntegerField(required=False)
    order = serializers.ChoiceField(QueueOrder.choices, required=False)
    settle_rule = serializers.ChoiceField(SettleRule.choices, required=False)
    shows_prelabel = serializers.BooleanField(required=False)
    overlap_cap = serializers.IntegerField(required=False)
    sure_from = serializers.FloatField(required=False)
    repeat_rate = serializers.FloatField(required=False)
    repeat_after = serializers.IntegerField(required=False)
    domains = serializers.ListField(child=serializers.CharField(), required=False)
    items = ItemCounts(source="*", required=False)

    class Meta:
        model = Queue
        fields = ["uid", "project", "slug", "name", "state", "rubric", "guideline", "lease_minutes"]
        fields += HIDDEN_FROM_EXPERTS

    def to_representation(self, queue: Queue) -> dict[str, Any]:
        row = super().to_representation(queue)
        if self.context["roles"][queue.project_id] in (Role.LEAD, Role.ENGINEER):
            return row
        return {name: value for name, value in row.items() if name not in HIDDEN_FROM_EXPERTS}


class QueueIn(serializers.Serializer[Any]):
    name = Text(max_length=120)
    slug = Text(required=False, max_length=60, help_text="The queue's address; made from the name if left out.")
    rubric = serializers.UUIDField(help_text="The `uid` of a rubric version.")
    guideline = serializers.UUIDField(help_text="The `uid` of a guideline version.")
    overlap = Whole(required=False, min_value=1, max_value=20)
    lease_minutes = Whole(required=False, min_value=1, max_value=1440)
    order = serializers.ChoiceField(QueueOrder.choices, required=False)
    settle_rule = serializers.ChoiceField(SettleRule.choices, required=False)
    lead_answers_first = YesNo(required=False, help_text="Leads answer before they see what raters said.")
    shows_prelabel = YesNo(required=False, help_text="Raters see what graders said before they judge. Stays so.")
    overlap_cap = Whole(
        required=False, min_value=0, max_value=20, help_text="Where raters differ, ask up to so many; 0: nobody more."
    )
    sure_from = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=0.999,
        help_text="Ask more too where the answer agreed on is less probable, by the raters' own errors; 0: never.",
    )
    repeat_rate = serializers.FloatField(
        required=False, min_value=0, max_value=0.3, help_text="The chance of an item of their own again; 0: never."
    )
    repeat_after = Whole(required=False, min_value=1, max_value=1000, help_text="After at least so many other items.")
    domains = serializers.ListField(
        child=Text(max_length=40),
        required=False,
        help_text="Only members who know one of these fields are dealt items; empty: everybody.",
    )


class QueueChange(serializers.Serializer[Any]):
    """Overlap, order, rubric and guideline stay as they are: open a new queue for these."""

    name = Text(required=False, max_length=120)
    lease_minutes = Whole(required=False, min_value=1, max_value=1440)
    settle_rule = serializers.ChoiceField(SettleRule.choices, required=False)
    overlap_cap = Whole(
        required=False, min_value=0, max_value=20, help_text="Where raters differ, ask up to so many; 0: nobody more."
    )
    sure_from = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=0.999,
        help_text="Ask more too where the answer agreed on is less probable, by the raters' own errors; 0: never.",
    )
    repeat_rate = serializers.FloatField(
        required=False, min_value=0, max_value=0.3, help_text="The chance of an item of their own again; 0: never."
    )
    repeat_after = Whole(required=False, min_value=1, max_value=1000, help_text="After at least so many other items.")
    domains = serializers.ListField(
        child=Text(max_length=40),
        required=False,
        help_text="Only members who know one of these fields are dealt items; empty: everybody.",
    )
    lead_answers_first = YesNo(required=False, help_text="Leads answer before they see what raters said.")
    state = serializers.ChoiceField(QueueState.choices, required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, dict):
            unknown = {name: "This cannot be changed." for name in data if name not in self.fields}
            if unknown:
                raise serializers.ValidationError(unknown)
        return super().to_internal_value(data)


def answer(queue: Queue, person: Any, status: int = 200) -> Response:
    row = queues_of([queue.project]).get(pk=queue.pk)
    roles = {queue.project_id: role_in(person, queue.project)}
    return Response(QueueOut(row, context={"roles": roles}).data, status=status)


class Queues(AssayView):
    @extend_schema(operation_id="queues_list", tags=["queues"], responses=QueueOut(many=True))
    def get(self, request: Request) -> Response:
        """The queues of all projects you belong to."""
        projects = projects_with_role(request.user)
        roles = {project.pk: project.own[0].role for project in projects}
        return self.page(queues_of(projects), QueueOut, roles=roles)


class ProjectQueues(AssayView):
    @extend_schema(operation_id="project_queues_list", tags=["queues"], responses=QueueOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's queues."""
        project = project_for(request.user, slug)
        return self.page(queues_of([project]), QueueOut, roles={project.pk: role_in(request.user, project)})

    @extend_schema(operation_id="queues_create", tags=["queues"], request=QueueIn, responses={201: QueueOut})
    def post(self, request: Request, slug: str) -> Response:
        """Open a queue. For leads."""
        project = project_for(request.user, slug, "manage_queue")
        asked = self.body(QueueIn)
        rubric, guideline = rubric_and_guideline(project, rubric=asked["rubric"], guideline=asked["guideline"])
        if rubric is None:
            raise Invalid({"rubric": "This project has no such rubric."})
        if guideline is None:
            raise Invalid({"guideline": "This project has no such guideline."})
        queue = create_queue(actor=request.user, project=project, **{**asked, "rubric": rubric, "guideline": guideline})
        return answer(queue, request.user, status=201)


class QueueDetail(AssayView):
    @extend_schema(operation_id="queues_read", tags=["queues"], responses=QueueOut)
    def get(self, request: Request, uid: str) -> Response:
        """One queue."""
        return answer(queue_for(request.user, uid), request.user)

    @extend_schema(operation_id="queues_change", tags=["queues"], request=QueueChange, responses=QueueOut)
    def patch(self, request: Request, uid: str) -> Response:
        """Rename, pause, close or open again; change the lease or the rule. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        return answer(change_queue(actor=request.user, queue=queue, **self.body(QueueChange)), request.user)


class ItemsIn(serializers.Serializer[Any]):
    """Either the items, or all that the project has and the queue has not."""

    items = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=MOST_ITEMS)
    all = YesNo(required=False)


class Added(serializers.Serializer[Any]):
    added = serializers.IntegerField(help_text="How many were put in; those already there are not counted.")


class QueueItems(AssayView):
    @extend_schema(operation_id="queue_items_add", tags=["queues"], request=ItemsIn, responses=Added)
    def post(self, request: Request, uid: str) -> Response:
        """Put items into the queue. For leads and engineers."""
        queue = queue_for(request.user, uid, "import")
        asked = self.body(ItemsIn)
        if asked.get("all"):
            items = list(items_outside(queue))
        elif "items" in asked:
            found = items_by_uid(queue.project, asked["items"])
            errors = {
                f"items.{n}": "There is no such item." for n, uid in enumerate(asked["items"]) if uid not in found
            }
            if errors:
                raise Invalid(errors)
            items = list(found.values())
        else:
            raise Invalid({"items": "Name the items, or ask for all."})
        return Response({"added": add_items(actor=request.user, queue=queue, items=items)})
