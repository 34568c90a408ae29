"""Holds an answer against gold: one pure comparison over {criterion key: value}, whatever kinds of criteria there are.

A value is a number (a gate's answer, a level, an option), a text, a list (options chosen, ranks), or a mapping (labels
by step). A number may be off by the tolerance, which a gate never has; of labels by step as many may be others or
missing; everything else must be equal. Several values can be right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = int | float | str | Sequence[int] | Mapping[str, int]


@dataclass(frozen=True)
class Expected:
    """What gold holds to be right on one criterion: the value, others that are as good, how far a number may be off."""

    value: Value
    also: tuple[Value, ...] = ()
    tolerance: float = 0

    def accepts(self, said: Value) -> bool:
        return any(_same(said, right, self.tolerance) for right in (self.value, *self.also))

    def as_json(self) -> dict[str, Any]:
        return {"value": self.value, "also": list(self.also), "tolerance": self.tolerance}


def read_expected(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Expected]:
    """What `as_json` wrote, by criterion key."""
    return {
        key: Expected(entry["value"], tuple(entry.get("also", ())), entry.get("tolerance", 0))
        for key, entry in document.items()
    }


def compare(said: Mapping[str, Value], expected: Mapping[str, Expected]) -> dict[str, bool]:
    """Whether each value is right, for criteria on which both have one; a wrong gate already takes the others away."""
    return {key: expected[key].accepts(value) for key, value in said.items() if key in expected}


def _same(said: Value, right: Value, tolerance: float) -> bool:
    if isinstance(said, int | float) and isinstance(right, int | float):
        # Half a millionth, so that .1 + .2 is .3.
        return abs(said - right) <= tolerance + 5e-7
    if isinstance(said, Mapping) or isinstance(right, Mapping):
        return isinstance(said, Mapping) and isinstance(right, Mapping) and steps_off(said, right) <= tolerance
    if isinstance(said, str) or isinstance(right, str):
        return said == right
    return isinstance(said, Sequence) and isinstance(right, Sequence) and list(said) == list(right)


def steps_off(said: Mapping[str, int], right: Mapping[str, int]) -> int:
    """How many of the steps that are to have a label have another one or none. Further labels are nobody's error."""
    return sum(said.get(step) != value for step, value in right.items())
