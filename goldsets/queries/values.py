"""What judgments and labels say, as {key: value}, the form in which `goldsets.stats.matching` compares.

A key is that of the criterion, with "/2" behind it where the second candidate is meant; the labels of steps are one
value under a key of their own. Text that is written freely is left out: nobody can be right or wrong on it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from goldsets.queries.questions import STEPS_KEY
from goldsets.stats.matching import Value
from reviews.enums import CriterionKind
from reviews.models import LabelStep, LabelValue, Rating, StepLabel


def said_in(judgments: Iterable[int]) -> dict[int, dict[str, Value]]:
    """By judgment. Two queries."""
    judgments = list(judgments)
    rows = Rating.objects.filter(judgment__in=judgments).select_related("criterion")
    found: dict[int, dict[str, Value]] = defaultdict(dict)
    for row in rows:
        found[row.judgment_id] |= values_of([row])
    steps: dict[int, dict[int, int]] = defaultdict(dict)
    labels = StepLabel.objects.filter(judgment__in=judgments).order_by("step")
    for judgment, step, value in labels.values_list("judgment", "step", "value"):
        steps[judgment][step] = value
    for judgment, labelled in steps.items():
        found[judgment] |= values_of_steps(labelled)
    return found


def labelled_in(label: int) -> dict[str, Value]:
    """Of one label. Two queries."""
    values = LabelValue.objects.filter(label=label).select_related("criterion").order_by("criterion__position")
    steps = LabelStep.objects.filter(label=label).order_by("step").values_list("step", "value")
    return values_of(values) | values_of_steps(dict(steps))


def values_of(rows: Iterable[Any]) -> dict[str, Value]:
    """Of any answers that have a criterion, a candidate and the columns of `AnyValue`."""
    return {key_of(row): value for row in rows if (value := _value(row)) is not None}


def values_of_steps(labels: dict[int, int]) -> dict[str, Value]:
    """The labels of all steps as one value; nothing where there are none. JSON knows no numbers as keys."""
    return {STEPS_KEY: {str(step): value for step, value in labels.items()}} if labels else {}


def key_of(row: Any) -> str:
    return row.criterion.key if row.candidate is None else f"{row.criterion.key}/{row.candidate}"


def criterion_of(key: str) -> str:
    """The criterion's own key."""
    return key.partition("/")[0]


def _value(row: Any) -> Value | None:
    """The one value that can be compared; of a preference the order, or why there is none, and not how strong it is."""
    kind = row.criterion.kind
    if kind == CriterionKind.TEXT:
        return None
    if kind == CriterionKind.NUMBER:
        return row.number
    if kind == CriterionKind.MULTI_CHOICE:
        return list(row.choices or ())
    if kind == CriterionKind.PREFERENCE:
        return row.tie or list(row.ranks or ())
    return row.value
