"""Mixes gold into what raters are dealt, so that nobody can tell it from the rest. `deal` is what DEALER names.

1. The gap between two gold items is drawn anew each time, uniformly around the mean that the rate asks for.
2. The very first item is never gold. From the second on the draw is as if the rater had joined in the middle of a
   stretch, so that the chance of gold is the same at every place.
3. A gold item is dealt at most once to each rater, never an item they have judged, and the least used goes first.
   Nor one that they met in practice, a qualification or a norming session, where it was explained or talked about,
   nor one of which they, as a lead, said what it expects.
4. A gold assignment is an ordinary one, on a slot of its own beside the item's slots; `GoldPlacement` alone knows.
5. Where no plain item is left, no gold is dealt either: a rater would learn from it that the queue is empty.
"""

import random
from datetime import datetime
from typing import Any

from goldsets.enums import GoldVerb
from goldsets.models import GoldSchedule
from reviews.actions.dealing import NEXT_SLOT, deal_next, lease, next_slot_values
from reviews.actions.events import record
from reviews.models import Assignment, Queue, RaterCursor
from reviews.queries.statements import first_row

DICE = random.SystemRandom()


SCHEDULE = """
    SELECT policy.rate, schedule.id, schedule.plain_left, schedule.used_up_at
    FROM goldsets_goldpolicy policy
    LEFT JOIN goldsets_goldschedule schedule ON schedule.queue_id = policy.queue_id AND schedule.rater_id = %(rater)s
    WHERE policy.queue_id = %(queue)s
"""
# What a rater is measured by does not come to them again: they may have been told what it expects.
PLACED = "SELECT FROM goldsets_goldplacement placed WHERE placed.assignment_id = first.id"
PLAN = """
    , planned AS (
        UPDATE goldsets_goldschedule SET plain_left = %(plain_left)s, used_up_at = %(used_up_at)s
        WHERE id = %(schedule)s
    )
"""


def deal(*, queue: Queue, rater: Any, cursor: RaterCursor, now: datetime) -> Assignment | None:
    """The rater's next assignment, plain or gold, or None when nothing is left for them.

    Runs inside the claim's transaction, which holds the rater's cursor, so one rater's deals follow each other. Plain
    and gold send the same number of statements, so that the time an answer takes tells nothing either.
    """
    rate, schedule, plain_left, used_up_at = first_row(SCHEDULE, queue=queue.pk, rater=rater.pk) or (0, None, 0, None)
    if not rate:
        return deal_next(queue=queue, rater=rater, cursor=cursor, now=now, never_again=PLACED)
    if schedule is None:
        plain_left = draw_first_gap(float(rate))
        schedule = GoldSchedule.objects.create(queue=queue, rater=rater, plain_left=plain_left).pk
    if plain_left == 0:
        plan = {"schedule": schedule, "plain_left": draw_gap(float(rate)), "used_up_at": None}
        assignment = _deal_gold(queue, rater, cursor, now, plan)
        if assignment:
            return assignment
    has_met_all = plain_left == 0
    plan = {
        "schedule": schedule,
        "plain_left": max(0, plain_left - 1),
        "used_up_at": (used_up_at or now) if has_met_all else used_up_at,
    }
    assignment = deal_next(queue=queue, rater=rater, cursor=cursor, now=now, also=PLAN, values=plan, never_again=PLACED)
    if assignment and has_met_all and used_up_at is None:
        record(project=queue.project_id, actor=rater, verb=GoldVerb.GOLD_USED_UP, target=queue)
    return assignment


def draw_gap(rate: float) -> int:
    """How many plain items come before the next gold: uniform on [m/2, 3m/2] with mean m = (1 - rate) / rate."""
    mean = (1 - rate) / rate
    return _round_by_chance(DICE.uniform(mean / 2, 3 * mean / 2))


def draw_first_gap(rate: float) -> int:
    """How many plain items come before a rater's first gold: at least one.

    Behind the first item they join at a random item of a stretch, which is met with a chance in proportion to its
    length. So the chance that an item is gold is `rate` at every place; drawn like any other gap it would be high at
    some places and low at others.
    """
    longest = 3 * (1 - rate) / rate / 2 + 2
    while True:
        stretch = draw_gap(rate) + 1
        if DICE.random() < stretch / longest:
            return 1 + DICE.randrange(stretch)


def _round_by_chance(number: float) -> int:
    """Round down or up with the chance that keeps the mean."""
    whole = int(number)
    return whole + (DICE.random() < number - whole)


