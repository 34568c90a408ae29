"""How often somebody is right on gold: Wilson's interval to read, Clopper-Pearson's limits to promise.

Wilson's interval covers close to its level on average; Clopper-Pearson's never covers less, which a guarantee needs.
"""

from math import sqrt

from scipy.special import betaincinv

from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason, without_value

__all__ = ["clopper_pearson", "difference", "wilson"]


def clopper_pearson(right: int, n: int, *, statistic: str = "proportion", confidence: float = 0.95) -> Estimate:
    """`right` of `n` with the exact interval (Clopper and Pearson 1934). With n = 0 no value, and the interval [0, 1].

    ValueError unless 0 <= right <= n.
    """
    if not 0 <= right <= n:
        raise ValueError("a proportion needs 0 <= right <= n")
    method = f"{confidence:.0%} Clopper-Pearson"
    if n == 0:
        words = "Nothing to count yet."
        return Estimate(statistic, None, 0.0, 1.0, 0, method=method, reason=Reason.NO_RATINGS, words=words)
    tail = (1 - confidence) / 2
    low = 0.0 if right == 0 else float(betaincinv(right, n - right + 1, tail))
    high = 1.0 if right == n else float(betaincinv(right + 1, n - right, 1 - tail))
    return Estimate(statistic, right / n, low, high, n, method=method)


def difference(first: Estimate, second: Estimate, *, statistic: str) -> Estimate:
    """The second share minus the first, of different trials, both with Wilson's interval (Newcombe 1998, method 10)."""
    n = first.n_units + second.n_units
    bare = Estimate(statistic, None, n_units=n, method="95% Newcombe, from Wilson's intervals")
    ends = first.value, first.low, first.high, second.value, second.low, second.high
    if any(end is None for end in ends) or not first.n_units or not second.n_units:
        return without_value(bare, Reason.NO_RATINGS, "It takes runs of both kinds.")
    p, p_low, p_high, q, q_low, q_high = (end or 0.0 for end in ends)
    down, up = sqrt((q - q_low) ** 2 + (p_high - p) ** 2), sqrt((q_high - q) ** 2 + (p - p_low) ** 2)
    return Estimate(statistic, q - p, q - p - down, q - p + up, n, method=bare.method)
