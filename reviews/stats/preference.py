"""Preferences between two: how far raters agree, whether being shown first helps, and whether they fit one order.

A preference is a number: above 0 the first of the pair is better, below 0 the second, 0 a tie; its size, 1 or 2, is how
much. First and second are the pair's own, wherever each was shown, unless a function says otherwise.
"""

from dataclasses import dataclass

import numpy as np

from reviews.stats.agreement import Share, from_rows, krippendorff_alpha, percent_agreement
from reviews.stats.bias import mcnemar
from reviews.stats.counts import MISSING, from_codes
from reviews.stats.proportion import wilson
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, HypothesisTest, Reason, without_value

STRONGEST = 2


@dataclass(frozen=True)
class PreferenceAgreement:
    """`direction`: which is better, a tie being a third answer. `strength`: also by how much, as an ordinal scale.

    `same` is the share of pairs of raters with the same direction.
    """

    same: Estimate
    direction: Estimate
    strength: Estimate


@dataclass(frozen=True)
class PositionBias:
    """Pairs judged in both orders by the same rater or judge.

    `consistent` is the share of pairs on which the same one won, or both were tied, whichever was shown first. The
    counts say how often the place won both times, and in how many pairs only one order was a tie. `test` asks whether
    the place wins as often when it is the first as when it is the second. `first_shown` is the share of wins, over both
    orders, that went to the one shown first.
    """

    consistent: Estimate
    always_first: int
    always_second: int
    once_tied: int
    test: HypothesisTest
    first_shown: Estimate


@dataclass(frozen=True)
class Triads:
    """Three items compared pairwise without a tie: `cyclic` is the share in which A beats B, B beats C and C beats A.

    Chance alone gives a quarter. `n_triads` were decided, `n_cyclic` of them are cycles.
    """

    cyclic: Estimate
    n_cyclic: int
    n_triads: int


def preference_agreement(
    units: np.ndarray,
    raters: np.ndarray,
    preferences: np.ndarray,
    *,
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> PreferenceAgreement:
    """One row per pair and rater, preferences from -2 to 2; NaN is no answer."""
    values = np.asarray(preferences, dtype=float).ravel()
    given = ~np.isnan(values)
    if (np.abs(values[given]) > STRONGEST).any() or (values[given] % 1 != 0).any():
        raise ValueError("a preference is a whole number from -2 to 2")
    filled = np.where(given, values, 0).astype(np.int64)
    as_strength = from_codes(
        units,
        raters,
        np.where(given, filled + STRONGEST, MISSING),
        scores=range(-STRONGEST, STRONGEST + 1),
    )
    as_direction = from_codes(units, raters, np.where(given, np.sign(filled) + 1, MISSING), scores=[-1, 0, 1])
    return PreferenceAgreement(
        same=percent_agreement(as_direction, bootstrap=bootstrap, clusters=clusters),
        direction=krippendorff_alpha(as_direction, level="nominal", bootstrap=bootstrap, clusters=clusters),
        strength=krippendorff_alpha(as_strength, level="ordinal", bootstrap=bootstrap, clusters=clusters),
    )


def position_bias(shown_once: np.ndarray, shown_swapped: np.ndarray) -> PositionBias:
    """Two answers per pair, (pairs,), one for each order; here above 0 means that the one shown first won.

    A pair that lacks an answer is not for this function.
    """
    once, swapped = np.sign(np.asarray(shown_once).ravel()), np.sign(np.asarray(shown_swapped).ravel())
    if len(once) != len(swapped):
        raise ValueError("every pair needs an answer in both orders")
    first, second = int(((once > 0) & (swapped > 0)).sum()), int(((once < 0) & (swapped < 0)).sum())
    wins = int((once > 0).sum() + (swapped > 0).sum())
    decided = int(np.count_nonzero(once) + np.count_nonzero(swapped))
    return PositionBias(
        consistent=wilson(int((once == -swapped).sum()), len(once), statistic="Same answer in both orders"),
        always_first=first,
        always_second=second,
        once_tied=int(((once == 0) != (swapped == 0)).sum()),
        test=mcnemar(first, second, name="Position bias, McNemar's test"),
        first_shown=wilson(wins, decided, statistic="Wins of the one shown first"),
    )


def cyclic_triads(
    groups: np.ndarray,
    firsts: np.ndarray,
    seconds: np.ndarray,
    preferences: np.ndarray,
    *,
    bootstrap: Bootstrap | None = None,
) -> Triads:
    """One row per comparison. Triads are formed within a group, such as one rater on one task.

    Items compared more than once go by the sum of the preferences' signs. The interval draws whole groups. [Kendall and
    Babington Smith 1940]
    """
    groups, firsts, seconds = (np.asarray(column, dtype=np.int64).ravel() for column in (groups, firsts, seconds))
    signs = np.sign(np.asarray(preferences, dtype=float).ravel())
    order = np.argsort(groups, kind="stable")
    found = [
        _triads_of(firsts[rows], seconds[rows], signs[rows])
        for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        if len(rows) >= 3
    ]
    rows = np.array([entry for entry in found if entry[1]], dtype=float).reshape(-1, 2)
    n_cyclic, n_triads = (int(total) for total in rows.sum(axis=0))
    share = Share("Cyclic triads")
    bare = Estimate(share.name, None, n_units=len(rows), method="value only")
    if not n_triads:
        words = "No three items have all been compared with each other without a tie."
        return Triads(without_value(bare, Reason.NO_PAIRS, words), 0, 0)
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    cyclic = from_rows(bare, share, kinds, times, bootstrap=bootstrap)
    return Triads(cyclic, n_cyclic, n_triads)


def _triads_of(firsts: np.ndarray, seconds: np.ndarray, signs: np.ndarray) -> tuple[int, int]:
    """Cycles, and all triads of which every two items are decided."""
    items, codes = np.unique(np.concatenate([firsts, seconds]), return_inverse=True)
    first, second = np.split(codes, 2)
    net = np.zeros((len(items), len(items)))
    np.add.at(net, (first, second), signs)
    np.add.at(net, (second, first), -signs)
    beats = (net > 0).astype(float)
    decided = beats + beats.T
    # The trace of a matrix's third power counts walks of three steps: each cycle three times, each triad six.
    return round((beats @ beats * beats.T).sum() / 3), round((decided @ decided * decided).sum() / 6)
