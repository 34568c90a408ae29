"""Tasks to be reviewed: posting one with its runs, and how each came to be what it is."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.tasks import post_task
from reviews.api.base import AssayView, Text, project_for
from reviews.enums import Provenance, TaskPart, Verifiability
from reviews.errors import Invalid
from reviews.models import TaskVersion
from reviews.queries.listings import queue_in, role_in
from reviews.queries.tasks import VersionRow, histories, latest_versions


class TaskIn(serializers.Serializer[Any]):
    """A task: what is asked, where, how it is checked and what for."""

    key = Text(max_length=200, required=False, help_text="Names the task; the same key is its next version.")
    title = Text(max_length=200, required=False)
    family = Text(max_length=100, required=False)
    prompt = Text(max_length=200_000)
    world = Text(max_length=200_000, required=False)
    verifier = Text(max_length=200_000, required=False, help_text="The text of its program.")
    intent = Text(max_length=200_000, help_text="What a run that passes is to show.")
    recipe = Text(max_length=100, required=False)
    axis = Text(max_length=200, required=False, help_text="Along what it was made harder.")
    verifiability = serializers.ChoiceField(Verifiability.choices, required=False)
    production_prompts = serializers.ListField(child=Text(), required=False)
    slices = serializers.DictField(required=False)


class PostedTaskIn(serializers.Serializer[Any]):
    """A task with its runs: each is {"role", "result"} with the "item" it is, or with what an import takes as a run."""

    task = TaskIn()
    runs = serializers.ListField(child=serializers.DictField(), help_text="See docs/formats.md, assay_task.")
    queue = serializers.UUIDField(required=False, help_text="Put it into this queue.")
    provenance = serializers.ChoiceField(Provenance.choices, required=False)


class PostedTaskOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    version = serializers.UUIDField()
    number = serializers.IntegerField()


class PassRate(serializers.Serializer[Any]):
    """Of the solvers' runs with a result, the share that passed."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()
    method = serializers.CharField()


class TaskDecision(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    decision = serializers.CharField(required=False, help_text="Absent until it is settled.")
    reason = serializers.CharField(required=False)


class TaskVersionOut(serializers.Serializer[Any]):
    uid = serializers.UUIDField()
    number = serializers.IntegerField()
    recipe = serializers.CharField()
    axis = serializers.CharField()
    verifiability = serializers.CharField()
    pass_rate = PassRate()
    decisions = TaskDecision(many=True)


class ReviewedTaskOut(serializers.Serializer[Any]):
    """A task with all its versions, the first one first, and the text of the latest."""

    key = serializers.CharField()
    title = serializers.CharField()
    prompt = serializers.CharField()
    world = serializers.CharField()
    verifier = serializers.CharField()
    intent = serializers.CharField()
    versions = TaskVersionOut(many=True)


class Tasks(AssayView):
    @extend_schema(operation_id="tasks_list", tags=["items"], responses=ReviewedTaskOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's tasks with what was decided of each version. For leads and engineers."""
        project = project_for(request.user, slug, "view_items")
        role = role_in(request.user, project)
        paginator = self.pagination_class()
        chosen = paginator.paginate_queryset(latest_versions(project), request, view=self)
        told = [_task(*each) for each in histories(list(chosen or ()), reader=request.user, role=role)]
        return paginator.get_paginated_response(told)

    @extend_schema(
        operation_id="tasks_create",
        tags=["items"],
        request=PostedTaskIn,
        responses={201: PostedTaskOut, 200: OpenApiResponse(PostedTaskOut, description="It was there already.")},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Post one version of a task with its runs. For leads and engineers. The same again is there already."""
        project = project_for(request.user, slug, "import")
        asked = self.body(PostedTaskIn)
        queue = queue_in(project, asked.pop("queue")) if "queue" in asked else None
        if "queue" in request.data and queue is None:
            raise Invalid({"queue": "This project has no such queue."})
        posted = post_task(actor=request.user, project=project, queue=queue, **asked)
        version = posted.item.task_version
        assert version  # noqa: S101  every task that is posted has one
        answer = {"item": posted.item.uid, "version": version.uid, "number": version.number}
        return Response(answer, status=201 if posted.new else 200)


def _task(latest: TaskVersion, rows: list[VersionRow]) -> dict[str, Any]:
    text = {part.value: latest.part(part) for part in TaskPart}
    return {"key": latest.task.key, "title": latest.task.title, **text, "versions": [_version(row) for row in rows]}


def _version(row: VersionRow) -> dict[str, Any]:
    rate, version = row.pass_rate, row.version
    return {
        "uid": version.uid,
        "number": version.number,
        "recipe": version.recipe,
        "axis": version.axis,
        "verifiability": version.verifiability,
        "pass_rate": {
            "value": rate.value,
            "low": rate.low,
            "high": rate.high,
            "n": rate.n_units,
            "method": rate.method,
        },
        "decisions": [
            {"item": each.item.uid} | ({"decision": each.decision, "reason": each.reason} if each.decision else {})
            for each in row.decided
        ],
    }
