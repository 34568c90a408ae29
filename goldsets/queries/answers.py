"""What raters answered on gold, held against what it expects now, in the order in which they submitted.

The first revision counts: what somebody corrects later may come from what they were told.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch

from goldsets.models import GoldItem, GoldPlacement
from goldsets.queries.values import said_in
from goldsets.stats.matching import Expected, Value, compare, read_expected
from reviews.models import Judgment, Queue


@dataclass(frozen=True)
class GoldAnswer:
    """One judged gold item: what was said, what is expected, and where both have a value, whether it is right."""

    placement: int
    gold: int
    item: UUID
    rater: int
    at: datetime
    seconds: int
    guideline: int
    said: dict[str, Value]
    expected: dict[str, Expected]
    right: dict[str, bool]

    @property
    def all_right(self) -> bool:
        return bool(self.right) and all(self.right.values())


def gold_answers(queue: Queue, *, rater: int | None = None, gold: GoldItem | None = None) -> list[GoldAnswer]:
    """Every answer on gold of the queue, or those of one rater, or on one item. Four queries."""
    placements = GoldPlacement.objects.filter(
        gold_item__queue=queue, gold_item__key__isnull=False, assignment__judgments__revision=1
    )
    if rater is not None:
        placements = placements.filter(rater=rater)
    if gold is not None:
        placements = placements.filter(gold_item=gold)
    first: Any = Prefetch("assignment__judgments", Judgment.objects.filter(revision=1), to_attr="first")
    placements = placements.select_related("gold_item__key", "assignment__item").prefetch_related(first)
    judged = [(placement, placement.assignment.first[0]) for placement in placements]
    said = said_in(judgment.pk for _placement, judgment in judged)
    answers = []
    for placement, judgment in sorted(judged, key=lambda pair: (pair[1].submitted_at, pair[1].pk)):
        expected = read_expected(placement.gold_item.key.expected)  # type: ignore[union-attr]
        answers.append(
            GoldAnswer(
                placement=placement.pk,
                gold=placement.gold_item_id,
                item=placement.assignment.item.uid,
                rater=placement.rater_id,
                at=judgment.submitted_at,
                seconds=judgment.active_seconds,
                guideline=judgment.guideline_id,
                said=said[judgment.pk],
                expected=expected,
                right=compare(said[judgment.pk], expected),
            )
        )
    return answers
