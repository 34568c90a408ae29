"""The forms of leads' and engineers' pages. They read what was entered; what is allowed is for the actions to say."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings

from reviews.actions.tokens import LONGEST_NAME, longest_life
from reviews.arrival import in_a_line, read_conditions
from reviews.enums import ItemKind, Provenance, QueueOrder, RedactionKind, Role, SettleRule, Tier, Verifiability
from reviews.errors import Conflict, Invalid
from reviews.models import ArrivalRule, Masking, Project, Redaction
from reviews.queries.items import family_words, queues_for, queues_to_fill
from reviews.queries.projects import guidelines, rubrics
from reviews.trajectories.detect import AUTO, FORMATS


def attempt(form: forms.Form, action: Callable[..., Any], **given: Any) -> Any:
    """What the action returns, or None with what it refused written to the form's fields. Forbidden goes through."""
    try:
        return action(**given)
    except Invalid as error:
        for name, sentence in error.errors.items():
            form.add_error(name if name in form.fields else None, sentence)
    except Conflict as error:
        form.add_error(error.field if error.field in form.fields else None, error.message)
    return None


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role, initial=Role.EXPERT)
    tier = forms.ChoiceField(choices=Tier, initial=Tier.EXPERT, help_text="How far their judgment is trusted.")
    note = forms.CharField(required=False, max_length=200, help_text="For your own list: whom it is for.")
    days = forms.IntegerField(initial=14, min_value=1, max_value=90, label="Days it works")


class TokenForm(forms.Form):
    name = forms.CharField(max_length=LONGEST_NAME, help_text="What it is for, such as the program or machine.")
    days = forms.IntegerField(min_value=1, label="Days it works")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = self.fields["days"]
        days.initial = settings.API_TOKEN_DAYS or None
        days.required = bool(settings.API_TOKEN_DAYS)
        days.help_text = f"At most {longest_life()}." + ("" if days.required else " Empty: until you revoke it.")
        days.widget.attrs["max"] = longest_life()


class MemberForm(forms.Form):
    role = forms.ChoiceField(choices=Role)
    tier = forms.ChoiceField(choices=Tier)


class GuidelineForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="Saving under a name that exists makes its next version.")
    text = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 22, "spellcheck": "true"}),
        strip=False,
        help_text="Markdown: # heading, - list, **bold**, `code`.",
    )


class QueueSettingsForm(forms.Form):
    """What may change while people judge."""

    name = forms.CharField(max_length=120)
    lease_minutes = forms.IntegerField(
        initial=30,
        min_value=1,
        max_value=1440,
        help_text="After so many minutes without a sign of life an item goes back to the queue.",
    )
    settle_rule = forms.ChoiceField(choices=SettleRule, label="An item settles when")
    overlap_cap = forms.IntegerField(
        required=False,
        initial=0,
        min_value=0,
        max_value=20,
        label="Where raters differ, ask at most",
        help_text="So many people in all, one more at a time, before a lead is asked. 0: nobody more than the overlap.",
    )
    sure_from = forms.FloatField(
        required=False,
        initial=0,
        min_value=0,
        max_value=0.999,
        label="Ask one more while the answer is less sure than",
        help_text="A probability, such as 0.9, by the raters' own errors, found from all. 0: only where they differ.",
    )
    domains = forms.CharField(
        required=False,
        max_length=600,
        label="Only raters who know one of these fields",
        help_text="With commas between, as noted of people; such as law, billing. Empty: everybody.",
    )
    repeat_rate = forms.FloatField(
        required=False,
        initial=0,
        min_value=0,
        max_value=0.3,
        widget=forms.NumberInput(attrs={"step": "0.01"}),
        label="Share of items judged twice",
        help_text="With this chance a rater gets, unmarked, an item of their own again. 0 to 0.3; 0: never.",
    )
    repeat_after = forms.IntegerField(
        required=False,
        initial=20,
        min_value=1,
        max_value=1000,
        label="Others between the two, at least",
        help_text="How many other items lie between two judgments of the same one.",
    )
    lead_answers_first = forms.BooleanField(
        required=False,
        label="Leads answer first",
        help_text="A lead answers an item before they see what its raters said. Their answer is kept.",
    )


