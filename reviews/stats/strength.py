"""How strong each one is among many that were compared in pairs: Bradley and Terry's model, with ties and order.

With d the strength of the first less that of the second, plus `order` for being shown first, the chances that the first
wins, that they tie and that the second wins are as exp(d/2) : nu : exp(-d/2). [Bradley and Terry 1952; ties as in
Davidson 1970, order as in Davidson and Beaver 1977]

Comparisons of one task, or by one rater, resemble each other. Where it is told which belong together, errors come from
how far whole groups of them pull the strengths (Liang and Zeger 1986), with Student's t for groups - 1.
"""

from dataclasses import dataclass, replace
from math import exp, sqrt
from statistics import NormalDist

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaincc, stdtrit

from reviews.stats.result import (
    WORDS,
    Estimate,
    HypothesisTest,
    Reason,
    without_interval,
    without_test,
    without_value,
)

# A strength beyond this means that it grows without end: nothing in data tells e^15 from e^20.
ENDLESS = 15.0
MAX_STEPS = 100


@dataclass(frozen=True)
class Strengths:
    """`strength` (items,) are logarithms with mean 0 and `covariance` (items, items) is theirs.

    `order` is what the first place adds to the difference, or None where that was not asked for; `ties` is the
    logarithm of nu. Where no finite strengths explain the comparisons the arrays are empty and `reason` says why;
    `groups` (items,) then tells which items hang together. `n_clusters` is how many groups of comparisons the errors
    come from, or None where each stands for itself.
    """

    strength: np.ndarray
    covariance: np.ndarray
    order: Estimate | None
    ties: Estimate
    n_comparisons: int
    n_tied: int
    log_likelihood: float
    method: str
    groups: np.ndarray
    reason: Reason | None = None
    words: str = ""
    confidence: float = 0.95
    n_clusters: int | None = None

    def of(self, item: int) -> Estimate:
        """An item's strength against the mean of all."""
        return self._linear(f"Strength of {item}", [(item, 1.0)])

    def difference(self, first: int, second: int) -> Estimate:
        """By how much the first is stronger; 0 is as strong as the second."""
        return self._linear(f"Strength of {first} over {second}", [(first, 1.0), (second, -1.0)])

    def wins(self, first: int, second: int) -> Estimate:
        """The chance that the first wins where one of them wins and neither has the better place."""
        return as_chance(self.difference(first, second), f"Chance of {first} against {second}")

    def wins_against_all(self, item: int) -> Estimate:
        """The same against one whose strength is the mean of all."""
        return as_chance(self.of(item), f"Chance of {item} against the average")

    def _linear(self, name: str, terms: list[tuple[int, float]]) -> Estimate:
        bare = Estimate(name, None, n_units=self.n_comparisons, method=self.method)
        if self.reason:
            return without_value(bare, self.reason)
        weights = np.zeros(len(self.strength))
        for item, weight in terms:
            weights[item] += weight
        value = float(weights @ self.strength)
        variance = float(weights @ self.covariance @ weights)
        return _with_interval(replace(bare, value=value), variance, self.confidence, self.n_clusters)


def as_chance(difference: Estimate, name: str) -> Estimate:
    """The chance of winning, where one of two wins, that belongs to a difference of strengths."""
    low, value, high = (
        None if x is None else 1 / (1 + exp(-x)) for x in (difference.low, difference.value, difference.high)
    )
    return replace(difference, statistic=name, value=value, low=low, high=high)


def bradley_terry(
    firsts: np.ndarray,
    seconds: np.ndarray,
    outcomes: np.ndarray,
    *,
    n_items: int | None = None,
    times: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    order: bool = False,
    confidence: float = 0.95,
) -> Strengths:
    """One row per comparison: the one shown first, the other, and above 0 if the first won, 0 for a tie, else below 0.

    `times` says how often a row counts. The strengths are the most likely ones, found by Newton's steps; their errors
    are from the curvature of the likelihood, as if comparisons were independent, or with `clusters` (rows,) from whole
    groups of them. Without ties there is no nu.
    """
    firsts, seconds = (np.asarray(column, dtype=np.int64).ravel() for column in (firsts, seconds))
    signs = np.sign(np.asarray(outcomes, dtype=float).ravel()).astype(np.int64)
    if (firsts == seconds).any():
        raise ValueError("nothing is compared with itself")
    n_items = max([int(firsts.max(initial=-1)) + 1, int(seconds.max(initial=-1)) + 1]) if n_items is None else n_items
    weights = np.ones(len(firsts)) if times is None else np.asarray(times, dtype=float).ravel()
    data = _Comparisons.of(firsts, seconds, signs, weights, n_items)
    method = f"Bradley-Terry{' with Davidson ties' if data.n_tied else ''}{' and order' if order else ''}"
    bare = Strengths(
        strength=np.zeros(0),
        covariance=np.zeros((0, 0)),
        order=Estimate("Order effect", None, n_units=data.n, method=method) if order else None,
        ties=Estimate("Tie parameter", None, n_units=data.n, method=method),
        n_comparisons=data.n,
        n_tied=data.n_tied,
        log_likelihood=0.0,
        method=method,
        groups=data.groups(),
        confidence=confidence,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )
    if not data.n:
        return _refused(bare, Reason.NO_RATINGS, "Nothing has been compared yet.")
    if not data.n_won:
        return _refused(
            bare, Reason.NO_VARIATION, "Every comparison was a tie, so nothing tells how strong anything is."
        )
    if bare.groups.max(initial=0) > 0:
        apart = connected_components(data.graph(), directed=False)[0] > 1
        return _refused(bare, Reason.NOT_CONNECTED if apart else Reason.SEPARATED)
    rows = None if clusters is None else _Rows(data.pair_of(firsts, seconds), signs, weights, np.asarray(clusters))
    return _fitted(bare, data, rows)


