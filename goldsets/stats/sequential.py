"""How soon gold tells who judges well, and when somebody begins to drift: Wald's test and the Bernoulli CUSUM.

Both take a rater's answers on gold in order, true where the answer was wrong. A rater's answers on one class of gold
(items that pass, items that fail) are best tested by themselves: whoever always says "pass" is always right on one.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log

import numpy as np

# A test that has not ended by then is counted as undecided in the expected number.
FOREVER = 100_000
# Walks that are still undecided with less probability than this change no expected number that anybody reads.
NEGLIGIBLE = 1e-12


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Tested:
    """What a sequential test says of one rater.

    `n` and `n_wrong` count the answers up to the verdict, or all of them while undecided. `evidence` is the logarithm
    of how much better the bad error rate explains them than the good one. `expected_more` is how many more answers it
    takes on average if the rater errs at the good rate, and at the bad one; 0 after a verdict.
    """

    verdict: Verdict
    n: int
    n_wrong: int
    evidence: float
    expected_more: tuple[float, float]
    method: str


@dataclass(frozen=True)
class Operating:
    """How a test ends for raters with one true error rate: probabilities of its three ends, and the expected number."""

    error_rate: float
    fails: float
    passes: float
    undecided: float
    expected_n: float


@dataclass(frozen=True)
class Sprt:
    """Wald's sequential probability ratio test (1945) of a rater's error rate: `good` against `bad`.

    A rater with the good rate fails with probability `alpha` about, one with the bad rate passes with `beta` about.
    """

    good: float = 0.10
    bad: float = 0.30
    alpha: float = 0.05
    beta: float = 0.10

    def __post_init__(self) -> None:
        if not 0 < self.good < self.bad < 1:
            raise ValueError("the good error rate must lie below the bad one, both between 0 and 1")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError("both risks must be above 0, and their sum below 1")

    @property
    def fail_at(self) -> float:
        """Evidence from which on a rater fails."""
        return log((1 - self.beta) / self.alpha)

    @property
    def pass_at(self) -> float:
        """Evidence, below 0, down to which a rater passes."""
        return log(self.beta / (1 - self.alpha))

    @property
    def wrong_adds(self) -> float:
        return log(self.bad / self.good)

    @property
    def right_adds(self) -> float:
        return log((1 - self.bad) / (1 - self.good))

    @property
    def straight_wrong_to_fail(self) -> int:
        """So many wrong answers and none right, from the beginning, fail."""
        return ceil(self.fail_at / self.wrong_adds)

    @property
    def straight_right_to_pass(self) -> int:
        return ceil(self.pass_at / self.right_adds)

    @property
    def method(self) -> str:
        return (
            f"Wald's sequential test, error rate {self.good:.0%} against {self.bad:.0%}, "
            f"risks {self.alpha:.0%} and {self.beta:.0%}"
        )

    def test(self, wrong: np.ndarray) -> Tested:
        """The verdict on answers in order; what comes after it changes nothing."""
        wrong = np.asarray(wrong, dtype=bool).ravel()
        evidence = self._evidence(np.cumsum(wrong), np.arange(1, len(wrong) + 1))
        ended = np.flatnonzero((evidence >= self.fail_at) | (evidence <= self.pass_at))
        n = int(ended[0]) + 1 if len(ended) else len(wrong)
        last = float(evidence[n - 1]) if n else 0.0
        verdict = Verdict.UNDECIDED
        if len(ended):
            verdict = Verdict.FAIL if last >= self.fail_at else Verdict.PASS
        n_wrong = int(wrong[:n].sum())
        more = (0.0, 0.0)
        if not len(ended):
            more = (self._walk(self.good, n, n_wrong).expected_n, self._walk(self.bad, n, n_wrong).expected_n)
        return Tested(verdict, n, n_wrong, last, more, self.method)

    def operating(self, error_rate: float, *, at_most: int = FOREVER) -> Operating:
        """How the test ends for raters who err at this rate; whoever has no verdict after `at_most` is undecided."""
        return self._walk(error_rate, 0, 0, at_most=at_most)

    def _evidence(self, n_wrong: np.ndarray, n: np.ndarray) -> np.ndarray:
        return n_wrong * self.wrong_adds + (n - n_wrong) * self.right_adds

    def _walk(self, error_rate: float, n: int, n_wrong: int, *, at_most: int = FOREVER) -> Operating:
        """Follow the probabilities of all numbers of wrong answers that have no verdict yet, answer by answer."""
        alive = np.array([1.0])
        first = n_wrong
        fails = passes = expected = 0.0
        steps = 0
        while steps < at_most and alive.sum() > NEGLIGIBLE:
            steps += 1
            expected += float(alive.sum())
            alive = np.convolve(alive, [1 - error_rate, error_rate])
            evidence = self._evidence(first + np.arange(len(alive)), np.asarray(n + steps))
            failed, passed = evidence >= self.fail_at, evidence <= self.pass_at
            fails += float(alive[failed].sum())
            passes += float(alive[passed].sum())
            # Evidence grows with the number of wrong answers, so those without a verdict stand side by side.
            first += int(np.count_nonzero(passed))
            alive = alive[~(failed | passed)]
        return Operating(error_rate, fails, passes, float(alive.sum()), expected)


@dataclass(frozen=True)
class Drift:
    """A rater's CUSUM: the score after every one of `n` answers, and after the last.

    `alarm` is the first answer, from 0, at which the score reached the limit; None while all is well.
    """

    scores: np.ndarray
    score: int
    alarm: int | None
    n: int
    method: str


@dataclass(frozen=True)
class Cusum:
    """Bernoulli CUSUM with whole numbers: a wrong answer adds `weight`, a right one takes 1, never below 0.

    The alarm rings when the score reaches `limit`. [Reynolds and Stoumbos 1999]
    """

    weight: int
    limit: int

    def __post_init__(self) -> None:
        if self.weight < 1 or self.limit < 1:
            raise ValueError("weight and limit are whole numbers from 1")

    @property
    def method(self) -> str:
        return f"Bernoulli CUSUM, +{self.weight} wrong, -1 right, alarm at {self.limit}"

    @classmethod
    def designed(cls, *, good: float = 0.10, bad: float = 0.30, false_alarm_after: float = 500) -> "Cusum":
        """For a shift from the good error rate to the bad one.

        A rater who keeps to the good rate is to have, on average, at least `false_alarm_after` answers until an alarm;
        the limit is the lowest that gives it.
        """
        if not 0 < good < bad < 1:
            raise ValueError("the good error rate must lie below the bad one, both between 0 and 1")
        weight = max(1, round(log(bad / good) / -log((1 - bad) / (1 - good))))
        below, enough = 0, 1
        while cls(weight, enough).run_length(good) < false_alarm_after:
            below, enough = enough, 2 * enough
        while enough - below > 1:
            middle = (below + enough) // 2
            if cls(weight, middle).run_length(good) < false_alarm_after:
                below = middle
            else:
                enough = middle
        return cls(weight, enough)

    def watch(self, wrong: np.ndarray, *, since: int = 0) -> Drift:
        """Follow answers in order, from the score `since` that earlier ones have left."""
        wrong = np.asarray(wrong, dtype=bool).ravel()
        steps = np.where(wrong, self.weight, -1)
        # Without the floor the score would be this sum; the floor lifts it by as much as the sum has been below 0.
        free = since + np.cumsum(steps)
        scores = free - np.minimum(0, np.minimum.accumulate(free)) if len(free) else free
        reached = np.flatnonzero(scores >= self.limit)
        score = int(scores[-1]) if len(scores) else since
        return Drift(scores, score, int(reached[0]) if len(reached) else None, len(wrong), self.method)

    def run_length(self, error_rate: float, *, since: int = 0) -> float:
        """The expected number of answers until the alarm, exactly, for raters who err at this rate.

        Infinite for those who never err, unless one right answer rings already.
        """
        if not 0 <= since < self.limit:
            return 0.0
        if error_rate <= 0:
            return float("inf")
        scores = np.arange(self.limit)
        stays = np.eye(self.limit)
        stays[scores, np.maximum(scores - 1, 0)] -= 1 - error_rate
        higher = scores + self.weight < self.limit
        stays[scores[higher], scores[higher] + self.weight] -= error_rate
        return float(np.linalg.solve(stays, np.ones(self.limit))[since])
