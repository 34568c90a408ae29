"""What is held against gold: the rubric's questions, those an item brought along itself, and its words for steps."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reviews.models import Criterion, Queue, QueueItem, Rubric

# No criterion of a rubric can have these as its key.
STEPS_KEY, OWN_KEY = "step-labels", "own-questions"
STEPS_KIND = "steps"


@dataclass(frozen=True)
class Questions:
    """`of_rubric` are asked of every item, the words for steps last; `own` by the item that brought them."""

    of_rubric: list[Criterion]
    own: dict[UUID, list[Criterion]]

    def of(self, item: UUID) -> list[Criterion]:
        return [*self.of_rubric, *self.own.get(item, [])]


def questions_of(queue: Queue) -> Questions:
    """For every gold item of a queue. Two queries."""
    own: dict[UUID, list[Criterion]] = defaultdict(list)
    brought = Criterion.objects.filter(item__queue_items__gold__queue=queue).select_related("item")
    for criterion in brought.order_by("item", "position"):
        own[criterion.item.uid].append(criterion)  # type: ignore[union-attr]
    return Questions(_of_rubric(queue.rubric), own)


def questions_of_item(queue_item: QueueItem) -> dict[str, Criterion]:
    """By key, of an item that need not be gold yet."""
    found = [*_of_rubric(queue_item.queue.rubric), *queue_item.item.own_criteria.all()]
    return {criterion.key: criterion for criterion in found}


def _of_rubric(rubric: Rubric) -> list[Criterion]:
    return [*rubric.criteria.all(), *([words_for_steps(rubric.step_labels)] if rubric.step_labels else [])]


def words_for_steps(rules: dict[str, Any]) -> Criterion:
    """The labels of all steps as one question, which is never stored. Its value is {step: value}."""
    words = sorted(rules["words"], key=lambda word: word["value"])
    return Criterion(key=STEPS_KEY, title="Words for steps", kind=STEPS_KIND, levels=words)
