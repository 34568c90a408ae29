"""How good a gold item is as a test: how hard it is, whether it tells good raters from bad ones, whether it leaked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, comb, exp, log, sqrt, tanh
from statistics import NormalDist

import numpy as np

from reviews.stats.result import Estimate, Reason, without_value

REACH = NormalDist().inv_cdf(0.975)
FLOOR = 8
# Answers needed on either side of the place where an item may have leaked, and the places looked at.
SIDE = 5
PLACES = (0.2, 0.35, 0.5, 0.65, 0.8)
LEVEL = 0.05


def discrimination(right: Sequence[bool], rest: Sequence[float]) -> Estimate:
    """The correlation of being right on this item with the share right on the rest, over the raters who met it.

    Above 0, whoever does well elsewhere does well here; near or below 0 the item measures something else. Fisher's
    interval. Refused below 8 raters, and not defined where all were right, all wrong, or all as good on the rest.
    """
    n = len(right)
    empty = Estimate("Discrimination", None, n_units=n, n_raters=n, method="item-rest correlation, 95% Fisher z")
    if n < FLOOR:
        return without_value(empty, Reason.BELOW_FLOOR, f"Too few to say: {n} of the {FLOOR} raters needed met it.")
    hits, others = np.asarray(right, float), np.asarray(rest, float)
    if not hits.std() or not others.std():
        words = "Everybody did the same on this item, or on the rest, so nothing can be told apart."
        return without_value(empty, Reason.NO_VARIATION, words)
    r = float(np.clip(np.corrcoef(hits, others)[0, 1], -1, 1))
    reach = REACH / sqrt(n - 3)
    z = atanh(max(-0.999999, min(0.999999, r)))
    return Estimate("Discrimination", r, tanh(z - reach), tanh(z + reach), n, n_raters=n, method=empty.method)


@dataclass(frozen=True)
class LeakTest:
    """Whether answers on an item got right and fast from some place on.

    Answers from the place on are held against those before it: accuracy by Fisher's exact test, one-sided, and the time
    taken, as a multiple of what the same rater takes on gold otherwise, by Mann and Whitney's, one-sided; the two are
    put together by Fisher's method. Of five places the one with the smallest p counts, times how many could be looked
    at. `p` is None where there are too few answers. Suspected is an item whose p is at most .05 divided by the number
    of items tested. The other figures are those at that place.
    """

    n: int
    right_before: int
    right_after: int
    pace_before: float | None
    pace_after: float | None
    p: float | None
    words: str

    def suspected(self, tested: int) -> bool:
        return self.p is not None and self.p <= LEVEL / max(1, tested)


def leak_test(right: Sequence[bool], pace: Sequence[float]) -> LeakTest:
    """The test on an item's answers in the order of time; `pace` is each one's time over the rater's usual one."""
    n = len(right)
    places = sorted({round(n * share) for share in PLACES if SIDE <= round(n * share) <= n - SIDE})
    if not places:
        words = f"Too few to say: {n} of the {2 * SIDE} answers needed."
        return LeakTest(n, sum(right[: n // 2]), sum(right[n // 2 :]), None, None, None, words)
    smallest, place = min((_change_at(right, pace, place), place) for place in places)
    p = min(1.0, len(places) * smallest)
    before, after = sum(right[:place]), sum(right[place:])
    middle = (float(np.median(pace[:place])), float(np.median(pace[place:])))
    words = (
        f"Right on {before} of the first {place} and {after} of the last {n - place}; "
        f"time {middle[0]:.2f} and then {middle[1]:.2f} of what these raters take otherwise; p {p:.2g}."
    )
    return LeakTest(n, before, after, *middle, p, words)


def _change_at(right: Sequence[bool], pace: Sequence[float], place: int) -> float:
    """How likely answers from the place on are as right and as fast as they are, or more, if nothing changed."""
    p_right = _more_right(list(right[:place]), list(right[place:]))
    p_pace = _faster(list(pace[:place]), list(pace[place:]))
    half = -(log(p_right) + log(p_pace))
    return min(1.0, exp(-half) * (1 + half))


def _more_right(before: list[bool], after: list[bool]) -> float:
    """Fisher's exact test: how likely so many of the right answers, or more, come late if nothing changed."""
    total, hits, late = len(before) + len(after), sum(before) + sum(after), len(after)
    ways = comb(total, late)
    at_least = range(sum(after), min(hits, late) + 1)
    return min(1.0, sum(comb(hits, k) * comb(total - hits, late - k) for k in at_least) / ways)


def _faster(before: list[float], after: list[float]) -> float:
    """Mann and Whitney's test by the normal distribution, corrected for ties and continuity: later ones are smaller."""
    values = np.array(before + after)
    m, n = len(before), len(after)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    u = ranks[m:].sum() - n * (n + 1) / 2
    ties = float((counts**3 - counts).sum()) / ((m + n) * (m + n - 1))
    spread = sqrt(m * n / 12 * (m + n + 1 - ties))
    if not spread:
        return 1.0
    return max(1e-300, NormalDist().cdf((u - m * n / 2 + 0.5) / spread))
