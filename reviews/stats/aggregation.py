"""From several ratings to one label per unit: the majority, and Dawid and Skene's estimate of who errs how.

Neither ever breaks a tie in silence. A unit without a single best label has no label and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    products are sums of logarithms; ratings are kept as a sparse matrix (units, raters x labels).
    """
    n_labels, n_raters = ratings.n_labels, ratings.n_raters
    shape = ratings.n_units, n_raters * n_labels
    columns = ratings.raters * n_labels + ratings.labels
    said = csr_matrix((np.ones(len(columns)), (ratings.units, columns)), shape=shape)
    by_rater = said.T.tocsr()

    def tables(posterior: np.ndarray) -> np.ndarray:
        """(raters, labels said, labels true)"""
        weighed = (by_rater @ posterior).reshape(n_raters, n_labels, n_labels) + smoothing
        total = weighed.sum(axis=1, keepdims=True)
        return np.where(total > 0, weighed / np.where(total > 0, total, 1), 1 / n_labels)

    def evidence(said_if_true: np.ndarray) -> np.ndarray:
        return said @ _log(said_if_true).reshape(-1, n_labels)

    method = f"Dawid-Skene, EM from vote shares, smoothing {smoothing:g}"
    return _expectation_maximisation(
        ratings, tables, evidence, method, smoothing, max_iterations=max_iterations, tolerance=tolerance
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
    n_labels, n_raters = ratings.n_labels, ratings.n_raters
    units, raters, labels = ratings.units, ratings.raters, ratings.labels
    n_given = np.bincount(raters, minlength=n_raters)
    cells = units * n_labels + labels

    def tables(posterior: np.ndarray) -> np.ndarray:
        right = np.bincount(raters, weights=posterior[units, labels], minlength=n_raters) + smoothing
        total = n_given + smoothing * n_labels
        p = np.where(total > 0, right / np.where(total > 0, total, 1), 1 / n_labels)
        wrong = (1 - p) / (n_labels - 1)
        same = np.eye(n_labels)
        return same * p[:, None, None] + (1 - same) * wrong[:, None, None]

    def evidence(said_if_true: np.ndarray) -> np.ndarray:
        logs = _log(said_if_true[:, 0, :2])
        if n_labels == 1:
            return np.zeros((ratings.n_units, 1))
        gain = np.bincount(cells, weights=(logs[:, 0] - logs[:, 1])[raters], minlength=ratings.n_units * n_labels)
        base = np.bincount(units, weights=logs[raters, 1], minlength=ratings.n_units)
        return gain.reshape(-1, n_labels) + base[:, None]

    method = f"One-coin Dawid-Skene, EM from vote shares, smoothing {smoothing:g}"
    return _expectation_maximisation(
        ratings, tables, evidence, method, smoothing, max_iterations=max_iterations, tolerance=tolerance
    )


def _expectation_maximisation(
    ratings: Ratings,
    tables: Callable[[np.ndarray], np.ndarray],
    evidence: Callable[[np.ndarray], np.ndarray],
    method: str,
    smoothing: float,
    *,
    max_iterations: int,
    tolerance: float,
) -> Consensus:
    """`tables` makes the raters' errors from the posterior, `evidence` the logarithms per unit from the errors."""
    reason = _no_consensus(ratings)
    if reason:
        return _nothing(method, reason)
    rated, n_labels = ratings.per_unit > 0, ratings.n_labels
    # A product with these sums over units, or over labels, faster than a sum along a short side.
    units, labels = rated.astype(float), np.ones(n_labels)
    posterior = np.where(rated[:, None], ratings.counts / np.maximum(ratings.per_unit, 1)[:, None], 1 / n_labels)
    moved, iterations, log_likelihood = np.inf, 0, -np.inf
    while iterations < max_iterations and moved > tolerance:
        iterations += 1
        prior = units @ posterior + smoothing
        prior /= prior.sum()
        said_if_true = tables(posterior)
        joint = evidence(said_if_true) + _log(prior)
        before, (posterior, per_unit) = posterior, _normalised(joint, labels)
        log_likelihood = float(units @ per_unit)
        moved = float(np.abs((posterior - before) * units[:, None]).max())
    confusion = said_if_true.transpose(0, 2, 1)
    return Consensus(
        labels=np.where(rated, _single_best(posterior), NO_LABEL),
        posterior=posterior,
        prior=prior,
        confusion=confusion,
        accuracy=np.einsum("k,rkk->r", prior, confusion),
        n_ratings=np.bincount(ratings.raters, minlength=ratings.n_raters),
        log_likelihood=log_likelihood,
        iterations=iterations,
        converged=moved <= tolerance,
        method=method,
        n_units=int(np.count_nonzero(rated)),
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
