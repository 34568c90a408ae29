"""Agreement: every number with its n, its interval and its method, or the reason why there is none."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.queries.agreement import Seen
from goldsets.queries.agreement_report import agreement_report, as_markdown
from goldsets.queries.listings import settled_items, unanswered_items
from goldsets.tasks import look_at_agreement
from reviews.api.base import AssayView, queue_for
from reviews.errors import Invalid
from reviews.models import Queue
from reviews.stats.result import Reason

# Why a statistic is not defined.
REASONS = [str(reason) for reason in Reason]


class EstimateOut(serializers.Serializer[Any]):
    """One statistic. `value` is null where it is not defined; `reason` and `words` then say why."""

    statistic = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_units = serializers.IntegerField(help_text="Items with two or more ratings, or trials of a proportion.")
    n_pairs = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    method = serializers.CharField()
    reason = serializers.ChoiceField(REASONS, allow_null=True)
    words = serializers.CharField(allow_blank=True)


class HypothesisTestOut(serializers.Serializer[Any]):
    """One test. `p` is null where nothing can be tested; `reason` and `words` then say why."""

    name = serializers.CharField()
    p = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="The answers that bear on the question.")
    statistic = serializers.FloatField(allow_null=True)
    df = serializers.IntegerField(allow_null=True)
    method = serializers.CharField()
    reason = serializers.ChoiceField(REASONS, allow_null=True)
    words = serializers.CharField(allow_blank=True)


class ConfusionOut(serializers.Serializer[Any]):
    first = serializers.CharField()
    second = serializers.CharField()
    n_items = serializers.IntegerField()
    items = serializers.ListField(child=serializers.UUIDField())


class RaterOnCriterionOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    n = serializers.IntegerField()
    with_rest = EstimateOut()
    alpha_without = EstimateOut()
    change = EstimateOut(help_text="Above 0: the others agree better alone.")


class PairOut(serializers.Serializer[Any]):
    first_id = serializers.IntegerField()
    second_id = serializers.IntegerField()
    first = serializers.CharField()
    second = serializers.CharField()
    n = serializers.IntegerField()
    percent = EstimateOut()
    kappa = EstimateOut()
    items = serializers.ListField(
        child=serializers.UUIDField(), help_text="Settled items on which the two differ; others wait until they are."
    )
    n_items = serializers.IntegerField(help_text="All items on which the two differ.")
    reading = serializers.CharField(allow_blank=True)


class CutOut(serializers.Serializer[Any]):
    """A part of the answers: of a family, a slice, a tier of raters or a week."""

    dimension = serializers.CharField(help_text="family, week, tier, or slice and its name.")
    part = serializers.CharField()
    percent = EstimateOut()
    alpha = EstimateOut()
    items = serializers.ListField(child=serializers.UUIDField(), help_text="On which raters differ.")
    n_items = serializers.IntegerField()


class PreferringOut(serializers.Serializer[Any]):
    """Whether the place on the screen helps, and whether a rater's choices fit into one order."""

    left = serializers.IntegerField(help_text="How often the one shown first was preferred, of two.")
    right = serializers.IntegerField()
    tied = serializers.IntegerField()
    left_wins = EstimateOut()
    test = HypothesisTestOut()
    cyclic = EstimateOut(help_text="The share of triads in which A beats B, B beats C and C beats A.")
    n_triads = serializers.IntegerField()


class ModelStrengthOut(serializers.Serializer[Any]):
    model = serializers.CharField()
    n = serializers.IntegerField(help_text="Comparisons with another model.")
    won = serializers.IntegerField()
    tied = serializers.IntegerField()
    lost = serializers.IntegerField()
    strength = EstimateOut(help_text="The logarithm of the odds against an average model.")
    wins = EstimateOut(help_text="The chance of winning against an average model, where one of the two wins.")
    items = serializers.ListField(
        child=serializers.UUIDField(), help_text="Settled items in which it was compared; others wait until they are."
    )
    n_items = serializers.IntegerField()


class ModelsAgainstOut(serializers.Serializer[Any]):
    first = serializers.CharField()
    second = serializers.CharField()
    n = serializers.IntegerField(help_text="Comparisons between just these two.")
    wins = EstimateOut(help_text="The chance that the first wins, where one of the two wins.")


class ModelStrengthsOut(serializers.Serializer[Any]):
    """Which models raters prefer (Bradley and Terry 1952, ties as in Davidson 1970), the strongest first."""

    method = serializers.CharField()
    words = serializers.CharField(allow_blank=True, help_text="Why there are no strengths.")
    n = serializers.IntegerField()
    n_same = serializers.IntegerField(help_text="Comparisons of a model with itself, left out.")
    n_unknown = serializers.IntegerField(help_text="Comparisons in which a run's model is not known, left out.")
    models = ModelStrengthOut(many=True)
    pairs = ModelsAgainstOut(many=True)


class RaterErrorsOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    n = serializers.IntegerField()
    accuracy = serializers.FloatField(help_text="No interval: the labels are estimated from these answers.")
    confusion = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Row i, column j: how often the rater says label j where label i is the probable truth.",
    )


class ConsensusOut(serializers.Serializer[Any]):
    """What the answers come to when each rater may err in a way of their own (Dawid and Skene 1979)."""

    method = serializers.CharField()
    words = serializers.CharField(allow_blank=True, help_text="Why there is none, or what to mind.")
    labels = serializers.ListField(child=serializers.CharField())
    shares = serializers.ListField(child=serializers.FloatField(), help_text="How frequent each label probably is.")
    raters = RaterErrorsOut(many=True)
    converged = serializers.BooleanField()
    n_units = serializers.IntegerField()
    n_undecided = serializers.IntegerField()
    items = serializers.ListField(child=serializers.UUIDField(), help_text="Items with an answer below .9.")
    n_items = serializers.IntegerField()


class ProbableAnswerOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    answer = serializers.CharField(allow_blank=True, help_text="Empty where two are as probable.")
    probabilities = serializers.ListField(child=serializers.FloatField(), help_text="In the order of the labels.")


class FullConsensusOut(ConsensusOut):
    answers = ProbableAnswerOut(many=True)


class CriterionAgreementOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField(help_text="Of the question; or step, the place of a step, or steps, words for steps.")
    unit = serializers.CharField(help_text="What is compared: item, candidate, pair of candidates or step.")
    percent = EstimateOut()
    alpha = EstimateOut()
    ac = EstimateOut(allow_null=True)
    strength = EstimateOut(allow_null=True, help_text="Of a preference: by how much, as an ordinal scale.")
    n_unsure = serializers.IntegerField()
    disagreed = serializers.ListField(child=serializers.UUIDField())
    n_disagreed = serializers.IntegerField()
    confusions = ConfusionOut(many=True)
    level = serializers.CharField(help_text="What alpha allows, in a sentence, or why there is none.")
    reading = serializers.CharField(allow_blank=True)
    raters = RaterOnCriterionOut(many=True)
    pairs = PairOut(many=True)
    cuts = CutOut(many=True)
    preferring = PreferringOut(allow_null=True)
    models = ModelStrengthsOut(allow_null=True)
    consensus = ConsensusOut(allow_null=True)


class EvidenceAgreementOut(serializers.Serializer[Any]):
    """Whether raters who cite steps for the same answer cite the same ones."""

    f1 = EstimateOut()
    alpha = EstimateOut()
    n_citations = serializers.IntegerField()


class StepAgreementOut(CriterionAgreementOut):
    within_one = EstimateOut()
    named = EstimateOut()
    distances = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="[steps apart, pairs of raters]"
    )
    n_some_name_none = serializers.IntegerField(
        help_text="Items on which some raters name a step and others none; they are not among those that differ."
    )


class RaterAgreementOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    n_items = serializers.IntegerField()
    with_others = EstimateOut()


class RaterWithinOut(serializers.Serializer[Any]):
    rater_id = serializers.IntegerField()
    rater = serializers.CharField()
    n = serializers.IntegerField(help_text="How many items, or parts of items, they answered twice.")
    percent = EstimateOut()
    alpha = EstimateOut()
    kappa = EstimateOut(
        allow_null=True, help_text="Of the first answer and the second; null for numbers and places of steps."
    )
    drift = serializers.CharField(allow_blank=True, help_text="To which answer they moved, where it is no chance.")


class CriterionWithinOut(serializers.Serializer[Any]):
    key = serializers.CharField(
        help_text="A criterion's; with :strength by how much; step_labels, first_error, failure_step, which step, each "
        "also with :named, whether there is one; or evidence."
    )
    title = serializers.CharField()
    unit = serializers.CharField(help_text="What was answered twice: item, candidate, step, run and criterion, …")
    percent = EstimateOut()
    alpha = EstimateOut()
    raters = RaterWithinOut(many=True)


class WithinOut(serializers.Serializer[Any]):
    """How far raters agree with themselves on items that came to them twice: a ceiling for agreement with others."""

    n_repeats = serializers.IntegerField(help_text="Items judged twice, once per rater.")
    criteria = CriterionWithinOut(many=True)


