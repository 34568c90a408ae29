"""Probes as leads, engineers and checking experts look them up, and how versions of a grader stood up to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from goldsets.enums import DatasetPurpose, ProbeKind, ProbeRunState, ProbeState
from goldsets.models import (
    GoldItem,
    Grader,
    GraderHook,
    GraderPromotion,
    GraderVersion,
    JudgeSetup,
    Probe,
    ProbeAnswer,
    ProbeRun,
)
from goldsets.queries.judges import shown_families
from goldsets.queries.leaving import settled
from goldsets.queries.splits import tasks_apart_from, tasks_with_split
from goldsets.queries.verdicts import GATES, VERDICT, Against, Asked, asked_in, verdict
from goldsets.stats.probing import Stood, stood_up, what_is_missing
from reviews.enums import UNANSWERED, CriterionKind, ItemKind
from reviews.models import Criterion, Item, Label, LabelValue, Project, Queue, QueueItem, Task
from reviews.queries.masking import mask_of
from reviews.trajectories.masking import Mask

ATTACKS = [kind for kind in ProbeKind if kind != ProbeKind.SETTLED]
WORDS = {str(kind.value): str(kind.label) for kind in ProbeKind}
# So many settled items are looked at for what lends itself to an attack.
MOST_LOOKED_AT = 500


# --- Runs whose verdict is known --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Known:
    """A settled item with its verdict."""

    row: QueueItem
    passes: bool

    @property
    def item(self) -> Item:
        return self.row.item

    @property
    def label(self) -> Label:
        return self.row.label  # type: ignore[return-value]


def known_runs(grader: Grader, queue: Queue) -> list[Known]:
    """Settled runs of a queue to make probes of: neither held out nor of a family that the grader has examples of.

    Whoever checks a probe learns that its run was settled; of gold that must not be known.
    """
    shown = shown_families(JudgeSetup.objects.filter(version__grader=grader))
    kin = tasks_with_split(queue.project).filter(dealt_as__in=shown)
    rows = settled(queue.project, queue).exclude(item__trajectory__task__in=kin.values("pk"))
    return clearly_settled(grader, rows, tasks_apart_from(queue.project, DatasetPurpose.ONLINE))


def clearly_settled(grader: Grader, rows: QuerySet[QueueItem], apart: QuerySet[Task]) -> list[Known]:
    """Of settled rows the runs with a verdict that nobody could read in two ways, neither gold nor of tasks apart."""
    gold = GoldItem.objects.filter(queue_item__item=OuterRef("item"))
    rows = rows.filter(item__kind=ItemKind.TRAJECTORY).exclude(item__trajectory__task__in=apart.values("pk"))
    rows = rows.exclude(label__basis__in=UNANSWERED).exclude(Exists(gold)).order_by("pk")
    rows = rows.select_related(
        "label", "item__project", "item__trajectory__task", "item__trajectory__policy", "item__task"
    )[:MOST_LOOKED_AT]
    found = list(rows)
    said = _answers(found, asked_in(grader.project))
    return [
        Known(row, passes)
        for row in found
        if (passes := _clear_verdict(grader.criterion, said.get(row.label_id or 0, []))) is not None
    ]


def _answers(rows: list[QueueItem], asked: dict[int, Asked]) -> dict[int, list[tuple[Asked, float]]]:
    values = LabelValue.objects.filter(label__in=[row.label_id for row in rows], candidate__isnull=True)
    said: dict[int, list[tuple[Asked, float]]] = defaultdict(list)
    for label, criterion, value, number in values.values_list("label", "criterion", "value", "number"):
        given = number if value is None else value
        if criterion in asked and given is not None:
            said[label].append((asked[criterion], given))
    return said


def _clear_verdict(criterion: str, answers: list[tuple[Asked, float]]) -> bool | None:
    """Of one criterion its own; of the whole that on which gates alone and gates with success agree."""
    if criterion:
        return verdict(answers, Against(criterion))
    whole, gates = verdict(answers, Against(VERDICT)), verdict(answers, Against(GATES))
    return whole if gates in (None, whole) else None


def donor_for(known: Known, runs: list[Known]) -> Known | None:
    """A run of the same task that passes, or else of the same family."""
    task = known.item.run.task
    passing = [one for one in runs if one.passes and one.item != known.item]
    same = [one for one in passing if one.item.run.task_id == task.pk]
    near = [one for one in passing if task.family and one.item.run.task.family == task.family]
    return next(iter([*same, *near]), None)


# --- Probes -----------------------------------------------------------------------------------------------------------
def probes_of(grader: Grader) -> QuerySet[Probe]:
    return Probe.objects.filter(grader=grader).select_related("grader__project", "parent", "checked_by").order_by("pk")


def probe_by_uid(uid: Any) -> Probe | None:
    return Probe.objects.select_related("grader__project", "parent", "label__guideline").filter(uid=uid).first()


def approved_probes(grader: Grader) -> QuerySet[Probe]:
    return Probe.objects.filter(grader=grader, state=ProbeState.APPROVED).order_by("pk")


def next_to_check(project: Project, expert: Any) -> Probe | None:
    """The probe that has waited longest for an expert who did not have it made, as raters read it."""
    waiting = _to_check(project, expert).select_related("grader__project", "label__guideline", "parent__trajectory")
    probe = waiting.order_by("pk").first()
    if probe:
        probe.document = _as_read(probe.document, mask_of(probe.parent.run))
    return probe


def _as_read(document: dict[str, Any], mask: Mask) -> dict[str, Any]:
    """A probe's run under the masks that hold now; it was made under those of its time."""
    if not mask:
        return document
    read = deepcopy(document)
    for name in ("title", "request"):
        read[name] = mask.text(read.get(name) or "")
    for line in (read.get("policy") or {}).get("lines", ()):
        line["text"] = mask.text(line["text"])
    for row in read["steps"]["rows"]:
        for field in row["fields"]:
            field["label"], field["text"] = mask.text(field["label"]), mask.text(field["text"])
        if row.get("tool"):
            row["tool"] = mask.text(row["tool"])
    return read


