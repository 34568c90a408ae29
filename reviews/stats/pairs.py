"""Two raters at a time: Cohen's kappa with any weights, and the matrix of all pairs.

A table counts, for two raters, how often the first said i while the second said j. Many tables are worked on at once.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from reviews.stats.agreement import Fleiss, Weights, disagreement_weights
from reviews.stats.analytic import analytic_estimate
from reviews.stats.counts import Ratings, from_codes
from reviews.stats.proportion import wilson
from reviews.stats.resampling import most_that_could_differ
from reviews.stats.result import Estimate, Reason, refuse_below, without_value


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters, by code, with the units they share. `n` is always known; the estimates may be refused."""

    first: int
    second: int
    n: int
    percent: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class Kappas:
    """Cohen's kappa of many tables: 1 - observed/expected disagreement, and the standard error of that."""

    n: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    error: np.ndarray


def co_ratings(ratings: Ratings) -> np.ndarray:
    """(raters, raters, labels, labels): on how many units a said i and b said j.

    Memory grows with the square of the raters.
    """
    size = ratings.n_raters * ratings.n_labels
    order = np.argsort(ratings.units, kind="stable")
    said = (ratings.raters * ratings.n_labels + ratings.labels)[order]
    starts = np.cumsum(ratings.per_unit) - ratings.per_unit
    flat = np.zeros(size * size, dtype=np.int64)
    for m in np.unique(ratings.per_unit[ratings.per_unit >= 2]):
        # Units with m ratings form a block of m columns; every pair of columns is a pair of raters on each of them.
        block = said[starts[ratings.per_unit == m][:, None] + np.arange(m)]
        for column in range(m - 1):
            cells = block[:, column, None] * size + block[:, column + 1 :]
            flat += np.bincount(cells.ravel(), minlength=size * size)
    once = flat.reshape(ratings.n_raters, ratings.n_labels, ratings.n_raters, ratings.n_labels).transpose(0, 2, 1, 3)
    return once + once.transpose(1, 0, 3, 2)


def shared_units(ratings: Ratings) -> np.ndarray:
    """(raters, raters): how many units two raters share; 0 with oneself."""
    one_label = replace(ratings, labels=np.zeros_like(ratings.labels), scores=np.zeros(1))
    return co_ratings(one_label)[:, :, 0, 0]


def cohen_kappa(
    table: np.ndarray, *, v: np.ndarray | None = None, name: str = "Cohen's kappa", confidence: float = 0.95
) -> Estimate:
    """Cohen's kappa (1960) of one table, weighted (1968) by the disagreement weights `v`.

    The interval is that of Fleiss, Cohen and Everitt (1969).
    """
    table = np.asarray(table)
    v = 1.0 - np.eye(len(table)) if v is None else np.asarray(v, dtype=float)
    return _estimate(kappas(table[None], v), 0, v, name, confidence)


def scott_pi(
    table: np.ndarray, *, v: np.ndarray | None = None, name: str = "Scott's pi", confidence: float = 0.95
) -> Estimate:
    """Scott's pi (1955) of one table (labels, labels): chance agreement from the shares of both raters together.

    Fleiss' kappa of two raters, with Gwet's analytic error.
    """
    table = np.asarray(table)
    v = 1.0 - np.eye(len(table)) if v is None else np.asarray(v, dtype=float)
    return analytic_estimate(from_table(table), Fleiss(v, name), confidence=confidence)


def from_table(table: np.ndarray) -> Ratings:
    """The ratings behind a table (labels, labels) of two raters: raters 0 and 1, a unit for every count."""
    table = np.asarray(table)
    cells = np.repeat(np.arange(table.size), table.ravel())
    units = np.arange(len(cells))
    said = np.concatenate([cells // len(table), cells % len(table)])
    raters = np.repeat([0, 1], len(cells))
    return from_codes(np.tile(units, 2), raters, said, scores=range(len(table)))


def kappas(tables: np.ndarray, v: np.ndarray) -> Kappas:
    """(tables, labels, labels) -> everything about kappa, one entry per table."""
    n = tables.sum(axis=(1, 2))
    p = tables / np.where(n > 0, n, 1)[:, None, None]
    row, column = p.sum(axis=2), p.sum(axis=1)
    observed = (p * v).sum(axis=(1, 2))
    expected = np.einsum("ti,ij,tj->t", row, v, column)
    kappa = 1 - np.where(expected > 0, observed / np.where(expected > 0, expected, 1), 1)
    # The formula is stated for agreement weights w = 1 - v/max v.
    largest = v.max(initial=0) or 1
    w = 1 - v / largest
    w_row, w_column = np.einsum("ij,tj->ti", w, column), np.einsum("ij,ti->tj", w, row)
    chance = 1 - expected / largest
    inner = w - (w_row[:, :, None] + w_column[:, None, :]) * (1 - kappa)[:, None, None]
    spread = (p * inner**2).sum(axis=(1, 2)) - (kappa - chance * (1 - kappa)) ** 2
    scale = np.where((n > 0) & (expected > 0), n * (expected / largest) ** 2, 1)
    return Kappas(n, observed, expected, np.sqrt(np.maximum(spread, 0) / scale))


def pairwise(ratings: Ratings, *, weights: Weights = "identity", floor: int = 10) -> list[Pair]:
    """Every two raters that share a unit: percent agreement and kappa, refused below `floor` shared units."""
    tables = co_ratings(ratings)
    v = disagreement_weights(weights, ratings.scores)
    name = "Cohen's kappa" if weights == "identity" else f"Cohen's kappa, {weights} weights"
    firsts, seconds = np.triu_indices(ratings.n_raters, k=1)
    tables = tables[firsts, seconds]
    shared = tables.sum(axis=(1, 2)) > 0
    firsts, seconds, tables = firsts[shared], seconds[shared], tables[shared]
    found = kappas(tables, v)
    same = np.trace(tables, axis1=1, axis2=2)
    return [
        Pair(
            int(first),
            int(second),
            int(found.n[at]),
            refuse_below(_percent(int(same[at]), int(found.n[at])), floor),
            refuse_below(_estimate(found, at, v, name, 0.95), floor),
        )
        for at, (first, second) in enumerate(zip(firsts, seconds, strict=True))
    ]


def _percent(same: int, n: int) -> Estimate:
    share = wilson(same, n, statistic="Percent agreement")
    return Estimate(share.statistic, share.value, share.low, share.high, n, n, 2, share.method)


def _estimate(found: Kappas, at: int, v: np.ndarray, name: str, confidence: float) -> Estimate:
    n = int(found.n[at])
    method = f"{confidence:.0%} normal, Fleiss-Cohen-Everitt error"
    bare = Estimate(name, None, n_units=n, n_pairs=n, n_raters=2, method=method)
    if n == 0:
        return without_value(bare, Reason.NO_PAIRS)
    expected = float(found.expected[at])
    if expected <= 0:
        return without_value(bare, Reason.NO_VARIATION)
    value = 1 - float(found.observed[at]) / expected
    if n < 2:
        words = "One item gives no interval."
        return Estimate(name, value, None, None, n, n, 2, method, Reason.ONE_UNIT, words)
    if found.observed[at] == 0:
        low = max(-1.0, 1 - most_that_could_differ(n, confidence) * float(v.max()) / expected)
        method = f"no pair differs: {confidence:.0%} exact binomial limit on items that could"
        return Estimate(name, value, low, 1.0, n, n, 2, method)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * float(found.error[at])
    return Estimate(name, value, max(-1.0, value - reach), min(1.0, value + reach), n, n, 2, method)
