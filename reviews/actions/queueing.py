"""Queues: create and change them, and put items in."""

import random
from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Max, Min
from django.utils.text import slugify

from reviews.actions.domains import read_domains
from reviews.actions.events import record
from reviews.actions.own_criteria import clashing
from reviews.actions.qualifying import require_qualification
from reviews.enums import QUEUE_MOVES, QueueOrder, QueueState, SettleRule, SlotState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import ArrivalRule, Guideline, Item, Project, Queue, QueueItem, RaterCursor, Rubric, Slot
from reviews.models.queue import PLACE_STEP
from reviews.rules import check

BATCH = 2000
# A shuffled queue draws each item's place from so many, whenever the item comes in.
SHUFFLED_PLACES = 2**53
SHUFFLE = random.SystemRandom()
# Items with a priority stand so far apart, if there is room, for others of a higher priority to come between them.
PRIORITY_STEP = 1000
# What is judged twice costs time that new items do not get.
MOST_REPEATED = 0.3


@transaction.atomic
def create_queue(
    *,
    actor: Any,
    project: Project,
    name: str,
    rubric: Rubric,
    guideline: Guideline,
    slug: str = "",
    overlap: int = 2,
    lease_minutes: int = 30,
    order: str = QueueOrder.SHUFFLED,
    settle_rule: str = SettleRule.UNANIMOUS,
    shows_prelabel: bool = False,
    lead_answers_first: bool = False,
    overlap_cap: int | None = None,
    sure_from: float | None = None,
    repeat_rate: float | None = None,
    repeat_after: int | None = None,
    domains: Any = (),
) -> Queue:
    """A new, open queue. Whether raters see what graders said stays as it is, so that no judgment is in doubt.

    Raises Forbidden, Invalid with a sentence per field, or Conflict for a slug in use."""
    check(actor, "manage_queue", project)
    cap = overlap_cap or 0
    errors = _errors_of(name=name, overlap=overlap, lease_minutes=lease_minutes, order=order, settle_rule=settle_rule)
    errors |= _errors_of_cap(cap, overlap) if "overlap" not in errors else {}
    errors |= _errors_of_sureness(sure_from or 0, cap)
    repeats = {"repeat_rate": repeat_rate, "repeat_after": repeat_after}
    repeats = {field: value for field, value in repeats.items() if value is not None}
    errors |= _errors_of(**repeats)
    if rubric.project_id != project.pk:
        errors["rubric"] = "The rubric belongs to another project."
    if guideline.project_id != project.pk:
        errors["guideline"] = "The guideline belongs to another project."
    slug = slugify(slug or name)[:60]
    if not slug:
        errors["slug"] = "The address needs at least one letter or digit."
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            queue = Queue.objects.create(
                project=project,
                name=name.strip(),
                slug=slug,
                rubric=rubric,
                guideline=guideline,
                overlap=overlap,
                lease_minutes=lease_minutes,
                order=order,
                settle_rule=settle_rule,
                shows_prelabel=bool(shows_prelabel),
                lead_answers_first=bool(lead_answers_first),
                overlap_cap=cap,
                sure_from=sure_from or 0,
                **repeats,
                domains=read_domains(domains),
                created_by=actor,
            )
    except IntegrityError:
        raise Conflict(f"This project has a queue with the address “{slug}” already.", field="slug") from None
    facts = {"overlap": overlap, "rubric": str(rubric)} | ({"shows_prelabel": True} if shows_prelabel else {})
    record(project=project, actor=actor, verb=Verb.QUEUE_CREATED, target=queue, **facts)
    return queue


# What a queue is told when it is opened, besides its rubric and guideline.
SETTINGS = (
    "overlap",
    "lease_minutes",
    "order",
    "settle_rule",
    "shows_prelabel",
    "lead_answers_first",
    "overlap_cap",
    "sure_from",
    "repeat_rate",
    "repeat_after",
    "domains",
)


@transaction.atomic
def create_queue_like(
    *,
    actor: Any,
    queue: Queue,
    name: str,
    rubric: Rubric | None = None,
    guideline: Guideline | None = None,
    least_overlap: int = 1,
) -> Queue:
    """A new, open queue that is set up as this one is and asks for the same qualification.

    Where fewer are asked than `least_overlap`, so many are. Raises what `create_queue` raises.
    """
    settings = {field: getattr(queue, field) for field in SETTINGS}
    if queue.overlap < least_overlap:
        settings["overlap"] = least_overlap
        if queue.overlap_cap <= least_overlap:
            settings |= {"overlap_cap": 0, "sure_from": 0}
    made = create_queue(
        actor=actor,
        project=queue.project,
        name=name,
        rubric=rubric or queue.rubric,
        guideline=guideline or queue.guideline,
        **settings,
    )
    return require_qualification(actor=actor, queue=made, qualification=queue.requires)


