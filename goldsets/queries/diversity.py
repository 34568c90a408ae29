"""How varied the settled labels are: families against verdicts, failure causes, policies, sources, models or slices.

Many items that differ in words only are no diversity; a cell with nothing in it is a hole in what was tried.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, CharField, Count, F, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce

from goldsets.queries.contrasts import judged_labels
from goldsets.queries.splits import plan_of, tasks_with_split
from reviews.enums import FailureCause, Provenance
from reviews.errors import Invalid
from reviews.models import Project, Queue, Task

VERDICTS = {"pass": "Passes", "fail": "Fails"}
BY = {"verdict": "verdict", "cause": "failure cause", "policy": "policy", "source": "source", "model": "model"}
SLICE = "slice:"
NOTHING = "not said"
# A matrix is to be read at a glance.
MOST_COLUMNS = 30


@dataclass(frozen=True)
class Cell:
    count: int
    hole: bool


@dataclass(frozen=True)
class MatrixRow:
    family: str
    split: str
    total: int
    cells: list[Cell]


@dataclass(frozen=True)
class Matrix:
    """Labelled items of each family by the words of a column. A hole has fewer than `fewest`."""

    by: str
    words: str
    columns: list[str]
    rows: list[MatrixRow]
    fewest: int
    left_out_columns: int

    @property
    def holes(self) -> int:
        return sum(cell.hole for row in self.rows for cell in row.cells)


def slices_used(project: Project) -> list[str]:
    """Names of slices that tasks of the project have."""
    found = Task.objects.filter(project=project).exclude(slices={}).values_list("slices", flat=True)
    return sorted({name for slices in found.iterator() if isinstance(slices, dict) for name in slices})


def matrix(project: Project, *, by: str = "verdict", queue: Queue | None = None, fewest: int = 1) -> Matrix:
    """The matrix. Families without any label stand in it too, all holes. Raises Invalid for what there is not."""
    labels, known, words = _columns(judged_labels(project, queue), project, by)
    counted: Counter[tuple[str, str]] = Counter()
    named = labels.annotate(family=F("item__trajectory__task__family")).order_by()
    for family, column, n in named.values_list("family", "column").annotate(n=Count("item", distinct=True)):
        counted[family, column or NOTHING] += n
    found = Counter[str]()
    for (_family, column), n in counted.items():
        found[column] += n
    others = sorted((name for name in found if name not in known), key=lambda name: (-found[name], name))
    columns = [*known, *others]
    shown = columns[:MOST_COLUMNS]
    rows = [
        MatrixRow(
            family=family,
            split=split,
            total=sum(counted[family, column] for column in columns),
            cells=[Cell(n, n < fewest) for n in (counted[family, column] for column in shown)],
        )
        for family, split in _families(project)
    ]
    titles = [str(known.get(name, name)) for name in shown]
    return Matrix(by, words, titles, rows, fewest, len(columns) - len(shown))


def _families(project: Project) -> Sequence[tuple[str, str]]:
    """Every family with the split it was dealt to; tasks of no family stand together."""
    rows = tasks_with_split(project).order_by("family").values_list("family", "dealt").distinct()
    split = dict(rows) if plan_of(project) else {family: None for family, _dealt in rows}
    split.pop("", None)
    named = [(family, found or "") for family, found in split.items()]
    return [*named, ("", "")] if Task.objects.filter(project=project, family="").exists() else named


def _columns(labels: QuerySet[Any], project: Project, by: str) -> tuple[QuerySet[Any], dict[str, Any], str]:
    """The labels with `column`, the columns that always stand there with their titles, and what the columns are."""
    if by == "verdict":
        case = Case(When(failed=True, then=Value("fail")), default=Value("pass"), output_field=CharField())
        return labels.annotate(column=case), dict(VERDICTS), BY[by]
    if by == "cause":
        return labels.filter(failed=True).annotate(column=F("failure_cause")), dict(FailureCause.choices), BY[by]
    if by == "policy":
        title = Coalesce("item__trajectory__policy__title", Value(""))
        return labels.annotate(column=title), {}, BY[by]
    if by == "source":
        return labels.annotate(column=F("item__provenance")), dict(Provenance.choices), BY[by]
    if by == "model":
        return labels.annotate(column=Coalesce("item__trajectory__outcome__model", Value(""))), {}, BY[by]
    if by.startswith(SLICE) and by.removeprefix(SLICE) in slices_used(project):
        name = by.removeprefix(SLICE)
        return labels.annotate(column=KeyTextTransform(name, "item__trajectory__task__slices")), {}, name
    names = [*BY, *(SLICE + name for name in slices_used(project))]
    raise Invalid({"by": f"Families can be laid out by {', '.join(names)}."})
