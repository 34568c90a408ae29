"""A rubric version as somebody would write it again: what leaves as a file, and what the builder starts from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Count, QuerySet

from reviews.enums import CriterionKind
from reviews.models import Criterion, Principle, Project, Rubric
from reviews.queries.rubric_view import RubricView, rubric_view

FORMAT = "assay-rubric/1"
OF_CRITERION = ("key", "title", "question", "hint", "kind", "scope", "evidence", "levels", "settings")


def rubric_as_written(rubric: Rubric) -> dict[str, Any]:
    """What `write_rubric` takes to make this very rubric. Costs one query unless its criteria were fetched along."""
    return {
        "name": rubric.name,
        "item_kind": rubric.item_kind,
        "unsure_allowed": rubric.unsure_allowed,
        "step_labels": rubric.step_labels,
        "correction": rubric.correction,
        "audits": rubric.audits,
        "marks": rubric.marks,
        "criteria": [criterion_as_written(criterion) for criterion in rubric.criteria.all()],
    }


def criterion_as_written(criterion: Criterion) -> dict[str, Any]:
    row = {name: getattr(criterion, name) for name in OF_CRITERION}
    principle = criterion.principle
    row["principle"] = {"name": principle.name, "version": principle.version} if principle else None
    if criterion.is_gate:
        return row
    return row | {
        "block": criterion.block,
        "condition": criterion.condition,
        "required": criterion.required,
        "weight": criterion.weight,
    }


def rubric_file(rubric: Rubric) -> dict[str, Any]:
    """The rubric as a file: as it was written, with which version it was. No step labels are null here."""
    written = rubric_as_written(rubric)
    return {"format": FORMAT, "version": rubric.version, **written, "step_labels": written["step_labels"] or None}


# --- Principles -------------------------------------------------------------------------------------------------------
def principles_of(project: Project) -> QuerySet[Principle]:
    """All versions, the latest of each name first, with how many criteria refer to them."""
    rows = Principle.objects.filter(project=project).select_related("created_by")
    return rows.annotate(criterion_count=Count("criteria")).order_by("name", "-version")


# --- Before it is saved -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Criteria:
    rows: list[Criterion]

    def all(self) -> list[Criterion]:
        return self.rows


@dataclass(frozen=True)
class _Unsaved:
    """A rubric that is still being written, as far as the page of raters asks for one."""

    unsure_allowed: bool
    step_labels: Mapping[str, Any]
    criteria: _Criteria


def as_asked(written: Mapping[str, Any], principles: Iterable[Principle] = ()) -> RubricView:
    """How raters would see a rubric that is being written. What is wrong in it is left out."""
    known = {(principle.name, principle.version): principle for principle in principles}
    rows = [_unsaved(row, known) for row in written["criteria"] if row["kind"] in CriterionKind.values]
    shown = [row for row in rows if row.kind != CriterionKind.PREFERENCE]
    unsaved = _Unsaved(bool(written["unsure_allowed"]), {}, _Criteria(shown))
    return rubric_view(cast(Rubric, unsaved), {})


def _unsaved(row: Mapping[str, Any], principles: Mapping[tuple[str, int], Principle]) -> Criterion:
    named = row.get("principle") or {"name": "", "version": 0}
    numbers = {name: value for name, value in row["settings"].items() if name in ("min", "max", "tolerance")}
    wrong = {name for name, value in numbers.items() if not isinstance(value, int | float)}
    return Criterion(
        **{name: row.get(name) or "" for name in ("title", "question", "hint", "kind", "block", "evidence")},
        key=row["key"] or "untitled",
        levels=[level for level in row["levels"] if isinstance(level["value"], int)],
        settings={name: value for name, value in row["settings"].items() if name not in wrong},
        condition=row.get("condition"),
        required=row.get("required", True),
        principle=principles.get((named["name"], named["version"])),
    )
