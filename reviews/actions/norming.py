"""Norming sessions: members vote blind, a lead reveals, all discuss, whoever wants votes again, a lead closes.

1. A vote is an ordinary judgment, and a second vote a new revision of it. The first round is what stood at the reveal.
2. Until then nobody sees another's vote; from then on only the session's members and the project's leads do.
3. Items are ones that no other queue collects judgments of, so that no talk here can bias one there.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.admitting import add_slots
from reviews.actions.events import record
from reviews.actions.training import name_errors, new_queue, settled_items
from reviews.enums import NORMING_MOVES, NormingState, Purpose, QueueState, Verb
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import (
    Judgment,
    Membership,
    NormingComment,
    NormingMember,
    NormingSession,
    Queue,
    QueueItem,
)
from reviews.queries.home import JUDGES
from reviews.queries.norming import fit_to_norm
from reviews.rules import can, check

MOST_ITEMS = 50
COMMENT_LENGTH = 1000
CHANGE_LENGTH = 10_000


@transaction.atomic
def open_session(
    *,
    actor: Any,
    queue: Queue,
    name: str,
    items: Sequence[Any],
    members: Sequence[int],
    names_shown: bool = False,
) -> NormingSession:
    """A session over `items` (uids of rows of `queue`) for these people. Raises Invalid with a sentence per field."""
    check(actor, "manage_queue", queue.project)
    errors = name_errors(name)
    rows = list(fit_to_norm(queue).filter(uid__in=items))
    if not 0 < len(items) <= MOST_ITEMS:
        errors["items"] = f"Choose 1 to {MOST_ITEMS} items."
    elif len(rows) < len(set(items)):
        errors["items"] = (
            "Every item must be one of this queue that no queue still collects judgments of, and in no practice set or "
            "qualification."
        )
    joined = Membership.objects.filter(project=queue.project, user__in=members, active=True, role__in=JUDGES)
    people = list(joined.values_list("user", flat=True))
    if len(people) < 2 or len(people) < len(set(members)):
        errors["members"] = "Choose two or more people who judge in this project."
    if errors:
        raise Invalid(errors)
    made = new_queue(actor=actor, like=queue, purpose=Purpose.NORMING, name=name, overlap=min(20, len(people)))
    settled_items(made, [row.item_id for row in rows])
    add_slots(made, len(people))
    session = NormingSession.objects.create(queue=made, names_shown=names_shown)
    NormingMember.objects.bulk_create(NormingMember(session=session, user_id=person) for person in people)
    record(
        project=queue.project_id,
        actor=actor,
        verb=Verb.NORMING_OPENED,
        target=made,
        items=len(rows),
        members=len(people),
    )
    return session


@transaction.atomic
def reveal(*, actor: Any, session: NormingSession) -> NormingSession:
    """Open the votes to everybody of the session. Who has not voted by now only follows."""
    locked = _moved(actor, session, NormingState.REVEALED)
    if Judgment.objects.filter(queue=locked.queue).values("rater").distinct().count() < 2:
        raise Conflict("Fewer than two members have voted, so there is nothing to lay side by side yet.")
    locked.revealed_at = timezone.now()
    locked.save(update_fields=["state", "revealed_at"])
    record(project=locked.queue.project_id, actor=actor, verb=Verb.NORMING_REVEALED, target=locked.queue)
    return locked


@transaction.atomic
def close(*, actor: Any, session: NormingSession, change: str = "") -> NormingSession:
    """End the session, with the change to the guideline that follows from it, if one does."""
    if len(change) > CHANGE_LENGTH or "\x00" in change:
        raise Invalid({"change": f"The change is plain text of at most {CHANGE_LENGTH:,} characters."})
    locked = _moved(actor, session, NormingState.CLOSED)
    locked.change, locked.closed_at = change.strip(), timezone.now()
    locked.save(update_fields=["state", "change", "closed_at"])
    Queue.every.filter(pk=locked.queue_id).update(state=QueueState.CLOSED)
    record(
        project=locked.queue.project_id,
        actor=actor,
        verb=Verb.NORMING_CLOSED,
        target=locked.queue,
        changes=bool(locked.change),
    )
    return locked


def _moved(actor: Any, session: NormingSession, state: NormingState) -> NormingSession:
    """The session, locked, with its next state; votes hold the same lock."""
    check(actor, "manage_queue", session.queue.project)
    locked = NormingSession.objects.select_for_update(of=("self",)).select_related("queue").get(pk=session.pk)
    if state not in NORMING_MOVES[NormingState(locked.state)]:
        raise Conflict(f"The session is {locked.get_state_display().lower()}; that is not what follows.")
    locked.state = state
    return locked


@transaction.atomic
def discuss(*, actor: Any, session: NormingSession, item: Any, text: str, criterion: str = "") -> NormingComment:
    """Say something about an item, or about one criterion of it, to everybody of the session."""
    check(actor, "judge", session.queue.project)
    if not session.members.filter(user=actor).exists() and not can(actor, "manage_queue", session.queue.project):
        raise Forbidden("Only the members of this norming session and leads talk in it.")
    locked = NormingSession.objects.select_for_update().get(pk=session.pk)
    if locked.state != NormingState.REVEALED:
        raise Conflict("The session is talked about between the reveal and its end.")
    row = QueueItem.objects.filter(queue=session.queue_id, uid=item).first()
    if row is None:
        raise NotFound("There is no such item in this session.")
    about = session.queue.rubric.criteria.filter(key=criterion).first() if criterion else None
    errors = {}
    if criterion and about is None:
        errors["criterion"] = "The rubric has no such criterion."
    if not 0 < len(text.strip()) <= COMMENT_LENGTH or "\x00" in text:
        errors["text"] = f"Say it in 1 to {COMMENT_LENGTH:,} characters."
    if errors:
        raise Invalid(errors)
    comment = NormingComment.objects.create(
        session=session, queue_item=row, criterion=about, author=actor, text=text.strip()
    )
    record(project=session.queue.project_id, actor=actor, verb=Verb.NORMING_DISCUSSED, target=session.queue)
    return comment
