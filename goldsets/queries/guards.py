"""Guards over tasks: what each grader of an axis says of task reviews, beside what experts settled.

Held-out tasks are left out: a guard that is changed after them has been fitted on them.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from goldsets.enums import DatasetPurpose, ScoreOrder
from goldsets.models import Grader, GraderScore, GraderVersion
from goldsets.queries.splits import tasks_apart_from
from goldsets.queries.verdicts import Asked, asked_in
from goldsets.reviewing.guards import AXES, GUARDS, TaskSeen
from goldsets.stats.grading import Errors, errors
from reviews.enums import AssignmentState, Basis, ItemKind
from reviews.models import Assignment, Item, LabelValue, Project, QueueItem

MOST_LISTED = 50


@dataclass(frozen=True)
class Flagged:
    """A task that a guard fails; `experts` is what they settled, None where they have not."""

    item: UUID
    version: UUID
    title: str
    why: str
    experts: bool | None


@dataclass(frozen=True)
class GuardRow:
    """One guard of an axis against experts. `scored` counts the tasks of which it said anything."""

    grader: str
    kind: str
    number: int
    scored: int
    errors: Errors
    flagged: list[Flagged]
    flagged_of: int

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"errors": self.errors.as_dict()}


@dataclass(frozen=True)
class Axis:
    """What a task must hold on one axis, and every guard that watches over it."""

    criterion: str
    title: str
    rule: str
    asked: bool
    settled: int
    guards: list[GuardRow]

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"guards": [row.as_dict() for row in self.guards]}


def guarded_projects() -> QuerySet[Project]:
    """Projects in which the rules of this house watch over tasks."""
    ours = GraderVersion.objects.filter(grader__project=OuterRef("pk"), fingerprint__in=_fingerprints())
    return Project.objects.filter(Exists(ours)).order_by("pk")


def guard_versions(project: Project) -> dict[str, GraderVersion]:
    """The versions of our rules in this project, by fingerprint."""
    rows = GraderVersion.objects.filter(grader__project=project, fingerprint__in=_fingerprints())
    return {row.fingerprint: row for row in rows.select_related("grader")}


def _fingerprints() -> list[str]:
    return [guard.fingerprint for guard in GUARDS]


def tasks_unseen(version: GraderVersion) -> Iterator[tuple[int, TaskSeen]]:
    """Items with a task of which this version has said nothing, with what its guard sees of them."""
    seen = GraderScore.objects.filter(version=version, item=OuterRef("pk"))
    items = Item.objects.filter(project=version.grader.project, kind=ItemKind.TASK, task_version__isnull=False)
    items = items.filter(~Exists(seen)).select_related("task_version").prefetch_related("candidates").order_by("pk")
    for item in items.iterator(chunk_size=200):
        made = item.task_version
        if made is not None:
            runs = [(run.role, run.result.get("passed")) for run in item.candidates.all()]
            yield item.pk, TaskSeen(made.prompt, made.world, made.verifier, made.production_prompts, runs)


def axes(project: Project, reader: Any) -> list[Axis]:
    """Every axis with its guards. A task that this reader has in hand is not among the flagged."""
    asked = {pk: one for pk, one in asked_in(project, ItemKind.TASK).items() if one.key in AXES}
    truths = _truths(project, asked)
    graders = Grader.objects.filter(project=project, criterion__in=AXES).order_by("name")
    rows: dict[str, list[GuardRow]] = {key: [] for key in AXES}
    for grader in graders:
        version = GraderVersion.objects.filter(grader=grader).order_by("-number").first()
        if version is not None:
            rows[grader.criterion].append(_row(grader, version, truths[grader.criterion], reader))
    keys = {one.key for one in asked.values()}
    return [
        Axis(guard.criterion, guard.title, guard.rule, key in keys, len(truths[key]), rows[key])
        for key, guard in AXES.items()
    ]


def _truths(project: Project, asked: dict[int, Asked]) -> dict[str, dict[int, bool]]:
    """By axis and item, whether experts found it to hold. Items on which queues differ have none."""
    standing = QueueItem.objects.filter(queue__project=project, item__kind=ItemKind.TASK, label__isnull=False)
    standing = standing.exclude(label__basis__in=[Basis.AMBIGUOUS, Basis.REVIEWER])
    standing = standing.exclude(item__task__in=_held_out(project))
    values = LabelValue.objects.filter(label__in=standing.values("label"), criterion__in=asked, candidate=None)
    said: dict[str, dict[int, set[bool]]] = {key: {} for key in AXES}
    for item, criterion, value in values.values_list("label__item", "criterion", "value"):
        one = asked[criterion]
        holds = None if value is None else one.passes(value)
        if holds is not None:
            said[one.key].setdefault(item, set()).add(holds)
    return {
        key: {item: next(iter(found)) for item, found in items.items() if len(found) == 1}
        for key, items in said.items()
    }


def _held_out(project: Project) -> QuerySet[Any]:
    return tasks_apart_from(project, DatasetPurpose.ONLINE).values("pk")


def _row(grader: Grader, version: GraderVersion, truth: dict[int, bool], reader: Any) -> GuardRow:
    scores = GraderScore.objects.filter(version=version, order=ScoreOrder.AS_SHOWN, item__kind=ItemKind.TASK)
    scores = scores.exclude(item__task__in=_held_out(grader.project))
    first = scores.order_by("item", "attempt").distinct("item")
    said = dict(first.values_list("item", "value"))
    least = version.passes_from
    passes = {} if least is None else {item: value >= least for item, value in said.items()}
    both = [item for item in passes if item in truth]
    failed = [item for item, holds in passes.items() if not holds]
    return GuardRow(
        grader=grader.name,
        kind=str(grader.get_kind_display()),
        number=version.number,
        scored=len(said),
        errors=errors([passes[item] for item in both], [truth[item] for item in both]),
        flagged=_flagged(version, failed, truth, reader),
        flagged_of=len(failed),
    )


def _flagged(version: GraderVersion, failed: list[int], truth: dict[int, bool], reader: Any) -> list[Flagged]:
    """Those that experts let pass first, since there one of the two is wrong."""
    mine = Assignment.objects.filter(item=OuterRef("item"), rater=reader, state=AssignmentState.LEASED)
    rows = GraderScore.objects.filter(~Exists(mine), version=version, item__in=failed, order=ScoreOrder.AS_SHOWN)
    rows = rows.select_related("item__task", "item__task_version").order_by("item", "attempt").distinct("item")
    found = [
        Flagged(
            item=row.item.uid,
            version=row.item.task_version.uid,
            title=str(row.item.task),
            why=row.explanation,
            experts=truth.get(row.item_id),
        )
        for row in rows
        if row.item.task_version is not None
    ]
    return sorted(found, key=lambda one: (one.experts is not True, one.experts is not None, one.title))[:MOST_LISTED]
