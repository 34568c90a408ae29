"""Deals items to raters: claim, renew, release, skip, and the end of leases that ran out.

How a claim finds its slot (`open_slot_for`):
1. A rater who holds a lease in the queue gets that item again, so two tabs show one item.
2. Slots are walked in the order of (place, id), beginning behind the rater's cursor, so that a claim costs the same
   however much they have judged.
3. A slot is passed over when the rater has, or had, its item; one item is never given to a person twice. Only an item
   they gave back or let run out may come to them again, with its draft.
4. A slot that another claim is just taking is skipped, not waited for.
5. A slot that opens again gets a place in front of every cursor (`reopen`), so nobody misses it.
6. At the end of the walk, leases that ran out are ended and the walk begins once more from the start.
7. Where the queue says so, chance has a rater judge an item a second time in place of the slot that was found, as an
   ordinary assignment with a draft of its own: what they submitted `repeat_after` items ago or earlier, no lead has
   decided, what graders said of was not shown to them, and has not come again yet. Chance draws which and when; both
   ways cost the same statements.

The statements of a claim are written by hand: built by the ORM, each costs several times what the database needs for
it, and a claim is what a rater waits for. `make bench` holds a claim against the bare SQL of one.
"""

import random
import time
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Max, Q
from django.utils import timezone
from django.utils.module_loading import import_string

from reviews.actions.admitting import admit, check_qualified, done_sentence
from reviews.actions.domains import check_domain
from reviews.actions.events import record
from reviews.actions.marking import mark
from reviews.enums import (
    AssignmentState,
    Purpose,
    QueueItemState,
    QueueState,
    SettlingCause,
    SkipReason,
    SlotState,
    Verb,
    WaitsFor,
)
from reviews.errors import Conflict, Invalid, NotFound, NothingToDeal
from reviews.models import Assignment, Item, Project, Queue, QueueItem, RaterCursor, Rubric, Slot, Trajectory
from reviews.queries.statements import ModelStatement, first_row
from reviews.rules import check

NOTE_LENGTH = 2000
# How many open slots come before one that was given back.
SLOTS_IN_BETWEEN = 12
# Seconds that pass at most behind a claim: far more than ways of dealing differ by, far less than anybody notices.
DRAWN_SECONDS = 0.006


@cache
def dealer() -> Any:
    """The function that picks what a rater gets, named by the DEALER setting."""
    return import_string(settings.DEALER)


def claim(*, actor: Any, queue: Queue) -> Assignment:
    """The rater's next item in this queue, leased to them. Raises Forbidden, or NothingToDeal with the reason."""
    check(actor, "judge", queue.project)
    if queue.state != QueueState.OPEN:
        raise NothingToDeal(f"This queue is {queue.get_state_display().lower()}. A lead can open it again.")
    if queue.purpose != Purpose.WORK:
        admit(queue=queue, rater=actor)
    try:
        assignment = _held_or_next(queue, actor)
    except IntegrityError:
        # Another claim of this person, in another tab, came first and was not to be seen yet. Now it is.
        assignment = _held_or_next(queue, actor)
    if assignment is None:
        if queue.purpose != Purpose.WORK:
            raise NothingToDeal(done_sentence(queue))
        raise NothingToDeal("Nothing is waiting for you in this queue: every open item has gone to others or to you.")
    return assignment


def claim_in_drawn_time(*, actor: Any, queue: Queue) -> Assignment:
    """As `claim`, for whoever sees how long it takes: behind it a moment passes that is drawn.

    Ways of dealing differ by fractions of a millisecond. Nobody can time the same item twice, so what is drawn covers
    that.
    """
    assignment = claim(actor=actor, queue=queue)
    time.sleep(DICE.uniform(0, DRAWN_SECONDS))
    return assignment