class NewQueueForm(QueueSettingsForm):
    """A queue with what stays as it is for good."""

    rubric = forms.ModelChoiceField(queryset=None, empty_label="choose one")
    guideline = forms.ModelChoiceField(queryset=None, empty_label="choose one")
    overlap = forms.IntegerField(initial=2, min_value=1, max_value=20, help_text="How many people judge each item.")
    order = forms.ChoiceField(
        choices=QueueOrder,
        initial=QueueOrder.SHUFFLED,
        help_text="With known answers mixed in, always shuffled.",
    )
    shows_prelabel = forms.BooleanField(
        required=False,
        label="Raters see what graders said",
        help_text="Before they judge. It sways them, so it is noted on every judgment.",
    )
    field_order = [
        *("name", "rubric", "guideline", "overlap", "settle_rule", "overlap_cap", "sure_from"),
        *("domains", "repeat_rate", "repeat_after", "lead_answers_first", "lease_minutes", "order", "shows_prelabel"),
    ]

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, versions in (("rubric", rubrics(project)), ("guideline", guidelines(project))):
            self.fields[name].queryset = versions
            # Where there is one alone, nobody has to choose.
            self.fields[name].empty_label = None if versions.count() == 1 else self.fields[name].empty_label


class ImportForm(forms.Form):
    """A file of runs and what to note of all of them."""

    file = forms.FileField(help_text="JSON, JSON lines or .eval, also packed as gzip, zstd or ZIP, of any size.")
    format = forms.ChoiceField(choices=[(AUTO, "Find out"), *((name, known.title) for name, known in FORMATS.items())])
    queue = forms.ModelChoiceField(
        queryset=None, required=False, empty_label="none, only import", help_text="New items go into it at once."
    )
    domain = forms.CharField(required=False, max_length=100, help_text="Such as retail or airline.")
    family = forms.CharField(required=False, max_length=100, help_text="The behavioural family. Empty: the domain.")
    model = forms.CharField(required=False, max_length=200, help_text="Who made the runs. No rater ever sees it.")
    licence = forms.CharField(
        required=False,
        max_length=120,
        help_text="Under which the file may be used, such as CC-BY-4.0. Releases ask it.",
    )
    policy = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Shown beside every run that brings no policy of its own.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].queryset = queues_to_fill(project)

    @property
    def first(self) -> list[forms.BoundField]:
        """What everybody fills in."""
        return [self[name] for name in ("file", "format", "queue")]

    @property
    def more(self) -> list[forms.BoundField]:
        """What the runs themselves often say."""
        return [self[name] for name in ("domain", "family", "model", "licence", "policy")]

    @property
    def given(self) -> dict[str, Any]:
        """What an import takes."""
        given = dict(self.cleaned_data)
        licence = given.pop("licence")
        return given | ({"settings": {"licence": licence}} if licence else {})

    @property
    def more_is_given(self) -> bool:
        return any(field.errors or field.data for field in self.more)


class FillForm(forms.Form):
    """Which of the project's items to put into a queue."""

    family = forms.ChoiceField(required=False, widget=forms.Select(attrs={"class": "field"}))
    most = forms.IntegerField(
        initial=100, min_value=1, max_value=100_000, widget=forms.NumberInput(attrs={"class": "field"})
    )

    def __init__(self, *args: Any, families: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["family"].choices = [("", "every family"), *((name, family_words(name)) for name in families)]


class RuleForm(forms.Form):
    """A rule on arrival. `given` is what its action takes."""

    name = forms.CharField(max_length=80)
    queue = forms.ModelChoiceField(queryset=None, empty_label=None)
    conditions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One a line, such as outcome.result in failure, crash. All must hold; none means every item.",
    )
    percent = forms.FloatField(
        initial=100,
        min_value=0.0001,
        max_value=100,
        label="Share, in percent",
        help_text="Drawn by content: what is in at 5% is in at 10%.",
    )
    priority = forms.IntegerField(
        initial=0,
        min_value=0,
        max_value=9,
        help_text="0 takes its turn; 1 to 9 come before what waits, the highest first.",
    )
    position = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="In which order rules are tried. Empty: the last."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].queryset = queues_to_fill(project)

    @staticmethod
    def initial_of(rule: ArrivalRule) -> dict[str, Any]:
        lines = "\n".join(in_a_line(condition) for condition in rule.conditions)
        known = {name: getattr(rule, name) for name in ("name", "queue", "priority", "position")}
        return {**known, "conditions": lines, "percent": float(f"{rule.share * 100:.10g}")}

    def clean_conditions(self) -> list[dict[str, Any]]:
        try:
            return read_conditions(self.cleaned_data["conditions"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    @property
    def given(self) -> dict[str, Any]:
        data = self.cleaned_data
        known = {name: data[name] for name in ("name", "queue", "conditions", "priority")}
        position = {"position": data["position"]} if data["position"] is not None else {}
        return {**known, **position, "share": data["percent"] / 100}


class RedactionForm(forms.Form):
    """What a project replaces. `given` is what the action takes."""

    kinds = forms.MultipleChoiceField(
        choices=RedactionKind, required=False, widget=forms.CheckboxSelectMultiple, label="Found and replaced"
    )
    region = forms.CharField(
        required=False,
        max_length=2,
        label="Country",
        help_text="Its phone numbers are found without a prefix. Two letters, such as US.",
    )
    own = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        label="Own expressions",
        help_text="One a line: a name, a colon, a regular expression. order: ORD-[0-9]+ becomes ⟦order 1⟧.",
    )

    @staticmethod
    def initial_of(redaction: Redaction) -> dict[str, Any]:
        lines = "\n".join(f"{each['name']}: {each['pattern']}" for each in redaction.own)
        return {"kinds": redaction.kinds, "region": redaction.region, "own": lines}

    def clean_own(self) -> list[dict[str, str]]:
        own = []
        for number, line in enumerate(self.cleaned_data["own"].splitlines(), start=1):
            if not line.strip():
                continue
            name, colon, pattern = line.partition(":")
            if not colon:
                raise forms.ValidationError(f"Line {number} has no colon between a name and an expression.")
            own.append({"name": name.strip(), "pattern": pattern.strip()})
        return own

    @property
    def given(self) -> dict[str, Any]:
        return {**self.cleaned_data, "region": self.cleaned_data["region"].strip().upper()}


class MaskingForm(forms.Form):
    """What raters do not read. `given` is what the action takes."""

    own_model = forms.BooleanField(
        required=False,
        label="The name of the model that made the run",
        help_text="In full, without date or provider, its family and its maker.",
    )
    words = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One a line, whatever their case. “Claude 3.5” also hides claude-3-5.",
    )
    patterns = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label="Expressions",
        help_text="One regular expression a line. (?i)as an ai model made by \\w+",
    )

    @staticmethod
    def initial_of(masking: Masking) -> dict[str, Any]:
        lines = {name: "\n".join(getattr(masking, name)) for name in ("words", "patterns")}
        return {**lines, "own_model": masking.own_model}

    def clean_words(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip()]

    def clean_patterns(self) -> list[str]:
        return [line for line in self.cleaned_data["patterns"].splitlines() if line.strip()]

    @property
    def given(self) -> dict[str, Any]:
        return dict(self.cleaned_data)


