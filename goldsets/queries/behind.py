"""The items behind a number of the agreement."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reviews.enums import QueueItemState
from reviews.models import Queue, QueueItem
from reviews.queries.referrals import unanswered_by

# More nobody looks through on a page; the API names all.
MOST_SHOWN = 200


@dataclass(frozen=True)
class Behind:
    """The first items to look at, how many there are, and how many are kept back, because naming them would tell who
    answered what, or because the lead is to answer them first."""

    rows: list[QueueItem]
    count: int
    kept_back: int
    unanswered: int


def items_behind(queue: Queue, uids: Iterable[UUID], *, reader: Any, only_settled: bool) -> Behind:
    """The items, those that wait first. Names stay hidden until an item is settled, so the items of a pair wait too."""
    found = QueueItem.objects.filter(queue=queue, item__uid__in=list(uids))
    open_to = found.exclude(pk__in=unanswered_by(reader).filter(queue=queue).values("pk"))
    shown = open_to.filter(state=QueueItemState.SETTLED) if only_settled else open_to
    count, n_open = shown.count(), open_to.count()
    return Behind(
        rows=list(shown.select_related("item__trajectory__task", "item__task").order_by("-state", "pk")[:MOST_SHOWN]),
        count=count,
        kept_back=n_open - count,
        unanswered=found.count() - n_open,
    )
