"""The forms of pages of `goldsets`. They read what was entered; what is allowed is for the actions to say."""

from decimal import Decimal
from typing import Any

from django import forms

from goldsets.actions.defining import LONGEST_WORD
from goldsets.enums import (
    DatasetFormat,
    DatasetPurpose,
    DuplicatePolicy,
    GraderKind,
    GraderScale,
    NeutralPolicy,
    RaterPolicy,
    Rung,
    StageWork,
    TiePolicy,
    WorkPolicy,
)
from goldsets.queries.datasets import labels_in_words
from goldsets.queries.graders import criterion_titles
from goldsets.queries.stages import fit_reviewers
from goldsets.reviewing.rule_lines import WrongRules, rules_from_lines
from goldsets.stats.checklist import TERMS
from goldsets.stats.ledger import PRICES
from reviews.enums import Basis, ItemKind, Provenance
from reviews.forms import NewQueueForm
from reviews.models import Project, Queue
from reviews.queries.projects import guidelines, queue_rows, rubrics


class RateForm(forms.Form):
    gold_rate = forms.DecimalField(
        initial=Decimal("0.1"),
        min_value=0,
        max_value=Decimal("0.5"),
        decimal_places=3,
        label="Gold rate",
        help_text="The share of what each rater is dealt that is gold, from 0 (none) to 0.5.",
    )


class QueueWithGoldForm(NewQueueForm):
    """A new queue, and how much gold it mixes in once there is some."""

    gold_rate = RateForm.base_fields["gold_rate"]
    field_order = [*NewQueueForm.field_order, "gold_rate"]

    @property
    def first(self) -> list[forms.BoundField]:
        """What every queue has to be told."""
        return [self[name] for name in ("name", "rubric", "guideline", "overlap", "settle_rule", "gold_rate")]

    @property
    def more(self) -> list[forms.BoundField]:
        """What does well as it is."""
        first = {field.name for field in self.first}
        return [self[name] for name in self.fields if name not in first]

    @property
    def more_is_wrong(self) -> bool:
        return any(field.errors for field in self.more)


NARROWING = (
    "kinds", "basis", "provenance", "families", "slices", "pass_model", "pass_low", "pass_high", "quotas",
)  # fmt: skip


