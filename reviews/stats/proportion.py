"""A proportion with Wilson's interval."""

from math import sqrt
from statistics import NormalDist

from reviews.stats.result import Estimate, Reason


def wilson(right: int, n: int, *, statistic: str = "proportion", confidence: float = 0.95) -> Estimate:
    """`right` of `n` with Wilson's score interval (1927). With n = 0 there is no value and the interval is [0, 1].

    ValueError unless 0 <= right <= n.
    """
    if not 0 <= right <= n:
        raise ValueError("a proportion needs 0 <= right <= n")
    method = f"{confidence:.0%} Wilson"
    if n == 0:
        return Estimate(
            statistic, None, 0.0, 1.0, 0, method=method, reason=Reason.NO_RATINGS, words="Nothing to count yet."
        )
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = right / n
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    middle = share + z * z / (2 * n)
    scale = 1 + z * z / n
    # At the ends the formula gives 0 and 1 up to rounding; the rounding is taken away.
    low = 0.0 if right == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if right == n else min(1.0, (middle + spread) / scale)
    return Estimate(statistic, share, low, high, n, method=method)
