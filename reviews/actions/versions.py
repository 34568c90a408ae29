"""Takes open work over to another version of its rubric: the queue itself, or a new queue with what is unfinished."""

from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.actions.qualifying import require_qualification
from reviews.actions.queueing import add_items, create_queue_like
from reviews.actions.routing import change_rule
from reviews.enums import AssignmentState, QueueItemState, QueueState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Assignment, Item, Judgment, Queue, Rubric
from reviews.rules import check


@transaction.atomic
def move_queue(*, actor: Any, queue: Queue, rubric: Rubric) -> Queue:
    """Let a queue in which nothing was judged yet ask by another version.

    Raises Conflict where a judgment was made in it, or somebody has an item open: what a rater reads is what they are
    held to. Then `succeed_queue` takes over what is unfinished.
    """
    check(actor, "manage_queue", queue.project)
    queue = Queue.objects.select_for_update(of=("self",)).select_related("rubric", "project").get(pk=queue.pk)
    _check_version(queue, rubric)
    if Judgment.objects.filter(queue=queue).exists():
        raise Conflict("Judgments were made in this queue. Open a new one for what is unfinished.")
    if Assignment.objects.filter(queue=queue, state=AssignmentState.LEASED).exists():
        raise Conflict("Somebody has an item of this queue open. Pause it and wait, or open a new queue.")
    before = queue.rubric
    queue.rubric = rubric
    queue.save(update_fields=["rubric"])
    said = {"before": str(before), "after": str(rubric)}
    record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_MOVED, target=queue, **said)
    return queue


@transaction.atomic
def succeed_queue(*, actor: Any, queue: Queue, rubric: Rubric) -> Queue:
    """A new queue by another version with what this one has not settled; this one is closed.

    The new one is set up as this one was, asks for the same qualification, and gets what the rules on arrival sent
    here. Judgments stay where they were made: under the version that asked for them. Raises Conflict where there is
    nothing to take over, or the new queue is there already.
    """
    check(actor, "manage_queue", queue.project)
    queue = (
        Queue.objects.select_for_update(of=("self",)).select_related("rubric", "guideline", "project").get(pk=queue.pk)
    )
    _check_version(queue, rubric)
    if queue.state == QueueState.CLOSED:
        raise Conflict("This queue is closed. Open it again to take over what it left unfinished.")
    unfinished = Item.objects.filter(queue_items__queue=queue).exclude(
        queue_items__in=queue.queue_items.filter(state=QueueItemState.SETTLED)
    )
    items = list(unfinished.order_by("queue_items__pk").distinct())
    if not items:
        raise Conflict("Everything in this queue is settled. There is nothing to take over.")
    name = f"{queue.name[:90]}, version {rubric.version}"
    made = create_queue_like(actor=actor, queue=queue, name=name, rubric=rubric)
    if queue.requires:
        require_qualification(actor=actor, queue=made, qualification=queue.requires)
    for rule in queue.arrival_rules.filter(active=True):
        change_rule(actor=actor, rule=rule, queue=made)
    add_items(actor=actor, queue=made, items=items)
    queue.state = QueueState.CLOSED
    queue.save(update_fields=["state"])
    said = {"by": made.slug, "rubric": str(rubric), "items": len(items)}
    record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_SUCCEEDED, target=queue, **said)
    return made


def _check_version(queue: Queue, rubric: Rubric) -> None:
    if rubric.project_id != queue.project_id:
        raise Invalid({"rubric": "The rubric belongs to another project."})
    if rubric.pk == queue.rubric_id:
        raise Conflict(f"This queue judges by {rubric} already.", field="rubric")
    if rubric.item_kind != queue.rubric.item_kind:
        raise Invalid({"rubric": "That version judges another kind of item, which this queue has none of."})
