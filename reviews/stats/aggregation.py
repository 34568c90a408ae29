"""From several ratings to one label per unit: the majority, and Dawid and Skene's estimate of who errs how.

Neither ever breaks a tie in silence. A unit without a single best label has no label and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import reduce
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from reviews.stats.counts import Ratings
from reviews.stats.result import WORDS, Reason

NO_LABEL = -1
# Labels whose probabilities differ by less than this are as likely as each other.
AS_LIKELY = 1e-9


class State(IntEnum):
    """How a unit came to its label."""

    UNRATED = 0
    TIED = 1
    # The label has more votes than any other, but not more than half.
    PLURALITY = 2
    MAJORITY = 3
    UNANIMOUS = 4


@dataclass(frozen=True)
class Votes:
    """Per unit, (units,): the label with most votes or -1, its votes, all votes, and the `State`."""

    labels: np.ndarray
    votes: np.ndarray
    n: np.ndarray
    states: np.ndarray

    @property
    def n_tied(self) -> int:
        return int(np.count_nonzero(self.states == State.TIED))


def majority(ratings: Ratings) -> Votes:
    """The label most raters gave; -1 where nobody rated and where two labels have equally many votes."""
    counts, of_unit = ratings.patterns.counts, ratings.patterns.of_unit
    n, votes = counts.sum(axis=1), counts.max(axis=1, initial=0)
    best = (counts == votes[:, None]) & (votes > 0)[:, None]
    states = np.select(
        [n == 0, best.sum(axis=1) > 1, votes == n, 2 * votes > n],
        [State.UNRATED, State.TIED, State.UNANIMOUS, State.MAJORITY],
        State.PLURALITY,
    )
    labels = np.where(states >= State.PLURALITY, best.argmax(axis=1) if counts.size else NO_LABEL, NO_LABEL)
    return Votes(labels[of_unit], votes[of_unit], n[of_unit], states[of_unit])


@dataclass(frozen=True)
class Consensus:
    """What the ratings say of units and raters, by a model of raters' errors.

    `posterior` (units, labels) is how probable each label is for a unit; the share of every label where nobody rated.
    `labels` (units,) is the most probable one, -1 where nobody rated or two are as probable. `prior` (labels,) is how
    frequent each label is. `confusion` (raters, labels, labels) is how often a rater says the second label where the
    first is true, and `n_ratings` (raters,) on how many ratings that rests. `accuracy` (raters,) is the probability
    that a rater is right on a unit of this mix.

    `log_likelihood` grows with every iteration, apart from what smoothing takes. Without a value all arrays are empty
    and `reason` says why.
    """

    labels: np.ndarray
    posterior: np.ndarray
    prior: np.ndarray
    confusion: np.ndarray
    accuracy: np.ndarray
    n_ratings: np.ndarray
    log_likelihood: float
    iterations: int
    converged: bool
    method: str
    n_units: int
    n_raters: int
    reason: Reason | None = None
    words: str = ""

    @property
    def n_undecided(self) -> int:
        """Rated units on which two labels are as probable."""
        return self.n_units - int(np.count_nonzero(self.labels != NO_LABEL))


def dawid_skene(
    ratings: Ratings,
    *,
    smoothing: float = 0.01,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
) -> Consensus:
    """Every rater has a table of errors of their own, estimated together with the labels. [Dawid and Skene 1979]

    Begins with the shares of votes and iterates until no probability moves by more than `tolerance`. `smoothing` is
    added to every cell of every table, so that a label a rater never gave is improbable and not impossible. All
    products are sums of logarithms; ratings are kept as a sparse matrix (kinds of unit, raters x labels).
    """
    kinds = _kinds_of_unit(ratings)
    of_kind = kinds.ratings
    n_labels, n_raters = of_kind.n_labels, of_kind.n_raters
    shape = of_kind.n_units, n_raters * n_labels
    columns = of_kind.raters * n_labels + of_kind.labels
    said = csr_matrix((np.ones(len(columns)), (of_kind.units, columns)), shape=shape)
    by_rater = said.T.tocsr()

    def tables(weighed: np.ndarray) -> np.ndarray:
        """(raters, labels said, labels true)"""
        counted = (by_rater @ weighed).reshape(n_raters, n_labels, n_labels) + smoothing
        total = counted.sum(axis=1, keepdims=True)
        return np.where(total > 0, counted / np.where(total > 0, total, 1), 1 / n_labels)

    def evidence(said_if_true: np.ndarray) -> np.ndarray:
        return said @ _log(said_if_true).reshape(-1, n_labels)

    method = f"Dawid-Skene, EM from vote shares, smoothing {smoothing:g}"
    return _expectation_maximisation(
        ratings, kinds, tables, evidence, method, smoothing, max_iterations=max_iterations, tolerance=tolerance
    )


def one_coin(
    ratings: Ratings,
    *,
    smoothing: float = 0.01,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
) -> Consensus:
    """Dawid and Skene's model with one number per rater: right with probability p, else any other label alike.

    For few ratings per rater, where a whole table of errors cannot be estimated.
    """
    kinds = _kinds_of_unit(ratings)
    of_kind = kinds.ratings
    n_labels, n_raters = of_kind.n_labels, of_kind.n_raters
    units, raters, labels = of_kind.units, of_kind.raters, of_kind.labels
    n_given = np.bincount(ratings.raters, minlength=n_raters)
    cells = units * n_labels + labels

    def tables(weighed: np.ndarray) -> np.ndarray:
        right = np.bincount(raters, weights=weighed[units, labels], minlength=n_raters) + smoothing
        total = n_given + smoothing * n_labels
        p = np.where(total > 0, right / np.where(total > 0, total, 1), 1 / n_labels)
        wrong = (1 - p) / (n_labels - 1)
        same = np.eye(n_labels)
        return same * p[:, None, None] + (1 - same) * wrong[:, None, None]

    def evidence(said_if_true: np.ndarray) -> np.ndarray:
        logs = _log(said_if_true[:, 0, :2])
        if n_labels == 1:
            return np.zeros((of_kind.n_units, 1))
        gain = np.bincount(cells, weights=(logs[:, 0] - logs[:, 1])[raters], minlength=of_kind.n_units * n_labels)
        base = np.bincount(units, weights=logs[raters, 1], minlength=of_kind.n_units)
        return gain.reshape(-1, n_labels) + base[:, None]

    method = f"One-coin Dawid-Skene, EM from vote shares, smoothing {smoothing:g}"
    return _expectation_maximisation(
        ratings, kinds, tables, evidence, method, smoothing, max_iterations=max_iterations, tolerance=tolerance
    )


@dataclass(frozen=True)
class _KindsOfUnit:
    """Units on which the same raters said the same, each once; how many there are of it, and of which a unit is."""

    ratings: Ratings
    times: np.ndarray
    of_unit: np.ndarray


def _kinds_of_unit(ratings: Ratings) -> _KindsOfUnit:
    """What is probable of a unit follows from who said what of it, so that of many units alike one is enough."""
    base = ratings.n_raters * ratings.n_labels + 1
    if base ** int(ratings.per_unit.max(initial=0)) > 2**62:
        return _KindsOfUnit(ratings, np.ones(ratings.n_units), np.arange(ratings.n_units))
    said = ratings.raters * ratings.n_labels + ratings.labels + 1
    order = np.lexsort((said, ratings.units))
    units = ratings.units[order]
    place = np.arange(len(units)) - (np.cumsum(ratings.per_unit) - ratings.per_unit)[units]
    # What was said of a unit, in order, read as the digits of one number.
    number = np.zeros(ratings.n_units, dtype=np.int64)
    np.add.at(number, units, said[order] * base**place)
    _, first, of_unit, times = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
    kept = np.isin(ratings.units, first)
    one_of_each = replace(ratings.keep(kept), units=of_unit[ratings.units[kept]], n_units=len(first))
    return _KindsOfUnit(one_of_each, times.astype(float), of_unit)


def _expectation_maximisation(
    ratings: Ratings,
    kinds: _KindsOfUnit,
    tables: Callable[[np.ndarray], np.ndarray],
    evidence: Callable[[np.ndarray], np.ndarray],
    method: str,
    smoothing: float,
    *,
    max_iterations: int,
    tolerance: float,
) -> Consensus:
    """`tables` makes the raters' errors from what is probable of all units of each kind; `evidence` makes from the
    errors the logarithms per kind."""
    reason = _no_consensus(ratings)
    if reason:
        return _nothing(method, reason)
    of_kind, n_labels = kinds.ratings, ratings.n_labels
    rated = of_kind.per_unit > 0
    # A product with these sums over units, or over labels, faster than a sum along a short side.
    times, labels = kinds.times * rated, np.ones(n_labels)
    posterior = np.where(rated[:, None], of_kind.counts / np.maximum(of_kind.per_unit, 1)[:, None], 1 / n_labels)
    moved, iterations, log_likelihood = np.inf, 0, -np.inf
    while iterations < max_iterations and moved > tolerance:
        iterations += 1
        prior = times @ posterior + smoothing
        prior /= prior.sum()
        said_if_true = tables(posterior * times[:, None])
        joint = evidence(said_if_true) + _log(prior)
        before, (posterior, per_kind) = posterior, _normalised(joint, labels)
        log_likelihood = float(times @ per_kind)
        moved = float(np.abs((posterior - before)[rated]).max())
    confusion = said_if_true.transpose(0, 2, 1)
    return Consensus(
        labels=np.where(rated, _single_best(posterior), NO_LABEL)[kinds.of_unit],
        posterior=posterior[kinds.of_unit],
        prior=prior,
        confusion=confusion,
        accuracy=np.einsum("k,rkk->r", prior, confusion),
        n_ratings=np.bincount(ratings.raters, minlength=ratings.n_raters),
        log_likelihood=log_likelihood,
        iterations=iterations,
        converged=moved <= tolerance,
        method=method,
        n_units=int(np.count_nonzero(ratings.per_unit)),
        n_raters=int(np.count_nonzero(np.bincount(ratings.raters))),
    )


def _no_consensus(ratings: Ratings) -> Reason | None:
    if ratings.n_labels < 2:
        return Reason.NO_SCALE
    return ratings.nothing_to_compare


def _nothing(method: str, reason: Reason) -> Consensus:
    none, table = np.zeros(0), np.zeros((0, 0))
    empty: dict[str, Any] = {
        "labels": none.astype(np.int64),
        "posterior": table,
        "prior": none,
        "confusion": np.zeros((0, 0, 0)),
        "accuracy": none,
        "n_ratings": none.astype(np.int64),
    }
    return Consensus(
        **empty,
        log_likelihood=0.0,
        iterations=0,
        converged=False,
        method=method,
        n_units=0,
        n_raters=0,
        reason=reason,
        words=WORDS[reason],
    )


def _log(p: np.ndarray) -> np.ndarray:
    """The logarithm, with a number so low that it acts as minus infinity where p is 0."""
    return np.log(np.maximum(p, 1e-300))


def _normalised(joint: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities per row from logarithms, and the logarithm of each row's sum. `labels` are as many ones."""
    top = reduce(np.maximum, joint.T)
    weights = np.exp(joint - top[:, None])
    total = weights @ labels
    return weights / total[:, None], top + np.log(total)


def _single_best(posterior: np.ndarray) -> np.ndarray:
    """The most probable label of each unit; -1 where another is as probable."""
    best = posterior.max(axis=1, keepdims=True)
    alone = np.count_nonzero(posterior >= best - AS_LIKELY, axis=1) == 1
    return np.where(alone, posterior.argmax(axis=1), NO_LABEL)
