"""What a reviewer learns from: settled items, with what each expert said and what stands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goldsets.reviewing.scoring import structure_of, text_of


@dataclass(frozen=True)
class Example:
    """One settled item. `label` and `votes` are 1 where the item passes and 0 where it fails.

    `family` is what must never be on both sides of a split; `votes` has what each expert said, by pseudonym, before
    anybody settled it; `minutes` is how long they took together, `position` in which place it came.
    """

    key: str
    family: str
    text: str
    structure: Mapping[str, float]
    label: int
    votes: Mapping[str, int] = field(default_factory=dict)
    slices: Mapping[str, str] = field(default_factory=dict)
    minutes: float = 0.0
    position: int = 0


@dataclass(frozen=True)
class Target:
    """The one decision that is compiled: a criterion passes from the value `at_least` on."""

    criterion: str
    at_least: int = 1
    is_gate: bool = True


def examples_from(rows: Iterable[Mapping[str, Any]], target: Target) -> list[Example]:
    """The examples in rows of exported labels; a row whose label says nothing on the criterion gives none."""
    found = []
    for position, row in enumerate(rows):
        label = _said(row["values"], target)
        if label is None:
            continue
        votes = {
            judgment["rater"]: said
            for judgment in row["judgments"]
            if (said := _said(judgment["values"], target)) is not None
        }
        found.append(
            Example(
                key=row["item"],
                family=row["family"] or f"task {row['task_key'] or row['item']}",
                text=text_of(row),
                structure=structure_of(row),
                label=label,
                votes=votes,
                slices={part["name"]: part["value"] for part in row["slices"]},
                minutes=sum(judgment["active_seconds"] or 0 for judgment in row["judgments"]) / 60,
                position=position,
            )
        )
    return found


def _said(values: Sequence[Mapping[str, Any]], target: Target) -> int | None:
    """Whether the answer passes; None where nothing was said, or the rater was unsure."""
    for value in values:
        if value["criterion"] == target.criterion and value["value"] is not None and value["value"] >= 0:
            return int(value["value"] >= target.at_least)
    return None
