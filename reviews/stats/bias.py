"""Whether one rater leans to other labels than somebody else: McNemar's exact test and Stuart and Maxwell's.

A table counts on how many units the first said i while the second said j; the second may be another rater, the
majority of the others, or labels that are known.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from scipy.special import betainc, gammaincc

from reviews.stats.result import Estimate, HypothesisTest, Reason, without_interval, without_test, without_value

MCNEMAR = "exact binomial on the units that differ (McNemar 1947)"
STUART_MAXWELL = "chi-squared of the differences of both shares (Stuart 1955; Maxwell 1970)"


@dataclass(frozen=True)
class Bias:
    """`test` asks whether the first uses the labels as often as the second does.

    `shifts` says per label by how much more often: share of the first minus share of the second.
    """

    test: HypothesisTest
    shifts: tuple[Estimate, ...]


def bias(table: np.ndarray, *, confidence: float = 0.95) -> Bias:
    """(labels, labels) -> test and shifts. Two labels are tested exactly, more of them by Stuart and Maxwell."""
    table = np.asarray(table)
    test = mcnemar(int(table[0, 1]), int(table[1, 0])) if len(table) == 2 else stuart_maxwell(table)
    return Bias(test, tuple(_shift(table, label, confidence) for label in range(len(table))))


def mcnemar(first_only: int, second_only: int, *, name: str = "McNemar's test") -> HypothesisTest:
    """Two counts of units that differ, one for each way round; without bias both ways are equally likely."""
    n = first_only + second_only
    if n == 0:
        return without_test(name, 0, MCNEMAR, Reason.NOTHING_DIFFERS)
    fewer = min(first_only, second_only)
    # P(X <= fewer) of a binomial with 1/2.
    below = 1.0 if fewer == n else float(betainc(n - fewer, fewer + 1, 0.5))
    return HypothesisTest(name, min(1.0, 2 * below), n, float(fewer), method=MCNEMAR)


def stuart_maxwell(table: np.ndarray, *, name: str = "Stuart-Maxwell test") -> HypothesisTest:
    """Equal use of all labels by both raters, (labels, labels).

    Labels that no differing unit bears add nothing. Where the differences fall into groups of labels that are never
    mixed up with each other, every group takes one degree of freedom away.
    """
    table = np.asarray(table, dtype=float)
    mixed = table + table.T
    np.fill_diagonal(mixed, 0)
    n = int(mixed.sum() / 2)
    if n == 0:
        return without_test(name, 0, STUART_MAXWELL, Reason.NOTHING_DIFFERS)
    apart = table.sum(axis=1) - table.sum(axis=0)
    covariance = np.diag(mixed.sum(axis=1)) - mixed
    df = int(np.linalg.matrix_rank(covariance, hermitian=True))
    statistic = float(apart @ np.linalg.pinv(covariance, hermitian=True) @ apart)
    return HypothesisTest(name, float(gammaincc(df / 2, statistic / 2)), n, statistic, df, STUART_MAXWELL)


def _shift(table: np.ndarray, label: int, confidence: float) -> Estimate:
    """How much more often, as a share of units, the first gave the label."""
    n = int(table.sum())
    bare = Estimate(
        "Share of the label, first minus second",
        None,
        n_units=n,
        n_pairs=n,
        n_raters=2,
        method=f"{confidence:.0%} normal, paired difference of shares",
    )
    if n == 0:
        return without_value(bare, Reason.NO_PAIRS)
    more = int(table[label].sum() - table[label, label])
    less = int(table[:, label].sum() - table[label, label])
    shift = (more - less) / n
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(max(0.0, (more + less) / n - shift**2) / n)
    full = Estimate(bare.statistic, shift, shift - reach, shift + reach, n, n, 2, bare.method)
    if n == 1:
        return without_interval(full, Reason.ONE_UNIT)
    return full if reach else without_interval(full, Reason.UNSTABLE)
