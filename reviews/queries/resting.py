"""The judgments on which a label or a decision rests."""

from datetime import datetime

from reviews.enums import AssignmentState, Verb
from reviews.models import Event, Judgment, Label, QueueItem


def counting_judgments(queue_item: QueueItem, *, until: datetime | None = None) -> list[Judgment]:
    """Each rater's latest revision on the item, up to a moment if one is given, with its ratings."""
    judgments = Judgment.objects.filter(
        queue=queue_item.queue_id, item=queue_item.item_id, assignment__state=AssignmentState.SUBMITTED
    )
    if until:
        judgments = judgments.filter(submitted_at__lte=until)
    parts = ["ratings__criterion", *(["step_labels"] if queue_item.queue.rubric.step_labels else [])]
    return list(judgments.order_by("rater", "-revision").distinct("rater").prefetch_related(*parts))


def judgments_before_label(queue_item: QueueItem) -> list[Judgment]:
    """The judgments a decision rests on: as they stood when the item was first settled, or since it reopened."""
    labels = Label.objects.filter(queue=queue_item.queue, item=queue_item.item)
    if queue_item.reopened_at:
        labels = labels.filter(created_at__gt=queue_item.reopened_at)
    first = labels.order_by("revision").first()
    return counting_judgments(queue_item, until=first.created_at if first else None)


def judgments_behind(queue_item: QueueItem, labels: list[Label]) -> dict[int, list[Judgment]]:
    """By label of the item: the judgments as they stood when it was first settled, or since it was reopened.

    What came in later, while a label stood, changed nothing and is behind none.
    """
    opened = Event.objects.filter(verb=Verb.ITEM_REOPENED, target_type="queueitem", target_id=queue_item.pk)
    reopenings = list(opened.values_list("at", flat=True))
    known: dict[datetime, list[Judgment]] = {}
    found = {}
    for label in labels:
        since = max((at for at in reopenings if at < label.created_at), default=None)
        first = min(one.created_at for one in labels if since is None or one.created_at > since)
        if first not in known:
            known[first] = counting_judgments(queue_item, until=first)
        found[label.pk] = known[first]
    return found
