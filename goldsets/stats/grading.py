"""How wrong a grader is, held against trusted labels: its errors, the bound to promise, and what that takes.

A positive is a run that the grader passes. A false positive is one that experts fail: in training it is rewarded.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import ceil, log
from typing import Any

import numpy as np
from scipy.special import betaincinv

from goldsets.stats.proportion import wilson
from reviews.stats.bias import mcnemar
from reviews.stats.resampling import Bootstrap, resampled_sums
from reviews.stats.result import Estimate, HypothesisTest, Reason, without_interval, without_value

# Nobody labels more than this to bound a rate.
MOST_MORE = 100_000


@dataclass(frozen=True)
class Errors:
    """Runs by what the grader says and what the label says."""

    true_passes: int
    false_passes: int
    false_fails: int
    true_fails: int

    @property
    def n(self) -> int:
        return self.true_passes + self.false_passes + self.false_fails + self.true_fails

    @property
    def failures(self) -> int:
        """How many runs the label fails: what a false positive can come from."""
        return self.false_passes + self.true_fails

    @property
    def successes(self) -> int:
        return self.true_passes + self.false_fails

    @property
    def false_positive_rate(self) -> Estimate:
        return _rate(self.false_passes, self.failures, "False positives", "No run that experts fail is scored yet.")

    @property
    def false_negative_rate(self) -> Estimate:
        return _rate(self.false_fails, self.successes, "False negatives", "No run that experts pass is scored yet.")

    @property
    def accuracy(self) -> Estimate:
        right = self.true_passes + self.true_fails
        return _rate(right, self.n, "Accuracy", "No settled run is scored yet.")

    @property
    def precision(self) -> Estimate:
        """Of what it passes, how much experts pass: what its reward is worth."""
        passed = self.true_passes + self.false_passes
        return _rate(self.true_passes, passed, "Precision", "The grader passes no settled run.")

    def bound(self, *, confidence: float = 0.95) -> Estimate:
        """The rate of false positives, and what it is at most."""
        return at_most(self.false_passes, self.failures, statistic="False positives at most", confidence=confidence)

    def as_dict(self) -> dict[str, Any]:
        """The four counts with the rates that follow, in plain types for JSON."""
        return asdict(self) | {
            "false_positive_rate": self.false_positive_rate.as_dict(),
            "false_negative_rate": self.false_negative_rate.as_dict(),
            "accuracy": self.accuracy.as_dict(),
            "precision": self.precision.as_dict(),
        }


def errors(passes: Sequence[bool], truth: Sequence[bool]) -> Errors:
    """The table of the grader's passes against the labels', run by run."""
    said, right = np.asarray(passes, bool), np.asarray(truth, bool)
    return Errors(
        int((said & right).sum()), int((said & ~right).sum()), int((~said & right).sum()), int((~said & ~right).sum())
    )


def _rate(count: int, n: int, statistic: str, words: str) -> Estimate:
    found = wilson(count, n, statistic=statistic)
    return found if found.defined else without_value(found, Reason.NO_RATINGS, words)


# --- What can be promised ---------------------------------------------------------------------------------------------
def at_most(count: int, n: int, *, statistic: str = "rate", confidence: float = 0.95) -> Estimate:
    """The one-sided upper limit of Clopper and Pearson (1934): with 0 of n it is 1 - (1 - confidence)^(1/n)."""
    method = f"{confidence:.0%} one-sided Clopper-Pearson"
    if n == 0:
        words = "Nothing to count yet, so nothing is bounded."
        return Estimate(statistic, None, 0.0, 1.0, 0, method=method, reason=Reason.NO_RATINGS, words=words)
    return Estimate(statistic, count / n, 0.0, _upper(count, n, confidence), n, method=method)


@dataclass(frozen=True)
class More:
    """How many more labelled failures bound the rate: with none of them passed, and at the rate seen so far.

    `at_rate` is None where the rate seen is itself too high to be bounded there.
    """

    limit: float
    caught: int
    at_rate: int | None
    words: str


def more_to_bound(count: int, n: int, limit: float, *, confidence: float = 0.95) -> More:
    """How many more runs that experts fail it takes until the rate of false positives is bounded at the limit."""
    caught = _fewest(lambda more: _upper(count, n + more, confidence) <= limit) or 0
    rate = count / n if n else 0.0
    at_rate = None
    if rate < limit:
        at_rate = _fewest(lambda more: _upper(rate * (n + more), n + more, confidence) <= limit)
    return More(limit, caught, at_rate, _more_words(limit, caught, at_rate, rate, n))


def _more_words(limit: float, caught: int, at_rate: int | None, rate: float, n: int) -> str:
    if not caught:
        return f"The bound on false positives is at or below {limit:.0%} already."
    first = (
        f"{caught:,} more labelled failure{'' if caught == 1 else 's'} to bound false positives at {limit:.0%}, "
        "if the grader fails every one of them"
    )
    if at_rate is None and n:
        return f"{first}; at the {rate:.1%} seen so far no number is enough."
    return f"{first}; {at_rate:,} at the {rate:.1%} seen so far." if at_rate and at_rate > caught else f"{first}."


def runs_without_error(limit: float, *, confidence: float = 0.95) -> int:
    """How many runs in a row without an error bound the rate at the limit: 59 for 5%."""
    return ceil(log(1 - confidence) / log(1 - limit) - 1e-9)


def _upper(count: float, n: int, confidence: float) -> float:
    if n == 0 or count >= n:
        return 1.0
    return float(betaincinv(count + 1, n - count, confidence))


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, by doubling and halving; None beyond `MOST_MORE`."""
    if enough(0):
        return 0
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_MORE:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# --- Two versions, and people -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Compared:
    """Two versions on the same runs: how often each alone is right, and whether that is chance."""

    n: int
    both: int
    first_only: int
    second_only: int
    neither: int
    test: HypothesisTest


def compared(first: Sequence[bool], second: Sequence[bool], truth: Sequence[bool]) -> Compared:
    """McNemar's exact test (1947) on which of two graders is right."""
    a = np.asarray(first, bool) == np.asarray(truth, bool)
    b = np.asarray(second, bool) == np.asarray(truth, bool)
    one, two = int((a & ~b).sum()), int((~a & b).sum())
    return Compared(len(a), int((a & b).sum()), one, two, int((~a & ~b).sum()), mcnemar(one, two))


def clustered_share(hits: Sequence[int], totals: Sequence[int], *, statistic: str) -> Estimate:
    """The share of hits among all, where those of one item belong together: the bootstrap draws whole items."""
    rows = np.column_stack([np.asarray(hits, float), np.asarray(totals, float)])
    rows = rows[rows[:, 1] > 0]
    draws = Bootstrap()
    bare = Estimate(statistic, None, n_units=int(rows[:, 1].sum()) if len(rows) else 0, method=draws.method)
    if not len(rows):
        return without_value(bare, Reason.NO_RATINGS, "Nothing to count yet.")
    value = float(rows[:, 0].sum() / rows[:, 1].sum())
    full = Estimate(statistic, value, n_units=bare.n_units, method=draws.method)
    if len(rows) == 1:
        return without_interval(full, Reason.ONE_UNIT)
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    if len(kinds) == 1:
        return without_interval(full, Reason.UNSTABLE)
    shares = np.concatenate([sums[:, 0] / sums[:, 1] for sums in resampled_sums(kinds, times, draws)])
    low, high = np.quantile(shares, [0.025, 0.975])
    return Estimate(statistic, value, float(low), float(high), full.n_units, method=draws.method)