@transaction.atomic
def change_queue(
    *,
    actor: Any,
    queue: Queue,
    name: str | None = None,
    lease_minutes: int | None = None,
    settle_rule: str | None = None,
    overlap_cap: int | None = None,
    sure_from: float | None = None,
    repeat_rate: float | None = None,
    repeat_after: int | None = None,
    domains: Any = None,
    lead_answers_first: bool | None = None,
    state: str | None = None,
) -> Queue:
    """Change what may change while people judge. For another overlap, order, rubric or guideline open a new queue."""
    check(actor, "manage_queue", queue.project)
    queue = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    asked = {
        "name": name,
        "lease_minutes": lease_minutes,
        "settle_rule": settle_rule,
        "overlap_cap": overlap_cap,
        "sure_from": sure_from,
        "repeat_rate": repeat_rate,
        "repeat_after": repeat_after,
        "domains": None if domains is None else read_domains(domains),
        "lead_answers_first": lead_answers_first,
        "state": state,
    }
    changes = {field: value for field, value in asked.items() if value is not None and value != getattr(queue, field)}
    cap = changes.get("overlap_cap", queue.overlap_cap)
    apart = {"state", "overlap_cap", "sure_from", "domains", "lead_answers_first"}
    errors = _errors_of(**{field: value for field, value in changes.items() if field not in apart})
    errors |= _errors_of_cap(cap, queue.overlap)
    errors |= _errors_of_sureness(changes.get("sure_from", queue.sure_from), cap)
    if state is not None and state not in QueueState.values:
        errors["state"] = f"The state must be one of {', '.join(QueueState.values)}."
    elif "state" in changes and state not in QUEUE_MOVES[QueueState(queue.state)]:
        errors["state"] = f"A queue cannot go from {queue.state} to {state}."
    if errors:
        raise Invalid(errors)
    for field, value in changes.items():
        setattr(queue, field, value)
    if changes:
        queue.save(update_fields=list(changes))
        record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_CHANGED, target=queue, **changes)
    return queue


def _errors_of_cap(cap: Any, overlap: int) -> dict[str, str]:
    """What is wrong with up to how many people are asked where raters differ."""
    whole = isinstance(cap, int) and not isinstance(cap, bool)
    if whole and (cap == 0 or overlap < cap <= 20):
        return {}
    return {"overlap_cap": f"Ask up to {overlap + 1} to 20 people where raters differ, or 0 for nobody more."}


def _errors_of_sureness(sure_from: Any, cap: Any) -> dict[str, str]:
    """What is wrong with how probable an agreed answer must be."""
    if isinstance(sure_from, bool) or not isinstance(sure_from, int | float):
        return {"sure_from": "Give a probability, such as 0.9, or 0 for none."}
    if sure_from and not 0.5 <= sure_from <= 0.999:
        return {"sure_from": "Give a probability from 0.5 to 0.999, or 0 for none."}
    if sure_from and not cap:
        return {"sure_from": "Say up to how many people are asked, or no more can be."}
    return {}


def _errors_of(**fields: Any) -> dict[str, str]:
    """What is wrong with the settings of a queue, each under its name."""

    def whole(value: Any, low: int, high: int) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    def share(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_REPEATED

    tests = {
        "name": (lambda v: isinstance(v, str) and 0 < len(v.strip()) <= 120, "Give a name of 1 to 120 characters."),
        "overlap": (lambda v: whole(v, 1, 20), "The overlap is a whole number from 1 to 20."),
        "lease_minutes": (lambda v: whole(v, 1, 1440), "A lease lasts from 1 to 1440 minutes."),
        "order": (lambda v: v in QueueOrder.values, f"The order must be one of {', '.join(QueueOrder.values)}."),
        "settle_rule": (
            lambda v: v in SettleRule.values,
            f"The rule must be one of {', '.join(SettleRule.values)}.",
        ),
        "repeat_rate": (share, f"The share of items judged twice is a number from 0 to {MOST_REPEATED}."),
        "repeat_after": (lambda v: whole(v, 1, 1000), "At least 1 to 1000 items lie in between."),
    }
    return {field: tests[field][1] for field, value in fields.items() if not tests[field][0](value)}


@transaction.atomic
def add_items(*, actor: Any, queue: Queue, items: Iterable[Item], rule: ArrivalRule | None = None) -> int:
    """Put items into the queue, each with as many slots as the overlap asks for; those already in it stay as they are.

    Returns how many were put in. Passed over are items of another kind than the rubric's, and those that bring a
    criterion along under a key that the rubric has: what is said under it would be said of two. The slots of one item
    stand together, so that items are finished one after another.
    `rule` is what brought them, if it was a rule on arrival; its priority decides how early they are dealt.
    """
    check(actor, "import", queue.project)
    # Claims refer to the queue, and go on all the same.
    queue = Queue.objects.select_for_update(of=("self",), no_key=True).select_related("rubric").get(pk=queue.pk)
    if queue.state == QueueState.CLOSED:
        raise Conflict("This queue is closed. Open it again to put items in.")
    kind = queue.rubric.item_kind
    new = [item for item in items if item.project_id == queue.project_id and item.kind == kind]
    there = set(QueueItem.objects.filter(queue=queue, item__in=new).values_list("item_id", flat=True))
    keys = list(queue.rubric.criteria.values_list("key", flat=True))
    there |= clashing(new, keys)
    new = [item for item in new if item.pk not in there]
    priority = rule.priority if rule else None
    rows = QueueItem.objects.bulk_create(
        (QueueItem(queue=queue, item=item, rule=rule, priority=priority) for item in new), batch_size=BATCH
    )
    slots, last_place = [], queue.last_place
    early = _places_in_front(queue, priority, len(rows)) if priority and rows else []
    for number, row in enumerate(rows):
        if early:
            place = early[number]
        elif queue.order == QueueOrder.ARRIVAL:
            place = last_place = last_place + PLACE_STEP
        else:
            place = SHUFFLE.randrange(SHUFFLED_PLACES)
        slots += [
            Slot(queue=queue, item_id=row.item_id, queue_item=row, number=number, place=place)
            for number in range(1, queue.overlap + 1)
        ]
    Slot.objects.bulk_create(slots, batch_size=BATCH)
    last_place = max([last_place, *early]) if queue.order == QueueOrder.ARRIVAL else last_place
    Queue.objects.filter(pk=queue.pk).update(last_place=last_place)
    if rows:
        by = {"rule": rule.name} if rule else {}
        record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_FILLED, target=queue, items=len(rows), **by)
    return len(rows)


