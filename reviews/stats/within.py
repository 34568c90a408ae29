"""Whether raters agree with themselves: the same formulas on ratings that one rater gave to one unit twice or more.

A unit here is one rater on one unit, and occasions, in the order of time, stand where other people stand elsewhere. How
well people agree with themselves is a ceiling for how well they can agree with each other.
"""

from dataclasses import dataclass, replace

import numpy as np

from reviews.stats.agreement import Alpha, Level, estimate, percent_agreement
from reviews.stats.bias import Bias, bias
from reviews.stats.counts import MISSING, Ratings, from_codes
from reviews.stats.numbers import agreement_of_numbers
from reviews.stats.pairs import cohen_kappa
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, Reason, without_value

# From so many on, whole raters are drawn for the interval of all together: one rater's repeats hang together.
ENOUGH_RATERS = 10
NO_REPEATS = "Nobody has rated an item twice, so there is nothing to compare."


@dataclass(frozen=True)
class WithinRater:
    """One rater, by code, over the units they rated repeatedly; `n` of them.

    `kappa` and `drift` compare the first rating with the last: `drift` says to which labels the rater has moved, as the
    share of a label at first minus its share at last. Of numbers, which may all be different, there is neither.
    """

    rater: int
    n: int
    percent: Estimate
    alpha: Estimate
    kappa: Estimate | None
    drift: Bias | None


@dataclass(frozen=True)
class WithinRaters:
    """All raters together, and each by themselves. `n_units` of the estimates counts repeated (rater, unit)."""

    percent: Estimate
    alpha: Estimate
    raters: tuple[WithinRater, ...]


def within_raters(
    units: np.ndarray,
    raters: np.ndarray,
    labels: np.ndarray,
    times: np.ndarray,
    *,
    scores: np.ndarray,
    level: Level = "nominal",
    tolerance: float | None = None,
    bootstrap: Bootstrap | None = None,
    wholes: np.ndarray | None = None,
) -> WithinRaters:
    """One row per rating, repeats included; `times` is anything that can be sorted. Label -1 is no answer.

    With a tolerance the scores are numbers: the same no farther apart than that, and compared at interval level.

    The interval of all raters together draws whole raters where there are `ENOUGH_RATERS`, else repeated units. Where
    units are parts of something, such as steps of a run, `wholes` has its code for each unit, and whole ones are drawn.
    """
    repeated = _repeated(*_in_time(units, raters, labels, times), scores)
    people, cluster = np.unique(repeated.raters, return_inverse=True)
    # What one rater said twice of the parts of one whole.
    parts = None if wholes is None else _codes(repeated.raters, np.asarray(wholes)[repeated.units])
    drawn, clusters = bootstrap, parts
    if bootstrap is not None and len(people) >= ENOUGH_RATERS:
        drawn, clusters = replace(bootstrap, over="raters"), cluster
    counting = _Counting(level, tolerance)
    percent, alpha = counting.of(repeated.ratings, drawn, clusters, len(people))
    found = tuple(_one(int(person), repeated, counting, bootstrap, parts) for person in people)
    return WithinRaters(percent, alpha, found)


@dataclass(frozen=True)
class _Counting:
    """By which formulas."""

    level: Level
    tolerance: float | None

    def of(
        self, ratings: Ratings, bootstrap: Bootstrap | None, clusters: np.ndarray | None, n_people: int
    ) -> tuple[Estimate, Estimate]:
        """The share of the same, and alpha."""
        if self.tolerance is None:
            percent = percent_agreement(ratings, bootstrap=bootstrap, clusters=clusters)
            alpha = estimate(ratings, Alpha(self.level, ratings.scores), bootstrap=bootstrap, clusters=clusters)
        else:
            found = agreement_of_numbers(ratings, tolerance=self.tolerance, bootstrap=bootstrap, clusters=clusters)
            percent, alpha = found.within, found.alpha
        return of_people(percent, n_people), of_people(alpha, n_people)


@dataclass(frozen=True)
class _Repeated:
    """Ratings of (rater, unit) by occasion; and per (rater, unit) both codes, the first label and the last."""

    ratings: Ratings
    raters: np.ndarray
    units: np.ndarray
    first: np.ndarray
    last: np.ndarray


def _codes(*columns: np.ndarray) -> np.ndarray:
    """One code for each row that is different."""
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def _in_time(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units, raters and labels of the answers given, so that those of one rater on one unit follow each other."""
    units, raters, labels, times = (np.asarray(column).ravel() for column in columns)
    given = labels != MISSING
    units, raters, labels, times = units[given], raters[given], labels[given], times[given]
    order = np.lexsort((times, units, raters))
    return units[order], raters[order], labels[order]


def _repeated(units: np.ndarray, raters: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> _Repeated:
    starts = np.ones(len(units), dtype=bool)
    starts[1:] = (units[1:] != units[:-1]) | (raters[1:] != raters[:-1])
    begins = np.flatnonzero(starts)
    lengths = np.diff(np.append(begins, len(units)))
    occasion = np.arange(len(units)) - np.repeat(begins, lengths)
    kept = lengths >= 2
    number = np.cumsum(kept) - 1
    rows = np.repeat(kept, lengths)
    repeated = from_codes(
        np.repeat(number, lengths)[rows], occasion[rows], labels[rows], scores=scores, n_units=int(kept.sum())
    )
    begins, ends = begins[kept], (begins + lengths - 1)[kept]
    return _Repeated(repeated, raters[begins], units[begins], labels[begins], labels[ends])


def _one(
    person: int, repeated: _Repeated, counting: _Counting, bootstrap: Bootstrap | None, parts: np.ndarray | None
) -> WithinRater:
    own = repeated.raters == person
    ratings = repeated.ratings.keep(own[repeated.ratings.units])
    percent, alpha = counting.of(ratings, bootstrap, parts, 1)
    kappa = drift = None
    if counting.tolerance is None:
        table = np.zeros((ratings.n_labels, ratings.n_labels), dtype=np.int64)
        np.add.at(table, (repeated.first[own], repeated.last[own]), 1)
        kappa, drift = of_people(cohen_kappa(table, name="Cohen's kappa, first and last rating"), 1), bias(table)
    return WithinRater(person, int(np.count_nonzero(own)), percent, alpha, kappa, drift)


def of_people(estimate: Estimate, n_raters: int) -> Estimate:
    """The estimate counts occasions as raters; what is meant is people."""
    if not estimate.n_units:
        return without_value(replace(estimate, n_raters=0), Reason.NO_PAIRS, NO_REPEATS)
    return replace(estimate, n_raters=n_raters)
