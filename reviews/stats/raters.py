"""What one rater does to agreement: the coefficient without them, and how they compare with others or known labels."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from reviews.stats.agreement import Coefficient, from_rows, values
from reviews.stats.bias import Bias, bias
from reviews.stats.counts import MISSING, Ratings
from reviews.stats.pairs import shared_units
from reviews.stats.proportion import wilson
from reviews.stats.resampling import jackknife_error
from reviews.stats.result import Estimate, Reason, without_interval, without_value

JACKKNIFE = "95% normal, jackknife over items"
REACH = NormalDist().inv_cdf(0.975)
# On so many units most raters have met two others.
ENOUGH_UNITS = 5_000


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One rater, by code, and the coefficient without them.

    `change` is `without` minus the value with everybody: above 0, the others agree better alone.
    """

    rater: int
    n: int
    without: Estimate
    change: Estimate


@dataclass(frozen=True, slots=True)
class AgainstRest:
    """How often a rater's label is the one most others gave. Units where the others tie are left out and counted."""

    rater: int
    n_tied: int
    share: Estimate


@dataclass(frozen=True, slots=True)
class AgainstLabels:
    """A rater, by code, against labels from elsewhere.

    `table` (labels, labels) counts on how many units the rater said the first where the label is the second, `share` is
    how often both are the same, `bias` whether the rater leans to some labels.
    """

    rater: int
    table: np.ndarray
    share: Estimate
    bias: Bias


def leave_one_out(ratings: Ratings, coefficient: Coefficient) -> list[LeftOut]:
    """For every rater with a rating, the coefficient without their ratings, and how much it changes by that.

    Nothing is counted again: the units a rater saw move from their pattern to the pattern that is left. Empty where
    nobody rated anything.
    """
    counts, times = ratings.patterns.counts, ratings.patterns.times
    if not counts.size:
        return []
    n_labels = ratings.n_labels
    m = counts.sum(axis=1)
    as_is = coefficient.rows(counts)
    less_one = coefficient.rows(np.maximum(_with_one_label_less(counts).reshape(-1, n_labels), 0))
    # Kinds of unit as seen from one rater: pattern and own label, then patterns of units they did not see.
    rows = np.concatenate([np.repeat(as_is, n_labels, axis=0), as_is])
    rows_without = np.concatenate([less_one, as_is])
    m_without = np.concatenate([np.repeat(m - 1, n_labels), m])
    given = np.concatenate([np.repeat(m >= 2, n_labels), np.zeros(len(m), dtype=bool)])

    seen = _seen_by_rater(ratings)
    n_pairing_without = _pairing_without(ratings)
    found = []
    for rater in np.flatnonzero(seen.any(axis=(1, 2))).tolist():
        kinds = np.concatenate([seen[rater].ravel(), times - seen[rater].sum(axis=1)])
        used = kinds > 0
        bare = Estimate(
            coefficient.name,
            None,
            n_units=int(kinds @ (m_without >= 2)),
            n_pairs=int(kinds @ (m_without * (m_without - 1))) // 2,
            n_raters=int(n_pairing_without[rater]),
            method=JACKKNIFE,
        )
        without = _without(bare, coefficient, rows_without[used], kinds[used])
        change = _change(without, coefficient, rows[used], rows_without[used], kinds[used])
        found.append(LeftOut(rater, int(kinds @ given), without, change))
    return found


def compare_with_rest(ratings: Ratings) -> tuple[np.ndarray, np.ndarray]:
    """Per rating: whether most of the others on the unit gave one label, and whether the rating is that label."""
    others = _with_one_label_less(ratings.patterns.counts)
    top = others.max(axis=2, initial=0)
    one_top = (others == top[:, :, None]).sum(axis=2) == 1
    own_is_top = np.diagonal(others, axis1=1, axis2=2) == top
    shown = ratings.patterns.of_unit[ratings.units], ratings.labels
    counted = one_top[shown] & (ratings.per_unit[ratings.units] >= 2)
    return counted, counted & own_is_top[shown]


def against_rest(ratings: Ratings) -> list[AgainstRest]:
    """Every rater with a comparable rating against the majority of the others on the same units."""
    counted, right = compare_with_rest(ratings)
    pairable = ratings.per_unit[ratings.units] >= 2
    n_seen, n, n_right = (
        np.bincount(ratings.raters[rows], minlength=ratings.n_raters) for rows in (pairable, counted, right)
    )
    return [
        AgainstRest(
            rater,
            int(n_seen[rater] - n[rater]),
            wilson(int(n_right[rater]), int(n[rater]), statistic="Same as the majority of the others"),
        )
        for rater in np.flatnonzero(n_seen).tolist()
    ]


