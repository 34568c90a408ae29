"""What a rater said beside what stands, for items of practice and qualification."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reviews.enums import CriterionKind
from reviews.models import Assignment, Judgment, Label, LabelValue, Rating, Reference
from reviews.queries.history import Value, value_of
from reviews.queries.payloads import order_of

# How far a level may be off the one that stands and still count as right.
LEVELS_OFF = 1


@dataclass(frozen=True)
class Line:
    """One criterion: what the rater said, if anything, and what stands. `near` is right, but not the same."""

    title: str
    said: Value | None
    stands: Value
    right: bool
    near: bool = False
    counts: bool = True


@dataclass(frozen=True)
class Compared:
    """One judgment held against its reference."""

    judgment: Judgment
    reference: Reference
    lines: list[Line]

    @property
    def right(self) -> bool:
        return all(line.right for line in self.lines if line.counts)

    @property
    def differing(self) -> list[Line]:
        return [line for line in self.lines if line.counts and not line.right]


def compared(assignments: Iterable[Assignment], *, first: bool = False) -> dict[int, Compared]:
    """Each assignment's latest judgment, or its first, against the reference of its item. A few queries for all."""
    of = {assignment.pk: assignment for assignment in assignments}
    judgments = Judgment.objects.filter(assignment__in=of).order_by("assignment", "revision" if first else "-revision")
    chosen = list(judgments.distinct("assignment").prefetch_related("ratings__criterion"))
    references = Reference.objects.select_related("queue_item", "label").prefetch_related("label__values__criterion")
    by_place = {
        (row.queue_item.queue_id, row.queue_item.item_id): row
        for row in references.filter(
            queue_item__queue__in={judgment.queue_id for judgment in chosen},
            queue_item__item__in={judgment.item_id for judgment in chosen},
        )
    }
    found = {}
    for judgment in chosen:
        reference = by_place.get((judgment.queue_id, judgment.item_id))
        if reference is not None:
            lines = _lines(judgment, reference.label, order_of(of[judgment.assignment_id]))
            found[judgment.assignment_id] = Compared(judgment, reference, lines)
    return found


def _lines(judgment: Judgment, label: Label, order: list[int]) -> list[Line]:
    said = {(rating.criterion_id, rating.candidate): rating for rating in judgment.ratings.all()}
    stands = sorted(label.values.all(), key=lambda value: (value.criterion.position, value.candidate or 0))
    lines = [_line(said.get((value.criterion_id, value.candidate)), value, order) for value in stands]
    if label.failure_step:
        lines.append(_failure(judgment, label))
    return lines


def _line(said: Rating | None, stands: LabelValue, order: list[int]) -> Line:
    words = value_of(stands, order)
    own = value_of(said, order) if said else None
    same = said is not None and said.said == stands.said
    near = not same and said is not None and _is_near(said, stands)
    return Line(words.title, own, words, same or near, near, counts=stands.criterion.is_comparable)


def _is_near(said: Any, stands: Any) -> bool:
    criterion = stands.criterion
    if criterion.kind == CriterionKind.ORDINAL:
        return said.value is not None and abs(said.value - stands.value) <= LEVELS_OFF
    if criterion.kind == CriterionKind.NUMBER:
        return said.number is not None and abs(said.number - stands.number) <= criterion.settings.get("tolerance", 0)
    return False


def _failure(judgment: Judgment, label: Label) -> Line:
    """Where a run first goes wrong is shown and not counted: a step more or less is a matter of reading."""
    title = "First decisive step"
    own = Value(title, f"step {judgment.failure_step}") if judgment.failure_step else None
    same = judgment.failure_step == label.failure_step
    return Line(title, own, Value(title, f"step {label.failure_step}"), same, counts=False)
