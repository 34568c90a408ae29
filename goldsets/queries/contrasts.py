"""Contrasts: which runs of a task passed and which failed, and the pairs that were made of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from goldsets.models import Contrast
from reviews.enums import Basis, CriterionKind, GateAnswer, ItemKind
from reviews.models import Label, LabelValue, Project, Queue, QueueItem
from reviews.queries.pairing import LaidRun, laid_out

# Runs of a task beyond so many are not looked at: pairs grow with their square.
MOST_RUNS = 40


def judged_labels(project: Project, queue: Queue | None) -> QuerySet[Any]:
    """Labels that people made, of runs, that stand and answer a gate; with `failed`: whether any gate is not passed."""
    gates = LabelValue.objects.filter(label=OuterRef("pk"), criterion__kind=CriterionKind.GATE)
    standing = QueueItem.objects.filter(queue__project=project, label__isnull=False)
    if queue:
        standing = standing.filter(queue=queue)
    return (
        Label.objects.filter(pk__in=standing.values("label"), item__kind=ItemKind.TRAJECTORY)
        .exclude(basis=Basis.REVIEWER)
        .filter(Exists(gates))
        .annotate(failed=Exists(gates.exclude(value=GateAnswer.PASS)))
    )


def passed_and_failed(project: Project, queue: Queue | None) -> Iterator[tuple[list[Label], list[Label]]]:
    """Of each task that has both: labels of runs that passed and of runs that failed.

    A run on which queues differ is neither.
    """
    labels = judged_labels(project, queue).select_related("item__trajectory__task")
    rows = labels.order_by("item__trajectory__task", "item", "-pk").annotate(task=F("item__trajectory__task"))
    for _task, of_task in groupby(rows.iterator(chunk_size=500), key=lambda label: label.task):
        passed, failed = [], []
        for _item, of_item in groupby(of_task, key=lambda label: label.item_id):
            said = list(of_item)
            if len({label.failed for label in said}) == 1:
                (failed if said[0].failed else passed).append(said[0])
        if passed and failed:
            yield passed[:MOST_RUNS], failed[:MOST_RUNS]


def contrasts_of(project: Project, *, named: bool | None = None) -> QuerySet[Contrast]:
    """The project's contrasts, those that part the latest first: they isolate most."""
    found = Contrast.objects.filter(item__project=project).select_related(
        "item__task", "passing__item__trajectory", "failing__item__trajectory"
    )
    if named is not None:
        found = found.exclude(item__differs_in="") if named else found.filter(item__differs_in="")
    return found.order_by("-shared", "pk")


def contrast_by_uid(uid: Any) -> Contrast | None:
    return Contrast.objects.select_related("item__project").filter(uid=uid).first()


def names_used(project: Project) -> list[str]:
    """What contrasts were said to differ in, so that the same is called the same."""
    named = contrasts_of(project, named=True).order_by("item__differs_in")
    return list(named.values_list("item__differs_in", flat=True).distinct())


@dataclass(frozen=True)
class ContrastRow:
    """A contrast as it is named: how each side goes on where they part."""

    contrast: Contrast
    passing: LaidRun
    failing: LaidRun


def contrast_rows(project: Project, contrasts: list[Contrast], *, reader: Any, role: Any) -> list[ContrastRow]:
    rows = []
    for contrast in contrasts:
        laid = laid_out(project, [contrast.passing.item, contrast.failing.item], reader=reader, role=role)
        rows.append(ContrastRow(contrast, *laid.rows))
    return rows
