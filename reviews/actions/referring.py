"""Passing an item on, back to its raters, to a second lead, out of the way or into another queue; or putting it first.

1. Only an item that waits is passed on, and only once at a time; whoever passed it on can take it back, as any lead.
2. Its raters answer in words or by a correction, which they may then make after the day has passed. Once all of them
   have, it waits for a lead again, or settles if they now agree.
3. A second lead decides it alone: whoever asked does not.
4. What is set apart waits for nobody until it is put back.
5. What is split out is judged anew in another queue: one there is, or one that is opened for it with the settings of
   this one and nothing else that was set up for it. Here it is set apart for good, with what was said of it, and
   counts neither as waiting nor as open; its label there is no label of this queue, whose rubric and people may be
   others. Taken back it waits here again, and stays there too.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.events import record
from reviews.actions.labelling import look_again
from reviews.actions.payloads import storable
from reviews.actions.queueing import add_items, create_queue_like
from reviews.actions.settling import settle
from reviews.enums import QueueItemState, ReferralKind, Verb, WaitsFor
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Assignment, Judgment, Queue, QueueItem, Referral, ReferralAnswer
from reviews.queries.referrals import asked_raters, open_referral, other_leads
from reviews.rules import check, check_not_own

TEXT_LENGTH = 2000
NAME_LENGTH = 120


@transaction.atomic
def refer(*, actor: Any, queue_item: QueueItem, kind: str, text: str, queue: str = "") -> Referral:
    """Pass an item on; what is split out goes into the `queue` of that name.

    Raises Forbidden, Invalid, or Conflict where it does not wait or is passed on already.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    settle(queue_item_id=queue_item.pk)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__project", "queue__rubric", "queue__guideline", "queue__requires", "item")
        .get(pk=queue_item.pk)
    )
    check_not_own(actor, queue_item)
    errors = {} if kind in ReferralKind.values else {"kind": f"Pass it on to one of {', '.join(ReferralKind.values)}."}
    words = text.strip().replace("\r\n", "\n") if isinstance(text, str) else ""
    if not 0 < len(words) <= TEXT_LENGTH or not storable(words):
        errors["text"] = f"Write the question or the reason, in 1 to {TEXT_LENGTH:,} characters."
    name = queue.strip() if isinstance(queue, str) and storable(queue) else ""
    if kind == ReferralKind.OWN_QUEUE and not 0 < len(name) <= NAME_LENGTH:
        errors["queue"] = f"Name the queue that it goes into, in 1 to {NAME_LENGTH} characters."
    if errors:
        raise Invalid(errors)
    if queue_item.state != QueueItemState.WAITING or open_referral(queue_item):
        raise Conflict("This item does not wait for a lead just now.")
    if kind == ReferralKind.RATERS and not asked_raters(queue_item):
        raise Conflict("Nobody has judged this item, so there is nobody to ask.")
    if kind == ReferralKind.SECOND_LEAD and not other_leads(queue_item, actor):
        raise Conflict("No other lead of this project can decide it.")
    into = _split_out(actor, queue_item, name) if kind == ReferralKind.OWN_QUEUE else None
    referral = Referral.objects.create(
        queue_item=queue_item, lead=actor, kind=kind, text=words, before=queue_item.waits_for, queue=into
    )
    QueueItem.objects.filter(pk=queue_item.pk).update(waits_for=kind)
    record(project=queue_item.queue.project_id, actor=actor, verb=Verb.ITEM_REFERRED, target=queue_item, kind=kind)
    return referral


def _split_out(actor: Any, queue_item: QueueItem, name: str) -> Queue:
    """Put the item into the project's queue of this name, which is opened where there is none."""
    here = queue_item.queue
    into = Queue.objects.filter(project=here.project_id, name=name).order_by("pk").first()
    if into is None:
        into = create_queue_like(actor=actor, queue=here, name=name)
    if not add_items(actor=actor, queue=into, items=[queue_item.item]):
        raise Conflict(f"“{name}” has this item already, or its rubric is not for it.", field="queue")
    return into


