"""Agreement on numbers that raters type in, of which there may be as many as answers: within a tolerance, and alpha."""

from dataclasses import dataclass

import numpy as np

from reviews.stats.agreement import Share, from_rows, without_anything
from reviews.stats.counts import Ratings, from_codes
from reviews.stats.resampling import Bootstrap, sums_by_cluster
from reviews.stats.result import Estimate
from reviews.stats.steps import IntervalAlpha


@dataclass(frozen=True)
class NumberAgreement:
    """`within` is the mean over units of the share of their pairs no farther apart than the tolerance."""

    within: Estimate
    alpha: Estimate


def number_agreement(
    units: np.ndarray,
    raters: np.ndarray,
    numbers: np.ndarray,
    *,
    tolerance: float = 0,
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> NumberAgreement:
    """One row per unit and rater. Alpha is of interval level, from sums of squares, so every number may be different.

    `clusters` (units,) has the group of each unit where units nest; whole groups are then drawn for intervals.
    """
    numbers = np.asarray(numbers, dtype=float).ravel()
    distinct, labels = np.unique(numbers, return_inverse=True)
    n_units = None if clusters is None else len(clusters)
    answers = from_codes(units, raters, labels.ravel(), scores=distinct, n_units=n_units)
    # Measured from the middle, so that squares stay small.
    values = distinct[answers.labels] - (np.median(distinct) if len(distinct) else 0)
    order = np.argsort(answers.units, kind="stable")
    starts = np.cumsum(answers.per_unit) - answers.per_unit
    features = np.zeros((answers.n_units, 6))
    for m in np.unique(answers.per_unit[answers.per_unit >= 2]):
        block = values[order][starts[answers.per_unit == m][:, None] + np.arange(m)]
        firsts, seconds = np.triu_indices(m, k=1)
        # Numbers are decimals to people: .3 and .2 are .1 apart, whatever they are in binary.
        near = (np.abs(block[:, firsts] - block[:, seconds]) <= tolerance + 1e-9).mean(axis=1)
        total, squares = block.sum(axis=1), (block**2).sum(axis=1)
        ones = np.ones(len(block))
        apart = (m * squares - total**2) / (m - 1)
        features[answers.per_unit == m] = np.column_stack([near, ones, ones * m, total, squares, apart])

    def estimated(coefficient: Share | IntervalAlpha, rows: np.ndarray) -> Estimate:
        bare = without_anything(answers, coefficient)
        if bare.reason:
            return bare
        if clusters is None:
            kinds, times = np.unique(rows, axis=0, return_counts=True)
        else:
            kinds, times = sums_by_cluster(rows, np.asarray(clusters))
        return from_rows(bare, coefficient, kinds, times, bootstrap=bootstrap, clustered=clusters is not None)

    name = f"At most {tolerance:g} apart" if tolerance else "Percent agreement"
    widest = float(np.ptp(distinct)) if len(distinct) else 0.0
    return NumberAgreement(
        within=estimated(Share(name), features[:, :2]), alpha=estimated(IntervalAlpha(widest), features[:, 2:])
    )


def agreement_of_numbers(
    ratings: Ratings, *, tolerance: float, bootstrap: Bootstrap | None, clusters: np.ndarray | None
) -> NumberAgreement:
    """`number_agreement` of ratings whose labels stand for numbers, their `scores`."""
    numbers = ratings.scores[ratings.labels] if len(ratings.labels) else np.zeros(0)
    return number_agreement(
        ratings.units, ratings.raters, numbers, tolerance=tolerance, bootstrap=bootstrap, clusters=clusters
    )
