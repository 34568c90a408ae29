"""Small helps for leads' pages: look up, spell letters out, write statistics as people read them."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from django import template

from reviews.queries.items import family_words, letter_of
from reviews.stats.result import SHORT, Estimate

register = template.Library()

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


@register.filter
def at(known: Mapping[Any, Any], key: Any) -> Any:
    """The value under a key that is itself a variable."""
    return known.get(key)


@register.filter
def item_at(row: Sequence[Any], place: int) -> Any:
    """The entry at a place that is itself a variable."""
    return row[place]


register.filter("family_words", family_words)


@register.filter
def spaced(letters: str) -> str:
    """ "AB" as "A B", so that letters are read one by one."""
    return " ".join(letters)


@register.filter
def value(estimate: Estimate) -> str:
    """The value with two decimals, or a dash where it is not defined."""
    return DASH if estimate.value is None else f"{estimate.value:.2f}".replace("-", MINUS)


@register.filter
def signed(estimate: Estimate) -> str:
    """A difference with its sign."""
    return DASH if estimate.value is None else f"{estimate.value:+.2f}".replace("-", MINUS)


@register.filter
def chance(p: float | None) -> str:
    """ "p 0.012", "p < 0.001", or a dash where nothing can be tested."""
    if p is None:
        return DASH
    return f"p {p:.3f}" if p >= 0.001 else "p < 0.001"


@register.filter
def plain(number: float) -> str:
    """A number with no more decimals than it has, and at most three."""
    return f"{round(number, 3):g}"


@register.filter
def interval(estimate: Estimate) -> str:
    """ "[0.44, 0.60]", or nothing where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{estimate.low:.2f}, {estimate.high:.2f}]".replace("-", MINUS)


@register.filter
def why(estimate: Estimate) -> str:
    """In a word why there is no value or no interval; nothing where there is."""
    return SHORT[estimate.reason] if estimate.reason else ""


@register.filter
def beneath(estimate: Estimate) -> str:
    """What stands beneath a value: its interval, or in a word why there is none."""
    return interval(estimate) if estimate.defined and estimate.low is not None else why(estimate)


@register.filter
def seconds(number: float | None) -> str:
    """ "34 s" or "2 min 5 s"."""
    if number is None:
        return DASH
    minutes, rest = divmod(round(number), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@register.filter
def letter(place: Any) -> str:
    """What the candidate at a place is called; "?" where a draft names none."""
    return letter_of(place) if type(place) is int and 0 < place <= len(ascii_uppercase) else "?"
