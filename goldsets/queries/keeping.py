"""Figures that take long to count are kept, and known to be of now by the project's latest Event.

Every deed writes an Event in its own transaction. Little is counted again at once, much by the worker, while the page
shows the last figures and says of when.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from django.core.cache import cache
from django.utils import timezone

from goldsets.enums import GoldVerb
from reviews.models import Event

# A deed whose transaction is still open may have an earlier Event than one that is seen; none stays open so long.
SETTLED_AFTER = timedelta(seconds=30)
# Until then what was counted is counted again after so long.
COUNTED_AGAIN_AFTER = timedelta(seconds=2)
KEPT_SECONDS = 30 * 86_400

Found = TypeVar("Found")


class Marked:
    """Something that was counted, when, and the latest Event before that."""

    counted_at: datetime
    mark: int
    marked_at: datetime | None

    def is_fresh(self, mark: int, now: datetime) -> bool:
        """Whether nothing can have happened since."""
        settled = self.marked_at is None or self.counted_at - self.marked_at > SETTLED_AFTER
        return self.mark == mark and (settled or now - self.counted_at < COUNTED_AGAIN_AFTER)


@dataclass(frozen=True)
class Kept(Marked, Generic[Found]):
    found: Found
    counted_at: datetime
    mark: int
    marked_at: datetime | None


@dataclass(frozen=True)
class Seen(Generic[Found]):
    """What a page shows: the last figures, or None where there is much that was never counted.

    `stale` says that the worker has to count.
    """

    kept: Kept[Found] | None
    stale: bool


def latest_event(project: int) -> tuple[int, datetime | None]:
    """Its id and time. That a sealed test was read changes no figure."""
    latest = (
        Event.objects.filter(project=project)
        .exclude(verb=GoldVerb.SEALED_READ)
        .order_by("-id")
        .values_list("id", "at")
        .first()
    )
    return latest or (0, None)


def seen(key: str, project: int, *, little: Callable[[], bool], count: Callable[[], Found]) -> Seen[Found]:
    """What a page shows: what is kept while it is of now, counted anew where that is little, else what there is."""
    kept: Kept[Found] | None = cache.get(key)
    if kept and kept.is_fresh(latest_event(project)[0], timezone.now()):
        return Seen(kept, stale=False)
    if little():
        return Seen(count_and_keep(key, project, count), stale=False)
    return Seen(kept, stale=True)


def count_and_keep(key: str, project: int, count: Callable[[], Found]) -> Kept[Found]:
    # The mark comes first: what happens while this counts makes it stale.
    mark = latest_event(project)
    kept = Kept(count(), timezone.now(), *mark)
    cache.set(key, kept, KEPT_SECONDS)
    return kept


def takes_the_count(key: str) -> bool:
    """Whether whoever asks is the one to have it counted; for a moment nobody else is."""
    return bool(cache.add(f"{key}-asked", True, COUNTED_AGAIN_AFTER.total_seconds()))
