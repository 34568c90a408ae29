"""How far raters agree with themselves: what they said of an item, and what they said when it came again unmarked.

On each occasion the first revision counts: a correction may come from having thought of the other.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef

from reviews.models import Judgment, Membership, Queue
from reviews.queries.agreement import (
    FIRST_ERROR_KEY,
    FIRST_ERROR_TITLE,
    FLOOR,
    STEP_KEY,
    STEP_LABELS_KEY,
    STEP_LABELS_TITLE,
    STEP_TITLE,
)
from reviews.queries.answers import Answers, answers_in
from reviews.queries.compared import Compared, compared, step_labels, strengths
from reviews.queries.stepwise import (
    CitedSteps,
    NamedSteps,
    cited_steps,
    decisive_steps,
    first_wrong_steps,
    whether_named,
    which_named,
)
from reviews.stats.agreement import Alpha
from reviews.stats.bias import Bias
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below
from reviews.stats.spans import token_agreement
from reviews.stats.steps import NO_STEP
from reviews.stats.within import WithinRater, of_people, within_raters

# A shift is told where it would come by chance less often than this.
SURPRISING = 0.05


@dataclass(frozen=True)
class RaterWithin:
    """One rater on one question; `n` items, or parts of items, answered twice. `drift` is a sentence, or empty.

    Of numbers and places of steps there is no kappa and no drift.
    """

    rater_id: int
    rater: str
    n: int
    percent: Estimate
    alpha: Estimate
    kappa: Estimate | None
    drift: str


@dataclass(frozen=True)
class CriterionWithin:
    """All raters on one question; `unit` is what was answered twice."""

    key: str
    title: str
    unit: str
    percent: Estimate
    alpha: Estimate
    raters: tuple[RaterWithin, ...]


@dataclass(frozen=True)
class Within:
    """`n_repeats` counts the items that somebody judged twice, once per rater."""

    n_repeats: int
    criteria: tuple[CriterionWithin, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def within(queue: Queue) -> Within:
    """Everything about repeats in a queue, on whatever raters answer. A fixed number of queries."""
    again = Judgment.objects.filter(queue=queue, item=OuterRef("item"), rater=OuterRef("rater"), occasion=2, revision=1)
    both = Judgment.objects.filter(Exists(again), queue=queue, revision=1)
    answers, raters = _by_occasion(answers_in(queue, both, few=True), both)
    names = {
        member.user_id: str(member.user)
        for member in Membership.objects.filter(project=queue.project_id).select_related("user")
    }
    repeats = _Repeats(answers, raters, names)
    return Within(n_repeats=len(raters), criteria=tuple(_on_everything(queue, repeats)))


@dataclass(frozen=True)
class _Repeats:
    """Answers by occasion, whose each item's are, and what people are called."""

    answers: Answers
    raters: np.ndarray
    names: dict[int, str]


