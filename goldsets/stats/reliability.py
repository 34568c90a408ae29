"""Whether a score between 0 and 1 means what it says: reliability curve, Brier score and expected calibration error.

Bins are equally wide; a score on an edge belongs to the bin above it, and 1 to the last. An empty bin counts nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldsets.stats.proportion import wilson
from reviews.stats.resampling import Bootstrap, resampled_sums
from reviews.stats.result import Estimate, Reason, without_interval, without_value

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Scores from `low` up to `high`: their mean, and the share of their runs that experts pass."""

    low: float
    high: float
    mean: float | None
    passes: Estimate


@dataclass(frozen=True)
class Reliability:
    bins: tuple[Bin, ...]
    brier: Estimate
    ece: Estimate
    root_mean_square: float | None
    largest: float | None


def reliability(scores: Sequence[float], truth: Sequence[bool], *, bins: int = BINS) -> Reliability:
    """Brier (1950), and the calibration error of Naeini et al. (2015) over equally wide bins."""
    values, right = np.asarray(scores, float), np.asarray(truth, float)
    draws = Bootstrap()
    brier = Estimate("Brier score", None, n_units=len(values), method=draws.method)
    ece = Estimate("Calibration error", None, n_units=len(values), method=f"{bins} bins, [low, high); no interval")
    if not len(values):
        words = "No settled run has a score yet."
        nothing = [without_value(each, Reason.NO_RATINGS, words) for each in (brier, ece)]
        return Reliability((), nothing[0], nothing[1], None, None)
    if values.min() < 0 or values.max() > 1:
        words = "The scores are no probabilities: some lie outside 0 to 1."
        nothing = [without_value(each, Reason.NO_SCALE, words) for each in (brier, ece)]
        return Reliability((), nothing[0], nothing[1], None, None)
    place = np.minimum((values * bins + 1e-9).astype(int), bins - 1)
    rows, gaps, weights = [], [], []
    for number in range(bins):
        inside = place == number
        n = int(inside.sum())
        mean = float(values[inside].mean()) if n else None
        share = wilson(int(right[inside].sum()), n, statistic="Passed by experts")
        rows.append(Bin(number / bins, (number + 1) / bins, mean, share))
        if mean is not None and share.value is not None:
            gaps.append(abs(mean - share.value))
            weights.append(n / len(values))
    gap, weight = np.array(gaps), np.array(weights)
    error = Estimate(ece.statistic, float(gap @ weight), n_units=len(values), method=ece.method)
    return Reliability(
        tuple(rows), _mean((values - right) ** 2, brier), error, float(np.sqrt(gap**2 @ weight)), float(gap.max())
    )


def _mean(values: np.ndarray, bare: Estimate) -> Estimate:
    full = Estimate(bare.statistic, float(values.mean()), n_units=len(values), method=bare.method)
    if len(values) == 1:
        return without_interval(full, Reason.ONE_UNIT)
    kinds, times = np.unique(values, return_counts=True)
    if len(kinds) == 1:
        return without_interval(full, Reason.UNSTABLE)
    drawn = np.concatenate([sums[:, 0] for sums in resampled_sums(kinds[:, None], times, Bootstrap())]) / len(values)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(bare.statistic, full.value, float(low), float(high), len(values), method=bare.method)
