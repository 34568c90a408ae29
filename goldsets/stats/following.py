"""One rater followed answer by answer: what the two sequential tests say, with the way there and a sentence for a lead.

`outcomes` say of each answer on gold, in the order of time, whether it was right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np

from goldsets.stats.sequential import Cusum, Sprt, Verdict


@dataclass(frozen=True)
class Trial:
    """Wald's test. `path` is the evidence after each answer, above 0 for too many errors.

    It ends at the first bound that is met: `at` is the number of answers by then, 0 while it is undecided.
    """

    verdict: Verdict
    at: int
    n: int
    errors: int
    path: tuple[float, ...]
    fail_at: float
    pass_at: float
    words: str


def trial(outcomes: Sequence[bool], p0: float, p1: float, alpha: float, beta: float) -> Trial:
    """An error rate of `p0`, which is good enough, against `p1`, which is not. Raises ValueError where none is."""
    test = Sprt(p0, p1, alpha, beta)
    path = tuple(accumulate(test.right_adds if right else test.wrong_adds for right in outcomes))
    ends = (n for n, evidence in enumerate(path, start=1) if not test.pass_at < evidence < test.fail_at)
    at, verdict = next(ends, 0), Verdict.UNDECIDED
    if at:
        verdict = Verdict.FAIL if path[at - 1] >= test.fail_at else Verdict.PASS
    counted = outcomes[: at or len(outcomes)]
    says = {Verdict.PASS: f"passed after {at}", Verdict.FAIL: f"failed after {at}", Verdict.UNDECIDED: "undecided"}
    return Trial(
        verdict=verdict,
        at=at,
        n=len(outcomes),
        errors=len(outcomes) - sum(outcomes),
        path=path,
        fail_at=test.fail_at,
        pass_at=test.pass_at,
        words=f"{len(counted) - sum(counted)} wrong of {len(counted)}, {says[verdict]} ({test.method}).",
    )


def answers_to_go(outcomes: Sequence[bool], p0: float, p1: float, alpha: float, beta: float) -> tuple[float, float]:
    """How many more answers an undecided test takes on average: for who is good enough, and for who is not. Slow."""
    return Sprt(p0, p1, alpha, beta).test(~np.asarray(outcomes, bool)).expected_more


@dataclass(frozen=True)
class Chart:
    """A CUSUM: an error adds `step`, a right answer takes 1 away, never below 0; it rings at `limit`.

    `at` is after how many answers it first rang, 0 while it has not. `run_length` is the exact mean number of answers
    before it rings for somebody with error rate p0, `run_length_at_p1` for one with p1. `turned` is after how many
    answers it last stood at 0 before it rang, which is the likeliest moment of the change.
    """

    rang: bool
    at: int
    turned: int
    path: tuple[int, ...]
    step: int
    limit: int
    run_length: float
    run_length_at_p1: float
    words: str


def chart(outcomes: Sequence[bool], p0: float, p1: float, run_length: int) -> Chart:
    """The limit is the lowest at which somebody at `p0` lasts `run_length` answers, and one error alone never rings."""
    cusum = designed(p0, p1, run_length)
    drift = cusum.watch(~np.asarray(outcomes, bool))
    at = 0 if drift.alarm is None else drift.alarm + 1
    path = tuple(drift.scores.tolist())
    until = path[:at] if at else path
    good, bad = run_length_of(cusum, p0), run_length_of(cusum, p1)
    says = f"rang after {at} answers" if at else "has not rung"
    return Chart(
        rang=bool(at),
        at=at,
        turned=max((number for number, score in enumerate(until, start=1) if score == 0), default=0),
        path=path,
        step=cusum.weight,
        limit=cusum.limit,
        run_length=good,
        run_length_at_p1=bad,
        words=(
            f"The chart {says} and stands at {drift.score} of {cusum.limit}. "
            f"With {p0:.0%} errors it rings once in {good:.0f} answers, with {p1:.0%} once in {bad:.0f}."
        ),
    )


@cache
def designed(p0: float, p1: float, run_length: int) -> Cusum:
    cusum = Cusum.designed(good=p0, bad=p1, false_alarm_after=run_length)
    return Cusum(cusum.weight, max(cusum.limit, cusum.weight + 1))


@cache
def run_length_of(cusum: Cusum, error_rate: float) -> float:
    return cusum.run_length(error_rate)


def last_good(outcomes: Sequence[bool], p0: float, p1: float) -> int:
    """After how many answers the work was last good: the likeliest moment of a change from `p0` to `p1`."""
    test = Sprt(p0, p1)
    lowest, at, evidence = 0.0, 0, 0.0
    for number, right in enumerate(outcomes, start=1):
        evidence += test.right_adds if right else test.wrong_adds
        if evidence <= lowest:
            lowest, at = evidence, number
    return at