def _by_occasion(answers: Answers, both: Any) -> tuple[Answers, np.ndarray]:
    """The same answers with occasions in place of raters, and one rater on one item in place of an item; whose each is.

    So whatever compares two people compares a person with themselves.
    """
    occasion = np.array(both.order_by("pk").values_list("occasion", flat=True), dtype=np.int64)
    n_raters = max(len(answers.rater_ids), 1)
    pairs, unit_of = np.unique(answers.item_of * n_raters + answers.rater_of, return_inverse=True)
    raters = np.array(answers.rater_ids, dtype=np.int64)[pairs % n_raters]
    items = (pairs // n_raters).tolist()
    units_of = defaultdict(list)
    for unit, item in enumerate(items):
        units_of[item].append(unit)
    by_occasion = replace(
        answers,
        item_uids=[answers.item_uids[item] for item in items],
        length_of={(unit, run): steps for (item, run), steps in answers.length_of.items() for unit in units_of[item]},
        item_of=unit_of,
        rater_of=occasion - 1,
        rater_ids=[1, 2],
    )
    return by_occasion, raters


def _on_everything(queue: Queue, repeats: _Repeats) -> Iterator[CriterionWithin]:
    answers = repeats.answers
    for criterion in queue.rubric.criteria.all():
        if criterion.is_comparable:
            yield _on(criterion.key, criterion.title, compared(answers, criterion), repeats)
        strength = strengths(answers, criterion)
        if strength:
            yield _on(f"{criterion.key}:strength", f"{criterion.title}: by how much", strength, repeats)
    if queue.rubric.step_labels:
        words = queue.rubric.step_labels["words"]
        yield _on(STEP_LABELS_KEY, STEP_LABELS_TITLE, step_labels(answers, words), repeats)
        yield from _on_places(FIRST_ERROR_KEY, FIRST_ERROR_TITLE, first_wrong_steps(answers), repeats)
    yield from _on_places(STEP_KEY, STEP_TITLE, decisive_steps(answers), repeats)
    cited = cited_steps(answers)
    if len(cited.spans.marks):
        yield _on_citations(cited, repeats)


def _on_places(key: str, title: str, named: NamedSteps, repeats: _Repeats) -> Iterator[CriterionWithin]:
    """Whether there is such a step, and which one where a step was named both times."""
    if (named.steps > NO_STEP).any():
        yield _on(f"{key}:named", f"{title}: whether there is one", whether_named(repeats.answers, named), repeats)
        yield _on(key, f"{title}: which", which_named(repeats.answers, named), repeats)


def _on_citations(cited: CitedSteps, repeats: _Repeats) -> CriterionWithin:
    """Of runs and criteria for which somebody cited steps both times: whether the same ones."""
    found = token_agreement(cited.spans, bootstrap=Bootstrap())
    texts, times = np.unique(cited.spans.judged[:, 0], return_counts=True)
    n_people = len(np.unique(repeats.raters[cited.item_of_text[texts[times == 2]]]))
    f1 = replace(of_people(found.f1, n_people), statistic="F1 of cited steps")
    return CriterionWithin(
        key="evidence",
        title="Steps cited as evidence",
        unit="run and criterion",
        percent=refuse_below(f1, FLOOR),
        alpha=refuse_below(of_people(found.alpha, n_people), FLOOR),
        raters=(),
    )


def _on(key: str, title: str, asked: Compared, repeats: _Repeats) -> CriterionWithin:
    rated = asked.ratings
    found = within_raters(
        rated.units,
        repeats.raters[asked.item_of_unit[rated.units]],
        rated.labels,
        rated.raters,
        scores=rated.scores,
        # Sets are compared as equal or not.
        level=asked.coefficient.level if isinstance(asked.coefficient, Alpha) else "nominal",
        tolerance=asked.tolerance,
        bootstrap=Bootstrap(),
        wholes=None if asked.unit == "item" else asked.item_of_unit,
    )
    return CriterionWithin(
        key=key,
        title=title,
        unit=asked.unit,
        percent=refuse_below(found.percent, FLOOR),
        alpha=refuse_below(found.alpha, FLOOR),
        raters=tuple(_rater(one, asked.names, repeats.names) for one in found.raters),
    )


def _rater(one: WithinRater, labels: tuple[str, ...], names: dict[int, str]) -> RaterWithin:
    return RaterWithin(
        rater_id=one.rater,
        rater=names[one.rater],
        n=one.n,
        percent=refuse_below(one.percent, FLOOR),
        alpha=refuse_below(one.alpha, FLOOR),
        kappa=refuse_below(one.kappa, FLOOR) if one.kappa else None,
        drift=_drift(one.drift, labels) if one.drift else "",
    )


def _drift(drift: Bias, labels: tuple[str, ...]) -> str:
    """To which answer the rater has moved, where chance alone is a poor reason for it."""
    if drift.test.p is None or drift.test.p >= SURPRISING:
        return ""
    shift, label = min((shift.value or 0.0, label) for shift, label in zip(drift.shifts, labels, strict=False))
    return f"Says “{label}” more often the second time, by {-shift:.0%} of the answers (p {drift.test.p:.3f})."
