"""How sure a substitute must be before its verdict is taken: a threshold that is certified, or none.

The confidences are walked downward, and each is certified while the exact upper bound on the share of wrong verdicts
among the accepted stays at or below the risk. The walk stops at the first that fails, so the promise holds for all that
came before, with probability 1 - delta, whatever number were tried. [Bauer 1991; Jung, Brahman and Choi 2025]

Where none passes, nothing is accepted; the code of the last paper returns its highest threshold then, which breaks the
promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from goldsets.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason

FEWEST_ACCEPTED = 30


@dataclass(frozen=True)
class Certificate:
    """Verdicts with a confidence of at least `threshold` are wrong with at most `risk`, but for a chance of `delta`.

    `threshold` is None where nothing is accepted. `error` is the share of wrong among the accepted with the bound as
    its upper end, `coverage` the share of items accepted.
    """

    risk: float
    delta: float
    threshold: float | None
    accepted: int
    errors: int
    n: int
    error: Estimate
    coverage: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return vars(self) | {"error": self.error.as_dict(), "coverage": self.coverage.as_dict()}


def certify(
    confidence: Sequence[float] | np.ndarray,
    wrong: Sequence[bool] | np.ndarray,
    *,
    risk: float = 0.1,
    delta: float = 0.1,
    fewest: int = FEWEST_ACCEPTED,
) -> Certificate:
    """The lowest threshold that holds the risk on items that neither the verdicts nor their confidences were fitted on.

    Items of the same confidence stand or fall together.
    """
    sure, mistaken = np.asarray(confidence, float), np.asarray(wrong, bool)
    if not (0 < risk < 1 and 0 < delta < 1):
        raise ValueError("risk and delta lie between 0 and 1")
    order = np.argsort(-sure, kind="stable")
    sure, errors = sure[order], np.cumsum(mistaken[order])
    lasts = np.flatnonzero(np.append(sure[1:] != sure[:-1], True)) if len(sure) else np.array([], int)
    accepted = lasts + 1
    tried = np.flatnonzero(accepted >= fewest)
    bounds = upper_bounds(errors[lasts[tried]], accepted[tried], delta)
    failed = np.flatnonzero(bounds > risk)
    passed = len(bounds) if not len(failed) else int(failed[0])
    if not passed:
        return _abstaining(len(sure), risk, delta, fewest, n_tried=len(bounds))
    last = int(lasts[tried[passed - 1]])
    n_accepted, n_errors = last + 1, int(errors[last])
    error = Estimate(
        "Risk among accepted",
        n_errors / n_accepted,
        0.0,
        float(bounds[passed - 1]),
        n_accepted,
        method=f"fixed-sequence testing, one-sided {1 - delta:.0%} Clopper-Pearson",
    )
    coverage = wilson(n_accepted, len(sure), statistic="Coverage")
    return Certificate(risk, delta, float(sure[last]), n_accepted, n_errors, len(sure), error, coverage)


def upper_bounds(errors: np.ndarray, n: np.ndarray, delta: float) -> np.ndarray:
    """One-sided upper bounds on shares, each wrong with a probability of delta at most. [Clopper and Pearson 1934]"""
    errors, n = np.asarray(errors, float), np.asarray(n, float)
    inside = errors < n
    bounds = np.ones(len(n))
    bounds[inside] = betaincinv(errors[inside] + 1, n[inside] - errors[inside], 1 - delta)
    return bounds


def _abstaining(n: int, risk: float, delta: float, fewest: int, *, n_tried: int) -> Certificate:
    method = f"fixed-sequence testing, one-sided {1 - delta:.0%} Clopper-Pearson"
    words = f"No threshold holds a risk of {risk:.0%}, so nothing is accepted."
    if not n_tried:
        words = f"Too few to say: {n} of the {fewest} items needed."
    error = Estimate("Risk among accepted", None, 0.0, 1.0, 0, method=method, reason=Reason.BELOW_FLOOR, words=words)
    return Certificate(risk, delta, None, 0, 0, n, error, wilson(0, n, statistic="Coverage"))
