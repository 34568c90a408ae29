"""What a reviewer learns from: settled items, with what each expert said and what stands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goldsets.reviewing.scoring import structure_of, text_of


@dataclass(frozen=True)
class Example:
    """One settled item. `label` and `votes` are 1 where the item passes and 0 where it fails.

    `family` is what must never be on both sides of a split; `votes` has what each expert said, by pseudonym, before
    anybody settled it; `minutes` is how long they took together, `position` in which place it came, `said` what a
    judge said of it, where a judge is what is compiled.
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
    said: float | None = None


@dataclass(frozen=True)
class Target:
    """The one decision that is compiled: a criterion passes from the value `at_least` on, of a choice with that alone.

    Where `gates` are named instead, all of them pass.
    """

    criterion: str
    at_least: int = 1
    is_gate: bool = True
    is_choice: bool = False
    gates: tuple[str, ...] = ()


def examples_from(rows: Iterable[Mapping[str, Any]], target: Target, *, first: int = 0) -> list[Example]:
    """The examples in rows of exported labels; a row whose label says nothing on the criterion gives none.

    `first` is the position of the first row, where others came before.
    """
    found = []
    for position, row in enumerate(rows, start=first):
        label = _said(row["values"], target)
        if label is None:
            continue
        item = item_of(row)
        votes = {
            judgment["rater"]: said
            for judgment in row["judgments"]
            if (said := _said(judgment["values"], target)) is not None
        }
        found.append(
            Example(
                key=row["item"],
                family=row["family"] or f"task {row['task_key'] or row['item']}",
                text=text_of(item),
                structure=structure_of(item),
                label=label,
                votes=votes,
                slices={part["name"]: part["value"] for part in row["slices"]},
                minutes=sum(judgment["active_seconds"] or 0 for judgment in row["judgments"]) / 60,
                position=position,
            )
        )
    return found


def item_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a reviewer reads of a row of exported labels: a run's steps and tools, or the four parts of a task."""
    if task := row.get("task_version"):
        parts = [task[part] for part in ("prompt", "world", "verifier", "intent")]
        return {"id": row["item"], "text": "\n".join(part for part in parts if part)}
    return {"id": row["item"], "steps": row["steps"], "tools": row["tools"]}


def _said(values: Sequence[Mapping[str, Any]], target: Target) -> int | None:
    """Whether the answer passes; None where nothing was said, or the rater was unsure."""
    if target.gates:
        said = [value["value"] for value in values if value["criterion"] in target.gates]
        if 0 in said:
            return 0
        return None if -1 in said or not said else 1
    for value in values:
        if value["criterion"] == target.criterion and value["value"] is not None and value["value"] >= 0:
            passes = value["value"] == target.at_least if target.is_choice else value["value"] >= target.at_least
            return int(passes)
    return None