@transaction.atomic
def _held_or_next(queue: Queue, rater: Any) -> Assignment | None:
    now = timezone.now()
    cursor, held, paused = _lock_cursor(queue, rater)
    if held:
        return _running_lease(held, queue, now)
    if paused:
        raise NothingToDeal(paused)
    if queue.domains:
        check_domain(queue=queue, rater=rater)
    if queue.requires_id:
        check_qualified(queue=queue, rater=rater)
    return dealer()(queue=queue, rater=rater, cursor=cursor, now=now)


# For the rest of the claim the planner may not sort: the index of the open slots has them in their order, but with
# statistics from before a large import it would rather fetch all of the queue's slots and sort them. A plan is made
# once and kept, perhaps from when the tables were small, so it may not read tables from end to end either.
CURSOR = """
    SELECT id, queue_id, rater_id, place, slot_id,
        (SELECT id FROM reviews_assignment
         WHERE queue_id = %(queue)s AND rater_id = %(rater)s AND state = 'leased'),
        (SELECT words FROM reviews_raterpause
         WHERE queue_id = %(queue)s AND rater_id = %(rater)s AND ended_at IS NULL),
        set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
        set_config('plan_cache_mode', 'force_generic_plan', true)
    FROM reviews_ratercursor WHERE queue_id = %(queue)s AND rater_id = %(rater)s FOR UPDATE
"""


def _lock_cursor(queue: Queue, rater: Any) -> tuple[RaterCursor, int | None, str | None]:
    """The rater's cursor, locked, so that two claims of one person follow each other; the lease they hold; and what
    they are told where they are paused."""
    row = first_row(CURSOR, queue=queue.pk, rater=rater.pk)
    if row is None:
        RaterCursor.objects.bulk_create([RaterCursor(queue=queue, rater=rater)], ignore_conflicts=True)
        return _lock_cursor(queue, rater)
    *columns, held, paused = row[:7]
    return RaterCursor(*columns), held, paused


def _running_lease(pk: int, queue: Queue, now: datetime) -> Assignment:
    """The item the rater holds already. One that ran out without being taken back goes on."""
    assignment = Assignment.objects.get(pk=pk)
    if assignment.expires_at < now:
        assignment.expires_at = lease_end(queue, now)
        assignment.save(update_fields=["expires_at"])
    return assignment


def lease_end(queue: Queue, now: datetime) -> datetime:
    return now + timedelta(minutes=queue.lease_minutes)


# The first open slot behind the cursor whose item this rater may get. The planner, whose statistics lag behind a large
# import, is left no choice: what the rater has of an item is a subquery, looked up slot by slot and never joined, and
# "+ 0" has it find the few assignments of the item rather than the many of the queue or the rater.
NEXT_SLOT = """
    SELECT slot.id FROM reviews_slot slot
    WHERE slot.queue_id = %(queue)s AND slot.state = 'open' AND (slot.place, slot.id) > (%(place)s, %(slot)s)
      AND coalesce(
        (SELECT earlier.state FROM reviews_assignment earlier
         WHERE earlier.item_id = slot.item_id
           AND earlier.queue_id + 0 = slot.queue_id AND earlier.rater_id + 0 = %(rater)s AND earlier.occasion = 1),
        'released'
      ) IN ('released', 'expired')
    ORDER BY slot.place, slot.id
    LIMIT 1
"""
TAKE = """
    UPDATE reviews_slot SET state = 'leased' WHERE id = %(slot)s AND state = 'open'
    RETURNING id, item_id, number, place
"""
# The slot of an item that may come again, among the latest that lie far enough back; at random, so that no order tells.
# `unless` is a query on `first`, the assignment on which the rater judged it; where it has a row, the item is left out.
AGAIN = """
    SELECT first.slot_id FROM (
        SELECT id, item_id, slot_id, state FROM reviews_assignment
        WHERE queue_id = %(queue)s AND rater_id = %(rater)s AND occasion = 1 AND state IN ('submitted', 'set_aside')
        ORDER BY ended_at DESC OFFSET %(after)s LIMIT 200) first
    WHERE first.state = 'submitted'
      AND NOT EXISTS (
        SELECT FROM reviews_assignment second WHERE second.item_id = first.item_id AND second.queue_id = %(queue)s
          AND second.rater_id = %(rater)s AND second.occasion = 2 AND second.state NOT IN ('released', 'expired'))
      AND NOT EXISTS (
        SELECT FROM reviews_adjudication decision JOIN reviews_queueitem item ON item.id = decision.queue_item_id
        WHERE item.queue_id = %(queue)s AND item.item_id = first.item_id)
      AND NOT EXISTS (SELECT FROM reviews_verdictsshown told WHERE told.assignment_id = first.id)
      AND NOT EXISTS ({unless})
    ORDER BY random() LIMIT 1
"""
NOTHING = "SELECT WHERE false"
SAME_SLOT = "SELECT id, item_id, number FROM reviews_slot WHERE id = %(slot)s"
DICE = random.SystemRandom()
MOVE_CURSOR = """
    , moved AS (
        UPDATE reviews_ratercursor cursor SET place = slot.place, slot_id = slot.id
        FROM slot WHERE cursor.id = %(cursor)s
    )
"""


