"""How often somebody is right on gold: Wilson's interval to read, Clopper-Pearson's limits to promise.

Wilson's interval covers close to its level on average; Clopper-Pearson's never covers less, which a guarantee needs.
"""

from scipy.special import betaincinv

from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason

__all__ = ["clopper_pearson", "wilson"]


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
