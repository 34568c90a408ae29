"""Agreement on the first decisive step of a run: whether there is one, and where.

The two parts are reported apart. "No failure point" is an answer of its own; the place is compared only between raters
who name a step.
"""

from dataclasses import dataclass, replace

import numpy as np

from reviews.stats.agreement import Parts, Share, from_rows, krippendorff_alpha, without_anything
from reviews.stats.counts import Ratings, from_codes
from reviews.stats.resampling import Bootstrap, sums_by_cluster
from reviews.stats.result import Estimate

NO_STEP = 0


@dataclass(frozen=True)
class StepsAgreement:
    """`named`: whether there is a failure point (alpha, nominal). The rest is about pairs that both name a step."""

    named: Estimate
    exact: Estimate
    within_one: Estimate
    alpha: Estimate
    distances: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class IntervalAlpha:
    """Krippendorff's alpha at interval level without a table of coincidences, for scales too long to list.

    1 - (n-1) W / (n sum x^2 - (sum x)^2) with W = sum over units of (m sum x^2 - (sum x)^2) / (m - 1).
    Features per unit: m, sum x, sum x^2, its part of W; and the widest distance, kept apart.
    """

    widest: float
    name: str = "Krippendorff's alpha, interval"

    def rows(self, counts: np.ndarray) -> np.ndarray:
        return counts

    def parts(self, sums: np.ndarray) -> Parts:
        n, x, xx, within = sums.T
        n_safe = np.where(n > 1, n, 2)
        total = n * xx - x**2
        # Equal values leave only rounding.
        total = np.where(total > 1e-9 * np.maximum(n * xx, 1), total, 0)
        return Parts(2 * within / n_safe, 2 * total / (n_safe * (n_safe - 1)), np.full(len(sums), self.widest**2))


def step_agreement(
    units: np.ndarray,
    raters: np.ndarray,
    steps: np.ndarray,
    *,
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> StepsAgreement:
    """One row per unit and rater. Steps count from 1; 0 stands for "no failure point", -1 for no answer.

    `clusters` (units,) has the group of each unit where units nest; whole groups are then drawn for intervals.
    """
    longest = int(np.max(steps, initial=0))
    n_units = None if clusters is None else len(clusters)
    answers = from_codes(units, raters, steps, scores=range(longest + 1), n_units=n_units)
    named = replace(answers, labels=(answers.labels != NO_STEP).astype(np.int64), scores=np.array([0.0, 1.0]))
    placed = answers.keep(answers.labels != NO_STEP)
    rows, distances = _place_features(placed)
    exact, within_one, alpha_rows = rows[:, [0, 2]], rows[:, [1, 2]], rows[:, 3:]
    widest = float(np.ptp(placed.labels)) if len(placed.labels) else 0.0
    return StepsAgreement(
        named=krippendorff_alpha(named, level="nominal", bootstrap=bootstrap, clusters=clusters),
        exact=_from_units(placed, Share("Exactly the same step"), exact, bootstrap, clusters),
        within_one=_from_units(placed, Share("Within one step"), within_one, bootstrap, clusters),
        alpha=_from_units(placed, IntervalAlpha(widest), alpha_rows, bootstrap, clusters),
        distances=distances,
    )


def _place_features(placed: Ratings) -> tuple[np.ndarray, tuple[tuple[int, int], ...]]:
    """Features of each unit, (units, 7), zeros without two named steps; and how often each distance occurs.

    The features are: share of pairs exact, share within one step, 1, m, sum x, sum x^2, part of W.
    """
    order = np.argsort(placed.units, kind="stable")
    # Measured from the middle, so that squares stay small and exact.
    middle = int(np.median(placed.labels)) if len(placed.labels) else 0
    x = placed.labels[order] - middle
    starts = np.cumsum(placed.per_unit) - placed.per_unit
    features, apart = np.zeros((placed.n_units, 7)), []
    for m in np.unique(placed.per_unit[placed.per_unit >= 2]):
        block = x[starts[placed.per_unit == m][:, None] + np.arange(m)]
        firsts, seconds = np.triu_indices(m, k=1)
        distance = np.abs(block[:, firsts] - block[:, seconds])
        apart.append(distance.ravel())
        total, squares = block.sum(axis=1), (block**2).sum(axis=1)
        ones = np.ones(len(block))
        exact, near = (distance == 0).mean(axis=1), (distance <= 1).mean(axis=1)
        within = (m * squares - total**2) / (m - 1)
        features[placed.per_unit == m] = np.column_stack([exact, near, ones, ones * m, total, squares, within])
    if not apart:
        return features, ()
    values, times = np.unique(np.concatenate(apart), return_counts=True)
    return features, tuple(zip(values.tolist(), times.tolist(), strict=True))


def _from_units(
    ratings: Ratings,
    coefficient: Share | IntervalAlpha,
    rows: np.ndarray,
    bootstrap: Bootstrap | None,
    clusters: np.ndarray | None,
) -> Estimate:
    bare = without_anything(ratings, coefficient)
    if bare.reason:
        return bare
    if clusters is None:
        kinds, times = np.unique(rows, axis=0, return_counts=True)
    else:
        kinds, times = sums_by_cluster(rows, np.asarray(clusters))
    return from_rows(bare, coefficient, kinds, times, bootstrap=bootstrap, clustered=clusters is not None)
