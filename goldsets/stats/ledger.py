"""What judgement costs: prices, ratios of sums with their intervals, and what the next rung would save.

Work and what comes of it are summed per task, so that items of one task, which cost alike, do not pass for several.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, fsum, sqrt
from typing import Any

from reviews.stats.result import Estimate, Reason

# What a price list may say: the field, what it means, and the highest price that is no slip of the hand.
PRICES: dict[str, tuple[str, float]] = {
    "crowd": ("An hour of a rater of the tier Crowd", 1000),
    "skilled": ("An hour of a rater of the tier Skilled", 1000),
    "expert": ("An hour of a rater of the tier Expert", 1000),
    "lead": ("An hour of a lead who decides", 1000),
    "machine_hour": ("An hour of computing", 1000),
    "million_tokens": ("A million tokens, where a grader says no cost of its own", 10_000),
}
CURRENCY = "USD"
FEWEST_TASKS = 5


def wrong_prices(prices: Mapping[str, Any]) -> dict[str, str]:
    """Every field at fault with a sentence."""
    errors = {}
    for name, price in prices.items():
        if name not in PRICES:
            errors[name] = f"There is no such price. There are {', '.join(PRICES)}."
            continue
        most = PRICES[name][1]
        if not isinstance(price, int | float) or isinstance(price, bool) or not 0 <= price <= most:
            errors[name] = f"It is a number of US dollars from 0 to {most:g}."
    return errors


def ratio(top: Mapping[Any, float], bottom: Mapping[Any, float], *, statistic: str, nothing: str) -> Estimate:
    """The sum of `top` over the sum of `bottom`, both by task; `nothing` says why there is none where `bottom` is 0.

    The interval is the delta method's on the logarithm, with Student's t over tasks.
    """
    method = "ratio of sums; 95% interval by the delta method on the logarithm, over tasks"
    tasks = {task for task in (*top, *bottom) if top.get(task) or bottom.get(task)}
    n, above, below = len(tasks), fsum(top.values()), fsum(bottom.values())
    if not below:
        return Estimate(statistic, None, n_units=n, method=method, reason=Reason.NO_RATINGS, words=nothing)
    value = above / below
    if n < FEWEST_TASKS:
        words = f"Work on {n} task{'' if n == 1 else 's'} gives no interval; it takes {FEWEST_TASKS}."
        return Estimate(statistic, value, n_units=n, method=method, reason=Reason.BELOW_FLOOR, words=words)
    if not above:
        words = "Of none there is nothing yet, so there is no spread to give."
        return Estimate(statistic, value, n_units=n, method=method, reason=Reason.NO_VARIATION, words=words)
    # In the web process nothing of scipy is loaded before a page needs it: it takes 50 MB.
    from scipy.special import stdtrit

    squares = fsum((top.get(task, 0.0) - value * bottom.get(task, 0.0)) ** 2 for task in tasks)
    spread = sqrt(n / (n - 1) * squares) / below / value * float(stdtrit(n - 1, 0.975))
    return Estimate(statistic, value, value * exp(-spread), value * exp(spread), n, method=method)


@dataclass(frozen=True)
class Saving:
    """What a further rung would save of the experts' work that is still to be done.

    `decided` is the share of items it would decide alone, less what is audited; `minutes` what an item costs the
    experts; `per_item` their product, and `ahead` that times the `waiting` items.
    """

    decided: Estimate
    minutes: Estimate
    waiting: int
    per_item: Estimate
    ahead: Estimate

    def as_dict(self) -> dict[str, Any]:
        names = ("decided", "minutes", "per_item", "ahead")
        return asdict(self) | {name: getattr(self, name).as_dict() for name in names}


def saving(decided: Estimate, minutes: Estimate, *, waiting: int, unit: str = "minutes") -> Saving:
    """Undefined wherever one of the two is. `waiting` is a count and has no error of its own."""
    per_item = _product(decided, minutes, f"{unit} saved of an item")
    times = Estimate("items that wait", float(waiting), float(waiting), float(waiting), waiting)
    ahead = _product(per_item, times, f"{unit} saved of what waits")
    return Saving(decided, minutes, waiting, per_item, ahead)


def _product(one: Estimate, other: Estimate, statistic: str) -> Estimate:
    method = "product; lower end times lower end, upper times upper: at least 90% together"
    n = min(one.n_units, other.n_units)
    for factor in (one, other):
        if factor.value is None:
            return Estimate(statistic, None, n_units=n, method=method, reason=factor.reason, words=factor.words)
    ends: Sequence[float | None] = (one.low, one.high, other.low, other.high)
    value = (one.value or 0) * (other.value or 0)
    if None in ends:
        without = next(factor for factor in (one, other) if factor.low is None or factor.high is None)
        return Estimate(statistic, value, n_units=n, method=method, reason=without.reason, words=without.words)
    low, high = (one.low or 0) * (other.low or 0), (one.high or 0) * (other.high or 0)
    return Estimate(statistic, value, low, high, n, method=method)
