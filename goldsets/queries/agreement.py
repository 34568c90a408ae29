"""Agreement in a queue with gold left out: a rater on a gold item meets a settled question, not a colleague's.

It is kept as it was last counted (see `keeping`), so that reading it costs the same however many ratings there are.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.core.cache import cache
from django.utils import timezone

from goldsets.models import GoldPlacement
from goldsets.queries.keeping import KEPT_SECONDS, alone, mark_of
from goldsets.stats.pace import median_of, much_faster
from reviews.models import Judgment, Queue
from reviews.queries.agreement import QueueAgreement, agreement
from reviews.queries.repeats import Within, within
from reviews.stats.result import Estimate

# So many judgments are counted while somebody waits.
FEW_JUDGMENTS = 2_000
BATCH = 10_000
# Whoever looks at a queue's agreement gets fresh figures for so long, from a worker that counts ahead of them.
WATCHED_SECONDS = 600
# Raise it with every change of the classes that are kept.
FORM = 7


@dataclass(frozen=True)
class Kept:
    """What was counted between raters and within each, the median of each one's seconds over all that they submitted,
    gold with it, when, and the mark of the deeds in it."""

    found: QueueAgreement
    within: Within
    seconds: dict[int, Estimate]
    counted_at: datetime
    mark: int

    @property
    def much_faster(self) -> dict[int, Estimate]:
        """Raters far faster than the others, with the seconds that the others usually take."""
        return much_faster(self.seconds)


@dataclass(frozen=True)
class Seen:
    """What a page shows: the last figures, or None where many judgments have never been counted.

    `stale` says that the worker has to count.
    """

    kept: Kept | None
    stale: bool


def queue_agreement(queue: Queue) -> QueueAgreement:
    """Everything about agreement in a queue, with the items behind it. Time grows with the number of ratings."""
    return current_agreement(queue).found


def current_agreement(queue: Queue) -> Kept:
    """The same, and when it was counted."""
    kept: Kept | None = cache.get(agreement_key(queue))
    return kept if kept and kept.mark == mark_of(queue.project_id) else count_agreement(queue)


def seen_agreement(queue: Queue, *, with_items: bool = False, waits: bool = True) -> Seen:
    """The figures as a page shows them: four short queries at most, unless there are few judgments.

    The items behind them come along only where asked for, because there may be as many as in the queue. Who does not
    wait gets what is kept, however few there are.
    """
    cache.set(_key(queue, "watched"), True, WATCHED_SECONDS)
    kept = cache.get(_key(queue, "full" if with_items else "figures"))
    if kept and kept.mark == mark_of(queue.project_id):
        return Seen(kept, stale=False)
    if waits and _has_few_judgments(queue):
        return Seen(count_agreement(queue), stale=False)
    return Seen(kept, stale=True)


def count_agreement(queue: Queue) -> Kept:
    """Count everything anew and keep it."""
    # The mark comes first: what happens while this counts makes it stale.
    mark = mark_of(queue.project_id)
    placed = GoldPlacement.objects.filter(gold_item__queue=queue).values("assignment")
    found = agreement(queue, leave_out=placed)
    kept = Kept(found, within(queue), _seconds(queue), timezone.now(), mark)
    figures = replace(kept, found=found.without_items())
    cache.set(agreement_key(queue), kept, KEPT_SECONDS)
    cache.set(_key(queue, "figures"), figures, KEPT_SECONDS)
    return kept


def _seconds(queue: Queue) -> dict[int, Estimate]:
    latest = Judgment.objects.filter(queue=queue).order_by("assignment", "-revision").distinct("assignment")
    of_raters: dict[int, list[int]] = defaultdict(list)
    for rater, seconds in latest.values_list("rater", "active_seconds").iterator(chunk_size=BATCH):
        of_raters[rater].append(seconds)
    return {rater: median_of(np.array(own), "Median seconds") for rater, own in of_raters.items()}


def count_alone(queue: Queue) -> None:
    """Count anew, unless another worker does so at the moment."""
    with alone(agreement_key(queue)) as mine:
        if mine:
            count_agreement(queue)


def queue_by_id(queue_id: int) -> Queue:
    return Queue.objects.select_related("project", "rubric", "guideline").get(pk=queue_id)


def watched_queues() -> list[Queue]:
    """Queues whose agreement somebody looks at, and where something happened since it was counted."""
    keys = {_key(queue, "watched"): queue.pk for queue in Queue.objects.only("uid")}
    looked_at = [keys[key] for key in cache.get_many(keys)]
    found = []
    for queue in Queue.objects.filter(pk__in=looked_at).select_related("rubric") if looked_at else ():
        kept: Kept | None = cache.get(_key(queue, "figures"))
        if kept is None or kept.mark != mark_of(queue.project_id):
            found.append(queue)
    return found


def agreement_key(queue: Queue) -> str:
    """The name under which everything about it is kept."""
    return _key(queue, "full")


def _key(queue: Queue, part: str) -> str:
    return f"agreement-{FORM}-{part}-{queue.uid}"


def _has_few_judgments(queue: Queue) -> bool:
    return len(Judgment.objects.filter(queue=queue).values("pk")[: FEW_JUDGMENTS + 1]) <= FEW_JUDGMENTS
