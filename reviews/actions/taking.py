"""Labels that no rater made: an item that nobody has begun settles by a value from elsewhere, and the way back.

What settles so says it: its label and values have the basis “reviewer” and no judgment behind them. Whoever calls this
says which items may, and by what right; here it is only held that no person's work is touched:
1. An item is taken while it collects and nobody has or had it. One that is just being dealt is left to whom it goes,
   and one that brings questions of its own to people.
2. Its slots are withdrawn and not deleted, so that they can be opened again.
3. Given back, an item collects as if nothing had been: its slots are open, in front of every rater's cursor. What a
   lead has decided by then stays decided.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.dealing import place_in_front
from reviews.actions.events import record
from reviews.actions.labelling import make_label
from reviews.actions.payloads import Answer
from reviews.enums import Basis, QueueItemState, QueueState, SlotState, Verb
from reviews.models import Assignment, Criterion, Label, Queue, QueueItem, Slot


@transaction.atomic
def take(*, queue_item_id: int, values: Mapping[str, int]) -> Label | None:
    """Settle an untouched item by these values, under the keys of its rubric; None where it is not to be had."""
    row = QueueItem.objects.select_for_update(of=("self",)).select_related("queue__rubric").get(pk=queue_item_id)
    if row.state != QueueItemState.COLLECTING or row.queue.state != QueueState.OPEN:
        return None
    free = Slot.objects.filter(queue_item=row, state=SlotState.OPEN).select_for_update(skip_locked=True)
    if len(free) < Slot.objects.filter(queue_item=row).count():
        return None
    if Assignment.objects.filter(queue=row.queue_id, item=row.item_id).exists():
        return None
    # What the item itself asks would be left without an answer.
    if Criterion.objects.filter(item=row.item_id).exists():
        return None
    criteria = {criterion.key: criterion for criterion in row.queue.rubric.criteria.filter(key__in=values)}
    answers = [(Answer(criteria[key], value=value), Basis.REVIEWER) for key, value in values.items()]
    return make_label(queue_item=row, values=answers, judgment_count=0, failure={})


@transaction.atomic
def give_back(*, actor: Any, queue: Queue, queue_items: Iterable[int] | Any) -> int:
    """Ask raters after all for those of the items whose standing label no person made. Returns how many."""
    rows = list(
        QueueItem.objects.select_for_update(of=("self",))
        .filter(queue=queue, pk__in=queue_items, state=QueueItemState.SETTLED, label__basis=Basis.REVIEWER)
        .order_by("pk")
    )
    for row in rows:
        QueueItem.objects.filter(pk=row.pk).update(
            state=QueueItemState.COLLECTING, label=None, reopened_at=timezone.now()
        )
        Slot.objects.filter(queue_item=row, state=SlotState.WITHDRAWN).update(
            state=SlotState.OPEN, place=place_in_front(queue.pk)
        )
        record(project=queue.project_id, actor=actor, verb=Verb.ITEM_REOPENED, target=row)
    return len(rows)
