"""An environment with its grader: the checklist for training on it, and its report as an instrument."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.api.calibration import ErrorsOut, still_counted
from goldsets.api.graders import grader_for
from goldsets.api.probes import StoodOut
from goldsets.api.releases import CheckOut
from goldsets.api.statistics import BeingCountedOut, EstimateOut
from goldsets.queries.instrument import asked_for
from goldsets.tasks import look_at_instrument
from reviews.api.base import AssayView


class BandOut(serializers.Serializer[Any]):
    never = serializers.IntegerField()
    always = serializers.IntegerField()
    between = serializers.IntegerField()
    within = EstimateOut()


class ModelBandOut(serializers.Serializer[Any]):
    """How often one model passes its tasks, by the grader's first score."""

    model = serializers.CharField()
    runs = serializers.IntegerField()
    tasks = serializers.IntegerField()
    band = BandOut()
    any_of = EstimateOut(many=True, help_text="pass@k")
    all_of = EstimateOut(many=True, help_text="pass^k")


class ModelErrorsOut(serializers.Serializer[Any]):
    model = serializers.CharField()
    experts = EstimateOut()
    errors = ErrorsOut()


class SensitivityOut(serializers.Serializer[Any]):
    """From the weakest model, by what experts pass, to the strongest."""

    models = ModelErrorsOut(many=True)
    change = EstimateOut()
    words = serializers.CharField()


class FamilyCoverageOut(serializers.Serializer[Any]):
    family = serializers.CharField()
    scored = serializers.IntegerField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    hole = serializers.CharField(allow_blank=True)


class CircumstancesOut(serializers.Serializer[Any]):
    runs = serializers.IntegerField()
    pinned = serializers.IntegerField(help_text="Runs that say their environment's version.")
    environments = serializers.ListField(child=serializers.ListField(), help_text="[name, runs]")
    with_reset = serializers.IntegerField()
    grader_pinned = serializers.BooleanField()
    held_out_families = serializers.IntegerField()
    compared = serializers.IntegerField(help_text="Tasks held against the requests of held-out ones.")
    shared = serializers.ListField(child=serializers.CharField())
    near = serializers.CharField()


class QueueAlphaOut(serializers.Serializer[Any]):
    queue = serializers.CharField()
    uid = serializers.UUIDField()
    items = serializers.IntegerField()
    criterion = serializers.CharField(allow_blank=True)
    alpha = EstimateOut(allow_null=True)


class InstrumentOut(serializers.Serializer[Any]):
    """Held-out runs are left out. The calibration has an address of its own."""

    counted_at = serializers.DateTimeField()
    stale = serializers.BooleanField()
    grader = serializers.CharField()
    version = serializers.IntegerField()
    against_words = serializers.CharField()
    model = serializers.CharField(allow_blank=True, help_text="Whose pass rates are held to the terms.")
    terms = serializers.DictField(child=serializers.FloatField())
    holds = serializers.BooleanField()
    checks = CheckOut(many=True)
    bands = ModelBandOut(many=True)
    sensitivity = SensitivityOut()
    coverage = FamilyCoverageOut(many=True)
    holes = serializers.IntegerField()
    known = CircumstancesOut()
    queues = QueueAlphaOut(many=True)
    probes = StoodOut(many=True, help_text="How the version stood up to each kind, the last time it was asked.")


class InstrumentQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, min_value=1, help_text="The latest if left out.")
    criterion = serializers.CharField(required=False, allow_blank=True)
    against = serializers.CharField(required=False, help_text="verdict, gates, KEY or KEY>=NUMBER.")
    model = serializers.CharField(required=False, help_text="Whose pass rates count; the one with the most tasks.")
    min_tasks = serializers.FloatField(required=False)
    min_between = serializers.FloatField(required=False)
    max_false_positive = serializers.FloatField(required=False)
    max_false_negative = serializers.FloatField(required=False)
    max_changes = serializers.FloatField(required=False)
    min_pinned = serializers.FloatField(required=False)
    min_held_out = serializers.FloatField(required=False)


class GraderInstrument(AssayView):
    @extend_schema(
        operation_id="graders_instrument",
        tags=["graders"],
        parameters=[InstrumentQuery],
        responses={200: InstrumentOut, 202: BeingCountedOut},
    )
    def get(self, request: Request, uid: str) -> Response:
        """Whether a policy may be trained on it, and what it measures well and badly. For leads and engineers."""
        asked = asked_for(grader_for(request.user, uid), self.asked(InstrumentQuery))
        seen = look_at_instrument(asked)
        if seen.kept is None:
            return still_counted()
        return Response({"counted_at": seen.kept.counted_at, "stale": seen.stale} | seen.kept.found.as_dict())
