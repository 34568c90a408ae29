"""How fast people judge, and which judgments are worth a look because they are far from what such a run takes them.

Seconds are compared on the log scale, where half and twice the time are equally far. The rule, in order:
1. Runs are put into at most five groups of about equal size by length, and each log second is taken from its group's
   median.
2. What is left of each rater with five or more judgments is centred on that rater's own median: who is thorough, or
   quick, always is no exception.
3. A judgment is worth a look when what remains is further than three scaled MADs (1.4826 times the median absolute
   deviation, a standard deviation where values are normal) from the median of all that remains.
Below twenty judgments, or where at least half of them do not differ, nothing is marked, and the reason is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from reviews.stats.result import WORDS, Estimate, Reason

FLOOR = 20
RATER_FLOOR = 5
LENGTH_GROUPS = 5
MADS = 3
SCALE = 1.4826
# The share of the others' time below which somebody is much faster.
FAR_BELOW = 0.2
# On seconds that are counted whole, a spread below this is rounding.
LEAST_SPREAD = 0.01


@dataclass(frozen=True)
class Timed:
    """One judgment: who, how many seconds, and how long the run is."""

    rater: int
    seconds: int
    length: int


@dataclass(frozen=True)
class Apart:
    """A judgment worth a look, by its place among those given: `expected` seconds, and how many MADs it is away."""

    place: int
    expected: float
    mads: float

    @property
    def fast(self) -> bool:
        return self.mads < 0


@dataclass(frozen=True)
class RaterPace:
    """One rater's seconds; `ratio` is their median time over that of the queue on runs as long: 1 is as usual."""

    rater: int
    n: int
    low: float
    median: Estimate
    high: float
    ratio: Estimate


@dataclass(frozen=True)
class Pace:
    """`low` and `high` are quartiles. `words` say why nothing can be marked; empty where the rule could be applied."""

    n: int
    low: float | None
    median: Estimate
    high: float | None
    raters: tuple[RaterPace, ...]
    apart: tuple[Apart, ...]
    words: str = ""


def much_faster(medians: Mapping[int, Estimate]) -> dict[int, Estimate]:
    """Whoever takes less than a fifth of what the others usually take, with that: the median of the others' medians.

    By rater, the median of their seconds. Who has fewer than five judgments, or no time, is passed over, and at least
    two others are needed. A reason to look at a few judgments, and nothing more: some runs are quickly judged.
    """
    known = {rater: of.value for rater, of in medians.items() if of.n_units >= RATER_FLOOR and of.value}
    found = {}
    for rater, seconds in known.items():
        others = [value for other, value in known.items() if other != rater]
        if len(others) >= 2 and seconds < FAR_BELOW * float(np.median(others)):
            found[rater] = median_of(np.array(others), "Median of the others' medians", unit="rater")
    return found


def pace(times: Sequence[Timed]) -> Pace:
    """The distribution of a queue and its raters, and what stands apart in it, the furthest first."""
    if not times:
        nothing = Estimate("Median seconds", None, reason=Reason.NO_RATINGS, words=WORDS[Reason.NO_RATINGS])
        return Pace(0, None, nothing, None, (), (), "There is no judgment with a time yet.")
    seconds = np.array([max(one.seconds, 1) for one in times], dtype=float)
    raters = np.array([one.rater for one in times])
    logs = np.log(seconds)
    by_length = logs - _expected_by_length(logs, np.array([one.length for one in times]))
    rows, left = [], by_length.copy()
    for rater in np.unique(raters):
        own = raters == rater
        ratio = median_of(by_length[own], "Time against the queue", exponent=True)
        rows.append(_rater(int(rater), seconds[own], ratio))
        if own.sum() >= RATER_FLOOR:
            left[own] -= np.median(by_length[own])
    low, high = np.quantile(seconds, [0.25, 0.75])
    apart, words = _apart(left, logs)
    return Pace(len(times), float(low), median_of(seconds, "Median seconds"), float(high), tuple(rows), apart, words)


def _expected_by_length(logs: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """For each judgment the median log second of runs of about its length."""
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, LENGTH_GROUPS + 1)[1:-1]))
    group = np.searchsorted(edges, lengths, side="left")
    expected = np.empty_like(logs)
    for one in np.unique(group):
        expected[group == one] = np.median(logs[group == one])
    return expected


def _apart(left: np.ndarray, logs: np.ndarray) -> tuple[tuple[Apart, ...], str]:
    if len(left) < FLOOR:
        return (), f"Too few to mark any: {len(left)} of the {FLOOR} judgments needed."
    centre = np.median(left)
    spread = SCALE * np.median(np.abs(left - centre))
    if spread < LEAST_SPREAD:
        return (), "Half of the judgments or more take what is expected of them to the second, so none can be marked."
    mads = (left - centre) / spread
    found = [
        Apart(int(at), float(np.exp(logs[at] - left[at] + centre)), float(mads[at]))
        for at in np.flatnonzero(np.abs(mads) > MADS)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.mads))), ""


def _rater(rater: int, seconds: np.ndarray, ratio: Estimate) -> RaterPace:
    low, high = np.quantile(seconds, [0.25, 0.75])
    return RaterPace(rater, len(seconds), float(low), median_of(seconds, "Median seconds"), float(high), ratio)


def median_of(values: np.ndarray, statistic: str, *, exponent: bool = False, unit: str = "judgment") -> Estimate:
    """The median with the interval between two order statistics that covers it in at least 95% of samples."""
    method = "median, 95% interval by order statistics"
    ordered = np.sort(values)
    n = len(ordered)
    seen = np.exp if exponent else np.asarray
    value = float(seen(np.median(ordered)))
    # The binomial's quantile; scipy.stats has it too, and takes 50 MB and half a second to import.
    rank = int(np.searchsorted(bdtr(np.arange(n + 1), n, 0.5), 0.025))
    if rank < 1:
        words = f"{n} {unit}{'' if n == 1 else 's'} give no 95% interval; it takes 6."
        return Estimate(statistic, value, n_units=n, method=method, reason=Reason.BELOW_FLOOR, words=words)
    return Estimate(statistic, value, float(seen(ordered[rank - 1])), float(seen(ordered[n - rank])), n, method=method)