def deal_next(
    *,
    queue: Queue,
    rater: Any,
    cursor: RaterCursor,
    now: datetime,
    also: str = "",
    values: dict[str, Any] | None = None,
    never_again: str = NOTHING,
) -> Assignment | None:
    """Lease the next open slot to the rater, or None when there is none for them. `also` and `values` as in `lease`.

    `never_again` is what `AGAIN` leaves out.
    """
    slot, again = _next_slot(queue, cursor, never_again)
    if slot is None:
        expire_leases(now=now, queue=queue)
        cursor.place = cursor.slot_id = 0
        slot, again = _next_slot(queue, cursor, never_again)
    if slot is None:
        return None
    asked: dict[str, Any] = {"also": also, "queue": queue, "rater": rater, "now": now}
    if again is not None and DICE.random() < queue.repeat_rate:
        return lease(slot=SAME_SLOT, occasion=2, values={"slot": again, **(values or {})}, **asked)
    asked["also"] = MOVE_CURSOR + also
    return lease(slot=TAKE, values={"slot": slot, "cursor": cursor.pk, **(values or {})}, **asked)


def _next_slot(queue: Queue, cursor: RaterCursor, never_again: str) -> tuple[int | None, int | None]:
    """The first open slot for this rater, locked, and that of an item which may come to them again, if any."""
    found, asked = f"{NEXT_SLOT} FOR UPDATE OF slot SKIP LOCKED", next_slot_values(cursor)
    if not queue.repeat_rate:
        row = first_row(found, **asked)
        return (row[0] if row else None), None
    again = AGAIN.format(unless=never_again)
    statement = f"WITH found AS MATERIALIZED ({found}) SELECT id, ({again}) FROM found"  # noqa: S608 (ours)
    return first_row(statement, after=queue.repeat_after, **asked) or (None, None)


def next_slot_values(cursor: RaterCursor) -> dict[str, int]:
    """What `NEXT_SLOT` asks for."""
    return {"queue": cursor.queue_id, "rater": cursor.rater_id, "place": cursor.place, "slot": cursor.slot_id}