def questions_of(probe: Probe) -> list[Criterion]:
    """What a probe's run is judged by: the grader's criterion, or every gate, of the rubric of its label."""
    rows = Criterion.objects.filter(rubric=probe.label.rubric_id).order_by("position")
    key = probe.grader.criterion
    return list(rows.filter(key=key) if key else rows.filter(kind=CriterionKind.GATE))


def waiting_count(project: Project, expert: Any) -> int:
    """How many probes wait that this expert may check."""
    return _to_check(project, expert).count()


def _to_check(project: Project, expert: Any) -> QuerySet[Probe]:
    return Probe.objects.filter(grader__project=project, state=ProbeState.PROPOSED).exclude(made_by=expert)


def hook_of(grader: Grader) -> GraderHook | None:
    return GraderHook.objects.filter(grader=grader).first()


def exported_probes(version: GraderVersion) -> Iterator[dict[str, Any]]:
    """Approved probes as they are given to a grader elsewhere: without the verdict that is expected."""
    for probe in approved_probes(version.grader).iterator(chunk_size=20):
        yield asked_about(probe)


def asked_about(probe: Probe) -> dict[str, Any]:
    return {"probe": str(probe.uid), "criterion": probe.grader.criterion, "run": probe.document}


# --- How versions stood up --------------------------------------------------------------------------------------------
def runs_of_version(version: GraderVersion) -> QuerySet[ProbeRun]:
    runs = ProbeRun.objects.filter(version=version).select_related("version__grader__project")
    return runs.annotate(done=Count("answers")).order_by("-created_at", "-pk")


def runs_of_grader(grader: Grader) -> QuerySet[ProbeRun]:
    runs = ProbeRun.objects.filter(version__grader=grader).select_related("version__grader")
    return runs.annotate(done=Count("answers")).order_by("-created_at", "-pk")


def counts_of(grader: Grader) -> dict[str, int]:
    """How many attacks wait, are approved and are refused. Settled runs need no check and are not counted."""
    attacks = Probe.objects.filter(grader=grader, kind__in=ATTACKS).order_by()
    return dict(attacks.values_list("state").annotate(Count("pk")))


def probe_run_by_uid(uid: Any) -> ProbeRun | None:
    return ProbeRun.objects.select_related("version__grader__project", "created_by").filter(uid=uid).first()


def answers_of(run: ProbeRun) -> QuerySet[ProbeAnswer]:
    return ProbeAnswer.objects.filter(run=run).select_related("probe__parent").order_by("probe")


def latest_run(version: GraderVersion) -> ProbeRun | None:
    return ProbeRun.objects.filter(version=version, state=ProbeRunState.FINISHED).order_by("-created_at", "-pk").first()


def promotion_of(version: GraderVersion) -> GraderPromotion | None:
    return GraderPromotion.objects.filter(version=version).select_related("promoted_by").first()


@dataclass(frozen=True)
class VersionStood:
    """One column of the matrix. `missing` is what keeps the version from being promoted."""

    version: GraderVersion
    run: ProbeRun | None
    rows: list[Stood]
    missing: list[str]
    promotion: GraderPromotion | None

    @property
    def by_kind(self) -> dict[str, Stood]:
        return {row.kind: row for row in self.rows}

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "version": self.version.number,
            "run": str(self.run.uid) if self.run else None,
            "kinds": [row.as_dict() for row in self.rows],
            "missing": self.missing,
            "promoted": self.promotion is not None,
        }


def stood_of(version: GraderVersion) -> VersionStood:
    """How a version stood up to its grader's probes in its latest run that came to an end."""
    run = latest_run(version)
    earlier = GraderVersion.objects.filter(grader=version.grader, number__lt=version.number).order_by("-number")
    before = next((found for one in earlier if (found := latest_run(one))), None)
    probes = list(approved_probes(version.grader).values_list("pk", "kind"))
    rows = stood_up([kind.value for kind in ProbeKind], probes, _held(run), _held(before))
    missing = what_is_missing(rows, WORDS, told_only={ProbeKind.SETTLED})
    return VersionStood(version, run, rows, missing, promotion_of(version))


def _held(run: ProbeRun | None) -> dict[int, bool | None]:
    return dict(ProbeAnswer.objects.filter(run=run).values_list("probe", "held")) if run else {}


def matrix_of(grader: Grader, most: int = 8) -> list[VersionStood]:
    """The latest versions of a grader, the newest first."""
    versions = GraderVersion.objects.filter(grader=grader).select_related("grader__project").order_by("-number")
    return [stood_of(version) for version in versions[:most]]
