"""Reads what comparisons are made of: runs with their tasks, and what a reader sees of their steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Count

from reviews.enums import ItemKind
from reviews.errors import Invalid
from reviews.models import Item, Project, Step, Task, Trajectory
from reviews.queries.items import ItemRow, letter_of, seen_of
from reviews.queries.judging import StepView, steps_window
from reviews.queries.listings import items_of
from reviews.trajectories.alignment import Fingerprint, fingerprint, shared_start
from reviews.trajectories.schema import decode_step

# How many steps of each run are shown before they are laid beside each other.
STEPS_SHOWN = 2


def runs_of_items(project: Project, items: Sequence[Item]) -> list[Item]:
    """The same items with their runs and tasks, in one query. Raises Invalid where one is of another project."""
    found = Item.objects.filter(project=project).select_related("trajectory__task", "task")
    known = found.in_bulk([item.pk for item in items])
    if any(item.pk not in known for item in items):
        raise Invalid({"items": "An item of another project stands here."})
    return [known[item.pk] for item in items]


def runs_by_task(project: Project, *, at_least: int, family: str = "") -> Iterator[list[Item]]:
    """The runs of each task that has so many, in the order of the tasks' keys; each task's as they came in."""
    tasks = Task.objects.filter(project=project).annotate(runs=Count("trajectories__item")).filter(runs__gte=at_least)
    if family:
        tasks = tasks.filter(family=family)
    items = Item.objects.filter(kind=ItemKind.TRAJECTORY, trajectory__task__in=tasks)
    items = items.select_related("trajectory__task").order_by("trajectory__task__key", "pk")
    for _task, group in groupby(items, key=lambda item: item.subject.pk):
        yield list(group)


def fingerprints_of(trajectory: Trajectory) -> list[Fingerprint]:
    """What tells each step from another, in order; the steps themselves are not kept."""
    bodies = Step.objects.filter(trajectory=trajectory).order_by("position").values_list("body", flat=True)
    return [fingerprint(decode_step(body)) for body in bodies.iterator(chunk_size=50)]


def items_named(project: Project, uids: Sequence[Any]) -> list[Item]:
    """The project's items with these ids, in this order. Raises Invalid for one it has not."""
    found = {str(item.uid): item for item in Item.objects.filter(project=project, uid__in=uids)}
    errors = {f"items.{n}": "There is no such item." for n, uid in enumerate(uids) if str(uid) not in found}
    if errors:
        raise Invalid(errors)
    return [found[str(uid)] for uid in uids]


@dataclass(frozen=True)
class Laid:
    """Runs as they would stand beside each other: what is shown once, and how each goes on."""

    rows: list[LaidRun]
    shared: int

    @property
    def one_task(self) -> bool:
        return len({row.item.subject.pk for row in self.rows}) == 1


@dataclass(frozen=True)
class LaidRun:
    letter: str
    item: Item
    outcome: Any
    goes_on: list[StepView]


def laid_out(project: Project, items: Sequence[Item], *, reader: Any, role: Any) -> Laid:
    """The items, in this order, with the first steps behind what all of them share."""
    found = items_of(project, reader=reader).select_related("trajectory__task").in_bulk([item.pk for item in items])
    ordered = [found[item.pk] for item in items if found[item.pk].trajectory]
    shared = shared_start([fingerprints_of(item.run) for item in ordered])
    held = any(item.held for item in ordered)
    return Laid(
        rows=[
            LaidRun(
                letter=letter_of(place),
                item=item,
                outcome=None if held else ItemRow(item, seen_of(item, role)).outcome,
                goes_on=steps_window(item.run, first=shared + 1, last=shared + STEPS_SHOWN, reveal=not held).steps
                if item.run.step_count > shared
                else [],
            )
            for place, item in enumerate(ordered, start=1)
        ],
        shared=shared,
    )
