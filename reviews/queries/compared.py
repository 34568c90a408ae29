"""How the answers to each kind of question are compared: the units, the scale, the level of measurement.

A unit is what two raters answer the same question about: an item; one of its candidates; of a preference two
candidates of an item; of step labels a step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reviews.enums import CriterionKind, GateAnswer, Scope
from reviews.models import Criterion
from reviews.queries.answers import NO_VALUE, Answers
from reviews.stats.agreement import (
    Alpha,
    AlphaByDistance,
    Coefficient,
    Level,
    Weights,
    estimate,
    gwet_ac,
    percent_agreement,
)
from reviews.stats.counts import MISSING, Ratings, from_codes
from reviews.stats.numbers import agreement_of_numbers
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate
from reviews.stats.sets import distances

# Tables of labels are made for up to so many of them: who says what, pair by pair, and what is mixed up.
FEW_LABELS = 64
# Codes of candidates and steps within an item are below this.
WITHIN = 100_000
AHEAD = ("A", "level", "B")
IN_RANKING = ("the first of two", "level", "the second of two")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What there is to say of all raters together; `ac` only where it is asked for and the scale is declared."""

    percent: Estimate
    alpha: Estimate
    ac: Estimate | None


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One question's answers. `names` are those of the labels, `item_of_unit` the code of each unit's item.

    `kappa_weights` is how far two labels are apart for Cohen's kappa; `declared` says that the labels are the scale of
    the rubric, so that Gwet's coefficient and a consensus have a meaning. `tolerance` is None but for numbers.
    """

    ratings: Ratings
    item_of_unit: np.ndarray
    names: tuple[str, ...]
    coefficient: Coefficient
    kappa_weights: Weights
    declared: bool
    unit: str = "item"
    tolerance: float | None = None
    n_unsure: int = 0

    @property
    def has_few_labels(self) -> bool:
        return self.ratings.n_labels <= FEW_LABELS

    def part(self, keep: np.ndarray) -> "Compared":
        """Only the ratings kept, and the units they are of."""
        kept = self.ratings.keep(keep)
        rated = np.flatnonzero(kept.per_unit)
        number = np.zeros(kept.n_units, dtype=np.int64)
        number[rated] = np.arange(len(rated))
        renumbered = replace(kept, units=number[kept.units], n_units=len(rated))
        return replace(self, ratings=renumbered, item_of_unit=self.item_of_unit[rated])

    def measured(self, bootstrap: Bootstrap, tasks: np.ndarray | None, *, with_ac: bool = True) -> Measured:
        """Units of one item hang together, as do items of one task where it is given."""
        rated = self.ratings
        clusters = self.clusters(tasks)
        if self.tolerance is not None:
            found = agreement_of_numbers(rated, tolerance=self.tolerance, bootstrap=bootstrap, clusters=clusters)
            return Measured(percent=found.within, alpha=found.alpha, ac=None)
        weights = self.kappa_weights
        return Measured(
            percent=percent_agreement(rated, bootstrap=bootstrap, clusters=clusters),
            alpha=estimate(rated, self.coefficient, bootstrap=bootstrap, clusters=clusters),
            ac=(
                gwet_ac(rated, weights=weights, bootstrap=bootstrap, clusters=clusters)
                if self.declared and with_ac
                else None
            ),
        )

    def clusters(self, tasks: np.ndarray | None) -> np.ndarray | None:
        if tasks is not None:
            return tasks[self.item_of_unit]
        return None if self.unit == "item" else self.item_of_unit

    def items(self, units: Any) -> list[int]:
        """The codes of the items of these units, each once."""
        return np.flatnonzero(np.bincount(self.item_of_unit[np.asarray(units, dtype=np.int64)])).tolist()


def compared(answers: Answers, criterion: Criterion) -> Compared:
    """A criterion's answers on its declared scale."""
    rows = np.flatnonzero(answers.criterion == criterion.pk)
    if criterion.kind == CriterionKind.PREFERENCE:
        return _preferences(answers, criterion, rows)
    if criterion.kind == CriterionKind.MULTI_CHOICE:
        return _sets(answers, criterion, rows)
    if criterion.kind == CriterionKind.NUMBER:
        return _numbers(answers, criterion, rows)
    return _levels(answers, criterion, rows)


def _frame(answers: Answers, criterion: Criterion, rows: np.ndarray) -> dict[str, Any]:
    """Units, raters and the sizes of `from_codes`, and which item each unit is of."""
    judgments = answers.judgment[rows]
    items, raters = answers.item_of[judgments], answers.rater_of[judgments]
    if criterion.scope != Scope.CANDIDATE:
        return {"units": items, "raters": raters, "item_of_unit": np.arange(len(answers.item_uids)), "unit": "item"}
    return within_items(items, answers.candidate[rows]) | {"raters": raters, "unit": "candidate"}


