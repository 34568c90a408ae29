"""The outline of a run: one short mark per step, kept with the run, so that no page reads all of a run to draw its map.

A mark is a letter and, for a call, the number of its tool's name: "uat0w1e0". The letters are s system, u user,
a agent, t tool; of tools w writes, e ended in an error, x both. As text an outline is its marks, then a name per line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import msgspec

from reviews.trajectories.schema import Role, Step

MOST_NAMES = 300
LONGEST_NAME = 60

# What can be looked at alone, and the letters of its marks.
ONLY = {"writes": "wx", "errors": "ex", "agent": "a"}

_MARK = re.compile(r"([a-z])(\d*)")
_ROLES: dict[str, Role] = {"s": "system", "u": "user", "a": "agent", "t": "tool", "w": "tool", "e": "tool", "x": "tool"}


class Mark(msgspec.Struct, frozen=True):
    """What the map knows of one step; `name` is empty where no tool was called."""

    role: Role
    name: str = ""
    writes: bool = False
    error: bool = False


class Outline(msgspec.Struct, frozen=True):
    """All marks of a run, and the names of its tools as far as there is room."""

    marks: str = ""
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.marks, *self.names))

    def count(self, only: str) -> int:
        """How many steps are of this kind, one of `ONLY`."""
        return sum(self.marks.count(letter) for letter in ONLY[only])

    def numbers(self, only: str) -> list[int]:
        """The numbers of these steps, from 1."""
        letters = ONLY[only]
        return [number for number, (letter, _) in enumerate(_MARK.findall(self.marks), start=1) if letter in letters]

    def read(self) -> list[Mark]:
        """The marks in the order of the steps."""
        return [
            Mark(
                role=_ROLES[letter],
                name=self.names[int(name)] if name else "",
                writes=letter in "wx",
                error=letter in "ex",
            )
            for letter, name in _MARK.findall(self.marks)
        ]


def outline_of(steps: Iterable[Step], writing: Collection[str]) -> Outline:
    """The outline of steps; `writing` names the tools that change something."""
    numbers: dict[str, int] = {}
    marks: list[str] = []
    for step in steps:
        name = " ".join(step.call.name.split())[:LONGEST_NAME] if step.call else ""
        if name and (name in numbers or len(numbers) < MOST_NAMES):
            number = str(numbers.setdefault(name, len(numbers)))
        else:
            number = ""
        marks.append(_letter(step, writing) + number)
    return Outline("".join(marks), tuple(numbers))


def outline_from(text: str) -> Outline:
    """An outline from its text."""
    marks, *names = text.split("\n")
    return Outline(marks, tuple(names))


def _letter(step: Step, writing: Collection[str]) -> str:
    """A call that was never answered counts as an error: nobody knows what became of it."""
    if not step.call and not step.result:
        return step.role[0]
    error = step.result.error if step.result else True
    writes = step.call is not None and step.call.name in writing
    return {(False, False): "t", (True, False): "w", (False, True): "e", (True, True): "x"}[writes, error]
