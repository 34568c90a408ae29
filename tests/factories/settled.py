"""A queue whose runs are all judged and settled, from examples whose right verdict is known; written in bulk."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from goldsets.reviewing.examples import Example
from reviews.models import (
    Assignment,
    Criterion,
    Item,
    Judgment,
    Label,
    LabelValue,
    Queue,
    QueueItem,
    Rating,
    Slot,
    Step,
    Task,
    Trajectory,
)
from reviews.trajectories.schema import Step as StepBody
from reviews.trajectories.schema import encode_step
from tests import factories as make

VERSIONS = {"environment": "desk 3.2"}


def labelled_queue(project: Any, examples: Sequence[Example], **settings: Any) -> Queue:
    """Each example is a run of one message with its text; `authorised` passes or fails as its label and votes say.

    Its raters are called as in the votes. What passes has success 3 and process 2, and consent always passes.
    """
    names = sorted({rater for example in examples for rater in example.votes})
    raters = {name: make.expert(project, name, pseudonym=name) for name in names}
    queue = make.queue(project, items=[], overlap=max(1, len(names)), **settings)
    items = _items(project, examples)
    criteria = {row.key: row for row in Criterion.objects.filter(rubric=queue.rubric)}
    then = timezone.now() - timedelta(days=2)
    later = then + timedelta(days=1)
    shared = {"queue": queue, "rubric": queue.rubric, "guideline": queue.guideline}
    labels = Label.objects.bulk_create(
        Label(**shared, item=item, basis="unanimous", judgment_count=len(names), versions=VERSIONS, created_at=later)
        for item in items
    )
    LabelValue.objects.bulk_create(
        LabelValue(label=label, criterion=criteria[key], value=value, basis="unanimous")
        for label, example in zip(labels, examples, strict=True)
        for key, value in _said(example.label).items()
    )
    rows = QueueItem.objects.bulk_create(
        QueueItem(queue=queue, item=item, state="settled", label=label)
        for item, label in zip(items, labels, strict=True)
    )
    _judge(queue, rows, examples, raters, criteria, shared, then)
    return queue


def _items(project: Any, examples: Sequence[Example]) -> list[Item]:
    first = next(make._numbers) * 1_000_000
    tasks = Task.objects.bulk_create(
        Task(project=project, key=f"task-{first + at}", family=example.family, slices=dict(example.slices))
        for at, example in enumerate(examples)
    )
    runs = Trajectory.objects.bulk_create(
        Trajectory(
            project=project,
            task=task,
            content_hash=f"{first + at:064d}",
            source_format="openai_chat",
            source_name="runs.jsonl",
            step_count=1,
            versions=VERSIONS,
        )
        for at, task in enumerate(tasks)
    )
    Step.objects.bulk_create(
        Step(
            trajectory=run,
            position=1,
            role="agent",
            body=encode_step(StepBody(role="agent", text=example.text, pointer="/messages/0")).decode(),
        )
        for run, example in zip(runs, examples, strict=True)
    )
    return Item.objects.bulk_create(Item(project=project, trajectory=run) for run in runs)


def _judge(
    queue: Queue,
    rows: list[QueueItem],
    examples: Sequence[Example],
    raters: dict[str, Any],
    criteria: dict[str, Criterion],
    shared: dict[str, Any],
    then: Any,
) -> None:
    said = [
        (row, number, raters[name], vote, example)
        for row, example in zip(rows, examples, strict=True)
        for number, (name, vote) in enumerate(example.votes.items(), start=1)
    ]
    slots = Slot.objects.bulk_create(
        Slot(queue=queue, item=row.item, queue_item=row, number=number, place=row.pk * 1_000_000, state="done")
        for row, number, *_rest in said
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            queue=queue, item=row.item, slot=slot, rater=rater, state="submitted", expires_at=then, ended_at=then
        )
        for slot, (row, _number, rater, *_rest) in zip(slots, said, strict=True)
    )
    judgments = Judgment.objects.bulk_create(
        Judgment(
            **shared,
            assignment=assignment,
            item=row.item,
            rater=rater,
            confidence=3,
            active_seconds=round(example.minutes * 60 / len(example.votes)),
            idempotency_key=f"made-{assignment.uid}",
            submitted_at=then,
        )
        for assignment, (row, _number, rater, _vote, example) in zip(assignments, said, strict=True)
    )
    Rating.objects.bulk_create(
        Rating(judgment=judgment, criterion=criteria[key], value=value)
        for judgment, (*_row, vote, _example) in zip(judgments, said, strict=True)
        for key, value in _said(vote).items()
    )


def _said(passes: int) -> dict[str, int]:
    return {"authorised": 1, "consent": 1, "success": 3, "process": 2} if passes else {"authorised": 0, "consent": 1}