class DatasetForm(forms.Form):
    name = forms.CharField(max_length=120)
    queue = forms.ChoiceField(required=False, help_text="The labels of one queue, or of all.")
    purpose = forms.ChoiceField(
        choices=DatasetPurpose,
        help_text="Held-out families leave for held-out evaluation alone.",
    )
    formats = forms.MultipleChoiceField(
        choices=DatasetFormat,
        widget=forms.CheckboxSelectMultiple,
        help_text="A format is made from the labels it stands under; others are left out of it.",
    )
    kinds = forms.MultipleChoiceField(
        choices=ItemKind, required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: every kind."
    )
    basis = forms.MultipleChoiceField(
        choices=Basis,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: every basis but that of a compiled reviewer, whose labels leave only where asked for.",
    )
    provenance = forms.MultipleChoiceField(
        choices=Provenance, required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: every source."
    )
    families = forms.CharField(required=False, help_text="Names with commas between them. Empty: every family.")
    slices = forms.CharField(
        required=False,
        help_text="Values of each slice, such as: depth: deep, shallow; channel: mail. Empty: every slice.",
    )
    pass_model = forms.CharField(
        required=False,
        max_length=LONGEST_WORD,
        label="Only tasks that a model solves so often",
        help_text="The model, as its runs name it. Runs that crashed do not count. Empty: every task.",
    )
    pass_low = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="It solves them in at least",
        help_text="A share of its runs, such as 0.2. Empty: 0.",
    )
    pass_high = forms.FloatField(
        required=False, min_value=0, max_value=1, label="And in at most", help_text="A share as well. Empty: 1."
    )
    quotas = forms.CharField(
        required=False,
        label="No more of a source than",
        help_text="Shares of what leaves, such as: synthetic 0.3, adversarial 0.1. Empty: no limit.",
    )
    ties = forms.ChoiceField(choices=TiePolicy)
    neutral = forms.ChoiceField(choices=NeutralPolicy, label="Neutral steps")
    duplicates = forms.ChoiceField(choices=DuplicatePolicy, label="Items with labels in several queues")
    raters = forms.ChoiceField(choices=RaterPolicy, label="Raters")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = labels_in_words(project)
        rows = [(queue.slug, f"{queue.name}: {held[queue.pk]}") for queue in queue_rows(project)]
        self.fields["queue"].choices = [("", "every queue"), *rows]

    def clean_slices(self) -> dict[str, list[str]]:
        """Names with their values."""
        slices = {}
        for part in filter(str.strip, self.cleaned_data["slices"].split(";")):
            name, _colon, values = part.partition(":")
            slices[name.strip()] = [value.strip() for value in values.split(",") if value.strip()]
        if not all(name and values for name, values in slices.items()):
            raise forms.ValidationError("Write each slice with its values, such as: depth: deep, shallow.")
        return slices

    def clean(self) -> None:
        given = self.cleaned_data
        low, high = given.get("pass_low"), given.get("pass_high")
        if (low is not None or high is not None) and not given.get("pass_model"):
            self.add_error("pass_model", "Name the model whose runs are meant.")

    def clean_quotas(self) -> dict[str, float]:
        """Names with their shares; whether there are such sources is for the action to say."""
        named = [part.split() for part in self.cleaned_data["quotas"].split(",") if part.strip()]
        try:
            return {source: float(share) for source, share in named}
        except ValueError:
            raise forms.ValidationError("Write each source with its share, such as: synthetic 0.3.") from None

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in ("name", "queue", "purpose")]

    @property
    def formats_by_labels(self) -> list[tuple[str, list[forms.boundfield.BoundWidget]]]:
        """The formats, by what labels they are made from."""
        found: dict[str, list[forms.boundfield.BoundWidget]] = {}
        for option in self["formats"]:
            words = DatasetFormat(option.data["value"]).made_from or "labels of any kind"
            found.setdefault(words, []).append(option)
        return list(found.items())

    @property
    def narrowing(self) -> list[forms.BoundField]:
        return [self[name] for name in NARROWING]

    @property
    def doubtful(self) -> list[forms.BoundField]:
        return [self[name] for name in ("ties", "neutral", "duplicates", "raters")]

    @property
    def narrowed(self) -> bool:
        return any(field.value() for field in self.narrowing)

    @property
    def definition(self) -> dict[str, Any]:
        """What `define_dataset` takes, but for the queue."""
        given = self.cleaned_data
        chosen = {name: given[name] for name in ("kinds", "basis", "provenance") if given[name]}
        if families := [name.strip() for name in given["families"].split(",") if name.strip()]:
            chosen["families"] = families
        chosen |= {name: given[name] for name in ("slices", "quotas") if given[name]}
        if given["pass_model"]:
            low, high = given["pass_low"] or 0, given["pass_high"]
            chosen["pass_rate"] = {"model": given["pass_model"], "low": low, "high": 1 if high is None else high}
        policies = {name: given[name] for name in ("ties", "neutral", "duplicates", "raters")}
        return {
            "name": given["name"],
            "purpose": given["purpose"],
            "formats": given["formats"],
            "filter": chosen,
            "policies": policies,
        }


class FeedbackForm(forms.Form):
    feedback_items = forms.IntegerField(
        required=False, min_value=1, label="After so many further judgments", help_text="Empty: not by their number."
    )
    feedback_days = forms.IntegerField(
        required=False, min_value=1, label="Or after so many days", help_text="Both empty: raters are never told."
    )


class StandingPolicyForm(forms.Form):
    """The test, and what follows from it."""

    p0 = forms.FloatField(label="Good enough: errors up to", help_text="A share, such as 0.1.")
    p1 = forms.FloatField(label="Not good enough: errors from", help_text="A share, such as 0.3.")
    alpha = forms.FloatField(label="Risk of failing somebody who is good", help_text="A share, such as 0.05.")
    beta = forms.FloatField(label="Risk of passing somebody who is not", help_text="A share, such as 0.1.")
    run_length = forms.IntegerField(
        label="Gold answers between two false alarms", help_text="Of somebody good enough, on average."
    )
    automatic = forms.BooleanField(
        required=False,
        label="Do what the rule proposes at once",
        help_text="Otherwise every step waits for a lead.",
    )
    work = forms.ChoiceField(choices=WorkPolicy, label="Work since it was last good, when somebody is paused")


