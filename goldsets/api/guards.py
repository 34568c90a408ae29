"""Guards over tasks, axis by axis, each held against experts."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.guarding import set_up_guards
from goldsets.api.statistics import EstimateOut
from goldsets.queries.guards import axes
from reviews.api.base import AssayView, project_for


class GuardErrorsOut(serializers.Serializer[Any]):
    """Tasks by what the guard says and what experts settled."""

    true_passes = serializers.IntegerField()
    false_passes = serializers.IntegerField(help_text="The guard lets pass what experts fail.")
    false_fails = serializers.IntegerField()
    true_fails = serializers.IntegerField()
    accuracy = EstimateOut()
    false_positive_rate = EstimateOut()
    false_negative_rate = EstimateOut()


class FlaggedOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    title = serializers.CharField()
    why = serializers.CharField()
    experts = serializers.BooleanField(
        allow_null=True, help_text="Whether experts found it to hold; null if unsettled."
    )


class GuardOut(serializers.Serializer[Any]):
    grader = serializers.CharField()
    kind = serializers.CharField()
    number = serializers.IntegerField(help_text="The version of the grader.")
    scored = serializers.IntegerField()
    errors = GuardErrorsOut()
    flagged = FlaggedOut(many=True, help_text="At most fifty; those that experts let pass first.")
    flagged_of = serializers.IntegerField()


class AxisOut(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    title = serializers.CharField()
    rule = serializers.CharField()
    asked = serializers.BooleanField(help_text="Whether a rubric of the project asks experts about it.")
    settled = serializers.IntegerField()
    guards = GuardOut(many=True)


class Guards(AssayView):
    pagination_class = None

    @extend_schema(operation_id="guards_read", tags=["graders"], responses=AxisOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """What guards say of tasks, held against experts. For leads and engineers."""
        project = project_for(request.user, slug, "view_graders")
        return Response(AxisOut(axes(project, request.user), many=True).data)

    @extend_schema(operation_id="guards_set_up", tags=["graders"], request=None, responses=AxisOut(many=True))
    def post(self, request: Request, slug: str) -> Response:
        """Set up the guards that are missing and let all look at every task. For leads and engineers."""
        project = project_for(request.user, slug, "manage_graders")
        set_up_guards(actor=request.user, project=project)
        return Response(AxisOut(axes(project, request.user), many=True).data)
