"""How tasks came to be what they are: each version with its runs, how many solvers passed, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from reviews.enums import AgentRole, CriterionKind, ItemKind, Role
from reviews.models import Item, Label, Project, TaskVersion
from reviews.queries.items import seen_of, with_words
from reviews.queries.listings import items_of, labels_of
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate
from reviews.visibility import Thing


@dataclass(frozen=True)
class Decided:
    """One item of a version, and its label for whoever may see it."""

    item: Item
    label: Label | None

    @property
    def decision(self) -> str:
        """The first choice that was settled of the item as a whole, such as "Back to verifier"."""
        for value in self.label.values.all() if self.label else ():
            if value.candidate is None and value.criterion.kind == CriterionKind.CHOICE:
                return str(value.words)
        return ""

    @property
    def reason(self) -> str:
        return self.label.adjudication.note if self.label and self.label.adjudication else ""


@dataclass(frozen=True)
class VersionRow:
    """One version of a task, with the share of its solvers that its verifier passed."""

    version: TaskVersion
    pass_rate: Estimate
    decided: list[Decided] = field(default_factory=list)

    @property
    def words(self) -> str:
        """What became of it, such as "back to verifier"."""
        return ", ".join(each.decision.lower() for each in self.decided if each.decision) or "not decided"


def versions_of(project: Project) -> QuerySet[TaskVersion]:
    """The latest version of each task first."""
    return TaskVersion.objects.filter(task__project=project).select_related("task").order_by("-pk")


def latest_versions(project: Project) -> QuerySet[TaskVersion]:
    """The latest version of every task."""
    newer = TaskVersion.objects.filter(task=OuterRef("task"), number__gt=OuterRef("number"))
    return versions_of(project).exclude(Exists(newer))


def version_by_uid(project: Project, uid: Any) -> TaskVersion | None:
    return versions_of(project).filter(uid=uid).first()


def history_of(version: TaskVersion, *, reader: Any, role: Role) -> list[VersionRow]:
    """Every version of the task, the first one first, with what was decided where the reader may see it."""
    return next(histories([version], reader=reader, role=role))[1]


def histories(
    versions: list[TaskVersion], *, reader: Any, role: Role
) -> Iterator[tuple[TaskVersion, list[VersionRow]]]:
    """The history of the task of each of these versions."""
    if not versions:
        return
    project = versions[0].task.project
    tasks = [version.task_id for version in versions]
    items = items_of(project, reader=reader).filter(kind=ItemKind.TASK, task__in=tasks).order_by("pk")
    labels = labels_of(project, reader=reader).filter(item__in=[item.pk for item in items], stands=True)  # type: ignore[misc]
    settled: dict[int, Label] = {}
    for label in labels.order_by("pk"):
        settled[label.item_id] = with_words(label)
    of_version: dict[int | None, list[Decided]] = {}
    for item in items:
        sees = Thing.LABEL in seen_of(item, role)
        decided = Decided(item, settled.get(item.pk) if sees else None)
        of_version.setdefault(item.task_version_id, []).append(decided)
    every = TaskVersion.objects.filter(task__in=tasks).order_by("task", "number")
    rows = {
        task: [VersionRow(each, _pass_rate(of_version.get(each.pk, [])), of_version.get(each.pk, [])) for each in group]
        for task, group in groupby(every, key=lambda each: each.task_id)
    }
    for version in versions:
        yield version, rows[version.task_id]


def _pass_rate(decided: list[Decided]) -> Estimate:
    """Of the solvers' runs with a result, each once, how many passed."""
    results = {
        candidate.trajectory_id: candidate.result["passed"]
        for each in decided
        for candidate in each.item.candidates.all()
        if candidate.role == AgentRole.SOLVER and "passed" in candidate.result
    }
    return wilson(sum(results.values()), len(results), statistic="solvers that pass")
