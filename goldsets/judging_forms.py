"""The forms of judges and probes. They read what was entered; what is allowed is for the actions to say."""

from decimal import Decimal
from typing import Any

from django import forms

from goldsets.actions.judges import MOST_EXAMPLES
from goldsets.enums import JudgeProtocol, JudgeScope
from goldsets.queries.graders import criterion_titles
from goldsets.queries.judges import judges_of
from reviews.models import Project
from reviews.queries.listings import guidelines_of, rubrics_of
from reviews.queries.projects import queue_rows


class JudgeRunForm(forms.Form):
    """Which judge, over what, for how much."""

    judge = forms.ChoiceField(help_text="By its rubric, it is asked about the queue's items.")
    queue = forms.ChoiceField()
    scope = forms.ChoiceField(
        choices=JudgeScope, label="Items", help_text="Those that it has scored at this attempt are left out."
    )
    budget = forms.DecimalField(
        initial=5,
        min_value=Decimal("0.01"),
        decimal_places=2,
        label="Budget",
        help_text="US dollars. Nothing is asked that could go over.",
    )
    attempt = forms.IntegerField(
        initial=1, min_value=1, max_value=100, help_text="2 asks a second time, to see how far its scores vary."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].choices = [
            (str(setup.version.uid), f"{setup.version} ({setup.version.model}, {setup.rubric})")
            for setup in judges_of(project)
        ]
        self.fields["queue"].choices = [(str(queue.uid), queue.name) for queue in queue_rows(project)]


class ResumeForm(forms.Form):
    budget = forms.DecimalField(
        min_value=Decimal("0.01"), label="Budget in all", widget=forms.NumberInput(attrs={"step": "any"})
    )


class JudgeForm(forms.Form):
    """By what a judge asks."""

    name = forms.CharField(max_length=120, help_text="A judge of this name that is there gets its next version.")
    criterion = forms.ChoiceField(
        required=False, label="Judges", help_text="The whole: every gate, or which is better."
    )
    rubric = forms.ChoiceField()
    guideline = forms.ChoiceField()
    protocol = forms.ChoiceField(
        choices=JudgeProtocol, required=False, initial=JudgeProtocol.CHAT.value, label="Is asked as"
    )
    model = forms.CharField(max_length=200, help_text="As the endpoint or service knows it.")
    price_in = forms.DecimalField(
        min_value=0,
        decimal_places=4,
        required=False,
        label="Price of a million tokens in",
        help_text="US dollars, of a model; 0 for one's own.",
    )
    price_out = forms.DecimalField(min_value=0, decimal_places=4, required=False, label="Price of a million tokens out")
    price_each = forms.DecimalField(
        min_value=0, decimal_places=6, required=False, label="Price of an answer", help_text="US dollars, of a service."
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, widget=forms.NumberInput(attrs={"step": "any"})
    )
    max_tokens = forms.IntegerField(
        required=False, min_value=1, label="Tokens of an answer, at most", help_text="2,000 if left out."
    )
    examples = forms.IntegerField(
        required=False,
        initial=0,
        widget=forms.Select(choices=[(0, "none"), *((n, n) for n in range(2, MOST_EXAMPLES + 1, 2))]),
        help_text="Settled runs with what experts said and cited, half pass and half fail. Every question carries "
        "them, and nothing is proven on their families.",
    )
    label = forms.CharField(max_length=120, required=False, help_text="What is new in this version.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criterion"].choices = [("", "the whole"), *criterion_titles(project)]
        self.fields["rubric"].choices = [(str(row.uid), str(row)) for row in rubrics_of(project)]
        self.fields["guideline"].choices = [(str(row.uid), str(row)) for row in guidelines_of(project)]

    @property
    def definition(self) -> dict[str, Any]:
        """What `define_judge_named` takes, with rubric and guideline by their ids."""
        given = dict(self.cleaned_data)
        told = {name: given.pop(name) for name in ("temperature", "max_tokens")}
        parameters = {name: value for name, value in told.items() if value is not None}
        protocol = given["protocol"] or JudgeProtocol.CHAT
        return {**given, "protocol": protocol, "examples": given["examples"] or 0, "parameters": parameters}


class MakeProbesForm(forms.Form):
    queue = forms.ChoiceField(help_text="Its settled runs are turned into probes. Gold and held-out runs are not.")
    most = forms.IntegerField(initial=5, min_value=1, max_value=50, label="Of each kind, at most")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].choices = [(str(queue.uid), queue.name) for queue in queue_rows(project)]


class PutProbesForm(forms.Form):
    version = forms.ChoiceField()
    budget = forms.DecimalField(
        initial=5, min_value=0, decimal_places=2, help_text="US dollars, of a judging model that runs from here."
    )

    def __init__(self, *args: Any, versions: list[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["version"].choices = [(str(each.number), str(each)) for each in versions]


class HookForm(forms.Form):
    url = forms.CharField(max_length=500, label="Address", help_text="It takes a run as JSON and answers with a score.")


class PromoteForm(forms.Form):
    reason = forms.CharField(
        required=False, max_length=2000, label="Why, although something is missing", help_text="For leads."
    )


class ProbeCheckForm(forms.Form):
    verdict = forms.ChoiceField(
        choices=[("pass", "It passes"), ("fail", "It fails"), ("unclear", "It cannot be told")],
        widget=forms.RadioSelect,
        label="Your verdict",
    )
    note = forms.CharField(required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))
