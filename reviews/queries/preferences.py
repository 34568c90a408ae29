"""How a person likes to work: their keys, and whether they have seen the first steps."""

from dataclasses import dataclass
from typing import Any

from reviews.keymap import ACTS, FIXED, GROUPS, READING, keymap
from reviews.models import Preferences


@dataclass(frozen=True)
class Habits:
    """`keys` is the key of every act."""

    keys: dict[str, str]
    coached: bool


def habits_of(user: Any) -> Habits:
    """One query."""
    known = Preferences.objects.filter(user=user).first()
    return Habits(keys=keymap(known.keys if known else None), coached=bool(known and known.coached_at))


@dataclass(frozen=True)
class Line:
    """A line of the key sheet: keys as they are written, and what they do."""

    keys: tuple[str, ...]
    words: str


def key_sheet(keys: dict[str, str]) -> list[tuple[str, list[Line]]]:
    """The sheet, group by group."""
    return [
        (
            group,
            [Line((keys[act.name],), act.words) for act in ACTS if act.group == group]
            + [Line(fixed, words) for fixed, words, its in FIXED if its == group],
        )
        for group in GROUPS
    ]


def reading_keys(keys: dict[str, str]) -> list[Line]:
    """The part of the sheet for pages on which a run is read and not judged."""
    return dict(key_sheet(keys))[READING]