# What the rater has of the item of `drawn` in this queue, whether they met it where people learn, and whether they said
# what it expects.
EARLIER = """
    FROM reviews_queueitem item JOIN reviews_assignment earlier
        ON earlier.item_id = item.item_id AND earlier.queue_id + 0 = item.queue_id
        AND earlier.rater_id + 0 = %(rater)s AND earlier.occasion = 1
    WHERE item.id = drawn.queue_item_id
"""
LEARNED = """
    SELECT true FROM reviews_queueitem item
    JOIN reviews_assignment learned ON learned.item_id = item.item_id AND learned.rater_id + 0 = %(rater)s
    JOIN reviews_queue apart ON apart.id = learned.queue_id AND apart.purpose <> 'work'
    WHERE item.id = drawn.queue_item_id LIMIT 1
"""
SAID = """
    SELECT true FROM goldsets_goldkey known
    WHERE known.gold_item_id = drawn.id AND %(rater)s IN (known.proposed_by_id, known.decided_by_id) LIMIT 1
"""
DECIDED = """
    SELECT true FROM reviews_adjudication decision
    WHERE decision.queue_item_id = drawn.queue_item_id AND decision.lead_id + 0 = %(rater)s LIMIT 1
"""
# Gold that was placed with the rater; how it ended goes behind.
MET = """
    SELECT met.gold_item_id FROM goldsets_goldplacement met WHERE met.rater_id = %(rater)s
    AND (SELECT placed.state FROM reviews_assignment placed WHERE placed.id = met.assignment_id)
"""
# The gold for this rater, while an open slot is left for them: one they gave back or let run out, else the least used
# that was never before them, by chance where several were used as little. Gold that they have judged is left out at
# once, by a list that is made once; gone through one by one, or joined, it made gold slower than plain, the more the
# more they had met. What else they had of an item is looked up gold by gold until one will do, and never joined: the
# planner would go through all that they ever judged for each.
PICK = f"""
    SELECT gold.id, gold.queue_item_id, chosen.returned, chosen.slot
    FROM (
        SELECT drawn.id, drawn.returned, (SELECT earlier.slot_id {EARLIER}) AS slot
        FROM (
            SELECT gold.id, gold.queue_item_id, gold.id = ANY (ARRAY({MET} IN ('released', 'expired'))) AS returned
            FROM goldsets_golditem gold
            WHERE gold.queue_id = %(queue)s AND gold.state = 'active' AND gold.added_by_id <> %(rater)s
              AND gold.id <> ALL (ARRAY({MET} NOT IN ('released', 'expired')))
            ORDER BY returned DESC, gold.times_used, random()
            OFFSET 0
        ) drawn
        WHERE coalesce((SELECT drawn.returned AND earlier.state IN ('released', 'expired') {EARLIER}), true)
          AND ({LEARNED}) IS NULL AND ({SAID}) IS NULL AND ({DECIDED}) IS NULL
          AND ({NEXT_SLOT}) IS NOT NULL
        LIMIT 1
    ) chosen JOIN goldsets_golditem gold ON gold.id = chosen.id
    WHERE gold.state = 'active'
    FOR UPDATE OF gold
"""  # noqa: S608 (statements of ours)
NEW_SLOT = """
    INSERT INTO reviews_slot (queue_id, item_id, queue_item_id, number, place, state)
    SELECT item.queue_id, item.item_id, item.id,
        (SELECT coalesce(max(number), 0) + 1 FROM reviews_slot WHERE queue_item_id = item.id), 0, 'leased'
    FROM reviews_queueitem item WHERE item.id = %(queue_item)s
    RETURNING id, item_id, number
"""
NOTE_PLACEMENT = """
    , placement AS (
        INSERT INTO goldsets_goldplacement (assignment_id, gold_item_id, rater_id)
        SELECT id, %(gold)s, rater_id FROM lease
    ), used AS (UPDATE goldsets_golditem SET times_used = times_used + 1 WHERE id = %(gold)s)
"""
SAME_SLOT = (
    "UPDATE reviews_slot SET state = 'leased' WHERE id = %(slot)s AND state = 'withdrawn' RETURNING id, item_id, number"
)


def _deal_gold(queue: Queue, rater: Any, cursor: RaterCursor, now: datetime, plan: dict[str, Any]) -> Assignment | None:
    """A gold item as an ordinary assignment, or None where there is none for this rater or no open slot either."""
    picked = first_row(PICK, **next_slot_values(cursor))
    if picked is None:
        return None
    gold, queue_item, returned, slot = picked
    if returned:
        return lease(slot=SAME_SLOT, also=PLAN, queue=queue, rater=rater, now=now, values={"slot": slot, **plan})
    values = {"gold": gold, "queue_item": queue_item, **plan}
    return lease(slot=NEW_SLOT, also=NOTE_PLACEMENT + PLAN, queue=queue, rater=rater, now=now, values=values)
