"""Splits: how families are dealt, for good, and where each has gone."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.splitting import deal_families, seal_splits
from goldsets.enums import FamilySplitName
from goldsets.queries.splits import family_rows, plan_of
from reviews.api.base import AssayView, Text, Whole, project_for
from reviews.models import Project


class SplitsIn(serializers.Serializer[Any]):
    """Whole percents that make 100. Without a seed, one is drawn."""

    train = Whole(min_value=0, max_value=100)
    calibration = Whole(min_value=0, max_value=100)
    held_out = Whole(min_value=0, max_value=100)
    seed = Text(required=False, max_length=64)


class PlanOut(serializers.Serializer[Any]):
    train = serializers.IntegerField()
    calibration = serializers.IntegerField()
    held_out = serializers.IntegerField()
    seed = serializers.CharField()
    sealed_by = serializers.CharField()
    sealed_at = serializers.DateTimeField()


class FamilyOut(serializers.Serializer[Any]):
    """`dealt` says whether the split is sealed; a family that has just come in is dealt within minutes."""

    family = serializers.CharField(help_text="A task of no family stands for itself, as task: and its key.")
    split = serializers.ChoiceField(FamilySplitName.choices)
    dealt = serializers.BooleanField()
    tasks = serializers.IntegerField()
    runs = serializers.IntegerField()
    labels = serializers.IntegerField()
    contradicts = serializers.BooleanField(help_text="A later import held out a task of it; nothing of it trains.")


class SplitsOut(serializers.Serializer[Any]):
    plan = PlanOut(allow_null=True)
    families = FamilyOut(many=True)


class DealtOut(serializers.Serializer[Any]):
    dealt = serializers.IntegerField(help_text="How many families were dealt now.")


def _splits(project: Project) -> dict[str, Any]:
    plan = plan_of(project)
    rows = family_rows(project, seed=plan.seed, shares=plan.shares) if plan else []
    return SplitsOut({"plan": plan, "families": rows}).data


class Splits(AssayView):
    @extend_schema(operation_id="splits_read", tags=["datasets"], responses=SplitsOut)
    def get(self, request: Request, slug: str) -> Response:
        """The plan, null before a lead has stated one, and every family with its split. For leads and engineers."""
        return Response(_splits(project_for(request.user, slug, "export")))

    @extend_schema(operation_id="splits_seal", tags=["datasets"], request=SplitsIn, responses={201: SplitsOut})
    def post(self, request: Request, slug: str) -> Response:
        """State the shares and the seed, once and for good, and deal every family. For leads."""
        project = project_for(request.user, slug, "manage_splits")
        seal_splits(actor=request.user, project=project, **self.body(SplitsIn))
        return Response(_splits(project), status=201)


class SplitsDeal(AssayView):
    @extend_schema(operation_id="splits_deal", tags=["datasets"], request=None, responses=DealtOut)
    def post(self, request: Request, slug: str) -> Response:
        """Deal families that have come in since, without waiting for the worker. For leads and engineers."""
        project = project_for(request.user, slug, "export")
        return Response({"dealt": deal_families(project=project, actor=request.user)})
