"""A queue with gold in it, and raters who meet the one or the other when a test says so."""

from typing import Any

from goldsets.actions.gold import set_gold_rate
from goldsets.models import GoldPlacement, GoldSchedule
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.models import Judgment, Queue, QueueItem
from tests import factories as make

# Far more plain items in between than a test deals: gold comes only when it is asked for.
NEVER = 100_000


def queue_with_gold(project: Any, *, gold: int, plain: int, overlap: int = 1, **terms: Any) -> Queue:
    """Gold that passes every gate with success 3 and process 2, then so many plain runs that nobody has judged."""
    queue = make.queue(project, items=gold, overlap=1)
    gwen = make.expert(project, "Gwen")
    for _ in range(gold):
        _submit(queue, gwen, make.passing())
    for row in QueueItem.objects.filter(queue=queue).order_by("pk"):
        make.gold(row, **terms)
    Queue.objects.filter(pk=queue.pk).update(overlap=overlap)
    queue.refresh_from_db()
    lead = make.lead_of(project)
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(plain)])
    set_gold_rate(actor=lead, queue=queue, rate="0.1")
    return queue


def on_gold(queue: Queue, rater: Any, *payloads: dict[str, Any]) -> list[Judgment]:
    """The rater's next items are gold, and they answer so. There must be a plain item left, or no gold is dealt."""
    return [_next(queue, rater, payload, gold=True) for payload in payloads]


def on_plain(queue: Queue, rater: Any, *payloads: dict[str, Any]) -> list[Judgment]:
    return [_next(queue, rater, payload, gold=False) for payload in payloads]


def _next(queue: Queue, rater: Any, payload: dict[str, Any], *, gold: bool) -> Judgment:
    GoldSchedule.objects.update_or_create(queue=queue, rater=rater, defaults={"plain_left": 0 if gold else NEVER})
    judgment = _submit(queue, rater, payload)
    assert GoldPlacement.objects.filter(assignment=judgment.assignment).exists() == gold
    return judgment


def _submit(queue: Queue, rater: Any, payload: dict[str, Any]) -> Judgment:
    assignment = claim(actor=rater, queue=queue)
    return submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key=f"test-{assignment.uid}").judgment
