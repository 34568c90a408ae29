"""Who gets an item: the qualification that a queue asks for, and the terms of practice, qualification and norming.

1. Items of these queues are settled from the start, so no judgment of them can settle anything.
2. In practice and qualification everybody judges every item once: whoever begins brings a slot of each along.
3. In norming each member has one slot of each item, made with the session; nobody else gets an item.
4. A claim asks nothing of this unless its queue is one of them, or asks for a qualification.
"""

from typing import Any

from django.db import transaction
from django.db.models import Max

from reviews.enums import NormingState, Purpose, SlotState
from reviews.errors import Conflict, Forbidden, NothingToDeal
from reviews.models import Assignment, NormingSession, Qualification, Queue, QueueItem, RaterCursor, Slot
from reviews.models.queue import PLACE_STEP
from reviews.queries.training import DECIDED, PASSING


def check_qualified(*, queue: Queue, rater: Any) -> None:
    """Raises NothingToDeal where the queue asks for a qualification that the rater has not passed."""
    if Qualification.objects.filter(queue=queue.requires_id, rater=rater, outcome__in=PASSING).exists():
        return
    wanted = Queue.every.get(required_by=queue)
    raise NothingToDeal(
        f"This queue begins with a qualification: {wanted.name}. Pass it once and you are dealt items here. "
        "If you think it should not apply to you, ask a lead.",
        qualification=wanted.uid,
    )


def admit(*, queue: Queue, rater: Any) -> None:
    """Let a rater into a queue that is not for work, with slots of their own. Raises NothingToDeal with the reason."""
    if queue.purpose == Purpose.NORMING:
        _check_member(queue, rater)
        return
    if queue.purpose == Purpose.QUALIFICATION:
        _check_undecided(queue, rater)
    if not RaterCursor.objects.filter(queue=queue, rater=rater).exists():
        _bring_slots(queue, rater)


def _check_member(queue: Queue, rater: Any) -> None:
    session = NormingSession.objects.get(queue=queue)
    if not session.members.filter(user=rater).exists():
        raise Forbidden("Only the members of this norming session judge its items.")
    if session.state != NormingState.VOTING:
        raise NothingToDeal("The votes of this session are revealed. On its page you see them and can vote again.")


def _check_undecided(queue: Queue, rater: Any) -> None:
    result = Qualification.objects.filter(queue=queue, rater=rater, outcome__in=DECIDED).first()
    if result is not None:
        raise NothingToDeal(
            "You have passed this qualification."
            if result.passed
            else "This qualification is over for you. A lead sees how it went and says what comes next."
        )


@transaction.atomic
def _bring_slots(queue: Queue, rater: Any) -> None:
    """One more slot of every item; as many are open of each as people have begun and not yet judged it."""
    Queue.every.select_for_update(no_key=True).get(pk=queue.pk)
    _cursor, first = RaterCursor.objects.get_or_create(queue=queue, rater=rater)
    if first:
        add_slots(queue, 1)


def add_slots(queue: Queue, count: int) -> None:
    """So many more open slots of every item, in the order of the items. The queue is locked by the caller."""
    rows = QueueItem.objects.filter(queue=queue).annotate(last=Max("slots__number")).order_by("pk")
    Slot.objects.bulk_create(
        Slot(
            queue=queue,
            item_id=row.item_id,
            queue_item=row,
            number=(row.last or 0) + number,
            place=place * PLACE_STEP,
            state=SlotState.OPEN,
        )
        for place, row in enumerate(rows, start=1)
        for number in range(1, count + 1)
    )


def check_may_submit(*, assignment: Assignment) -> None:
    """Raises Conflict where the votes of the session were revealed meanwhile, or the qualification is decided."""
    queue = assignment.queue
    if queue.purpose == Purpose.NORMING:
        session = NormingSession.objects.select_for_update().get(queue=queue)
        if session.state != NormingState.VOTING:
            raise Conflict(
                "The votes of this session were revealed before you sent yours. You can follow it on its page."
            )
    if queue.purpose == Purpose.QUALIFICATION:
        decided = Qualification.objects.filter(queue=queue, rater=assignment.rater_id, outcome__in=DECIDED)
        if decided.exists():
            raise Conflict("This qualification is decided for you already.")


def may_vote_again(*, assignment: Assignment) -> bool:
    """Whether another judgment may follow on one that is not for work: in an open norming session alone.

    Called in the transaction of a vote it holds the session, so that no vote falls between reveal or end and itself.
    """
    if assignment.queue.purpose != Purpose.NORMING:
        return False
    sessions = NormingSession.objects.all()
    if transaction.get_connection().in_atomic_block:
        sessions = sessions.select_for_update()
    return sessions.get(queue=assignment.queue_id).state != NormingState.CLOSED


def done_sentence(queue: Queue) -> str:
    """What somebody is told who has judged every item of a queue that is not for work."""
    return {
        Purpose.PRACTICE: "You have been through the whole practice set.",
        Purpose.QUALIFICATION: "You have judged every item of this qualification.",
        Purpose.NORMING: "You have voted on every item. Once everybody has, a lead reveals the votes.",
    }[Purpose(queue.purpose)]
