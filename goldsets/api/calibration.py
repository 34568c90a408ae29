"""How well graders judge as the experts do: the report of a version, for leads and engineers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.api.graders import grader_for
from goldsets.api.statistics import BeingCountedOut, EstimateOut, HypothesisTestOut
from goldsets.models import Grader
from goldsets.queries.calibration import Report, question, readable, watching
from goldsets.tasks import look_at_calibration, look_at_watch
from reviews.api.base import AssayView


class ErrorsOut(serializers.Serializer[Any]):
    """Runs by what the grader says and what the label says; a false pass is a run that experts fail."""

    true_passes = serializers.IntegerField()
    false_passes = serializers.IntegerField()
    false_fails = serializers.IntegerField()
    true_fails = serializers.IntegerField()
    false_positive_rate = EstimateOut()
    false_negative_rate = EstimateOut()
    accuracy = EstimateOut()
    precision = EstimateOut()


class MoreOut(serializers.Serializer[Any]):
    limit = serializers.FloatField()
    caught = serializers.IntegerField(help_text="Labelled failures to come, if the grader fails every one of them.")
    at_rate = serializers.IntegerField(allow_null=True, help_text="At the rate seen so far; null: no number is enough.")
    words = serializers.CharField()


class GraderCutOut(serializers.Serializer[Any]):
    dimension = serializers.CharField(help_text="family, model, split, gate (one that fails), or slice and its name.")
    part = serializers.CharField()
    errors = ErrorsOut()
    items = serializers.ListField(child=serializers.UUIDField(), help_text="Its false positives, at most 500.")


class PointOut(serializers.Serializer[Any]):
    threshold = serializers.FloatField()
    false_positive_rate = serializers.FloatField()
    true_positive_rate = serializers.FloatField()
    precision = serializers.FloatField(allow_null=True)


class CurveOut(serializers.Serializer[Any]):
    """From the strictest threshold to the loosest."""

    points = PointOut(many=True)
    roc_area = EstimateOut()
    average_precision = EstimateOut()


class CertifiedOut(serializers.Serializer[Any]):
    """A threshold chosen on one half of the tasks and tried on the other."""

    limit = serializers.FloatField()
    threshold = serializers.FloatField(allow_null=True)
    chosen_on = ErrorsOut(allow_null=True)
    certified_on = ErrorsOut(allow_null=True)
    holds = serializers.BooleanField()
    words = serializers.CharField()


class BinOut(serializers.Serializer[Any]):
    low = serializers.FloatField()
    high = serializers.FloatField()
    mean = serializers.FloatField(allow_null=True)
    passes = EstimateOut()


class ReliabilityOut(serializers.Serializer[Any]):
    bins = BinOut(many=True)
    brier = EstimateOut()
    ece = EstimateOut()
    root_mean_square = serializers.FloatField(allow_null=True)
    largest = serializers.FloatField(allow_null=True)


class GraderCeilingOut(serializers.Serializer[Any]):
    """Raters on the same runs, each against the label."""

    n_items = serializers.IntegerField()
    accuracy = EstimateOut()
    false_positives = EstimateOut()
    false_negatives = EstimateOut()
    decided = EstimateOut(help_text="On runs that a lead decided.")
    grader = EstimateOut()


class PoweredOut(serializers.Serializer[Any]):
    estimate = EstimateOut()
    weight = serializers.FloatField(allow_null=True)


class PassRatesOut(serializers.Serializer[Any]):
    """Of all scored runs."""

    apparent = EstimateOut()
    labelled = EstimateOut()
    corrected = EstimateOut()
    powered = PoweredOut()


class RewardedOut(serializers.Serializer[Any]):
    breaking = EstimateOut()
    successes = EstimateOut()
    items = serializers.ListField(child=serializers.UUIDField(), help_text="Successes first, at most 500.")
    n_items = serializers.IntegerField()


class BestOfOut(serializers.Serializer[Any]):
    k = serializers.IntegerField()
    passes = EstimateOut()


class RegradingOut(serializers.Serializer[Any]):
    """What a grader says of the same run when asked again."""

    n_repeated = serializers.IntegerField()
    changes = EstimateOut()
    spread = EstimateOut()
    best_of = BestOfOut(many=True, help_text="Runs that experts fail, passed when they may try k times.")


class ComparedOut(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    both = serializers.IntegerField()
    first_only = serializers.IntegerField(help_text="Right by this version alone.")
    second_only = serializers.IntegerField(help_text="Right by the other alone.")
    neither = serializers.IntegerField()
    test = HypothesisTestOut()


class BesideOut(serializers.Serializer[Any]):
    other = serializers.IntegerField(help_text="The other version's number.")
    all = ComparedOut()
    failures = ComparedOut(help_text="On runs that experts fail.")


class CriterionErrorsOut(serializers.Serializer[Any]):
    key = serializers.CharField(allow_blank=True)
    title = serializers.CharField()
    errors = ErrorsOut()


class PairPlaceOut(serializers.Serializer[Any]):
    """Pairs shown in both orders."""

    n = serializers.IntegerField()
    consistent = EstimateOut()
    always_first = serializers.IntegerField()
    always_second = serializers.IntegerField()
    test = HypothesisTestOut()


class PairsOut(serializers.Serializer[Any]):
    """Comparisons of two beside settled preferences, with what a judge of length or place alone would score."""

    n_scored = serializers.IntegerField()
    n_labelled = serializers.IntegerField()
    n_level = serializers.IntegerField(help_text="Pairs that experts call level.")
    agrees = EstimateOut(help_text="On pairs that experts do not call level.")
    same = EstimateOut()
    kappa = EstimateOut()
    ceiling = EstimateOut(help_text="A rater's own answer against the label.")
    longest = EstimateOut(help_text="The longer one wins.")
    first = EstimateOut(help_text="The first one wins.")
    position = PairPlaceOut()
    both_orders = EstimateOut()
    wrong = serializers.ListField(child=serializers.UUIDField(), help_text="At most 500.")


class CalibrationOut(serializers.Serializer[Any]):
    """How a version judges beside the labels that stand. Held-out runs are left out unless asked for."""

    counted_at = serializers.DateTimeField(help_text="Everything until then is in it.")
    stale = serializers.BooleanField(help_text="Something happened since, and it is being counted anew.")
    grader = serializers.CharField()
    version = serializers.IntegerField()
    label = serializers.CharField(allow_blank=True)
    criterion = serializers.CharField(allow_blank=True)
    against = serializers.CharField()
    against_words = serializers.CharField()
    part = serializers.CharField(allow_blank=True)
    limit = serializers.FloatField()
    threshold = serializers.FloatField()
    threshold_words = serializers.CharField()
    n_scored = serializers.IntegerField()
    n_labelled = serializers.IntegerField()
    n_contradicted = serializers.IntegerField(help_text="Runs on which queues come to different verdicts.")
    n_held_out = serializers.IntegerField(help_text="Scored runs that were left out.")
    n_shown = serializers.IntegerField(help_text="Left out as their families stand in the judge's examples.")
    n_not_scored = serializers.IntegerField(help_text="Labelled runs without a score of this version.")
    errors = ErrorsOut()
    false_positives = serializers.ListField(child=serializers.UUIDField(), help_text="At most 500.")
    false_negatives = serializers.ListField(child=serializers.UUIDField(), help_text="At most 500.")
    bound = EstimateOut(help_text="One-sided, 95%.")
    more = MoreOut()
    cuts = GraderCutOut(many=True, help_text="The worst first.")
    criteria = CriterionErrorsOut(many=True)
    pairs = PairsOut(allow_null=True)
    curve = CurveOut()
    certified = CertifiedOut()
    reliability = ReliabilityOut()
    ceiling = GraderCeilingOut()
    rates = PassRatesOut()
    rewarded = RewardedOut()
    regrading = RegradingOut()
    beside = BesideOut(allow_null=True)
    missing = serializers.ListField(child=serializers.CharField())


class CalibrationQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, min_value=1, help_text="The latest if left out.")
    criterion = serializers.CharField(required=False, allow_blank=True, help_text="Empty: the run as a whole.")
    against = serializers.CharField(required=False, help_text="verdict, gates, KEY or KEY>=NUMBER.")
    part = serializers.CharField(required=False, help_text="train, calibration or held_out; the last is logged.")
    limit = serializers.FloatField(required=False, help_text="The rate of false positives to stay under; 0.05.")
    other = serializers.IntegerField(required=False, min_value=1, help_text="The version before if left out.")


class Calibration(AssayView):
    @extend_schema(
        operation_id="graders_calibration",
        tags=["graders"],
        parameters=[CalibrationQuery],
        responses={200: CalibrationOut, 202: BeingCountedOut},
    )
    def get(self, request: Request, uid: str) -> Response:
        """How a version of a grader judges beside the experts, and what is missing. For leads and engineers."""
        asked = question(grader_for(request.user, uid), self.asked(CalibrationQuery))
        seen = look_at_calibration(request.user, asked)
        if seen.kept is None:
            return still_counted()
        told = {"counted_at": seen.kept.counted_at, "stale": seen.stale}
        return Response(told | _report(seen.kept.found, request.user, asked.version.grader))


# --- Watch ------------------------------------------------------------------------------------------------------------
class PartingOut(serializers.Serializer[Any]):
    """Runs of one checkpoint, week or kind that both the grader and experts judged."""

    name = serializers.CharField()
    distance = serializers.FloatField(allow_null=True)
    proxy = EstimateOut(help_text="Passed by the grader.")
    gold = EstimateOut(help_text="Passed by experts.")
    gap = EstimateOut()


class AlarmOut(serializers.Serializer[Any]):
    rang = serializers.BooleanField()
    since = serializers.CharField(allow_blank=True)
    words = serializers.CharField()


class WatchedOut(serializers.Serializer[Any]):
    parts = PartingOut(many=True)
    alarm = AlarmOut()


class ApartOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    first = PartingOut()
    second = PartingOut()
    experts = EstimateOut(help_text="How much more of the second kind experts pass.")
    gap = EstimateOut(help_text="How much more the grader flatters the second kind.")
    words = serializers.CharField()


class WatchOut(serializers.Serializer[Any]):
    """Grader minus experts over checkpoints and weeks, and kinds of evidence side by side."""

    counted_at = serializers.DateTimeField()
    stale = serializers.BooleanField()
    grader = serializers.CharField()
    version = serializers.IntegerField()
    criterion = serializers.CharField(allow_blank=True)
    against_words = serializers.CharField()
    sealed = serializers.BooleanField()
    rang = serializers.BooleanField()
    checkpoints = WatchedOut()
    distance = serializers.CharField(allow_blank=True, help_text="kl: its square root; step; or empty.")
    n_without_checkpoint = serializers.IntegerField()
    weeks = WatchedOut()
    apart = ApartOut(many=True)


class WatchQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, min_value=1, help_text="The latest if left out.")
    criterion = serializers.CharField(required=False, allow_blank=True)
    against = serializers.CharField(required=False, help_text="verdict, gates, KEY or KEY>=NUMBER.")
    sealed = serializers.BooleanField(required=False, help_text="Held-out runs beside the others; it is logged.")


class GraderWatch(AssayView):
    @extend_schema(
        operation_id="graders_watch",
        tags=["graders"],
        parameters=[WatchQuery],
        responses={200: WatchOut, 202: BeingCountedOut},
    )
    def get(self, request: Request, uid: str) -> Response:
        """Whether a grader and the experts part as a policy is trained against it. For leads and engineers."""
        seen = look_at_watch(request.user, watching(grader_for(request.user, uid), self.asked(WatchQuery)))
        if seen.kept is None:
            return still_counted()
        return Response({"counted_at": seen.kept.counted_at, "stale": seen.stale} | seen.kept.found.as_dict())


def still_counted() -> Response:
    words = "Many scores are being held against labels for the first time. Ask again in a moment."
    return Response({"detail": words}, status=202, headers={"Retry-After": "2"})


def _report(report: Report, reader: Any, grader: Grader) -> dict[str, Any]:
    """The report, without naming runs that the reader is judging just now."""
    told, found = report.as_dict(), report.found
    named = {*found.false_positives, *found.false_negatives, *found.rewarded.items}
    named |= {item for cut in found.cuts for item in cut.items} | set(report.pairs.wrong if report.pairs else ())
    open_to = {str(uid) for uid in readable(named, reader=reader, project=grader.project)}
    lists = [(part, "items") for part in (*told["cuts"], told["rewarded"])]
    for part, name in (*lists, (told, "false_positives"), (told, "false_negatives")):
        part[name] = [item for item in part[name] if item in open_to]
    if told["pairs"]:
        told["pairs"]["wrong"] = [item for item in told["pairs"]["wrong"] if item in open_to]
    return told
