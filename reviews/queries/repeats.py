"""How far raters agree with themselves: what they said of an item, and what they said when it came again unmarked.

On each occasion the first revision counts: a correction may come from having thought of the other.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef

from reviews.models import Judgment, Membership, Queue
from reviews.queries.agreement import FLOOR
from reviews.queries.answers import Answers, answers_in
from reviews.queries.compared import Compared, compared
from reviews.stats.agreement import Alpha
from reviews.stats.bias import Bias
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below
from reviews.stats.within import WithinRater, within_raters

# A shift is told where it would come by chance less often than this.
SURPRISING = 0.05


@dataclass(frozen=True)
class RaterWithin:
    """One rater on one criterion; `n` items, or parts of items, answered twice. `drift` is a sentence, or empty."""

    rater_id: int
    rater: str
    n: int
    percent: Estimate
    kappa: Estimate
    drift: str


@dataclass(frozen=True)
class CriterionWithin:
    """All raters on one criterion; `unit` is what was answered twice."""

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
    """Everything about repeats in a queue. A fixed number of queries."""
    again = Judgment.objects.filter(queue=queue, item=OuterRef("item"), rater=OuterRef("rater"), occasion=2, revision=1)
    both = Judgment.objects.filter(Exists(again), queue=queue, revision=1)
    answers, raters = _by_occasion(answers_in(queue, both, few=True), both)
    names = {
        member.user_id: str(member.user)
        for member in Membership.objects.filter(project=queue.project_id).select_related("user")
    }
    questions = [criterion for criterion in queue.rubric.criteria.all() if criterion.is_comparable]
    return Within(
        n_repeats=len(raters),
        criteria=tuple(
            _on(criterion.key, criterion.title, compared(answers, criterion), raters, names) for criterion in questions
        ),
    )


def _by_occasion(answers: Answers, both: Any) -> tuple[Answers, np.ndarray]:
    """The same answers with occasions in place of raters, and one rater on one item in place of an item; whose each is.

    So whatever compares two people compares a person with themselves.
    """
    occasion = np.array(both.order_by("pk").values_list("occasion", flat=True), dtype=np.int64)
    n_raters = max(len(answers.rater_ids), 1)
    pairs, unit_of = np.unique(answers.item_of * n_raters + answers.rater_of, return_inverse=True)
    raters = np.array(answers.rater_ids, dtype=np.int64)[pairs % n_raters]
    uids = [answers.item_uids[item] for item in (pairs // n_raters).tolist()]
    return replace(answers, item_uids=uids, item_of=unit_of, rater_of=occasion - 1, rater_ids=[1, 2]), raters


def _on(key: str, title: str, asked: Compared, raters: np.ndarray, names: dict[int, str]) -> CriterionWithin:
    rated = asked.ratings
    found = within_raters(
        rated.units,
        raters[asked.item_of_unit[rated.units]],
        rated.labels,
        rated.raters,
        scores=rated.scores,
        # Sets and numbers are compared as equal or not: nobody says by how much a person may differ from themselves.
        level=asked.coefficient.level if isinstance(asked.coefficient, Alpha) else "nominal",
        bootstrap=Bootstrap(),
    )
    return CriterionWithin(
        key=key,
        title=title,
        unit=asked.unit,
        percent=refuse_below(found.percent, FLOOR),
        alpha=refuse_below(found.alpha, FLOOR),
        raters=tuple(_rater(one, asked.names, names) for one in found.raters),
    )


def _rater(one: WithinRater, labels: tuple[str, ...], names: dict[int, str]) -> RaterWithin:
    return RaterWithin(
        rater_id=one.rater,
        rater=names[one.rater],
        n=one.n,
        percent=refuse_below(one.percent, FLOOR),
        kappa=refuse_below(one.kappa, FLOOR),
        drift=_drift(one.drift, labels),
    )


def _drift(drift: Bias, labels: tuple[str, ...]) -> str:
    """To which answer the rater has moved, where chance alone is a poor reason for it."""
    if drift.test.p is None or drift.test.p >= SURPRISING:
        return ""
    shift, label = min((shift.value or 0.0, label) for shift, label in zip(drift.shifts, labels, strict=False))
    return f"Says “{label}” more often the second time, by {-shift:.0%} of the answers (p {drift.test.p:.3f})."