ASSIGNMENT = [field.attname for field in Assignment._meta.concrete_fields]
# How this rater sees the item's candidates: in an order drawn per item, turned by one for each slot, so that over the
# raters of an item each candidate stands equally often in each place; on the second occasion turned by one more. None
# where one run is judged.
CANDIDATE_ORDER = """
    (SELECT array_agg(position ORDER BY (drawn + slot.number + %(occasion)s) %% count) FROM (
        SELECT position, count(*) OVER () AS count,
            row_number() OVER (ORDER BY md5(concat_ws('.', %(queue)s::bigint, item_id, position))) AS drawn
        FROM reviews_candidate WHERE item_id = slot.item_id) candidate)
"""
# An earlier assignment of the same item, given back or run out, comes to life again.
LEASE = f"""
    INSERT INTO reviews_assignment (uid, queue_id, item_id, slot_id, rater_id, state, leased_at, seen_at, expires_at,
        active_seconds, skip_reason, skip_note, occasion, candidate_order)
    SELECT gen_random_uuid(), %(queue)s, item_id, id, %(rater)s, 'leased', %(now)s, %(now)s, %(end)s, 0, '', '',
        %(occasion)s, {CANDIDATE_ORDER}
    FROM slot
    ON CONFLICT (queue_id, item_id, rater_id, occasion) DO UPDATE SET slot_id = excluded.slot_id, state = 'leased',
        leased_at = excluded.leased_at, seen_at = excluded.seen_at, expires_at = excluded.expires_at, ended_at = NULL
    RETURNING {", ".join(ASSIGNMENT)}
"""  # noqa: S608 (column names)


EVENT = """
    INSERT INTO reviews_event (project_id, actor_id, verb, target_type, target_id, data, at)
    SELECT %(project)s, rater_id, %(verb)s, 'assignment', id, '{}', %(now)s FROM lease
"""


def lease(
    *, slot: str, queue: Queue, rater: Any, now: datetime, values: dict[str, Any], also: str = "", occasion: int = 1
) -> Assignment | None:
    """An assignment on the slot that the statement `slot` returns as (id, item_id, number), or None if it returns none.

    Takes the slot, leases it and writes the Event in one go. `also` is what else happens with it, as further
    ", name AS (statement)" that may refer to `slot` and `lease`; `values` is for both.
    """
    statement = f"WITH slot AS ({slot}), lease AS ({LEASE}), event AS ({EVENT}){also} SELECT * FROM lease"  # noqa: S608
    row = first_row(
        statement,
        queue=queue.pk,
        rater=rater.pk,
        now=now,
        end=lease_end(queue, now),
        project=queue.project_id,
        verb=Verb.ASSIGNMENT_CLAIMED.value,
        occasion=occasion,
        **values,
    )
    if row is None:
        return None
    assignment = Assignment.from_db(connection.alias, ASSIGNMENT, row)
    assignment.queue, assignment.rater = queue, rater
    return assignment


OWN = ModelStatement(
    """
    SELECT {columns}
    FROM reviews_assignment assignment
    JOIN reviews_slot slot ON slot.id = assignment.slot_id
    JOIN reviews_queue queue ON queue.id = assignment.queue_id
    JOIN reviews_project project ON project.id = queue.project_id
    JOIN reviews_rubric rubric ON rubric.id = queue.rubric_id
    JOIN reviews_item item ON item.id = assignment.item_id
    LEFT JOIN reviews_trajectory trajectory ON trajectory.id = item.trajectory_id
    WHERE assignment.uid = %(uid)s AND assignment.rater_id = %(rater)s
    """,
    assignment=Assignment,
    slot=Slot,
    queue=Queue,
    project=Project,
    rubric=Rubric,
    item=Item,
    trajectory=Trajectory,
)


def own_assignment(*, actor: Any, uid: Any, lock: bool = False) -> Assignment:
    """The actor's assignment with this id, with queue, project and item. Anybody else's does not exist for them."""
    found = OWN.first("FOR UPDATE OF assignment" if lock else "", uid=UUID(str(uid)), rater=actor.pk)
    if found is None:
        raise NotFound("There is no such assignment, or it is not yours.")
    assignment: Assignment
    assignment, slot, queue, project, rubric, item, trajectory = found
    queue.project, queue.rubric, item.trajectory = project, rubric, trajectory
    assignment.slot, assignment.queue, assignment.item = slot, queue, item
    check(actor, "judge", project)
    return assignment