def order_effect(
    firsts: np.ndarray, seconds: np.ndarray, outcomes: np.ndarray, *, n_items: int | None = None
) -> HypothesisTest:
    """Whether the better place helps: twice the gain in log-likelihood by an order term, on one degree of freedom."""
    name, method = "Order effect in Bradley-Terry", "likelihood ratio, chi-squared"
    with_order = bradley_terry(firsts, seconds, outcomes, n_items=n_items, order=True)
    without = bradley_terry(firsts, seconds, outcomes, n_items=n_items)
    if with_order.reason or without.reason:
        return without_test(
            name, with_order.n_comparisons, method, with_order.reason or without.reason or Reason.SEPARATED
        )
    gain = max(0.0, 2 * (with_order.log_likelihood - without.log_likelihood))
    return HypothesisTest(name, float(gammaincc(0.5, gain / 2)), with_order.n_comparisons, gain, 1, method)


@dataclass(frozen=True)
class _Comparisons:
    """Distinct ordered pairs, and how often the first won, they tied, the second won: (pairs, 3)."""

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    n_items: int

    @classmethod
    def of(
        cls, firsts: np.ndarray, seconds: np.ndarray, signs: np.ndarray, weights: np.ndarray, n_items: int
    ) -> "_Comparisons":
        pairs, which = np.unique(firsts * n_items + seconds, return_inverse=True)
        counts = np.zeros((len(pairs), 3))
        np.add.at(counts, (which.ravel(), 1 - signs), weights)
        return cls(pairs // max(n_items, 1), pairs % max(n_items, 1), counts, n_items)

    def pair_of(self, firsts: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        """The place of each row's pair."""
        return np.searchsorted(self.first * self.n_items + self.second, firsts * self.n_items + seconds)

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def n_tied(self) -> int:
        return int(self.counts[:, 1].sum())

    @property
    def n_won(self) -> int:
        return self.n - self.n_tied

    def graph(self) -> coo_matrix:
        """Who has beaten or tied whom."""
        first_up, second_up = self.counts[:, :2].sum(axis=1) > 0, self.counts[:, 1:].sum(axis=1) > 0
        winners = np.concatenate([self.first[first_up], self.second[second_up]])
        losers = np.concatenate([self.second[first_up], self.first[second_up]])
        return coo_matrix((np.ones(len(winners)), (winners, losers)), shape=(self.n_items, self.n_items))

    def groups(self) -> np.ndarray:
        """(items,) Items of one group have, by way of others, both won and lost against each other."""
        if not self.n_items:
            return np.zeros(0, dtype=np.int64)
        return connected_components(self.graph(), directed=True, connection="strong")[1].astype(np.int64)


@dataclass(frozen=True)
class _Rows:
    """The comparisons one by one: the place of the pair, who won, how often it counts, and its group."""

    pair: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray


def _fitted(bare: Strengths, data: _Comparisons, rows_by_cluster: _Rows | None) -> Strengths:
    """Parameters: a strength per item, then the order if wanted, then ln nu if there are ties."""
    n_items, n_pairs = data.n_items, len(data.first)
    pairs = np.arange(n_pairs)
    rows, columns = [pairs, pairs], [data.first, data.second]
    entries = [np.ones(n_pairs), -np.ones(n_pairs)]
    if bare.order:
        rows, columns = [*rows, pairs], [*columns, np.full(n_pairs, n_items)]
        entries.append(np.ones(n_pairs))
    n_linear = n_items + bool(bare.order)
    shape = n_pairs, n_linear
    design = csr_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    has_ties = data.n_tied > 0
    # Strengths are told only up to a common number: this holds their mean at 0.
    anchor = np.zeros((n_linear + has_ties, n_linear + has_ties))
    anchor[:n_items, :n_items] = 1 / n_items

    at = np.zeros(n_linear + has_ties)
    best, gradient, curvature = _likelihood(at, design, data.counts)
    if bare.order and np.linalg.matrix_rank(curvature + anchor, hermitian=True) < len(at):
        return _refused(bare, Reason.NOT_CONNECTED, "Who was shown first cannot be told apart from who is stronger.")
    for _ in range(MAX_STEPS):
        step = np.linalg.solve(curvature + anchor, gradient)
        size = 1.0
        while True:
            value, new_gradient, new_curvature = _likelihood(at + size * step, design, data.counts)
            if value >= best - 1e-12 * abs(best) or size < 1e-6:
                break
            size /= 2
        at, best, gradient, curvature = at + size * step, value, new_gradient, new_curvature
        if np.abs(at).max() > ENDLESS:
            return _refused(bare, Reason.SEPARATED)
        if np.abs(size * step).max() < 1e-10:
            break
    covariance = np.linalg.inv(curvature + anchor)
    if rows_by_cluster:
        covariance = _by_clusters(covariance, at, design, rows_by_cluster)
    centred = np.eye(n_items) - 1 / n_items
    order, ties = bare.order, without_value(bare.ties, Reason.NOTHING_DIFFERS, "There are no ties.")
    if order:
        order = replace(order, value=float(at[n_items]))
        order = _with_interval(order, covariance[n_items, n_items], bare.confidence, bare.n_clusters)
    if has_ties:
        ties = replace(bare.ties, value=float(at[-1]))
        ties = _with_interval(ties, covariance[-1, -1], bare.confidence, bare.n_clusters)
    return replace(
        bare,
        strength=at[:n_items] - at[:n_items].mean(),
        covariance=centred @ covariance[:n_items, :n_items] @ centred,
        log_likelihood=best,
        order=order,
        ties=ties,
    )


def _likelihood(at: np.ndarray, design: csr_matrix, counts: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The log-likelihood, its slope, and the negative of its curvature. One parameter more than the design is ln nu."""
    n_linear = design.shape[1]
    has_ties = len(at) > n_linear
    total = counts.sum(axis=1)
    logs = _log_chances(at, design)
    p = np.exp(logs)
    used = counts > 0
    value = float((counts[used] * logs[used]).sum())
    # d bears on the three outcomes by 1/2, 0, -1/2; ln nu by 0, 1, 0.
    mean_d = (p[:, 0] - p[:, 2]) / 2
    gradient = design.T @ ((counts[:, 0] - counts[:, 2]) / 2 - total * mean_d)
    weights = total * ((p[:, 0] + p[:, 2]) / 4 - mean_d**2)
    curvature = (design.T @ design.multiply(weights[:, None])).toarray()
    if not has_ties:
        return value, gradient, curvature
    cross = (design.T @ (-total * mean_d * p[:, 1]))[:, None]
    own = np.array([[(total * p[:, 1] * (1 - p[:, 1])).sum()]])
    gradient = np.append(gradient, (counts[:, 1] - total * p[:, 1]).sum())
    return value, gradient, np.block([[curvature, cross], [cross.T, own]])


def _log_chances(at: np.ndarray, design: csr_matrix) -> np.ndarray:
    """(pairs, 3) of the first winning, a tie, the second winning."""
    n_linear = design.shape[1]
    d = design @ at[:n_linear]
    logs = np.stack([d / 2, np.full(len(d), at[-1] if len(at) > n_linear else -np.inf), -d / 2], axis=1)
    top = logs.max(axis=1, keepdims=True)
    found: np.ndarray = logs - top - np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
    return found


def _by_clusters(inverse: np.ndarray, at: np.ndarray, design: csr_matrix, rows: _Rows) -> np.ndarray:
    """The sandwich: how far each group's comparisons pull, squared and summed, between two inverse curvatures."""
    names, group = np.unique(rows.cluster, return_inverse=True)
    n_groups, n_pairs = len(names), design.shape[0]
    p = np.exp(_log_chances(at, design))[rows.pair]
    pull_on_d = rows.weight * (rows.sign - p[:, 0] + p[:, 2]) / 2
    by_pair = csr_matrix((pull_on_d, (group.ravel(), rows.pair)), shape=(n_groups, n_pairs))
    pulls = (by_pair @ design).toarray()
    if len(at) > design.shape[1]:
        on_ties = np.bincount(group.ravel(), rows.weight * ((rows.sign == 0) - p[:, 1]), minlength=n_groups)
        pulls = np.column_stack([pulls, on_ties])
    found: np.ndarray = inverse @ (pulls.T @ pulls) @ inverse * n_groups / max(n_groups - 1, 1)
    return found


def _refused(bare: Strengths, reason: Reason, words: str = "") -> Strengths:
    words = words or WORDS[reason]
    order = without_value(bare.order, reason, words) if bare.order else None
    return replace(bare, reason=reason, words=words, order=order, ties=without_value(bare.ties, reason, words))


def _with_interval(full: Estimate, variance: float, confidence: float, n_clusters: int | None) -> Estimate:
    """The estimate with an interval by the curvature, or by groups of comparisons."""
    how = "normal by curvature" if n_clusters is None else f"Student's t over {n_clusters} groups"
    full = replace(full, method=f"{full.method}, {confidence:.0%} {how}")
    if n_clusters == 1:
        return without_interval(full, Reason.ONE_UNIT)
    if full.value is None or variance <= 0:
        return without_interval(full, Reason.UNSTABLE)
    level = 0.5 + confidence / 2
    quantile = NormalDist().inv_cdf(level) if n_clusters is None else float(stdtrit(n_clusters - 1, level))
    reach = quantile * sqrt(variance)
    return replace(full, low=full.value - reach, high=full.value + reach)