def against_labels(
    ratings: Ratings, labels: np.ndarray, *, decided_by: np.ndarray | None = None
) -> list[AgainstLabels]:
    """Every rater against labels that are known or decided, (units,), -1 where there is none.

    `decided_by` (units,) is the rater whose decision the label is, or -1; it says nothing of how that rater judges, so
    it is left out for them.
    """
    theirs = np.asarray(labels)[ratings.units]
    used = theirs != MISSING
    if decided_by is not None:
        used &= np.asarray(decided_by)[ratings.units] != ratings.raters
    return _against(ratings, theirs, used, "Same as the label")


def against_majority(ratings: Ratings) -> list[AgainstLabels]:
    """Every rater against the majority of the others, label by label, and to which labels they lean."""
    counted, _ = compare_with_rest(ratings)
    others = ratings.counts[ratings.units]
    others[np.arange(len(others)), ratings.labels] -= 1
    return _against(ratings, others.argmax(axis=1), counted, "Same as the majority of the others")


def _against(ratings: Ratings, theirs: np.ndarray, used: np.ndarray, name: str) -> list[AgainstLabels]:
    k = ratings.n_labels
    cells = (ratings.raters[used] * k + ratings.labels[used]) * k + theirs[used]
    tables = np.bincount(cells, minlength=ratings.n_raters * k * k).reshape(-1, k, k)
    return [
        AgainstLabels(
            rater,
            tables[rater],
            wilson(int(np.trace(tables[rater])), int(tables[rater].sum()), statistic=name),
            bias(tables[rater]),
        )
        for rater in np.unique(ratings.raters).tolist()
    ]


def _with_one_label_less(counts: np.ndarray) -> np.ndarray:
    """(patterns, label taken away, labels). Where the pattern has no such label the entry is -1 and means nothing."""
    return counts[:, None, :] - np.eye(counts.shape[1], dtype=counts.dtype)[None]


def _seen_by_rater(ratings: Ratings) -> np.ndarray:
    """(raters, patterns, labels): on how many units of a pattern the rater gave the label."""
    shape = ratings.n_raters, len(ratings.patterns.counts), ratings.n_labels
    group = (ratings.raters * shape[1] + ratings.patterns.of_unit[ratings.units]) * shape[2] + ratings.labels
    return np.bincount(group, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)


def _pairing_without(ratings: Ratings) -> np.ndarray:
    """For every rater, how many of the others still share a unit with somebody when this one is gone."""
    rated = np.bincount(ratings.raters, minlength=ratings.n_raters) > 0
    # Further units only bring further partners: who has two on the first ones keeps one, whoever goes.
    first = shared_units(ratings.keep(ratings.units < ENOUGH_UNITS)) > 0
    if (first.sum(axis=0)[rated] >= 2).all():
        return np.asarray(rated.sum() - rated)
    shared = shared_units(ratings)
    still = shared.sum(axis=0)[:, None] - shared > 0
    np.fill_diagonal(still, False)
    return still.sum(axis=0)


def _without(bare: Estimate, coefficient: Coefficient, rows: np.ndarray, kinds: np.ndarray) -> Estimate:
    if not bare.n_units:
        return without_value(bare, Reason.NO_PAIRS, "Without this rater no item has two ratings.")
    estimate = from_rows(bare, coefficient, rows, kinds, bootstrap=None)
    if not estimate.defined:
        return estimate
    error = jackknife_error(lambda sums: values(coefficient, sums), rows, kinds)
    return _jackknifed(replace(estimate, method=JACKKNIFE), error, top=1.0)


def _change(
    without: Estimate, coefficient: Coefficient, rows: np.ndarray, rows_without: np.ndarray, kinds: np.ndarray
) -> Estimate:
    """The paired difference, so that what both values share does not widen its interval."""
    n_features = rows.shape[1]

    def difference(sums: np.ndarray) -> np.ndarray:
        return values(coefficient, sums[:, n_features:]) - values(coefficient, sums[:, :n_features])

    both = np.hstack([rows, rows_without])
    change = float(difference((kinds @ both)[None, :])[0])
    bare = replace(without, statistic=f"Change of {without.statistic} without this rater", low=None, high=None)
    if np.isnan(change):
        return without_value(bare, without.reason or Reason.NO_VARIATION)
    return _jackknifed(replace(bare, value=change, reason=None, words=""), jackknife_error(difference, both, kinds))


def _jackknifed(estimate: Estimate, error: float | None, top: float = 2.0) -> Estimate:
    """The estimate with its interval. No spread at all means that resampling cannot tell, so no interval is given."""
    if estimate.n_units < 2:
        return without_interval(estimate, Reason.ONE_UNIT)
    if not error or estimate.value is None:
        return without_interval(estimate, Reason.UNSTABLE)
    return replace(estimate, low=estimate.value - REACH * error, high=min(top, estimate.value + REACH * error))