@transaction.atomic
def renew(*, actor: Any, uid: Any, worked: int | None = None) -> Assignment:
    """A sign of life: the lease runs on from now; `worked` as in `count_active_time`. Conflict when it has ended."""
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state != AssignmentState.LEASED:
        raise Conflict(ended_sentence(assignment))
    now = timezone.now()
    count_active_time(assignment, now, worked)
    assignment.expires_at = lease_end(assignment.queue, now)
    assignment.save(update_fields=["seen_at", "active_seconds", "expires_at"])
    return assignment


def count_active_time(assignment: Assignment, now: datetime, worked: int | None = None) -> None:
    """Add what was worked since the last sign of life, so that breaks do not count.

    `worked` is how many seconds the page saw its reader work since then. It is believed as far as our own clock allows:
    two pages of one person, or one that boasts, never count more than has passed, nor more than one lease. Who cannot
    say it is given the time since the last sign, up to the idle limit. Seconds are counted whole; what is left of one
    stays for the next sign. A second that was counted for another item of the rater is not counted again.
    """
    elapsed = max(0, int((now - _counted_until(assignment)).total_seconds()))
    most = settings.ACTIVE_IDLE_SECONDS if worked is None else min(worked, assignment.queue.lease_minutes * 60)
    if most <= 0:
        return
    assignment.active_seconds += min(elapsed, most)
    assignment.seen_at = now - (now - assignment.seen_at) % timedelta(seconds=1)


def _counted_until(assignment: Assignment) -> datetime:
    """Until when the rater's time is counted, on this item or on another that they have, or had since, in hand."""
    since = Q(ended_at__isnull=True) | Q(ended_at__gt=assignment.seen_at)
    others = Assignment.objects.filter(since, rater_id=assignment.rater_id).exclude(pk=assignment.pk)
    if not others.exists():
        return assignment.seen_at
    # Of two signs at once the second waits for what the first counts.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('active time'), %s)", [assignment.rater_id])
    # Being leased is no sign of work, also where an item that was worked on before is leased again.
    counted = others.filter(active_seconds__gt=0).exclude(seen_at=F("leased_at"))
    latest = counted.aggregate(latest=Max("seen_at"))["latest"]
    return max(assignment.seen_at, latest or assignment.seen_at)


def ended_sentence(assignment: Assignment) -> str:
    """Why a rater can no longer work on this assignment, in words."""
    return {
        AssignmentState.SUBMITTED: "You have submitted this item already.",
        AssignmentState.SKIPPED: "You have skipped this item. It went to somebody else.",
        AssignmentState.RELEASED: "You gave this item back. Take the next one, or wait for it to come again.",
        AssignmentState.SET_ASIDE: "You have submitted this item already.",
        AssignmentState.EXPIRED: "Your time on this item ran out and somebody else has it now. Your draft is kept.",
    }[AssignmentState(assignment.state)]


@transaction.atomic
def release(*, actor: Any, uid: Any) -> Assignment:
    """Give the item back without prejudice; the draft stays for the case that it comes again."""
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state == AssignmentState.RELEASED:
        return assignment
    _end(assignment, AssignmentState.RELEASED)
    record(project=assignment.queue.project, actor=actor, verb=Verb.ASSIGNMENT_RELEASED, target=assignment)
    return assignment


@transaction.atomic
def skip(*, actor: Any, uid: Any, reason: str, note: str = "") -> Assignment:
    """Pass the item on for good, with a reason. The worker brings it to a lead where that was the third skip."""
    errors = {}
    if reason not in SkipReason.values:
        errors["reason"] = f"Say why: one of {', '.join(SkipReason.values)}."
    if len(note) > NOTE_LENGTH or "\x00" in note:
        errors["note"] = f"The note is plain text of at most {NOTE_LENGTH} characters."
    if reason == SkipReason.OTHER and not note.strip():
        errors["note"] = "Say in a few words what the other reason is."
    if errors:
        raise Invalid(errors)
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state == AssignmentState.SKIPPED:
        return assignment
    if assignment.queue.purpose == Purpose.QUALIFICATION:
        raise Invalid({"reason": "In a qualification every item is judged. If you need a break, give it back."})
    assignment.skip_reason, assignment.skip_note = reason, note.strip()
    _end(assignment, AssignmentState.SKIPPED)
    record(
        project=assignment.queue.project, actor=actor, verb=Verb.ASSIGNMENT_SKIPPED, target=assignment, reason=reason
    )
    mark(assignment.slot.queue_item_id, SettlingCause.SKIPPED)
    return assignment


