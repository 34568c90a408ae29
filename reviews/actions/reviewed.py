"""Makes the item by which a task is reviewed: a version of its text, and its runs with the verifier's results."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any

import msgspec
from django.db.models import Max

from reviews.enums import ItemKind, Split
from reviews.models import Candidate, Item, Project, Task, TaskVersion, Trajectory
from reviews.trajectories.preparing import ReadyRun
from reviews.trajectories.schema import TaskText


@dataclass(frozen=True)
class Attached:
    """A run under a task, the role of the agent that made it, and what the task's verifier said of it."""

    run: Trajectory
    role: str = ""
    result: dict[str, Any] = field(default_factory=dict)


def store_reviews(
    *, project: Project, carriers: Sequence[tuple[str, ReadyRun]], provenance: str
) -> tuple[list[Item], list[Item]]:
    """The items of tasks, the new ones and those that were there, once their runs are in.

    Each comes with its first run and stands beside its key.
    """
    names = {name for _key, run in carriers for name, _role, _result in (run.review.runs if run.review else ())}
    stored = {row.content_hash: row for row in Trajectory.objects.filter(project=project, content_hash__in=names)}
    made: list[Item] = []
    there: list[Item] = []
    for key, run in carriers:
        assert run.review  # noqa: S101  that is what makes it a carrier
        task = task_called(project, key, title=run.title, family=run.family, slices=run.slices)
        attached = [Attached(stored[name], role, result) for name, role, result in run.review.runs]
        item, new = review_item(task=task, text=run.review.text, attached=attached, provenance=provenance)
        (made if new else there).append(item)
    return made, there


def task_called(project: Project, key: str, *, title: str, family: str, slices: dict[str, Any]) -> Task:
    """The project's task with this key; one that is there stays as it is."""
    named = {"title": title[:200], "family": family[:100], "slices": slices, "split": Split.OPEN}
    return Task.objects.get_or_create(project=project, key=key, defaults=named)[0]


def review_item(*, task: Task, text: TaskText, attached: Sequence[Attached], provenance: str) -> tuple[Item, bool]:
    """The item of this version with these runs, and whether it is new. The caller has locked the project."""
    version = version_of(task, text)
    content_hash = _hash_of([task.key, version.content_hash, *sorted(_words(each) for each in attached)])
    there = Item.objects.filter(project=task.project_id, content_hash=content_hash).first()
    if there:
        return there, False
    item = Item.objects.create(
        project_id=task.project_id,
        kind=ItemKind.TASK,
        task=task,
        task_version=version,
        content_hash=content_hash,
        provenance=provenance,
    )
    Candidate.objects.bulk_create(
        Candidate(item=item, position=position, trajectory=each.run, role=each.role, result=each.result)
        for position, each in enumerate(attached, start=1)
    )
    return item, True


def version_of(task: Task, text: TaskText) -> TaskVersion:
    """The version of the task with this text: the one that is there, or the next."""
    fields = msgspec.to_builtins(msgspec.structs.asdict(text))
    content_hash = _hash_of([dumps(fields, sort_keys=True)])
    latest = TaskVersion.objects.filter(task=task).aggregate(number=Max("number"))["number"] or 0
    return TaskVersion.objects.get_or_create(
        task=task, content_hash=content_hash, defaults={**fields, "number": latest + 1}
    )[0]


def _words(attached: Attached) -> str:
    return dumps([attached.run.content_hash, attached.role, attached.result], sort_keys=True)


def _hash_of(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
