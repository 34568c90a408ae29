"""Families with their splits: what was dealt, what waits to be, and which tasks lie outside of a split."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Concat

from goldsets.enums import DatasetPurpose, FamilySplitName
from goldsets.models import FamilySplit, SplitPlan
from goldsets.stats.splits import deal
from reviews.enums import Split
from reviews.models import Label, Project, Task

ALONE = "task:"
# A task of no family stands for itself.
DEALT_AS = Case(When(family="", then=Concat(Value(ALONE), F("key"))), default=F("family"))


def dealt_as(task: Task) -> str:
    """The name under which a task is dealt, as DEALT_AS."""
    return dealt_name(task.key, task.family)


def dealt_name(key: str, family: str) -> str:
    """The same from a task's key and family."""
    return family or f"{ALONE}{key}"


def plan_of(project: Project) -> SplitPlan | None:
    return SplitPlan.objects.filter(project=project).select_related("project", "sealed_by").first()


def tasks_with_split(project: Project) -> QuerySet[Any]:
    """The project's tasks with `dealt_as`, the name they are dealt under, and `dealt`, their split or None."""
    dealt = FamilySplit.objects.filter(plan__project=project, family=OuterRef("dealt_as")).values("split")
    return Task.objects.filter(project=project).annotate(dealt_as=DEALT_AS, dealt=Subquery(dealt[:1]))


def tasks_outside(project: Project, split: str) -> QuerySet[Any]:
    """Tasks that do not lie in the split, nor in any where they were not dealt yet."""
    return tasks_with_split(project).filter(~Q(dealt=split) | Q(dealt=None))


def tasks_apart_from(project: Project, purpose: str) -> QuerySet[Any]:
    """The tasks that what is for this purpose must have nothing in common with.

    Without a plan, what is held out at its import and the rest of its family, or for tests all the rest.
    """
    tasks = tasks_with_split(project)
    marked = Task.objects.filter(project=project, split=Split.HELD_OUT)
    families = marked.exclude(family="").values("family")
    held_out = tasks.filter(
        Q(split=Split.HELD_OUT) | Q(family__in=families) | Q(dealt=FamilySplitName.HELD_OUT)
    ).values("pk")
    if purpose == DatasetPurpose.HELD_OUT:
        return tasks.exclude(pk__in=held_out)
    if purpose == DatasetPurpose.ONLINE or plan_of(project) is None:
        return tasks.filter(pk__in=held_out)
    return tasks.filter(Q(pk__in=held_out) | Q(pk__in=tasks_outside(project, purpose).values("pk")))


@dataclass(frozen=True, kw_only=True)
class FamilyRow:
    """A family with how much there is of it. `split` is where the plan puts it where it was not `dealt` yet."""

    family: str
    tasks: int
    runs: int
    labels: int
    split: str
    dealt: bool
    marked: bool  # some task of it was held out at its import

    @property
    def alone(self) -> bool:
        return self.family.startswith(ALONE)

    @property
    def contradicts(self) -> bool:
        """A later import held out a task of a family that had gone elsewhere. Its labels leave for nothing."""
        return self.marked and self.split != FamilySplitName.HELD_OUT

    @property
    def words(self) -> str:
        return str(FamilySplitName(self.split).label)


def family_rows(project: Project, *, seed: str, shares: Mapping[str, int]) -> list[FamilyRow]:
    """Every family in the order of the names, those of a single task without a family last. Three queries."""
    tasks = tasks_with_split(project)
    counted = tasks.values("dealt_as", "dealt").annotate(
        tasks=Count("pk", distinct=True),
        runs=Count("trajectories", distinct=True),
        marked=Count("pk", filter=Q(split=Split.HELD_OUT)),
    )
    labels = dict(
        Label.objects.filter(item__project=project)
        .annotate(family=_family_of_label())
        .values_list("family")
        .annotate(n=Count("item", distinct=True))
    )
    rows = [
        FamilyRow(
            family=row["dealt_as"],
            tasks=row["tasks"],
            runs=row["runs"],
            labels=labels.get(row["dealt_as"], 0),
            split=row["dealt"] or split_for(row["dealt_as"], marked=bool(row["marked"]), seed=seed, shares=shares),
            dealt=row["dealt"] is not None,
            marked=bool(row["marked"]),
        )
        for row in counted
    ]
    return sorted(rows, key=lambda row: (row.alone, row.family))


def _family_of_label() -> Case:
    """As DEALT_AS, of a label's item, whichever way it has its task."""
    cases = []
    for way in ("item__trajectory__task", "item__task"):
        nameless = {f"{way}__isnull": False, f"{way}__family": ""}
        cases += [
            When(**nameless, then=Concat(Value(ALONE), F(f"{way}__key"))),
            When(**{f"{way}__isnull": False}, then=F(f"{way}__family")),
        ]
    return Case(*cases)


def split_for(family: str, *, marked: bool, seed: str, shares: Mapping[str, int]) -> str:
    """A family of which some task was held out at its import stays held out."""
    return FamilySplitName.HELD_OUT.value if marked else deal(family, seed=seed, shares=shares)


def undealt(plan: SplitPlan) -> Iterator[tuple[str, bool]]:
    """Families that were not dealt yet, each with whether some task of it was held out at its import."""
    waiting = tasks_with_split(plan.project).filter(dealt=None).order_by()
    counted = waiting.values("dealt_as").annotate(marked=Count("pk", filter=Q(split=Split.HELD_OUT)))
    yield from ((row["dealt_as"], bool(row["marked"])) for row in counted)


def plans_with_news() -> list[SplitPlan]:
    """Plans of projects that have a family which was not dealt yet."""
    plans = SplitPlan.objects.select_related("project")
    return [plan for plan in plans if tasks_with_split(plan.project).filter(dealt=None).exists()]


@dataclass(frozen=True, kw_only=True)
class SplitTotals:
    """How much of the project lies in one split."""

    split: FamilySplitName
    share: int
    families: int
    tasks: int
    labels: int

    @property
    def empty(self) -> bool:
        """It was to have a share and has none of the families."""
        return self.share > 0 and self.families == 0


def totals(rows: list[FamilyRow], shares: Mapping[str, int]) -> list[SplitTotals]:
    families, tasks, labels = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        families[row.split] += 1
        tasks[row.split] += row.tasks
        labels[row.split] += row.labels
    return [
        SplitTotals(
            split=split, share=shares[split], families=families[split], tasks=tasks[split], labels=labels[split]
        )
        for split in FamilySplitName
    ]
