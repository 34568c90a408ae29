"""Pauses a rater in a queue, lets them go on, and sets aside what they judged since some moment.

What becomes of an item whose judgment is set aside (`set_aside`):
1. The judgment stays where it is, but counts no more: not for a label, not for agreement, not for an export.
2. Its slot opens again, so that somebody else is asked.
3. An item that had settled by rule collects again, and no label of it stands until it settles anew.
4. What a lead decided stays decided; an item that waits for a lead goes on waiting.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.dealing import place_in_front
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.enums import AssignmentState, QueueItemState, SlotState, Verb, WaitsFor
from reviews.errors import Invalid
from reviews.models import Assignment, Queue, QueueItem, RaterPause, Slot
from reviews.rules import check

WORDS_LENGTH = 500
KIND_WORDS = (
    "You have no new items here for now: a lead is looking at this queue's recent work with you in mind and will be in "
    "touch. Thank you for what you have done; all of it is saved."
)


@transaction.atomic
def pause_rater(*, actor: Any, queue: Queue, rater: Any, words: str = "") -> RaterPause:
    """Deal the rater nothing new in this queue. An item in hand can still be finished. `actor` is None for a rule."""
    if actor is not None:
        check(actor, "manage_queue", queue.project)
    words = " ".join(words.split()) or KIND_WORDS
    if len(words) > WORDS_LENGTH or not storable(words):
        raise Invalid({"words": f"What the rater is told has at most {WORDS_LENGTH} characters."})
    pause, created = RaterPause.objects.get_or_create(
        queue=queue, rater=rater, ended_at=None, defaults={"words": words}
    )
    if created:
        record(project=queue.project_id, actor=actor, verb=Verb.RATER_PAUSED, target=pause, queue=queue.name)
    return pause


@transaction.atomic
def resume_rater(*, actor: Any, queue: Queue, rater: Any) -> bool:
    """Let the rater go on. False where they were not paused."""
    if actor is not None:
        check(actor, "manage_queue", queue.project)
    pause = RaterPause.objects.select_for_update().filter(queue=queue, rater=rater, ended_at=None).first()
    if pause is None:
        return False
    pause.ended_at = timezone.now()
    pause.save(update_fields=["ended_at"])
    record(project=queue.project_id, actor=actor, verb=Verb.RATER_RESUMED, target=pause, queue=queue.name)
    return True


@dataclass(frozen=True)
class Touched:
    """How many judgments were looked at, and what became of their items."""

    judgments: int = 0
    asked_again: int = 0
    to_lead: int = 0
    left: int = 0


@transaction.atomic
def set_aside(
    *, actor: Any, queue: Queue, rater: Any, since: datetime | None, leave_out: Iterable[int] | Any = ()
) -> Touched:
    """Count what the rater submitted after `since` no more, and ask others. See the module's numbered rules.

    `leave_out` has ids of assignments, or is a query for them.
    """
    asked, left = 0, 0
    work = _work_since(actor, queue, rater, since, leave_out)
    for assignment, row in work:
        label = row.label
        if row.state == QueueItemState.WAITING or (label and label.adjudication_id):
            left += 1
            continue
        if row.state == QueueItemState.SETTLED:
            QueueItem.objects.filter(pk=row.pk).update(
                state=QueueItemState.COLLECTING, label=None, reopened_at=timezone.now()
            )
            record(project=queue.project_id, actor=actor, verb=Verb.ITEM_REOPENED, target=row)
        Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.SUBMITTED).update(
            state=AssignmentState.SET_ASIDE
        )
        Slot.objects.filter(pk=assignment.slot_id, state=SlotState.DONE).update(
            state=SlotState.OPEN, place=place_in_front(queue.pk)
        )
        asked += 1
    touched = Touched(judgments=len(work), asked_again=asked, left=left)
    return _noted(Verb.WORK_SET_ASIDE, actor, queue, rater, touched)


@transaction.atomic
def send_work_to_lead(
    *, actor: Any, queue: Queue, rater: Any, since: datetime | None, leave_out: Iterable[int] | Any = ()
) -> Touched:
    """Let a lead decide every item that the rater judged after `since` and that no lead has decided."""
    sent, left = 0, 0
    work = _work_since(actor, queue, rater, since, leave_out)
    for _assignment, row in work:
        label = row.label
        if row.state == QueueItemState.WAITING or (label and label.adjudication_id):
            left += 1
            continue
        QueueItem.objects.filter(pk=row.pk).update(
            state=QueueItemState.WAITING, waits_for=WaitsFor.CHECK, waiting_since=timezone.now(), label=None
        )
        Slot.objects.filter(queue_item=row, state=SlotState.OPEN).update(state=SlotState.WITHDRAWN)
        record(project=queue.project_id, actor=actor, verb=Verb.ITEM_WAITING, target=row, why=WaitsFor.CHECK)
        sent += 1
    touched = Touched(judgments=len(work), to_lead=sent, left=left)
    return _noted(Verb.WORK_SENT_TO_LEAD, actor, queue, rater, touched)


def _work_since(
    actor: Any, queue: Queue, rater: Any, since: datetime | None, leave_out: Iterable[int] | Any
) -> list[tuple[Assignment, QueueItem]]:
    """The rater's submitted assignments with their items, locked, in the order in which everybody locks them."""
    if actor is not None:
        check(actor, "manage_queue", queue.project)
    done = Assignment.objects.filter(queue=queue, rater=rater, state=AssignmentState.SUBMITTED)
    done = done.exclude(pk__in=leave_out)
    if since is not None:
        done = done.filter(ended_at__gt=since)
    by_item = {assignment.item_id: assignment for assignment in done}
    rows = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("label")
        .filter(queue=queue, item__in=by_item)
        .order_by("pk")
    )
    return [(by_item[row.item_id], row) for row in rows]


def _noted(verb: Verb, actor: Any, queue: Queue, rater: Any, touched: Touched) -> Touched:
    record(project=queue.project_id, actor=actor, verb=verb, target=queue, rater=str(rater), **vars(touched))
    return touched
