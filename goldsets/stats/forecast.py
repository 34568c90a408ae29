"""How long a pool of gold lasts, said ahead: each rater meets each item once, so a pool is used up rater by rater."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

HORIZON_DAYS = 30


@dataclass(frozen=True)
class Forecast:
    """`days` is until the first rater has met all gold, at what they judge a day now; None where nobody judges.

    `more` is how many further items are needed for every rater to go on for 30 days, or until the queue is done.
    """

    pool: int
    raters: int
    rate: float
    days: float | None
    more: int
    words: str


def forecast(*, pool: int, rate: float, left: Sequence[int], a_day: Sequence[float], to_judge: int) -> Forecast:
    """For each rater: how many gold items are `left` for them, how many items they judge `a_day`.

    `to_judge` is how many items each will still judge until the queue is done; gold is `rate` of what is dealt.
    """
    raters = len(left)
    busy = [(items, pace * rate) for items, pace in zip(left, a_day, strict=True) if pace * rate > 0]
    to_meet = ceil(to_judge * rate / (1 - rate)) if rate else 0
    lasting = [items / pace for items, pace in busy]
    days = min(lasting, default=None)
    wanted = [min(to_meet, ceil(pace * HORIZON_DAYS)) - items for items, pace in busy]
    idle = [to_meet - items for items, pace in zip(left, a_day, strict=True) if not pace and rate]
    more = max([0, *wanted, *idle])
    out = sum(items == 0 for items, _pace in busy)
    return Forecast(pool, raters, rate, days, more, _words(pool, raters, rate, days, more, out))


def _words(pool: int, raters: int, rate: float, days: float | None, more: int, out: int) -> str:
    of = f"This pool of {pool}"
    if not rate:
        return "No gold is mixed in: the rate is 0."
    for_whom = f"for {raters} rater{'' if raters == 1 else 's'} at {rate:.0%}"
    needed = f"{more} more {'is' if more == 1 else 'are'} needed" if more else "no more are needed"
    if out:
        return f"{of} is used up for {out} of {raters} raters at {rate:.0%}: nothing checks them now; {needed}."
    if days is None:
        return (
            f"{of} {for_whom}: nobody has judged in the last two weeks, so how long it lasts cannot be said; {needed}."
        )
    length = "less than a day" if days < 1 else f"{days:.0f} day{'' if round(days) == 1 else 's'}"
    return f"{of} lasts {length} {for_whom}; {needed}."