@transaction.atomic
def take_back(*, actor: Any, queue_item: QueueItem) -> QueueItem:
    """Let an item that was passed on wait as before. Raises Forbidden, or Conflict where it was not."""
    check(actor, "adjudicate", queue_item.queue.project)
    queue_item = QueueItem.objects.select_for_update(of=("self",)).select_related("queue").get(pk=queue_item.pk)
    referral = open_referral(queue_item)
    if referral is None:
        raise Conflict("This item is not passed on just now.")
    _close(referral, queue_item, waits_for=referral.before)
    record(project=queue_item.queue.project_id, actor=actor, verb=Verb.ITEM_TAKEN_BACK, target=queue_item)
    queue_item.refresh_from_db()
    return queue_item


@transaction.atomic
def put_first(*, actor: Any, queue_item: QueueItem, first: bool) -> None:
    """Say whether this item is decided before others, should it wait for a lead: more hangs on it than on them."""
    check(actor, "manage_queue", queue_item.queue.project)
    mark_first(actor=actor, queue_item=queue_item, first=first)


def mark_first(*, actor: Any, queue_item: QueueItem, first: bool, **why: Any) -> None:
    """The same where it follows from another deed that the person may do. Call it in the transaction of that."""
    if QueueItem.objects.filter(pk=queue_item.pk).exclude(decide_first=first).update(decide_first=first):
        project = queue_item.queue.project_id
        record(project=project, actor=actor, verb=Verb.ITEM_PUT_FIRST, target=queue_item, first=first, **why)


@transaction.atomic
def answer_referral(*, actor: Any, uid: Any, text: str) -> ReferralAnswer:
    """Say as a rater why one's judgment stands. Raises NotFound, Invalid, or Conflict once it is answered or over."""
    referral = Referral.objects.select_related("queue_item__queue").filter(uid=uid, kind=ReferralKind.RATERS).first()
    if referral is None or actor.pk not in asked_raters(referral.queue_item):
        raise NotFound("There is no such question for you.")
    words = text.strip().replace("\r\n", "\n") if isinstance(text, str) else ""
    if not 0 < len(words) <= TEXT_LENGTH or not storable(words):
        raise Invalid({"text": f"Write your answer, in 1 to {TEXT_LENGTH:,} characters."})
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",)).select_related("queue").get(pk=referral.queue_item_id)
    )
    referral.refresh_from_db()
    earlier = referral.answers.filter(rater=actor).first()
    if earlier and earlier.text == words:
        return earlier
    if earlier or referral.closed_at:
        raise Conflict("This question is answered or taken back.")
    answer = _answered(referral, queue_item, actor, text=words)
    look_again(queue_item_id=queue_item.pk, since=timezone.now())
    return answer


def correction_answers(assignment: Assignment, judgment: Judgment) -> None:
    """Let a correction answer the question that was asked of its item. Call it in the correction's transaction.

    Where nothing was asked the item is not locked: a rater waits for nobody who is settling it.
    """
    asked = Referral.objects.filter(
        queue_item=assignment.slot.queue_item_id, kind=ReferralKind.RATERS, closed_at=None
    ).first()
    if asked is None:
        return
    queue_item = QueueItem.objects.select_for_update(of=("self",)).select_related("queue").get(pk=asked.queue_item_id)
    referral = open_referral(queue_item)
    if referral is None or referral.pk != asked.pk:
        return
    if not referral.answers.filter(rater=judgment.rater_id).exists():
        _answered(referral, queue_item, judgment.rater, revision=judgment.revision)


def close_referral(queue_item: QueueItem) -> None:
    """A decision ends whatever was asked."""
    Referral.objects.filter(queue_item=queue_item, closed_at=None).update(closed_at=timezone.now())


def _answered(referral: Referral, queue_item: QueueItem, rater: Any, **said: Any) -> ReferralAnswer:
    answer = ReferralAnswer.objects.create(referral=referral, rater=rater, **said)
    record(project=queue_item.queue.project_id, actor=rater, verb=Verb.REFERRAL_ANSWERED, target=referral)
    answered = set(referral.answers.values_list("rater", flat=True))
    if asked_raters(queue_item) <= answered:
        _close(referral, queue_item, waits_for=WaitsFor.DISAGREEMENT)
    return answer


def _close(referral: Referral, queue_item: QueueItem, *, waits_for: str) -> None:
    Referral.objects.filter(pk=referral.pk).update(closed_at=timezone.now())
    QueueItem.objects.filter(pk=queue_item.pk, state=QueueItemState.WAITING).update(waits_for=waits_for)
