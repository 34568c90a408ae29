"""Whether raters agree with themselves: the same formulas on ratings that one rater gave to one unit twice or more.

A unit here is one rater on one unit, and occasions, in the order of time, stand where other people stand elsewhere. How
well people agree with themselves is a ceiling for how well they can agree with each other.
"""

from dataclasses import dataclass, replace

import numpy as np

from reviews.stats.agreement import Alpha, Level, estimate, percent_agreement
from reviews.stats.bias import Bias, bias
from reviews.stats.counts import MISSING, Ratings, from_codes
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
    share of a label at first minus its share at last.
    """

    rater: int
    n: int
    percent: Estimate
    alpha: Estimate
    kappa: Estimate
    drift: Bias


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
    bootstrap: Bootstrap | None = None,
) -> WithinRaters:
    """One row per rating, repeats included; `times` is anything that can be sorted. Label -1 is no answer.

    The interval of all raters together draws whole raters where there are `ENOUGH_RATERS`, else repeated units.
    """
    repeated, who, first, last = _repeated(*_in_time(units, raters, labels, times), scores)
    alpha = Alpha(level, repeated.scores)
    people, cluster = np.unique(who, return_inverse=True)
    drawn, clusters = bootstrap, None
    if bootstrap is not None and len(people) >= ENOUGH_RATERS:
        drawn, clusters = replace(bootstrap, over="raters"), cluster
    return WithinRaters(
        percent=_of_people(percent_agreement(repeated, bootstrap=drawn, clusters=clusters), len(people)),
        alpha=_of_people(estimate(repeated, alpha, bootstrap=drawn, clusters=clusters), len(people)),
        raters=tuple(
            _one(int(person), repeated.keep(who[repeated.units] == person), first[at], last[at], alpha, bootstrap)
            for person in people
            for at in [who == person]
        ),
    )


def _in_time(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units, raters and labels of the answers given, so that those of one rater on one unit follow each other."""
    units, raters, labels, times = (np.asarray(column).ravel() for column in columns)
    given = labels != MISSING
    units, raters, labels, times = units[given], raters[given], labels[given], times[given]
    order = np.lexsort((times, units, raters))
    return units[order], raters[order], labels[order]


def _repeated(
    units: np.ndarray, raters: np.ndarray, labels: np.ndarray, scores: np.ndarray
) -> tuple[Ratings, np.ndarray, np.ndarray, np.ndarray]:
    """Ratings of (rater, unit) by occasion; and per (rater, unit) the rater, the first label and the last."""
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
    return repeated, raters[begins], labels[begins], labels[ends]


def _one(
    person: int, repeated: Ratings, first: np.ndarray, last: np.ndarray, alpha: Alpha, bootstrap: Bootstrap | None
) -> WithinRater:
    table = np.zeros((repeated.n_labels, repeated.n_labels), dtype=np.int64)
    np.add.at(table, (first, last), 1)
    return WithinRater(
        rater=person,
        n=len(first),
        percent=_of_people(percent_agreement(repeated, bootstrap=bootstrap), 1),
        alpha=_of_people(estimate(repeated, alpha, bootstrap=bootstrap), 1),
        kappa=_of_people(cohen_kappa(table, name="Cohen's kappa, first and last rating"), 1),
        drift=bias(table),
    )


def _of_people(estimate: Estimate, n_raters: int) -> Estimate:
    """The estimate counts occasions as raters; what is meant is people."""
    if not estimate.n_units:
        return without_value(replace(estimate, n_raters=0), Reason.NO_PAIRS, NO_REPEATS)
    return replace(estimate, n_raters=n_raters)
