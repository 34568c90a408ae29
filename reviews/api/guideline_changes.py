"""What of a guideline makes raters differ, changes drafted because of it, and agreement before and after."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.guideline_changes import draft_change, try_change
from reviews.api.base import AssayView, Text, Whole, allowed, project_for
from reviews.errors import NotFound
from reviews.models import Guideline, GuidelineChange
from reviews.queries.guideline_causes import Cause, causes, change_by_uid, change_page, changes_of, guideline_for


class CountedName(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = serializers.IntegerField()


class CauseOut(serializers.Serializer[Any]):
    """Disagreements that are about one thing, with the guideline's line that is nearest to it."""

    terms = serializers.ListField(child=serializers.CharField())
    line = serializers.IntegerField(allow_null=True)
    clause = serializers.CharField()
    criteria = serializers.SerializerMethodField()
    reasons = serializers.SerializerMethodField()
    queue_items = serializers.SerializerMethodField()

    @extend_schema_field(CountedName(many=True))
    def get_criteria(self, cause: Cause) -> list[dict[str, Any]]:
        return [{"name": name, "count": count} for name, count in cause.criteria]

    @extend_schema_field(CountedName(many=True))
    def get_reasons(self, cause: Cause) -> list[dict[str, Any]]:
        return [{"name": name, "count": count} for name, count in cause.reasons]

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_queue_items(self, cause: Cause) -> list[Any]:
        return [row.uid for row in cause.items]


class GuidelineChangeIn(serializers.Serializer[Any]):
    text = Text(max_length=100_000, help_text="The whole guideline as it should read.")
    queue_items = serializers.ListField(child=serializers.UUIDField(), max_length=500)
    line = Whole(required=False, min_value=1)
    why = Text(required=False, max_length=2000)


class TryIn(serializers.Serializer[Any]):
    sample = Whole(min_value=1, help_text="How many of the items it touches, drawn at random.")


class GuidelineChangeOut(serializers.ModelSerializer[GuidelineChange]):
    base = serializers.UUIDField(source="base.uid")
    guideline = serializers.UUIDField(source="guideline.uid", default=None, help_text="The version it became.")
    trial = serializers.UUIDField(source="trial.uid", default=None, help_text="The queue in which it is tried.")

    class Meta:
        model = GuidelineChange
        fields = ["uid", "base", "line", "why", "guideline", "trial", "created_at"]


class FigureOut(serializers.Serializer[Any]):
    """A statistic, or why it is not defined."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_units = serializers.IntegerField()
    method = serializers.CharField()
    words = serializers.CharField()


class BeforeAfterOut(serializers.Serializer[Any]):
    criterion = serializers.CharField(source="before.key")
    alpha_before = FigureOut(source="before.alpha")
    alpha_after = FigureOut(source="after.alpha")
    same_before = FigureOut(source="before.percent")
    same_after = FigureOut(source="after.percent")


class ChangePageOut(serializers.Serializer[Any]):
    """A change with what it changes, the items it touches, and agreement on the sample before and after."""

    change = GuidelineChangeOut()
    diff = serializers.CharField()
    touched = serializers.SerializerMethodField()
    judged = serializers.IntegerField()
    wanted = serializers.IntegerField()
    compared = BeforeAfterOut(many=True)

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_touched(self, page: Any) -> list[Any]:
        return [row.uid for row in page.touched]


class GuidelineCauses(AssayView):
    pagination_class = None  # There are few; they come whole.

    @extend_schema(operation_id="guidelines_causes", tags=["guidelines"], responses=CauseOut(many=True))
    def get(self, request: Request, slug: str, uid: str) -> Response:
        """What raters differ about in queues that judge by this version, the most frequent first. For leads."""
        return Response(CauseOut(causes(_guideline(request.user, slug, uid)), many=True).data)


class GuidelineDrafts(AssayView):
    @extend_schema(
        operation_id="guidelines_draft",
        tags=["guidelines"],
        request=GuidelineChangeIn,
        responses={201: GuidelineChangeOut},
    )
    def post(self, request: Request, slug: str, uid: str) -> Response:
        """Draft a change to this version because of some settled items. For leads."""
        guideline, given = _guideline(request.user, slug, uid), self.body(GuidelineChangeIn)
        change = draft_change(actor=request.user, guideline=guideline, touched=given.pop("queue_items"), **given)
        return Response(GuidelineChangeOut(change).data, status=201)


class GuidelineChanges(AssayView):
    @extend_schema(operation_id="guideline_changes_list", tags=["guidelines"], responses=GuidelineChangeOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The changes drafted in a project. For leads."""
        return self.page(changes_of(project_for(request.user, slug, "write_rubric")), GuidelineChangeOut)


class GuidelineChangeDetail(AssayView):
    @extend_schema(operation_id="guideline_changes_read", tags=["guidelines"], responses=ChangePageOut)
    def get(self, request: Request, uid: str) -> Response:
        """A change, and what came of trying it. For leads."""
        return Response(ChangePageOut(change_page(_change(request.user, uid))).data)


class GuidelineTrial(AssayView):
    @extend_schema(
        operation_id="guideline_changes_try", tags=["guidelines"], request=TryIn, responses={201: GuidelineChangeOut}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Write the next version, and let a sample of the items be judged by it in a new queue. For leads."""
        change = try_change(actor=request.user, change=_change(request.user, uid), **self.body(TryIn))
        return Response(GuidelineChangeOut(change).data, status=201)


def _guideline(user: Any, slug: str, uid: Any) -> Guideline:
    found = guideline_for(project_for(user, slug, "write_rubric"), uid)
    if found is None:
        raise NotFound("There is no such guideline.")
    return found


def _change(user: Any, uid: Any) -> GuidelineChange:
    nothing = "There is no such change, or you are not in its project."
    return allowed(user, "write_rubric", change_by_uid(uid), nothing, project_of=lambda row: row.base.project)
