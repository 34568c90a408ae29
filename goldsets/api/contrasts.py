"""Contrasts of a success and a failure, and how varied what was labelled is."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.contrasting import build_contrasts, name_contrast
from goldsets.models import Contrast
from goldsets.queries.contrasts import contrast_by_uid, contrasts_of
from goldsets.queries.diversity import matrix
from reviews.api.base import AssayView, Text, Whole, allowed, project_for
from reviews.errors import Invalid
from reviews.models import Project, Queue
from reviews.queries.listings import queue_in


class ContrastOut(serializers.ModelSerializer[Contrast]):
    """Two runs that part after `shared` steps; `differs_in` is empty until a lead has named it."""

    comparison = serializers.UUIDField(source="item.uid")
    task = serializers.CharField(source="item.task.key")
    passing = serializers.UUIDField(source="passing.item.uid")
    failing = serializers.UUIDField(source="failing.item.uid")
    differs_in = serializers.CharField(source="item.differs_in")

    class Meta:
        model = Contrast
        fields = ["uid", "comparison", "task", "passing", "failing", "shared", "differs_in", "made_at"]


class ContrastsIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField(required=False, help_text="By the labels of this queue alone.")
    most = Whole(required=False, help_text="Up to so many pairs of each task; 1 if left out.")


class BuiltOut(serializers.Serializer[Any]):
    created = serializers.IntegerField()
    already_there = serializers.IntegerField()
    tasks = serializers.IntegerField(help_text="Tasks with runs that passed and runs that failed.")
    apart = serializers.IntegerField(help_text="Tasks of which no two runs begin alike.")


class DifferenceIn(serializers.Serializer[Any]):
    differs_in = Text(max_length=200)


class CellOut(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    hole = serializers.BooleanField()


class MatrixRowOut(serializers.Serializer[Any]):
    family = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True)
    total = serializers.IntegerField()
    cells = CellOut(many=True, help_text="In the order of the columns.")


class MatrixOut(serializers.Serializer[Any]):
    by = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = MatrixRowOut(many=True)
    fewest = serializers.IntegerField()
    holes = serializers.IntegerField()
    left_out_columns = serializers.IntegerField()


class MatrixQuery(serializers.Serializer[Any]):
    by = serializers.CharField(required=False, help_text="verdict, cause, policy, source, model, or slice:NAME.")
    queue = serializers.UUIDField(required=False)
    fewest = serializers.IntegerField(required=False, min_value=1, help_text="A hole has fewer; 1 if left out.")


def _with_queue(project: Project, asked: dict[str, Any]) -> dict[str, Any]:
    queue: Queue | None = queue_in(project, asked["queue"]) if "queue" in asked else None
    if "queue" in asked and queue is None:
        raise Invalid({"queue": "This project has no such queue."})
    return {**asked, "queue": queue}


class Contrasts(AssayView):
    @extend_schema(operation_id="contrasts_list", tags=["datasets"], responses=ContrastOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The pairs, those that part the latest first. For leads and engineers."""
        return self.page(contrasts_of(project_for(request.user, slug, "compare")), ContrastOut)

    @extend_schema(operation_id="contrasts_build", tags=["datasets"], request=ContrastsIn, responses=BuiltOut)
    def post(self, request: Request, slug: str) -> Response:
        """Pair successes with failures of the same tasks. Asking again makes nothing twice. For leads and engineers."""
        project = project_for(request.user, slug, "compare")
        asked = _with_queue(project, self.body(ContrastsIn))
        return Response(BuiltOut(build_contrasts(actor=request.user, project=project, **asked)).data)


class ContrastName(AssayView):
    @extend_schema(operation_id="contrast_name", tags=["datasets"], request=DifferenceIn, responses=ContrastOut)
    def post(self, request: Request, uid: str) -> Response:
        """Say which one decision a pair differs in, once. For leads."""
        nothing = "There is no such contrast, or you are not in its project."
        contrast = allowed(
            request.user, "name_contrast", contrast_by_uid(uid), nothing, project_of=lambda found: found.item.project
        )
        return Response(
            ContrastOut(name_contrast(actor=request.user, contrast=contrast, **self.body(DifferenceIn))).data
        )


class Diversity(AssayView):
    @extend_schema(operation_id="diversity_read", tags=["datasets"], parameters=[MatrixQuery], responses=MatrixOut)
    def get(self, request: Request, slug: str) -> Response:
        """Labelled items of each family by verdict, cause, policy, source, model or slice. For leads and engineers."""
        project = project_for(request.user, slug, "view_labels")
        return Response(MatrixOut(matrix(project, **_with_queue(project, self.asked(MatrixQuery)))).data)
