"""Which labels may leave in an export, and which must not.

1. Only labels that stand leave; what was superseded stays here.
2. A held-out task leaves for the purpose “held out” alone, and so does any other task of a family that has a held-out
   one: what is trained on a family is no longer held out.
3. Where a lead has split the families, training and calibration get those of their own split and no other, not even
   one that was not dealt yet; online evidence gets all that is not held out.
4. Judgments made on gold are tests of raters, not opinions on which a label rests: they are left out and counted.
5. So are judgments that came in after the label: it does not rest on them.
6. Labels that a compiled reviewer made alone leave only where the data set's definition asks for that basis.
7. The data set's filter narrows what is left, and its policy says what becomes of items with labels in several queues.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Avg, Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When, Window
from django.db.models.functions import Coalesce

from goldsets.enums import DatasetPurpose, DuplicatePolicy, FamilySplitName
from goldsets.models import Dataset, DatasetRow, DatasetVersion, GoldPlacement
from goldsets.queries.splits import plan_of, tasks_outside, tasks_with_split
from reviews.enums import AssignmentState, Basis, CriterionKind, GateAnswer, OutcomeResult, Split
from reviews.models import (
    Candidate,
    Judgment,
    Label,
    LabelValue,
    Project,
    Queue,
    QueueItem,
    Task,
    Trajectory,
)

LONG_AGO = Value(datetime(1970, 1, 1, tzinfo=UTC))


def held_out_families(project: Project) -> list[str]:
    """Families with at least one held-out task, without the nameless one."""
    families = Task.objects.filter(project=project, split=Split.HELD_OUT).exclude(family="")
    return sorted(families.values_list("family", flat=True).distinct())


def settled(project: Project, queue: Queue | None) -> QuerySet[QueueItem]:
    """Every queue item with a label that stands."""
    rows = QueueItem.objects.filter(queue__project=project, label__isnull=False)
    return rows.filter(queue=queue) if queue else rows


def leaving(dataset: Dataset) -> QuerySet[QueueItem]:
    """Those of `settled` whose labels have values, may leave for the data set's purpose, and fit its filter."""
    project = dataset.project
    rows = settled(project, dataset.queue).exclude(label__basis=Basis.AMBIGUOUS)
    return rows.filter(_fits_purpose(project, dataset.purpose)).filter(_fits_filter(dataset))


def rows_of(version: DatasetVersion) -> QuerySet[QueueItem]:
    """The queue items whose labels are in a version."""
    return QueueItem.objects.filter(pk__in=DatasetRow.objects.filter(version=version).order_by().values("queue_item"))


def _fits_purpose(project: Project, purpose: str) -> Q:
    sealed = _about(split=Split.HELD_OUT) | _about(family__in=held_out_families(project))
    if plan_of(project) is None:
        return sealed if purpose == DatasetPurpose.HELD_OUT else ~sealed
    dealt_away = _of(tasks_with_split(project).filter(dealt=FamilySplitName.HELD_OUT))
    if purpose == DatasetPurpose.HELD_OUT:
        return sealed | dealt_away
    if purpose == DatasetPurpose.ONLINE:
        return ~(sealed | dealt_away)
    return ~(sealed | _of_another_split(project, purpose))


def _of_another_split(project: Project, purpose: str) -> Q:
    """The queue items that are for something else by the project's plan; none where there is no plan."""
    return _of(tasks_outside(project, FamilySplitName(purpose))) if plan_of(project) else Q(pk__in=[])


def _fits_filter(dataset: Dataset) -> Q:
    """What the data set's filter asks for, see `goldsets.actions.defining`."""
    asked, fits = dataset.filter, Q()
    if "kinds" in asked:
        fits &= Q(item__kind__in=asked["kinds"])
    if "provenance" in asked:
        fits &= Q(item__provenance__in=asked["provenance"])
    if "basis" in asked:
        fits &= Q(label__basis__in=asked["basis"])
    else:
        fits &= ~Q(label__basis=Basis.REVIEWER)
    if "families" in asked:
        fits &= _subject(Task.objects.filter(family__in=asked["families"]))
    for name, values in asked.get("slices", {}).items():
        fits &= _subject(Task.objects.filter(**{f"slices__{name}__in": values}))
    if "pass_rate" in asked:
        fits &= _subject(_solved_so_often(dataset.project, **asked["pass_rate"]))
    return fits


def _solved_so_often(project: Project, model: str, low: float, high: float) -> QuerySet[Task]:
    """Tasks of which the model's runs end in success in this share. A crash says nothing of the model, and so does a
    run of which the end is not known.
    """
    told = Trajectory.objects.filter(project=project, outcome__model=model)
    told = told.exclude(outcome__result__in=[OutcomeResult.CRASH, OutcomeResult.UNKNOWN])
    solved = Avg(Case(When(outcome__result=OutcomeResult.SUCCESS, then=1.0), default=0.0))
    runs = told.values("task").annotate(rate=solved)
    return Task.objects.filter(pk__in=runs.filter(rate__gte=low, rate__lte=high).values("task"))


def _subject(tasks: QuerySet[Task]) -> Q:
    """The queue items that are about one of the tasks."""
    ids = tasks.values("pk")
    return Q(item__trajectory__task__in=ids) | Q(item__task__in=ids)


def _about(**conditions: Any) -> Q:
    """The queue items whose task is like this, or the task of any run that stands beside others in them."""
    return _of(Task.objects.filter(**conditions))


