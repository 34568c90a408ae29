"""Further runs of a task that has one."""

import itertools
from typing import Any

from reviews.enums import OutcomeResult
from reviews.models import Item, Original, Outcome, Step, Trajectory
from reviews.trajectories.schema import Step as StepBody
from reviews.trajectories.schema import encode_step

_numbers = itertools.count(1)


def another_run(item: Item, steps: tuple[StepBody, ...], **outcome: Any) -> Item:
    """A run of the item's task with these steps, as an import would leave it."""
    like = item.trajectory
    run = Trajectory.objects.create(
        project=item.project,
        task=like.task,
        policy=like.policy,
        content_hash=f"{next(_numbers):064x}".replace("0", "f", 1),
        source_format="openai_chat",
        source_name="more-runs.jsonl",
        step_count=len(steps),
        tools=like.tools,
        versions=like.versions,
    )
    Step.objects.bulk_create(
        Step(trajectory=run, position=position, role=step.role, body=encode_step(step).decode())
        for position, step in enumerate(steps, start=1)
    )
    Original.objects.create(trajectory=run, compressed=b"")
    known = {"result": OutcomeResult.FAILURE, "reward": 0.0, "model": "secret-model-7", **outcome}
    Outcome.objects.create(trajectory=run, **known)
    return Item.objects.create(project=item.project, trajectory=run)