def within_items(items: np.ndarray, parts: np.ndarray) -> dict[str, Any]:
    """Units that are a part of an item, such as a candidate or a step."""
    distinct, units = np.unique(items * WITHIN + parts, return_inverse=True)
    return {"units": units.ravel(), "item_of_unit": distinct // WITHIN}


def _as_ratings(answers: Answers, frame: dict[str, Any], labels: np.ndarray, scores: Any) -> Ratings:
    return from_codes(
        frame["units"],
        frame["raters"],
        labels,
        scores=scores,
        n_units=len(frame["item_of_unit"]),
        n_raters=len(answers.rater_ids),
    )


def scale_of(criterion: Criterion) -> list[int]:
    """The declared values, lowest first."""
    if criterion.is_gate:
        return [GateAnswer.FAIL, GateAnswer.PASS]
    if criterion.kind == CriterionKind.BINARY:
        return [0, 1]
    return sorted(criterion.level_values)


def named(criterion: Criterion, value: int) -> str:
    """An answer as people read it: pass, yes, an option's name, or a level's value and name."""
    if criterion.is_gate:
        return GateAnswer(value).label.lower()
    if criterion.kind == CriterionKind.BINARY:
        return "yes" if value else "no"
    name = criterion.level_name(value)
    return name if criterion.kind == CriterionKind.CHOICE else f"{value} · {name}"


def _levels(answers: Answers, criterion: Criterion, rows: np.ndarray) -> Compared:
    """Gates, yes or no, one of several, and ordered levels. "Unsure" is not on the scale and counts as missing."""
    scale, values = np.array(scale_of(criterion)), answers.value[rows]
    ordered = criterion.kind == CriterionKind.ORDINAL
    level: Level = "ordinal" if ordered else "nominal"
    frame = _frame(answers, criterion, rows)
    return Compared(
        ratings=_as_ratings(answers, frame, codes_on(scale, values), scale),
        item_of_unit=frame["item_of_unit"],
        names=tuple(named(criterion, value) for value in scale.tolist()),
        coefficient=Alpha(level, scale.astype(float)),
        kappa_weights="quadratic" if ordered else "identity",
        declared=True,
        unit=frame["unit"],
        n_unsure=int(np.count_nonzero(values == GateAnswer.UNSURE)) if criterion.is_gate else 0,
    )


def codes_on(scale: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The place of each value on a scale in ascending order; missing where it is not on it."""
    places = np.minimum(np.searchsorted(scale, values), len(scale) - 1)
    return np.where(scale[places] == values, places, MISSING)


def _sets(answers: Answers, criterion: Criterion, rows: np.ndarray) -> Compared:
    """Any of several: the labels are the distinct sets, as far apart as MASI says."""
    bits = {str(value): 1 << place for place, value in enumerate(criterion.level_values)}
    texts, which = np.unique(answers.said[rows], return_inverse=True)
    masks_of_texts = [sum(bits[option] for option in text.split(",") if option) for text in texts.tolist()]
    masks, code_of_text = np.unique(np.array(masks_of_texts, dtype=np.int64), return_inverse=True)
    frame = _frame(answers, criterion, rows)
    labels = code_of_text[which.ravel()] if len(rows) else np.zeros(0, dtype=np.int64)
    return Compared(
        ratings=_as_ratings(answers, frame, labels, range(len(masks))),
        item_of_unit=frame["item_of_unit"],
        names=tuple(_options(criterion, mask) for mask in masks.tolist()),
        coefficient=AlphaByDistance(distances(masks), "Krippendorff's alpha, sets by MASI"),
        kappa_weights="identity",
        declared=False,
        unit=frame["unit"],
    )


def _options(criterion: Criterion, mask: int) -> str:
    chosen = [level["name"] for place, level in enumerate(criterion.levels) if mask >> place & 1]
    return ", ".join(chosen) or "none"


def _numbers(answers: Answers, criterion: Criterion, rows: np.ndarray) -> Compared:
    unit = str(criterion.settings.get("unit", ""))
    return of_numbers(
        answers,
        _frame(answers, criterion, rows),
        answers.number[rows],
        named=lambda number: f"{number:g} {unit}".strip(),
        tolerance=float(criterion.settings.get("tolerance", 0) or 0),
    )


def of_numbers(
    answers: Answers, frame: dict[str, Any], numbers: np.ndarray, *, named: Callable[[float], str], tolerance: float = 0
) -> Compared:
    """Numbers of which there may be as many as answers, by how far they are apart; `named` is how people read one."""
    scores, labels = np.unique(numbers, return_inverse=True)
    few = scores[:FEW_LABELS].astype(float)
    return Compared(
        ratings=_as_ratings(answers, frame, labels.ravel(), scores),
        item_of_unit=frame["item_of_unit"],
        names=tuple(named(score) for score in few.tolist()),
        # Only ever used where there are few labels.
        coefficient=AlphaByDistance((few[:, None] - few[None, :]) ** 2, "Krippendorff's alpha, interval"),
        kappa_weights="quadratic",
        declared=False,
        unit=frame["unit"],
        tolerance=tolerance,
    )


def _preferences(answers: Answers, criterion: Criterion, rows: np.ndarray) -> Compared:
    """Which of two candidates is ahead, wherever each was shown; a tie of any kind is the third answer."""
    pairs = candidate_pairs(answers, rows)
    judgments = answers.judgment[pairs.rows]
    frame = within_items(answers.item_of[judgments], pairs.first * 100 + pairs.second) | {
        "raters": answers.rater_of[judgments]
    }
    is_pair = criterion.settings.get("form") == "pair"
    return Compared(
        ratings=_as_ratings(answers, frame, 1 - pairs.ahead, [-1, 0, 1]),
        item_of_unit=frame["item_of_unit"],
        names=AHEAD if is_pair else IN_RANKING,
        coefficient=Alpha("nominal", np.array([-1.0, 0.0, 1.0])),
        kappa_weights="identity",
        declared=True,
        unit="item" if is_pair else "pair of candidates",
    )


def strengths(answers: Answers, criterion: Criterion) -> Compared | None:
    """By how much the one candidate is better, on the declared steps; None where the criterion has no strength."""
    most = int(criterion.settings.get("strength", 0) or 0)
    if criterion.kind != CriterionKind.PREFERENCE or not most:
        return None
    rows = np.flatnonzero((answers.criterion == criterion.pk) & (answers.value != NO_VALUE))
    scale = np.arange(-most, most + 1)
    frame = _frame(answers, criterion, rows)
    return Compared(
        ratings=_as_ratings(answers, frame, codes_on(scale, answers.value[rows]), scale),
        item_of_unit=frame["item_of_unit"],
        names=tuple("level" if not step else f"{'A' if step < 0 else 'B'} by {abs(step)}" for step in scale.tolist()),
        coefficient=Alpha("ordinal", scale.astype(float)),
        kappa_weights="quadratic",
        declared=True,
    )


@dataclass(frozen=True)
class CandidatePairs:
    """Every two candidates of every answer: `rows` are the ratings, `ahead` is 1 where the first is better, -1, or 0.

    `first` and `second` are positions in the item, the first the smaller.
    """

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray
    ahead: np.ndarray


def candidate_pairs(answers: Answers, rows: np.ndarray) -> CandidatePairs:
    """From ranks by position. There are few distinct rankings, so each is read once."""
    parts: list[np.ndarray] = []
    texts, which = np.unique(answers.said[rows], return_inverse=True)
    for at, text in enumerate(texts.tolist()):
        ranks = np.array([int(rank) for rank in text.split(",") if rank])
        firsts, seconds = np.triu_indices(len(ranks), k=1)
        these = rows[which.ravel() == at]
        ahead = np.sign(ranks[seconds] - ranks[firsts]) if len(ranks) else firsts
        parts.append(
            np.column_stack(
                [
                    np.repeat(these, len(firsts)),
                    *(np.tile(column, len(these)) for column in (firsts + 1, seconds + 1, ahead)),
                ]
            )
        )
    found = np.concatenate(parts) if parts else np.zeros((0, 4))
    return CandidatePairs(*found.astype(np.int64).T)


def step_labels(answers: Answers, words: list[dict[str, Any]]) -> Compared:
    """The rubric's words for steps: a unit is a step of an item."""
    scale = np.array(sorted(word["value"] for word in words))
    name_of = {word["value"]: word["name"] for word in words}
    judgments, steps, values = answers.step_labels.T
    frame = within_items(answers.item_of[judgments], steps) | {"raters": answers.rater_of[judgments]}
    return Compared(
        ratings=_as_ratings(answers, frame, codes_on(scale, values), scale),
        item_of_unit=frame["item_of_unit"],
        names=tuple(f"{value} · {name_of[value]}" for value in scale.tolist()),
        coefficient=Alpha("ordinal", scale.astype(float)),
        kappa_weights="quadratic",
        declared=True,
        unit="step",
    )
