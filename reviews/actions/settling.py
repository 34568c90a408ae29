"""The worker looks at what raters left marks on: it makes labels by rule, asks one more rater, or has a lead decide.

Never in the answer to a rater: the last judgment of an item would take longer than any other, and of an item that is
settled already none is ever the last. So everything that a rater does leaves the same mark (`marking`), and here:

1. A mark goes in the transaction that does what it asks for. Whatever dies in between, it is there for the next round.
2. An item is looked at under its lock, once for all of its marks, so two workers never settle one twice.
3. An item that a worker stumbles over keeps its marks and holds up no other.
4. Before a lead decides an item, its marks are worked off, so nobody decides on less than raters have said.
"""

from django.db import OperationalError, transaction

from reviews.actions.dealing import send_to_lead
from reviews.actions.labelling import look_again, settle_by_rule
from reviews.enums import AssignmentState, SettlingCause, WaitsFor
from reviews.models import Assignment, QueueItem, SettlingMark

SKIPS_UNTIL_LEAD = 3


def settle_marked() -> int:
    """Look at every item with a mark that nobody else is at. Returns how many; raises at the end what went wrong."""
    marked = list(dict.fromkeys(SettlingMark.objects.order_by("pk").values_list("queue_item", flat=True)))
    stumbled: Exception | None = None
    for queue_item in marked:
        try:
            settle(queue_item_id=queue_item, wait=False)
        except OperationalError:
            raise
        except Exception as error:
            stumbled = error
    if stumbled:
        raise stumbled
    return len(marked)


@transaction.atomic
def settle(*, queue_item_id: int, wait: bool = True) -> None:
    """Do for one item what its marks ask for. Without `wait` not while somebody else holds it."""
    locked = QueueItem.objects.select_for_update(of=("self",), no_key=True, skip_locked=not wait)
    queue_item = locked.select_related("queue").filter(pk=queue_item_id).first()
    marks = list(SettlingMark.objects.filter(queue_item=queue_item)) if queue_item else []
    if queue_item is None or not marks:
        return
    causes = {mark.cause for mark in marks}
    if SettlingCause.SKIPPED in causes and _skips(queue_item) >= SKIPS_UNTIL_LEAD:
        send_to_lead(queue_item=queue_item, why=WaitsFor.SKIPS)
    if SettlingCause.JUDGED in causes:
        settle_by_rule(queue_item_id=queue_item.pk)
    if SettlingCause.CORRECTED in causes:
        since = min(mark.since for mark in marks if mark.cause == SettlingCause.CORRECTED)
        look_again(queue_item_id=queue_item.pk, since=since)
    SettlingMark.objects.filter(pk__in=[mark.pk for mark in marks]).delete()


def _skips(queue_item: QueueItem) -> int:
    return Assignment.objects.filter(
        queue=queue_item.queue_id, item=queue_item.item_id, state=AssignmentState.SKIPPED, occasion=1
    ).count()
