"""What raters of a project do not read in its runs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.masking import MOST_RULES, set_masking, try_masking
from reviews.api.base import AssayView, Text, YesNo, project_for
from reviews.models import Masking
from reviews.queries.masking import masking_of
from reviews.trajectories.masking import MAX_WORD_LENGTH
from reviews.trajectories.redaction import MAX_PATTERN_LENGTH


class MaskingIn(serializers.Serializer[Any]):
    words = serializers.ListField(
        child=Text(max_length=MAX_WORD_LENGTH),
        required=False,
        max_length=MOST_RULES,
        help_text="Whatever their case, and however their parts are joined.",
    )
    patterns = serializers.ListField(
        child=Text(max_length=MAX_PATTERN_LENGTH),
        required=False,
        max_length=MOST_RULES,
        help_text="Regular expressions that RE2 can run in linear time.",
    )
    own_model = YesNo(required=False, help_text="Hide the name of the model that made the run, in its variants.")


class MaskingOut(serializers.ModelSerializer[Masking]):
    words = serializers.ListField(child=serializers.CharField())
    patterns = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Masking
        fields = ["words", "patterns", "own_model"]


class TouchedOut(serializers.Serializer[Any]):
    """What rules would hide in the latest runs."""

    looked_at = serializers.IntegerField()
    runs = serializers.IntegerField()
    places = serializers.IntegerField()
    examples = serializers.ListField(child=serializers.CharField())


class MaskingDetail(AssayView):
    @extend_schema(operation_id="masking_read", tags=["masking"], responses=MaskingOut)
    def get(self, request: Request, slug: str) -> Response:
        """What raters do not read. For leads."""
        return Response(MaskingOut(masking_of(project_for(request.user, slug, "manage_masking"))).data)

    @extend_schema(operation_id="masking_set", tags=["masking"], request=MaskingIn, responses=MaskingOut)
    def put(self, request: Request, slug: str) -> Response:
        """Say what raters do not read from now on, in place of what was before. For leads."""
        project = project_for(request.user, slug, "manage_masking")
        return Response(MaskingOut(set_masking(actor=request.user, project=project, **self.body(MaskingIn))).data)


class MaskingTrial(AssayView):
    @extend_schema(operation_id="masking_try", tags=["masking"], request=MaskingIn, responses=TouchedOut)
    def post(self, request: Request, slug: str) -> Response:
        """How much such rules would hide in the latest runs. Nothing is written. For leads."""
        project = project_for(request.user, slug, "manage_masking")
        return Response(TouchedOut(try_masking(actor=request.user, project=project, **self.body(MaskingIn))).data)
