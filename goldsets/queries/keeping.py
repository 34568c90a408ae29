"""Figures that take long to count are kept, and known to be of now by the project's latest Event.

Every deed writes an Event in its own transaction. Little is counted again at once, much by the worker, while the page
shows the last figures and says of when.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from django.core.cache import cache
from django.db.models import Sum
from django.utils import timezone

from goldsets.enums import GoldVerb
from reviews.models import Event
from reviews.queries.holding import held

# No deed is under way while so many others end.
LATEST = 1_000
# Whoever else asks is not the one to have it counted, for so many seconds.
ASKED_AGAIN_AFTER = 2
# A count that has not ended by then was cut off.
COUNTED_WITHIN = 120
KEPT_SECONDS = 30 * 86_400

Found = TypeVar("Found")


@dataclass(frozen=True)
class Kept(Generic[Found]):
    """What was counted, when, and the mark of the deeds that are in it."""

    found: Found
    counted_at: datetime
    mark: int


@dataclass(frozen=True)
class Seen(Generic[Found]):
    """What a page shows: the last figures, or None where there is much that was never counted.

    `stale` says that the worker has to count.
    """

    kept: Kept[Found] | None
    stale: bool


def mark_of(project: int) -> int:
    """A number that rises with every deed: the sum of the ids of the project's latest Events.

    The latest alone would not tell: a deed that is under way may have an earlier one. That a sealed test was read
    changes no figure.
    """
    latest = Event.objects.filter(project=project).exclude(verb=GoldVerb.SEALED_READ).order_by("-id")[:LATEST]
    return latest.aggregate(mark=Sum("id", default=0))["mark"]


def seen(key: str, project: int, *, little: Callable[[], bool], count: Callable[[], Found]) -> Seen[Found]:
    """What a page shows: what is kept while it is of now, counted anew where that is little, else what there is."""
    kept: Kept[Found] | None = cache.get(key)
    if kept and kept.mark == mark_of(project):
        return Seen(kept, stale=False)
    if little():
        return Seen(count_and_keep(key, project, count), stale=False)
    return Seen(kept, stale=True)


def fresh(key: str, project: int, count: Callable[[], Found]) -> Kept[Found]:
    """What is kept while it is of now, else counted anew however long that takes."""
    kept: Kept[Found] | None = cache.get(key)
    return kept if kept and kept.mark == mark_of(project) else count_and_keep(key, project, count)


def count_and_keep(key: str, project: int, count: Callable[[], Found]) -> Kept[Found]:
    # The mark comes first: what happens while this counts makes it stale.
    mark = mark_of(project)
    kept = Kept(count(), timezone.now(), mark)
    cache.set(key, kept, KEPT_SECONDS)
    return kept


def takes_the_count(key: str) -> bool:
    """Whether whoever asks is the one to have it counted; for a moment nobody else is."""
    return bool(cache.add(f"{key}-asked", True, ASKED_AGAIN_AFTER))


@contextmanager
def alone(key: str) -> Iterator[bool]:
    """Whether nobody else counts it at the moment; two at once would only slow each other."""
    with held(f"{key}-counting", seconds=COUNTED_WITHIN) as mine:
        yield mine
