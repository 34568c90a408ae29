"""Takes open work over to another version of its rubric or its guideline: the queue itself, or a new queue with what is
unfinished."""

from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.actions.queueing import add_items, create_queue_like
from reviews.actions.routing import change_rule
from reviews.enums import LAID_ASIDE, AssignmentState, QueueItemState, QueueState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Assignment, Guideline, Judgment, Queue, Rubric
from reviews.rules import check


@transaction.atomic
def move_queue(*, actor: Any, queue: Queue, rubric: Rubric | None = None, guideline: Guideline | None = None) -> Queue:
    """Let a queue in which nothing was judged yet go by another version.

    Raises Conflict where a judgment was made in it, or somebody has an item open: what a rater reads is what they are
    held to. Then `succeed_queue` takes over what is unfinished.
    """
    check(actor, "manage_queue", queue.project)
    queue = (
        Queue.objects.select_for_update(no_key=True, of=("self",))
        .select_related("rubric", "guideline", "project")
        .get(pk=queue.pk)
    )
    versions = _versions(queue, rubric, guideline)
    if Judgment.objects.filter(queue=queue).exists():
        raise Conflict("Judgments were made in this queue. Open a new one for what is unfinished.")
    if Assignment.objects.filter(queue=queue, state=AssignmentState.LEASED).exists():
        raise Conflict("Somebody has an item of this queue open. Pause it and wait, or open a new queue.")
    before = [str(queue.rubric), str(queue.guideline)]
    queue.rubric, queue.guideline = versions
    queue.save(update_fields=["rubric", "guideline"])
    changed = [(old, str(new)) for old, new in zip(before, versions, strict=True) if old != str(new)]
    said = {"before": ", ".join(old for old, _new in changed), "after": ", ".join(new for _old, new in changed)}
    record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_MOVED, target=queue, **said)
    return queue


@transaction.atomic
def succeed_queue(
    *, actor: Any, queue: Queue, rubric: Rubric | None = None, guideline: Guideline | None = None
) -> Queue:
    """A new queue by another version with what this one has not settled; this one is closed.

    What was set apart or split out stays behind. The new one is set up as this one was, asks for the same
    qualification, and gets what the rules on arrival sent here. Judgments stay where they were made: under the version
    that asked for them. Raises Conflict where there is nothing to take over, or the new queue is there already.
    """
    check(actor, "manage_queue", queue.project)
    queue = (
        Queue.objects.select_for_update(no_key=True, of=("self",))
        .select_related("rubric", "guideline", "project")
        .get(pk=queue.pk)
    )
    by_rubric, by_guideline = _versions(queue, rubric, guideline)
    if queue.state == QueueState.CLOSED:
        raise Conflict("This queue is closed. Open it again to take over what it left unfinished.")
    unfinished = queue.queue_items.exclude(state=QueueItemState.SETTLED).exclude(waits_for__in=LAID_ASIDE)
    items = [row.item for row in unfinished.select_related("item").order_by("pk")]
    if not items:
        raise Conflict("Everything in this queue is settled, set apart or split out. There is nothing to take over.")
    by = [f"version {rubric.version}"] if rubric else []
    by += [f"guideline {guideline.version}"] if guideline else []
    name = ", ".join([queue.name[:80], *by])
    made = create_queue_like(actor=actor, queue=queue, name=name, rubric=by_rubric, guideline=by_guideline)
    for rule in queue.arrival_rules.filter(active=True):
        change_rule(actor=actor, rule=rule, queue=made)
    add_items(actor=actor, queue=made, items=items)
    queue.state = QueueState.CLOSED
    queue.save(update_fields=["state"])
    said = {"by": made.slug, "rubric": str(by_rubric), "guideline": str(by_guideline), "items": len(items)}
    record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_SUCCEEDED, target=queue, **said)
    return made


def _versions(queue: Queue, rubric: Rubric | None, guideline: Guideline | None) -> tuple[Rubric, Guideline]:
    """What the queue is to go by: what is given, and else what it goes by now."""
    given: dict[str, Rubric | Guideline] = {}
    given |= {"rubric": rubric} if rubric else {}
    given |= {"guideline": guideline} if guideline else {}
    if not given:
        raise Invalid({"rubric": "Name the version to go by: of the rubric, of the guideline, or of both."})
    for field, version in given.items():
        if version.project_id != queue.project_id:
            raise Invalid({field: f"The {field} belongs to another project."})
        if version == getattr(queue, field):
            raise Conflict(f"This queue judges by {version} already.", field=field)
    if rubric and rubric.item_kind != queue.rubric.item_kind:
        raise Invalid({"rubric": "That version judges another kind of item, which this queue has none of."})
    return rubric or queue.rubric, guideline or queue.guideline
