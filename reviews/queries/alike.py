"""Items on which raters differ in the same way and in one value only, so that a lead can settle several in one go.

Such an item is safe to settle without the others: every gate passes for everybody, nobody differs on a step, and the
one criterion on which they differ has values that are chosen from a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviews.enums import CriterionKind, GateAnswer, WaitsFor
from reviews.models import Criterion, Judgment, Queue, QueueItem
from reviews.models.base import Said, in_words
from reviews.queries.disagreements import InboxRow, latest_judgments
from reviews.queries.rubric_view import Choice, choices_of

LEAST_ALIKE = 2
MOST_ALIKE = 50
SAFE_KINDS = (CriterionKind.ORDINAL, CriterionKind.BINARY, CriterionKind.CHOICE)


@dataclass(frozen=True)
class Alike:
    """One item of a batch with what its raters wrote, shortest first, so that their order says nothing."""

    queue_item: QueueItem
    rationales: tuple[str, ...]


@dataclass(frozen=True)
class Batch:
    """Items on which raters differ on `criterion` between the same values, which are `said` in words."""

    criterion: Criterion
    said: tuple[str, ...]
    choices: tuple[Choice, ...]
    rows: tuple[Alike, ...]


def batches(queue: Queue, rows: Sequence[InboxRow]) -> list[Batch]:
    """The batches among these rows of the inbox, the largest first; none where leads answer first. Two queries."""
    if queue.lead_answers_first:
        return []
    simple = {row.queue_item.item_id: row for row in rows if _is_simple(row)}
    judgments: dict[int, list[Judgment]] = {}
    for judgment in latest_judgments(queue).filter(item__in=simple).prefetch_related("ratings__criterion"):
        judgments.setdefault(judgment.item_id, []).append(judgment)
    found: dict[tuple[Criterion, tuple[Said, ...]], list[Alike]] = {}
    words: dict[tuple[Criterion, Said], str] = {}
    # In the order of the inbox; the judgments come in any.
    for item, row in simple.items():
        given = judgments.get(item, [])
        criterion = row.differing[0]
        ratings = [rating for judgment in given for rating in judgment.ratings.all()]
        if any(rating.criterion.is_gate and rating.value != GateAnswer.PASS for rating in ratings):
            continue
        own = [rating for rating in ratings if rating.criterion_id == criterion.pk]
        words |= {(criterion, rating.said): in_words(rating) for rating in own}
        said = tuple(sorted({rating.said for rating in own}))
        texts = sorted({judgment.rationale for judgment in given if judgment.rationale}, key=_shortest_first)
        found.setdefault((criterion, said), []).append(Alike(row.queue_item, tuple(texts)))
    made = [
        Batch(
            criterion=criterion,
            said=tuple(words[criterion, one] for one in said),
            choices=choices_of(criterion),
            rows=tuple(alike[:MOST_ALIKE]),
        )
        for (criterion, said), alike in found.items()
        if len(alike) >= LEAST_ALIKE
    ]
    return sorted(made, key=lambda batch: (-len(batch.rows), batch.criterion.position))


def _shortest_first(text: str) -> tuple[int, str]:
    return len(text), text


def _is_simple(row: InboxRow) -> bool:
    (criterion, *others) = row.differing or (None,)
    return (
        criterion is not None
        and not others
        and criterion.kind in SAFE_KINDS
        and criterion.item_id is None
        and row.queue_item.waits_for == WaitsFor.DISAGREEMENT
        and not (row.failed_gates or row.steps_differ or row.labels_differ)
        and row.queue_item.item.trajectory is not None
    )
