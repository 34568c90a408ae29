"""Many settled runs at once, as imports and judging would leave them, made by hand because judging takes its time."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from reviews.enums import Basis, ItemKind, QueueItemState, Tie
from reviews.models import (
    Candidate,
    Item,
    Label,
    LabelValue,
    Outcome,
    Queue,
    QueueItem,
    Step,
    Task,
    Trajectory,
)
from reviews.trajectories.schema import Step as StepBody
from reviews.trajectories.schema import encode_step
from tests import factories as make

_numbers = itertools.count(1)


def runs(project: Any, rows: Iterable[Mapping[str, Any]]) -> list[Item]:
    """One run, without steps, for each row of {"task", "family", "slices", "model", "result", "reward", "split"}.

    All but `task` is optional.
    """
    rows = list(rows)
    tasks = {}
    for row in rows:
        tasks.setdefault(
            row["task"],
            Task(
                project=project,
                key=row["task"],
                title=row.get("title", f"Task {row['task']}"),
                family=row.get("family", ""),
                slices=row.get("slices", {}),
                split=row.get("split", "open"),
            ),
        )
    Task.objects.bulk_create(tasks.values())
    made = Trajectory.objects.bulk_create(
        Trajectory(
            project=project,
            task=tasks[row["task"]],
            content_hash=f"{next(_numbers):064x}".replace("0", "e", 1),
            source_format="openai_chat",
            source_name="many.jsonl",
            step_count=1,
        )
        for row in rows
    )
    Outcome.objects.bulk_create(
        Outcome(
            trajectory=run,
            result=row.get("result", "unknown"),
            reward=row.get("reward"),
            model=row.get("model", ""),
        )
        for run, row in zip(made, rows, strict=True)
    )
    return Item.objects.bulk_create(Item(project=project, trajectory=run) for run in made)


def settled(project: Any, items: list[Item], values: Iterable[Mapping[str, Any]], **queue: Any) -> Queue:
    """A queue in which each item has a label with these values by criterion key; empty values leave it unsettled."""
    made = make.queue(project, items=[], **queue)
    criteria = {criterion.key: criterion for criterion in made.rubric.criteria.all()}
    values = list(values)
    labels = Label.objects.bulk_create(
        Label(
            queue=made,
            item=item,
            basis=Basis.UNANIMOUS,
            rubric=made.rubric,
            guideline=made.guideline,
            judgment_count=2,
        )
        for item, row in zip(items, values, strict=True)
        if row
    )
    label_of = {label.item_id: label for label in labels}
    QueueItem.objects.bulk_create(
        QueueItem(
            queue=made,
            item=item,
            label=label_of.get(item.pk),
            state=QueueItemState.SETTLED if item.pk in label_of else QueueItemState.COLLECTING,
        )
        for item in items
    )
    LabelValue.objects.bulk_create(
        LabelValue(
            label=label_of[item.pk],
            criterion=criteria[key],
            basis=Basis.UNANIMOUS,
            **(value if isinstance(value, Mapping) else {"value": value}),
        )
        for item, row in zip(items, values, strict=True)
        for key, value in row.items()
    )
    return made


def pairs(project: Any, rows: Iterable[Mapping[str, Any]]) -> list[Item]:
    """A comparison of two for each {"task", "lengths": (first, second)}; a side is a step of so many characters."""
    rows = list(rows)
    sides = runs(project, [row for row in rows for _side in (0, 1)])
    Step.objects.bulk_create(
        Step(trajectory=item.run, position=1, role="agent", body=_saying_so_much(n))
        for item, n in zip(sides, [n for row in rows for n in row.get("lengths", (1, 1))], strict=True)
    )
    made = Item.objects.bulk_create(
        Item(
            project=project,
            kind=ItemKind.COMPARISON,
            task=first.subject,
            content_hash=f"{next(_numbers):064x}".replace("0", "d", 1),
        )
        for first in sides[::2]
    )
    Candidate.objects.bulk_create(
        Candidate(item=item, position=position, trajectory=sides[2 * number + position - 1].run)
        for number, item in enumerate(made)
        for position in (1, 2)
    )
    return made


def _saying_so_much(characters: int) -> str:
    return encode_step(StepBody(role="agent", text="x" * characters)).decode()


def preferred(project: Any, items: list[Item], better: Iterable[int | None]) -> Queue:
    """A queue that settles which is better: 1 the first, -1 the second, 0 neither; None leaves a comparison open."""
    better = list(better)
    ties = [Tie.EQUALLY_GOOD.value, Tie.EQUALLY_BAD.value]
    asked = {"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair", "ties": ties}}
    values = [
        {} if one is None else {"better": {"tie": ties[0]} if one == 0 else {"ranks": [1, 2][::one]}} for one in better
    ]
    return settled(project, items, values, criteria=[asked], rubric={"item_kind": ItemKind.COMPARISON})