# The slots of an item stay together. What a rule on arrival put in front stays there.
DRAW_PLACES = """
    WITH drawn AS MATERIALIZED (
        SELECT item.id, floor(random() * %(places)s)::bigint AS place
        FROM reviews_queueitem item WHERE item.id = ANY(%(items)s) AND coalesce(item.priority, 0) = 0
    ), waiting AS (
        SELECT slot.id, drawn.place FROM reviews_slot slot JOIN drawn ON drawn.id = slot.queue_item_id
        WHERE slot.state = 'open' ORDER BY slot.id FOR UPDATE OF slot
    )
    UPDATE reviews_slot slot SET place = waiting.place FROM waiting WHERE slot.id = waiting.id
"""


def shuffle(*, actor: Any, queue: Queue) -> Queue:
    """From now on items come in an order that is drawn: those that wait, and those that are put in later.

    Claims go on meanwhile: they pass over what is just being drawn, so that is a part of the queue at a time, in a
    transaction of its own, and what they would come to first is drawn last. Once this returns all is drawn; where it
    breaks off, the queue is still one in order of arrival, and another call draws all again.
    """
    check(actor, "manage_queue", queue.project)
    now = Queue.objects.get(pk=queue.pk)
    if now.order == QueueOrder.SHUFFLED:
        return now
    items = list(queue.queue_items.order_by("-pk").values_list("pk", flat=True))
    for at in range(0, len(items), BATCH):
        with transaction.atomic():
            _draw_places(items[at : at + BATCH])
    with transaction.atomic():
        queue = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
        if queue.order == QueueOrder.SHUFFLED:
            return queue
        # Whoever puts items in waits for this lock, and then draws their places.
        _draw_places(list(queue.queue_items.filter(pk__gt=max(items, default=0)).values_list("pk", flat=True)))
        queue.order = QueueOrder.SHUFFLED
        queue.save(update_fields=["order"])
        record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_CHANGED, target=queue, order=queue.order)
    return queue


def _draw_places(items: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(DRAW_PLACES, {"items": items, "places": SHUFFLED_PLACES})


def _places_in_front(queue: Queue, priority: int, count: int) -> list[int]:
    """Places in front of every rater's cursor: behind what waits there with the same or a higher priority, before the
    rest. So claims go on walking forward only, and cost what they cost.

    Where there is no room between two places, new slots share the first: among equals the id decides, and theirs is
    the latest.
    """
    furthest = RaterCursor.objects.filter(queue=queue).aggregate(place=Max("place"))["place"] or 0
    ahead = Slot.objects.filter(queue=queue, state=SlotState.OPEN, place__gte=furthest)
    as_early = ahead.filter(queue_item__queue=queue, queue_item__priority__gte=priority)
    after = as_early.aggregate(place=Max("place"))["place"] or furthest
    before = ahead.filter(place__gt=after).aggregate(place=Min("place"))["place"]
    room = (before - after) // (count + 1) if before is not None else PRIORITY_STEP
    step = min(PRIORITY_STEP, room)
    return [after + step * number for number in range(1, count + 1)]
