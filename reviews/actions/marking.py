"""Marks an item for the worker to look at (`settling`).

A mark is one row more, in the transaction of what a rater did. It takes the same statement whatever the item is, reads
nothing of it and waits for nobody, so the time an answer takes says nothing of what becomes of the item.
"""

from datetime import datetime

from django.utils import timezone

from reviews.enums import SettlingCause
from reviews.models import SettlingMark


def mark(queue_item_id: int, cause: SettlingCause, *, since: datetime | None = None) -> None:
    """Have the worker look at the item. `since` as on `SettlingMark`."""
    SettlingMark.objects.create(queue_item_id=queue_item_id, cause=cause, since=since or timezone.now())
