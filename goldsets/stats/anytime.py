"""An upper bound on a rate that may be looked at after every item and acted on at any of them.

Clopper and Pearson's bound holds for one look at a number of items fixed beforehand. Whoever looks again after each
item and stops once it is low enough is wrong more often than it says. This one holds at all looks together. [Robbins
1970]
"""

from math import inf, lgamma, log

from reviews.stats.result import Estimate, Reason

# Nobody is told to wait for more than this.
MOST_MORE = 10_000
PRECISION = 1e-9


def always_at_most(errors: int, n: int, *, limit: float, statistic: str = "rate", confidence: float = 0.95) -> Estimate:
    """`errors` of `n` with the upper end of a confidence sequence. It is the narrowest where it is to meet `limit`."""
    method = f"{confidence:.0%} confidence sequence (Robbins' beta mixture), whenever it is looked at"
    if n == 0:
        words = "Nothing to count yet, so nothing is bounded."
        return Estimate(statistic, None, 0.0, 1.0, 0, method=method, reason=Reason.NO_RATINGS, words=words)
    return Estimate(statistic, errors / n, 0.0, _upper(errors, n, limit, confidence), n, method=method)


def more_without_error(errors: int, n: int, *, limit: float, confidence: float = 0.95) -> int | None:
    """How many further items, all without an error, bring the bound down to the limit; None beyond ten thousand."""
    for more in range(MOST_MORE + 1):
        if _evidence(limit, errors, n + more, limit) >= -log(1 - confidence) and errors < limit * (n + more):
            return more
    return None


def _upper(errors: int, n: int, limit: float, confidence: float) -> float:
    """The largest rate that the mixture has not disproved: the evidence against a rate grows from errors/n upward."""
    wanted = -log(1 - confidence)
    low, high = errors / n, 1.0
    while high - low > PRECISION:
        middle = (low + high) / 2
        if _evidence(middle, errors, n, limit) >= wanted:
            high = middle
        else:
            low = middle
    return high


def _evidence(rate: float, errors: int, n: int, limit: float) -> float:
    """The logarithm of how much better the mixture, Beta(1, 1/limit), explains what was seen than this rate does."""
    if not 0 < rate < 1:
        return inf
    a, b = 1.0, 1 / limit
    mixture = _log_beta(a + errors, b + n - errors) - _log_beta(a, b)
    return mixture - errors * log(rate) - (n - errors) * log(1 - rate)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
