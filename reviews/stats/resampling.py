"""Intervals by drawing units again: percentile bootstrap over units or clusters of units, and the jackknife.

Every coefficient here is a formula on a sum over units. So a resample needs only how often each kind of unit was drawn:
one multinomial draw over the kinds and one matrix product, however many ratings lie behind them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

# Weights held at once while resampling; bounds memory, not the number of resamples.
CHUNK_CELLS = 2_000_000
# From so many units on, leaving one out is told by the slope to more digits than anybody reads.
LINEAR_FROM = 5_000
# One multinomial draw costs about so many drawn units for each kind there is.
UNITS_FOR_A_KIND = 8
# Of more units than this, hardly any two alike, random groups are drawn. A thousand of them tell the spread to 2%,
# about as well as a thousand resamples do.
GROUPS = 1000


@dataclass(frozen=True)
class Bootstrap:
    """How an interval is made. The same seed on the same data gives the same interval.

    `over` says in a word what is drawn: items, or the groups they come in.
    """

    replicates: int = 1000
    confidence: float = 0.95
    seed: int = 20111
    over: str = "items"

    @property
    def method(self) -> str:
        return f"{self.confidence:.0%} percentile bootstrap over {self.over}, {self.replicates:,} resamples"


def resampled_sums(rows: np.ndarray, times: np.ndarray, bootstrap: Bootstrap) -> Iterator[np.ndarray]:
    """Sums over units drawn with replacement, in chunks of (resamples, features).

    `rows` holds the features of each kind of unit, `times` how many units are of that kind.
    """
    n_units = int(times.sum())
    if n_units < UNITS_FOR_A_KIND * len(rows):
        units = np.repeat(rows, times, axis=0)
        chunk = max(1, CHUNK_CELLS // n_units)
        for start in range(0, bootstrap.replicates, chunk):
            size = min(chunk, bootstrap.replicates - start)
            yield _drawn_units(n_units, size, bootstrap.seed + start) @ units
        return
    share = times / n_units
    rng = np.random.default_rng(bootstrap.seed)
    chunk = max(1, CHUNK_CELLS // len(rows))
    for start in range(0, bootstrap.replicates, chunk):
        size = min(chunk, bootstrap.replicates - start)
        yield rng.multinomial(n_units, share, size=size).astype(float) @ rows


@lru_cache(maxsize=2)
def _drawn_units(n_units: int, size: int, seed: int) -> np.ndarray:
    """How often each unit is drawn in each of `size` resamples. Several statistics of the same units follow in turn."""
    drawn = np.random.default_rng(seed).integers(0, n_units, (size, n_units))
    # Each resample has cells of its own, so that one count does for all.
    drawn += np.arange(size)[:, None] * n_units
    times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)
    times.flags.writeable = False
    return times


def in_groups(rows: np.ndarray, times: np.ndarray, bootstrap: Bootstrap) -> tuple[np.ndarray, np.ndarray]:
    """Features and number of each kind, or, of very many units of many kinds, those of random groups of units.

    Whole groups are then drawn. For ratios of sums alone, because the groups differ by a unit in size.
    """
    n_units = int(times.sum())
    if n_units <= GROUPS or UNITS_FOR_A_KIND * len(rows) <= GROUPS:
        return rows, times
    group = np.random.default_rng(bootstrap.seed).permutation(n_units) % GROUPS
    return sums_by_cluster(np.repeat(rows, times, axis=0), group)


def sums_by_cluster(rows: np.ndarray, clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features summed within each cluster, and how many clusters each row stands for, which is one."""
    n_clusters = int(clusters.max()) + 1
    summed = np.stack([np.bincount(clusters, weights=column, minlength=n_clusters) for column in rows.T], axis=1)
    return summed, np.ones(n_clusters, dtype=np.int64)


def percentile_interval(values: np.ndarray, bootstrap: Bootstrap) -> tuple[float, float] | None:
    """The middle `confidence` of the defined values; None when more than one resample in twenty is not defined."""
    defined = values[~np.isnan(values)]
    if len(defined) < 0.95 * len(values):
        return None
    tail = (1 - bootstrap.confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def jackknife_error(values_of: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, times: np.ndarray) -> float | None:
    """Standard error from leaving out one unit at a time; None when that leaves something undefined.

    Of many units, each changes the value by its features times the slope of the value (the infinitesimal jackknife).
    """
    n_units = times.sum()
    sums = times @ rows
    left = values_of(sums - rows) if n_units < LINEAR_FROM else -(rows @ _slope(values_of, sums))
    if n_units < 2 or np.isnan(left).any():
        return None
    return float(np.sqrt((n_units - 1) / n_units * (times @ (left - times @ left / n_units) ** 2)))


def _slope(values_of: Callable[[np.ndarray], np.ndarray], sums: np.ndarray) -> np.ndarray:
    """How much the value changes with each feature, from a small step to either side."""
    steps = np.diag(1e-5 * np.maximum(np.abs(sums), 1))
    return (values_of(sums + steps) - values_of(sums - steps)) / (2 * np.diagonal(steps))


def most_that_could_differ(n_units: int, confidence: float) -> float:
    """Upper limit on the share of units with a disagreement, when none of `n_units` shows one (exact binomial)."""
    return 1 - float((1 - confidence) / 2) ** (1 / n_units)