class ComparisonForm(forms.Form):
    """What is said of runs that are laid beside each other."""

    differs_in = forms.CharField(
        required=False,
        max_length=200,
        label="They differ in",
        help_text="The one decision in which they part, as “asks before it pays”. Raters do not see it.",
    )
    provenance = forms.ChoiceField(choices=Provenance, initial=Provenance.MODEL)
    queue = forms.ModelChoiceField(queryset=None, required=False, empty_label="none", label="Put it into")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].queryset = queues_for(project, ItemKind.COMPARISON)


class ByTaskForm(forms.Form):
    """How many comparisons are made of each task's runs."""

    size = forms.IntegerField(initial=2, min_value=2, max_value=8, label="Candidates each")
    most = forms.IntegerField(initial=3, min_value=1, max_value=50, label="At most, of each task")
    family = forms.ChoiceField(required=False, help_text="Of the tasks of this family only.")
    queue = forms.ModelChoiceField(queryset=None, required=False, empty_label="none", label="Put them into")

    def __init__(self, *args: Any, project: Project, families: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["family"].choices = [("", "every family"), *((name, family_words(name)) for name in families)]
        self.fields["queue"].queryset = queues_for(project, ItemKind.COMPARISON)


class TaskForm(forms.Form):
    """A task as a lead writes it, with runs that are there."""

    key = forms.CharField(max_length=200, required=False, help_text="The same key makes the task's next version.")
    title = forms.CharField(max_length=200, required=False)
    family = forms.CharField(max_length=100, required=False)
    prompt = forms.CharField(widget=forms.Textarea(attrs={"rows": 5}), max_length=200_000)
    intent = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=200_000, help_text="What a run that passes is to show."
    )
    world = forms.CharField(widget=forms.Textarea(attrs={"rows": 4}), max_length=200_000, required=False)
    verifier = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 8, "class": "mono"}), max_length=200_000, required=False, strip=False
    )
    recipe = forms.CharField(max_length=100, required=False, help_text="The version of the recipe that made it.")
    axis = forms.CharField(max_length=200, required=False, label="Made harder by")
    verifiability = forms.ChoiceField(required=False, choices=[("", "not said"), *Verifiability.choices])
    production_prompts = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}),
        required=False,
        label="Prompts of real use",
        help_text="To compare with; an empty line between two.",
    )
    runs = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text="A run a line: its item's address or id, then its role (solver, hacker, …), then passed or failed.",
    )
    queue = forms.ModelChoiceField(queryset=None, required=False, empty_label="none", label="Put it into")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].queryset = queues_for(project, ItemKind.TASK)