class StageForm(forms.Form):
    """How a stage is checked, and what becomes of its labels."""

    audit_share = forms.FloatField(
        initial=0.1,
        label="Share that is audited",
        help_text="From 0.01 to 1: of what it could decide, so much goes to people all the same, unmarked.",
    )
    work = forms.ChoiceField(choices=StageWork, label="Its labels since it was last good, when a test ends it")
    budget = forms.DecimalField(
        required=False,
        label="Budget in US dollars, for a judge",
        help_text="What being asked about items of this queue may cost in all. What it cannot pay for goes to people.",
        widget=forms.NumberInput(attrs={"step": "any", "min": "0"}),
    )

    def __init__(self, *args: Any, judges: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not judges:
            del self.fields["budget"]


class StartStageForm(StageForm):
    """A signed reviewer that fits the queue, and the same."""

    reviewer = forms.ChoiceField(help_text="Signed, and compiled under this queue's rubric and guideline.")
    field_order = ("reviewer", "audit_share", "budget", "work")

    def __init__(self, *args: Any, queue: Queue, **kwargs: Any) -> None:
        fit = fit_reviewers(queue)
        super().__init__(*args, judges=any(row.judge_id for row in fit), **kwargs)
        self.fields["reviewer"].choices = [
            (str(row.uid), f"{row.decision}: {row.get_rung_display().lower()}, {row}, signed by {row.signed_by}")
            for row in fit
        ]

    def clean_budget(self) -> Decimal:
        return self.cleaned_data["budget"] or Decimal(0)


class GoldFileForm(forms.Form):
    file = forms.FileField(
        help_text="JSON lines or a JSON list; each row names an item and what is right on it. At most 5 MB."
    )


class SplitForm(forms.Form):
    """Shares of the families, in percent, and the seed."""

    train = forms.IntegerField(initial=70, label="Training", help_text="Percent of the families.")
    calibration = forms.IntegerField(initial=15, label="Calibration", help_text="To fit thresholds and graders.")
    held_out = forms.IntegerField(initial=15, label="Held out", help_text="To test on, and for nothing else.")
    seed = forms.CharField(max_length=64, help_text="Any words. Who knows them can deal the families again.")


class ContrastForm(forms.Form):
    """By which labels runs pass or fail, and how many pairs of each task."""

    queue = forms.ChoiceField(required=False, help_text="By the labels of one queue, or of all.")
    most = forms.IntegerField(initial=1, label="Pairs of each task, at most")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].choices = [("", "every queue"), *((q.slug, q.name) for q in queue_rows(project))]


class BenchmarkForm(forms.Form):
    name = forms.CharField(max_length=120)
    source = forms.CharField(max_length=300, help_text="Where it was taken from: an address, a version.")
    licence = forms.CharField(max_length=120)
    file = forms.FileField(
        help_text="A JSON list, JSON lines, or a text a line. Where texts may not be copied: their hashes as sha256. "
        "At most 20 MB."
    )


class SignLeakForm(forms.Form):
    reason = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3}), label="Why they may leave all the same"
    )


class TermsForm(forms.Form):
    """A field for each threshold of a release."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (title, default, low, high) in TERMS.items():
            bounds = f"From {low:g} to {high:g}." if high <= 1 else ""
            self.fields[name] = forms.FloatField(
                label=title, initial=default, help_text=bounds, widget=forms.NumberInput(attrs={"step": "any"})
            )


class PricesForm(forms.Form):
    """A field for each price; what is left empty has none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (title, _most) in PRICES.items():
            self.fields[name] = forms.FloatField(
                label=title, required=False, widget=forms.NumberInput(attrs={"step": "any", "min": 0})
            )

    def clean(self) -> dict[str, Any]:
        """Only what was filled in."""
        return {name: price for name, price in self.cleaned_data.items() if price is not None}