class AgreementOut(serializers.Serializer[Any]):
    """Agreement before adjudication, with gold left out."""

    counted_at = serializers.DateTimeField(help_text="Everything until then is in it.")
    stale = serializers.BooleanField(help_text="Something happened since, and it is being counted anew.")
    n_items = serializers.IntegerField()
    n_judgments = serializers.IntegerField()
    n_pairable = serializers.IntegerField()
    n_left_out = serializers.IntegerField()
    criteria = CriterionAgreementOut(many=True)
    step = StepAgreementOut()
    steps = CriterionAgreementOut(allow_null=True, help_text="Words for steps, where the rubric has them.")
    first_error = StepAgreementOut(allow_null=True)
    evidence = EvidenceAgreementOut()
    raters = RaterAgreementOut(many=True)
    within = WithinOut()
    readings = serializers.ListField(child=serializers.CharField())
    floor = serializers.IntegerField(help_text="With fewer items a figure is not given.")


class BeingCountedOut(serializers.Serializer[Any]):
    """Many judgments are being counted for the first time: ask again after `Retry-After` seconds."""

    detail = serializers.CharField()


def being_counted() -> Response:
    words = "Many judgments are being counted for the first time. Ask again in a moment."
    return Response({"detail": words}, status=202, headers={"Retry-After": "2"})


class Agreement(AssayView):
    @extend_schema(
        operation_id="queues_agreement", tags=["agreement"], responses={200: AgreementOut, 202: BeingCountedOut}
    )
    def get(self, request: Request, uid: str) -> Response:
        """How raters agree, per criterion, per part, per rater and per pair. For leads."""
        queue = queue_for(request.user, uid, "view_agreement")
        seen = look_at_agreement(queue, with_items=True)
        return Response(_agreement(queue, seen, request.user)) if seen.kept else being_counted()


class AgreementReport(AssayView):
    @extend_schema(
        operation_id="queues_agreement_report",
        tags=["agreement"],
        responses={(200, "text/markdown"): OpenApiTypes.STR, 202: BeingCountedOut},
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """The agreement as a report in Markdown, with a section on methods. For leads."""
        queue = queue_for(request.user, uid, "view_agreement")
        kept = look_at_agreement(queue).kept
        if kept is None:
            return being_counted()
        made = agreement_report(queue, kept)
        return HttpResponse(as_markdown(made), content_type="text/markdown; charset=utf-8")


class ConsensusOfQueue(AssayView):
    @extend_schema(
        operation_id="queues_consensus",
        tags=["agreement"],
        parameters=[OpenApiParameter("criterion", str, required=True, description="The criterion's key.")],
        responses={200: FullConsensusOut, 202: BeingCountedOut},
    )
    def get(self, request: Request, uid: str) -> Response:
        """What the answers to one criterion probably are, item by item, and each rater's table of errors. For leads."""
        queue = queue_for(request.user, uid, "view_agreement")
        kept = look_at_agreement(queue, with_items=True).kept
        if kept is None:
            return being_counted()
        found, hidden = kept.found, unanswered_items(queue, request.user)
        key = request.query_params.get("criterion", "")
        entry = next((entry for entry in found.entries if entry.key == key and entry.consensus), None)
        if entry is None or entry.consensus is None:
            known = ", ".join(entry.key for entry in found.entries if entry.consensus)
            raise Invalid({"criterion": f"Name a criterion with a declared scale: {known or 'this rubric has none'}."})
        told = entry.consensus.as_dict()
        told["items"] = [item for item in told["items"] if item not in hidden]
        told["answers"] = [answer for answer in told["answers"] if answer["item"] not in hidden]
        return Response(told)


def _agreement(queue: Queue, seen: Seen, reader: Any) -> dict[str, Any]:
    """The agreement, without the items that would tell who said what, or whose run it is, before they are settled, and
    without those that the reader is to answer first."""
    kept: Any = seen.kept
    found = {
        "counted_at": kept.counted_at,
        "stale": seen.stale,
        **kept.found.as_dict(),
        "within": kept.within.as_dict(),
    }
    settled, hidden = settled_items(queue), unanswered_items(queue, reader)
    for entry in (*found["criteria"], *(found[name] for name in ("step", "steps", "first_error") if found[name])):
        entry["disagreed"] = [item for item in entry["disagreed"] if item not in hidden]
        consensus = [entry["consensus"]] if entry["consensus"] else []
        for told in (*entry["confusions"], *entry["cuts"], *consensus):
            told["items"] = [item for item in told["items"] if item not in hidden]
        # The raters of a tier may be two.
        tiers = [cut for cut in entry["cuts"] if cut["dimension"] == "tier"]
        for told in (*entry["pairs"], *tiers, *(entry["models"]["models"] if entry["models"] else ())):
            told["items"] = [item for item in told["items"] if item in settled]
    return found