def _of(tasks: QuerySet[Task]) -> Q:
    ids = tasks.values("pk")
    compared = Candidate.objects.filter(trajectory__task__in=ids)
    return Q(item__trajectory__task__in=ids) | Q(item__task__in=ids) | Q(item__in=compared.values("item"))


@dataclass(frozen=True)
class LeftOut:
    """How much does not leave, and why. None of it names an item."""

    held_out_rows: int
    held_out_family_rows: int
    other_split_rows: int
    filtered_rows: int
    reviewer_rows: int
    duplicate_rows: int
    over_quota_rows: int
    conflicting_items: int
    gold_rows: int
    late_judgments: int


def left_out(version: DatasetVersion) -> LeftOut:
    """Of what the data set asks for what did not leave in the version, whose rows are chosen."""
    dataset = version.dataset
    project, purpose = dataset.project, dataset.purpose
    rows = settled(project, dataset.queue)
    sealed = _about(split=Split.HELD_OUT)
    family = _about(family__in=held_out_families(project))
    held_out = purpose == DatasetPurpose.HELD_OUT
    fitting = rows.filter(_fits_purpose(project, purpose))
    chosen = leaving(dataset)
    by_reviewer = fitting.filter(label__basis=Basis.REVIEWER)
    reviewer_rows = 0 if "basis" in dataset.filter else by_reviewer.count()
    items = DatasetRow.objects.filter(version=version).values("queue_item__item")
    judgments = _judgments().filter(revision=1, item__in=items)
    judgments = judgments.filter(queue__in=[dataset.queue] if dataset.queue else Queue.objects.filter(project=project))
    conflicting, once = len(conflicting_items(chosen)), chosen.count()
    policy = version.definition["policies"]["duplicates"]
    if policy != DuplicatePolicy.ALL:
        once = chosen.order_by().values("item").distinct().count()
        once -= conflicting if policy == DuplicatePolicy.AGREEING else 0
    away = rows.exclude(sealed | family).exclude(_fits_purpose(project, purpose))
    return LeftOut(
        held_out_rows=0 if held_out else rows.filter(sealed).count(),
        held_out_family_rows=0 if held_out else rows.filter(family).exclude(sealed).count(),
        other_split_rows=0 if held_out else away.count(),
        filtered_rows=fitting.count() - chosen.count() - reviewer_rows,
        reviewer_rows=reviewer_rows,
        duplicate_rows=chosen.count() - once,
        over_quota_rows=once - DatasetRow.objects.filter(version=version).count(),
        conflicting_items=conflicting,
        gold_rows=judgments.filter(Exists(_placement())).count(),
        late_judgments=judgments.exclude(Exists(_placement())).filter(submitted_at__gt=F("first_label_at")).count(),
    )


def conflicting_items(rows: QuerySet[QueueItem]) -> list[int]:
    """Items with labels in several queues that differ on whether a gate fails, or on the order of candidates."""
    # Counted over the rows themselves: a second query of the same rows inside this one misleads the planner, which then
    # goes through all of them once for each.
    in_queues = Window(Count("pk"), partition_by=F("item"))
    several = rows.order_by().annotate(in_queues=in_queues).filter(in_queues__gt=1)
    values = LabelValue.objects.filter(
        label__in=several.values("label"),
        criterion__kind__in=[CriterionKind.GATE, CriterionKind.PREFERENCE],
    )
    verdicts: dict[int, dict[int, tuple[bool, str]]] = {}
    found = values.values_list("label__item", "label", "criterion__kind", "value", "ranks").order_by("label", "pk")
    for item, label, kind, value, ranks in found:
        passes, order = verdicts.setdefault(item, {}).get(label, (True, ""))
        if kind == CriterionKind.GATE:
            passes = passes and value == GateAnswer.PASS
        else:
            order += f"{ranks};"
        verdicts[item][label] = (passes, order)
    return sorted(item for item, said in verdicts.items() if len(set(said.values())) > 1)


def supporting_judgments(queue_ids: Any, item_ids: Any) -> QuerySet[Judgment]:
    """The judgments that labels rest on: each rater's revision that stood when the item was first labelled."""
    later = Judgment.objects.filter(
        assignment=OuterRef("assignment"),
        revision__gt=OuterRef("revision"),
        submitted_at__lte=OuterRef("first_label_at"),
    )
    return (
        _judgments()
        .filter(queue__in=queue_ids, item__in=item_ids, submitted_at__lte=F("first_label_at"))
        .exclude(Exists(later))
        .exclude(Exists(_placement()))
    )


def _judgments() -> QuerySet[Judgment]:
    """Every revision, with the time of the item's first label, or of the first since it reopened."""
    reopened = QueueItem.objects.filter(queue=OuterRef("queue"), item=OuterRef("item")).values("reopened_at")
    first = Label.objects.filter(queue=OuterRef("queue"), item=OuterRef("item"), created_at__gt=OuterRef("reopened"))
    return Judgment.objects.filter(assignment__state=AssignmentState.SUBMITTED).annotate(
        reopened=Coalesce(Subquery(reopened[:1]), LONG_AGO),
        first_label_at=Subquery(first.order_by("revision").values("created_at")[:1]),
    )


def _placement() -> QuerySet[GoldPlacement]:
    return GoldPlacement.objects.filter(assignment=OuterRef("assignment"))
