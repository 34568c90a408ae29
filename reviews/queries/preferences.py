"""How a person likes to work: their keys, and whether they have seen the first steps."""

from dataclasses import dataclass
from typing import Any

from reviews.enums import CorrectionRule, ItemKind
from reviews.keymap import (
    ACTS,
    CANDIDATES,
    CORRECTIONS,
    FIXED,
    GROUPS,
    RANKING,
    READING,
    STEP_LABELS,
    TASK,
    UNSURE,
    keymap,
)
from reviews.models import Preferences, Rubric


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


def key_sheet(keys: dict[str, str], rubric: Rubric) -> list[tuple[str, list[Line]]]:
    """The sheet, group by group, with the keys that do something where this rubric is judged by."""
    there = _there(rubric)
    return [(group, _lines(keys, group, there)) for group in GROUPS]


def reading_keys(keys: dict[str, str], rubric: Rubric | None = None) -> list[Line]:
    """The part of the sheet for pages on which something is read and not judged: one run where no rubric is given."""
    return _lines(keys, READING, _there(rubric) if rubric else {""})


def _there(rubric: Rubric) -> set[str]:
    has = {
        CANDIDATES: rubric.item_kind != ItemKind.TRAJECTORY,
        RANKING: rubric.item_kind == ItemKind.COMPARISON,
        TASK: rubric.item_kind == ItemKind.TASK,
        STEP_LABELS: bool(rubric.step_labels),
        CORRECTIONS: rubric.correction != CorrectionRule.NEVER,
        UNSURE: rubric.unsure_allowed,
    }
    return {"", *(name for name, there in has.items() if there)}


def _lines(keys: dict[str, str], group: str, there: set[str]) -> list[Line]:
    acts = [Line((keys[act.name],), act.words) for act in ACTS if act.group == group and act.needs in there]
    return acts + [Line(fixed, words) for fixed, words, its, needs in FIXED if its == group and needs in there]
