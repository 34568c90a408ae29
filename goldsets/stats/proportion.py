"""How often somebody is right on gold: Wilson's interval to read, Clopper-Pearson's limits to promise.

Wilson's interval covers close to its level on average; Clopper-Pearson's never covers less, which a guarantee needs.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from scipy.special import betaincinv

from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason, without_value

__all__ = ["Clusters", "clopper_pearson", "difference", "wilson", "wilson_of_clusters"]


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
    """The second share minus the first, of different trials, from Wilson's intervals (Newcombe 1998a, method 10)."""
    n = first.n_units + second.n_units
    bare = Estimate(statistic, None, n_units=n, method="95% Newcombe, from Wilson's intervals")
    ends = first.value, first.low, first.high, second.value, second.low, second.high
    if any(end is None for end in ends) or not first.n_units or not second.n_units:
        return without_value(bare, Reason.NO_RATINGS, "It takes runs of both kinds.")
    p, p_low, p_high, q, q_low, q_high = (end or 0.0 for end in ends)
    down, up = sqrt((q - q_low) ** 2 + (p_high - p) ** 2), sqrt((q_high - q) ** 2 + (p - p_low) ** 2)
    return Estimate(statistic, q - p, q - p - down, q - p + up, n, method=bare.method)


@dataclass(frozen=True)
class Clusters:
    """What is known of trials that come in clusters, as sums over these, so that nothing else has to be kept.

    Each cluster has n trials, of which `right` are: `squares` is the sum of right^2, `products` of right * n, and
    `squares_n` of n^2.
    """

    clusters: int
    right: int
    n: int
    squares: int
    products: int
    squares_n: int

    @property
    def effective(self) -> float:
        """As many independent trials would say as much (Kish 1965); where none or all are right, the clusters."""
        share = self.right / self.n
        rest = self.squares - 2 * share * self.products + share * share * self.squares_n
        if not 0 < share < 1 or rest <= 0:
            return float(self.clusters)
        variance = self.clusters / (self.clusters - 1) * rest / self.n**2
        return min(float(self.n), share * (1 - share) / variance)


def wilson_of_clusters(seen: Clusters, *, statistic: str = "proportion") -> Estimate:
    """A share with Wilson's 95% interval on the effective number of trials, as Korn and Graubard (1998) do with theirs.

    `n_units` are the clusters and `n_pairs` the trials. One cluster gives no interval.
    """
    method = "95% Wilson on the effective number of trials, by clusters"
    if seen.n == 0:
        words = "Nothing to count yet."
        return Estimate(statistic, None, 0.0, 1.0, 0, method=method, reason=Reason.NO_RATINGS, words=words)
    share, items, trials = seen.right / seen.n, seen.clusters, seen.n
    if items < 2:
        words = "One item gives no interval."
        return Estimate(
            statistic, share, n_units=items, n_pairs=trials, method=method, reason=Reason.ONE_UNIT, words=words
        )
    z, n = NormalDist().inv_cdf(0.975), seen.effective
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    middle, scale = share + z * z / (2 * n), 1 + z * z / n
    low = 0.0 if share == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if share == 1 else min(1.0, (middle + spread) / scale)
    return Estimate(statistic, share, low, high, n_units=items, n_pairs=trials, method=method)
