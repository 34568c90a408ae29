"""Many settled runs at once, as imports and judging would leave them, made by hand because judging takes its time."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from reviews.enums import Basis, QueueItemState
from reviews.models import (
    Item,
    Label,
    LabelValue,
    Outcome,
    Queue,
    QueueItem,
    Task,
    Trajectory,
)
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


def settled(project: Any, items: list[Item], values: Iterable[Mapping[str, int]], **queue: Any) -> Queue:
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
        LabelValue(label=label_of[item.pk], criterion=criteria[key], value=value, basis=Basis.UNANIMOUS)
        for item, row in zip(items, values, strict=True)
        for key, value in row.items()
    )
    return made