def _end(assignment: Assignment, state: AssignmentState) -> None:
    """End a lease without a judgment and open its slot again."""
    if assignment.state != AssignmentState.LEASED:
        raise Conflict(ended_sentence(assignment))
    now = timezone.now()
    count_active_time(assignment, now)
    assignment.state, assignment.ended_at = state, now
    assignment.save(
        update_fields=["state", "ended_at", "seen_at", "active_seconds", "skip_reason", "skip_note"],
    )
    reopen(assignment)


REOPEN = """
    UPDATE reviews_slot slot SET place = %(place)s,
        state = CASE WHEN item.state = 'collecting' OR queue.purpose <> 'work' THEN 'open' ELSE 'withdrawn' END
    FROM reviews_queueitem item JOIN reviews_queue queue ON queue.id = item.queue_id
    WHERE slot.id = %(slot)s AND slot.state = 'leased' AND item.id = slot.queue_item_id AND %(occasion)s = 1
    RETURNING slot.id
"""


def reopen(assignment: Assignment) -> None:
    """Open the assignment's slot again, in front of every rater's cursor. Of an item that is no longer collecting it is
    withdrawn, but not where people learn: there no item ever collects. A second occasion has none of its own.

    The same statements whatever the item, since a rater waits for them.
    """
    place = place_in_front(assignment.queue_id)
    first_row(REOPEN, slot=assignment.slot_id, place=place, occasion=assignment.occasion)


def place_in_front(queue_id: int) -> int:
    """A place that every rater will still come by: a few slots in front of the furthest cursor.

    Not right at the cursor, or whoever gives an item back would get it again at once.
    """
    furthest = RaterCursor.objects.filter(queue=queue_id).aggregate(place=Max("place"))["place"] or 0
    ahead = Slot.objects.filter(queue=queue_id, state=SlotState.OPEN, place__gt=furthest).order_by("place")
    places = list(ahead.values_list("place", flat=True)[:SLOTS_IN_BETWEEN])
    return (places[-1] if places else furthest) + 1


def send_to_lead(*, queue_item: QueueItem, why: WaitsFor) -> bool:
    """Let a lead decide, and ask no further raters. Nothing happens to an item that is not collecting."""
    moved = QueueItem.objects.filter(pk=queue_item.pk, state=QueueItemState.COLLECTING).update(
        state=QueueItemState.WAITING, waits_for=why, waiting_since=timezone.now()
    )
    if moved:
        Slot.objects.filter(queue_item=queue_item, state=SlotState.OPEN).update(state=SlotState.WITHDRAWN)
        record(project=queue_item.queue.project_id, actor=None, verb=Verb.ITEM_WAITING, target=queue_item, why=why)
    return bool(moved)


@transaction.atomic
def expire_leases(*, now: datetime, queue: Queue | None = None, limit: int = 500) -> int:
    """End leases that ran out, `limit` at most, and open their slots again. Returns how many."""
    overdue = Assignment.objects.filter(state=AssignmentState.LEASED, expires_at__lt=now).select_related(
        "slot", "queue"
    )
    if queue:
        overdue = overdue.filter(queue=queue)
    overdue = overdue.order_by("expires_at").select_for_update(skip_locked=True, of=("self",))
    count = 0
    for assignment in overdue[:limit]:
        assignment.state, assignment.ended_at = AssignmentState.EXPIRED, now
        assignment.save(update_fields=["state", "ended_at"])
        reopen(assignment)
        record(project=assignment.queue.project_id, actor=None, verb=Verb.ASSIGNMENT_EXPIRED, target=assignment)
        count += 1
    return count