class CompileForm(forms.Form):
    """One rung of one decision. Whether it can be compiled is for the action to say."""

    criterion = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    at_least = forms.IntegerField(required=False, label="Passes from")
    rung = forms.ChoiceField(choices=Rung)
    rules = forms.CharField(required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 4}))

    judge = forms.UUIDField(required=False)
    budget = forms.DecimalField(required=False, label="Budget in US dollars")

    def clean_rules(self) -> list[dict[str, Any]]:
        try:
            return rules_from_lines(self.cleaned_data["rules"])
        except WrongRules as error:
            raise forms.ValidationError(str(error)) from error

    def clean_budget(self) -> Decimal:
        return self.cleaned_data["budget"] or Decimal(0)

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked for; the judge by its id."""
        return dict(self.cleaned_data)


class GraderForm(forms.Form):
    name = forms.CharField(max_length=120)
    kind = forms.ChoiceField(choices=GraderKind)
    criterion = forms.ChoiceField(required=False, label="Judges")
    note = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criterion"].choices = [("", "the run as a whole"), *criterion_titles(project)]


class VersionSetForm(forms.Form):
    threshold = forms.FloatField(
        required=False,
        label="Passes from",
        help_text="Empty: a grader that passes or fails passes at its highest value; no other is decided.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    attempts_cap = forms.IntegerField(
        required=False, label="Asked of one item at most", help_text="Empty: without limit."
    )


class GraderVersionForm(forms.Form):
    """What scores. Whatever of it changes is another version."""

    label = forms.CharField(required=False, max_length=120, help_text="A name of your own.")
    model = forms.CharField(required=False, max_length=200)
    fingerprint = forms.CharField(required=False, max_length=128, label="Hash of its prompt or code")
    environment = forms.CharField(required=False, max_length=200)
    scale = forms.ChoiceField(choices=GraderScale)
    lowest = forms.FloatField(initial=0, widget=forms.NumberInput(attrs={"step": "any"}))
    highest = forms.FloatField(initial=1, widget=forms.NumberInput(attrs={"step": "any"}))
    threshold = VersionSetForm.base_fields["threshold"]
    attempts_cap = VersionSetForm.base_fields["attempts_cap"]
    source = forms.CharField(
        required=False, max_length=200, help_text="The name under which its scores come in with runs."
    )
    parameters = forms.JSONField(
        required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text='JSON, such as {"temperature": 0}.'
    )

    def __init__(self, *args: Any, sources: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if sources:
            known = ", ".join(sources[:8])
            self.fields["source"].help_text = f"The name under which its scores come in with runs: {known}."

    def clean_parameters(self) -> dict[str, Any]:
        given = self.cleaned_data["parameters"]
        if given is not None and not isinstance(given, dict):
            raise forms.ValidationError("The parameters are a JSON object of names and values.")
        return given or {}


class ScoresFileForm(forms.Form):
    file = forms.FileField(
        help_text="JSON lines, or CSV by its name; each row names an item or run and a value. At most 10 MB."
    )


class AuditForm(forms.Form):
    """Which of a version's verdicts raters check, and by which rubric they judge first."""

    name = forms.CharField(max_length=120, label="Name of the queue")
    which = forms.ChoiceField(
        choices=[("passed", "What it passes"), ("failed", "What it fails"), ("all", "Both")], label="Of its verdicts"
    )
    most = forms.IntegerField(initial=50, min_value=1, label="How many, at most")
    rubric = forms.ChoiceField(help_text="One that does not ask raters to check graders gets a next version that does.")
    guideline = forms.ChoiceField()
    overlap = forms.IntegerField(initial=1, min_value=1, label="Raters for each")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known: dict[str, dict[str, Any]] = {
            "rubric": {
                str(row.uid): row
                for row in sorted(rubrics(project), key=lambda row: not row.audits)
                if row.item_kind == ItemKind.TRAJECTORY
            },
            "guideline": {str(row.uid): row for row in guidelines(project)},
        }
        for field, rows in self.known.items():
            self.fields[field].choices = [(uid, str(row)) for uid, row in rows.items()]

    def clean_rubric(self) -> Any:
        return self.known["rubric"][self.cleaned_data["rubric"]]

    def clean_guideline(self) -> Any:
        return self.known["guideline"][self.cleaned_data["guideline"]]
