"""Gold of a queue: how much is mixed in, what is proposed by one person and approved by another, what is retired."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from goldsets.actions.standing import review_standings
from goldsets.enums import GOLD_MOVES, GoldState, GoldVerb, KeySource, KeyState
from goldsets.models import GoldItem, GoldKey, GoldPolicy
from goldsets.queries.gold import PROPOSED_AS_GOLD, first_by_proposal
from goldsets.queries.questions import STEPS_KIND, questions_of_item
from goldsets.queries.values import criterion_of, labelled_in
from goldsets.rules import check_approval
from goldsets.stats.matching import Expected, Value, read_expected
from reviews.actions.adjudicating import decide_ahead
from reviews.actions.events import record
from reviews.actions.queueing import shuffle
from reviews.actions.referring import mark_first
from reviews.enums import Basis, CriterionKind, QueueItemState, Tie
from reviews.errors import Conflict, Invalid
from reviews.models import Criterion, Guideline, Queue, QueueItem
from reviews.rules import check

MAX_RATE = Decimal("0.5")
MAX_TOLERANCE = 10
MAX_FEEDBACK = 10_000
NOTE_LENGTH = 2000
REASON_LENGTH = 300
FIRM = (Basis.ADJUDICATED, Basis.UNANIMOUS)


# --- The queue's policy -----------------------------------------------------------------------------------------------
def set_gold_rate(*, actor: Any, queue: Queue, rate: Any) -> GoldPolicy:
    """The share of what each rater is dealt that is gold, from 0 (none) to 0.5. Raises Forbidden or Invalid.

    Where some is, the queue is shuffled first: in the order of arrival gold, which came in earlier than all that still
    waits, would be told by every number and date that grows. Raters go on meanwhile, and get no gold yet.
    """
    check(actor, "manage_queue", queue.project)
    try:
        share = Decimal(str(rate)).quantize(Decimal("0.001"))
    except InvalidOperation:
        share = Decimal("nan")
    if not share.is_finite() or not 0 <= share <= MAX_RATE:
        raise Invalid({"gold_rate": "The gold rate is a number from 0 to 0.5: the share of items dealt that are gold."})
    if share:
        shuffle(actor=actor, queue=queue)
    with transaction.atomic():
        policy, _ = GoldPolicy.objects.update_or_create(queue=queue, defaults={"rate": share})
        told = {"project": queue.project_id, "actor": actor, "target": queue, "rate": float(share)}
        record(verb=GoldVerb.GOLD_POLICY_CHANGED, **told)
    return policy


@transaction.atomic
def set_feedback(*, actor: Any, queue: Queue, items: int | None, days: int | None) -> GoldPolicy:
    """When raters learn how they did on gold: after so many further judgments of theirs, or days; both None: never."""
    check(actor, "manage_queue", queue.project)
    errors = {}
    for name, value in (("feedback_items", items), ("feedback_days", days)):
        if value is not None and (type(value) is not int or not 1 <= value <= MAX_FEEDBACK):
            errors[name] = f"Give a whole number from 1 to {MAX_FEEDBACK:,}, or leave it empty."
    if errors:
        raise Invalid(errors)
    told = {"feedback_items": items, "feedback_days": days}
    policy, _ = GoldPolicy.objects.update_or_create(
        queue=queue, defaults=told, create_defaults={"rate": Decimal(0), **told}
    )
    record(project=queue.project_id, actor=actor, verb=GoldVerb.GOLD_POLICY_CHANGED, target=queue, **told)
    return policy


# --- Proposing --------------------------------------------------------------------------------------------------------
@transaction.atomic
def propose_gold(
    *,
    actor: Any,
    queue_item: QueueItem,
    tolerance: Any = 1,
    also: Mapping[str, Any] | None = None,
    note: str = "",
) -> GoldKey:
    """Propose a settled item as gold, held to the label that stands now. Somebody else approves it.

    `tolerance` is how many levels an ordered value may be off, or how many steps may be labelled otherwise, one number
    for all or {criterion key: number}; `also` is
    {criterion key: [values that are as good]}. Raises Forbidden, Invalid, or Conflict for an item that is not settled,
    whose label rests on a mere majority, or that is gold or proposed already.
    """
    check(actor, "manage_queue", queue_item.queue.project)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__project", "queue__rubric", "label__guideline", "item")
        .get(pk=queue_item.pk)
    )
    label = queue_item.label
    if queue_item.state != QueueItemState.SETTLED or label is None:
        raise Conflict("Only a settled item can be gold: settle it first.")
    if label.basis == Basis.REVIEWER:
        raise Conflict("No person has said what is right here. A lead decides the item before it can be gold.")
    if label.basis not in FIRM:
        raise Conflict("This label rests on a majority. A lead decides the item before it can be gold.")
    values = labelled_in(label.pk)
    expected = read_terms(queue_item, values, also=also, tolerance=tolerance)
    gold = start_gold(actor=actor, queue_item=queue_item)
    return add_key(
        actor=actor, gold=gold, expected=expected, guideline=label.guideline, source=KeySource.LABEL, note=note
    )


def start_gold(*, actor: Any, queue_item: QueueItem) -> GoldItem:
    """The gold item of this queue item, as a proposal. Raises Conflict where it is in use or proposed already.

    One that is not settled yet is decided before others, should raters differ on it.
    """
    gold, created = GoldItem.objects.select_for_update(of=("self",)).get_or_create(
        queue_item=queue_item, defaults={"queue": queue_item.queue, "added_by": actor}
    )
    if not created and GoldState.PROPOSED not in GOLD_MOVES[GoldState(gold.state)]:
        raise Conflict(
            "This item is gold already." if gold.state == GoldState.ACTIVE else "This item is proposed already."
        )
    gold.state, gold.retired_because = GoldState.PROPOSED, ""
    gold.save(update_fields=["state", "retired_because"])
    if queue_item.state != QueueItemState.SETTLED:
        mark_first(actor=actor, queue_item=queue_item, first=True, because=PROPOSED_AS_GOLD)
    return gold


def add_key(
    *,
    actor: Any,
    gold: GoldItem,
    expected: Mapping[str, Expected],
    guideline: Guideline,
    source: KeySource,
    note: str,
    settles: dict[str, Any] | None = None,
) -> GoldKey:
    """The next version of what a gold item expects, proposed. Call it in a transaction that holds the gold item."""
    if len(note) > NOTE_LENGTH or "\x00" in note:
        raise Invalid({"note": f"The note is plain text of at most {NOTE_LENGTH:,} characters."})
    if gold.keys.filter(state=KeyState.PROPOSED).exists():
        raise Conflict("Something is proposed for this gold item already. Approve or decline that first.")
    number = gold.keys.aggregate(latest=Max("number"))["latest"] or 0
    key = GoldKey.objects.create(
        gold_item=gold,
        number=number + 1,
        expected={name: entry.as_json() for name, entry in expected.items()},
        label=gold.queue_item.label,
        guideline=guideline,
        source=source,
        settles=settles,
        note=note.strip(),
        proposed_by=actor,
    )
    record(
        project=gold.queue.project_id,
        actor=actor,
        verb=GoldVerb.GOLD_PROPOSED,
        target=gold,
        version=key.number,
        source=source.value,
    )
    return key


def read_terms(
    queue_item: QueueItem, values: Mapping[str, Value], *, also: Mapping[str, Any] | None, tolerance: Any
) -> dict[str, Expected]:
    """Expected values with what else is right. Raises Invalid with a sentence per field."""
    criteria = questions_of_item(queue_item)
    errors: dict[str, str] = {}
    also = also or {}
    per_criterion = tolerance if isinstance(tolerance, Mapping) else {}
    for name, given in (("also", also), ("tolerance", per_criterion)):
        for key in given:
            if key not in values:
                errors[f"{name}.{str(key)[:60]}"] = "Nothing is expected on this criterion."
    expected = {}
    for key, value in values.items():
        criterion = criteria.get(criterion_of(key))
        if criterion is None:
            continue
        field = f"tolerance.{key}" if key in per_criterion else "tolerance"
        off = per_criterion.get(key, 1) if isinstance(tolerance, Mapping) else tolerance
        expected[key] = Expected(
            value,
            _alternatives(criterion, also.get(key), f"also.{key}", errors),
            _tolerance(criterion, off, field, errors, asked=key in per_criterion),
        )
    if errors:
        raise Invalid(errors)
    return expected


def _alternatives(criterion: Criterion, given: Any, field: str, errors: dict[str, str]) -> tuple[Value, ...]:
    if not given:
        return ()
    if criterion.is_gate:
        errors[field] = f"“{criterion.title}” is a gate: it has one right answer."
    elif not isinstance(given, list | tuple) or len(given) > MAX_TOLERANCE:
        errors[field] = f"Give a list of at most {MAX_TOLERANCE} values."
    elif not all(_is_value(criterion, value) for value in given):
        errors[field] = f"“{criterion.title}” has no such value."
    else:
        return tuple(given)
    return ()


def _is_value(criterion: Criterion, value: Any) -> bool:
    """Whether the criterion can have this value."""
    options = criterion.level_values
    if criterion.kind == STEPS_KIND:
        return isinstance(value, Mapping) and all(
            str(step).isdecimal() and type(label) is int and label in options for step, label in value.items()
        )
    if criterion.kind == CriterionKind.NUMBER:
        return type(value) in (int, float)
    if criterion.kind == CriterionKind.BINARY:
        return type(value) is int and value in (0, 1)
    if criterion.kind == CriterionKind.MULTI_CHOICE:
        return isinstance(value, list) and all(type(option) is int and option in options for option in value)
    if criterion.kind == CriterionKind.PREFERENCE:
        ranks = isinstance(value, list) and all(type(rank) is int and 1 <= rank <= len(value) for rank in value)
        return ranks or (isinstance(value, str) and value in Tie.values)
    return type(value) is int and value in options


def _tolerance(criterion: Criterion, given: Any, field: str, errors: dict[str, str], *, asked: bool) -> float:
    if type(given) not in (int, float) or not 0 <= given <= MAX_TOLERANCE:
        errors[field] = f"The tolerance is a number of levels from 0 to {MAX_TOLERANCE}."
        return 0
    if criterion.kind in (CriterionKind.ORDINAL, CriterionKind.NUMBER, STEPS_KIND):
        return given
    if asked and given:
        errors[field] = f"“{criterion.title}” is not a number, so it cannot be a little off."
    return 0


@transaction.atomic
def propose_change(
    *,
    actor: Any,
    gold_item: GoldItem,
    values: Mapping[str, Any] | None = None,
    also: Mapping[str, Any] | None = None,
    tolerance: Mapping[str, Any] | None = None,
    note: str = "",
) -> GoldKey:
    """Propose another version of what gold in use expects: `values` of some criteria, or none to confirm it as it is.

    A confirmation says that it holds under the guideline's newest version too. What is not given stays. Somebody else
    approves it; until then the version before holds, and all versions are kept.
    """
    check(actor, "manage_queue", gold_item.queue.project)
    gold = (
        GoldItem.objects.select_for_update(of=("self",))
        .select_related("key__guideline", "queue__rubric", "queue_item__queue__rubric", "queue_item__item")
        .get(pk=gold_item.pk)
    )
    if gold.state != GoldState.ACTIVE or gold.key is None:
        raise Conflict("Only gold in use is changed. Propose the item anew.")
    now = read_expected(gold.key.expected)
    changed = _read_values(gold.queue_item, values or {}, now)
    expected = read_terms(
        gold.queue_item,
        {key: changed.get(key, entry.value) for key, entry in now.items()},
        also={**{key: list(entry.also) for key, entry in now.items() if entry.also}, **(also or {})},
        tolerance={**{key: entry.tolerance for key, entry in now.items()}, **(tolerance or {})},
    )
    if expected != now and not note.strip():
        raise Invalid({"note": "Say why the expected values change."})
    return add_key(
        actor=actor,
        gold=gold,
        expected=expected,
        guideline=newest(gold.key.guideline),
        source=KeySource.REVIEW if expected == now else KeySource.CORRECTION,
        note=note,
    )


def newest(guideline: Guideline) -> Guideline:
    """The latest version of a guideline."""
    return Guideline.objects.filter(project=guideline.project_id, name=guideline.name).order_by("-version")[0]


GATE_VALUES = {"pass": 1, "fail": 0}


def _read_values(queue_item: QueueItem, given: Mapping[str, Any], now: Mapping[str, Expected]) -> dict[str, Value]:
    errors, found = {}, {}
    criteria = questions_of_item(queue_item)
    for key, value in given.items():
        criterion, field = criteria.get(criterion_of(str(key))), f"values.{str(key)[:60]}"
        if criterion is None or key not in now:
            errors[field] = "Nothing is expected on this criterion."
        elif criterion.is_gate and value not in GATE_VALUES:
            errors[field] = f"Answer “{criterion.title}” with pass or fail."
        elif not criterion.is_gate and not _is_value(criterion, value):
            errors[field] = f"“{criterion.title}” has no such value."
        else:
            found[key] = GATE_VALUES[value] if criterion.is_gate else value
    if errors:
        raise Invalid(errors)
    return found


# --- Deciding ---------------------------------------------------------------------------------------------------------
@transaction.atomic
def approve_gold(*, actor: Any, key: GoldKey) -> GoldItem:
    """Put what somebody else proposed to use. Raises Forbidden for the proposer, Conflict where it no longer holds.

    An item that has no label yet is settled by it, as the proposer's decision. Where another version held before, every
    standing is looked at anew.
    """
    gold, key = _locked(key)
    check_approval(actor, gold.queue.project, key.proposed_by_id)
    _still_proposed(key)
    if key.settles is not None and gold.queue_item.label_id is None:
        key.label = decide_ahead(actor=key.proposed_by, queue_item=gold.queue_item, payload=key.settles)
        gold.queue_item.refresh_from_db()
    if key.source == KeySource.LABEL and gold.queue_item.label_id != key.label_id:
        raise Conflict("The item has another label by now. Decline this and propose it anew.")
    if gold.queue_item.state != QueueItemState.SETTLED:
        raise Conflict("The item is not settled any more. Gold can be what is settled only.")
    key.state, key.decided_by, key.decided_at = KeyState.APPROVED, actor, timezone.now()
    key.save(update_fields=["state", "decided_by", "decided_at", "label"])
    had_another = gold.key_id is not None
    gold.key, gold.state = key, GoldState.ACTIVE
    gold.save(update_fields=["key", "state"])
    record(project=gold.queue.project_id, actor=actor, verb=GoldVerb.GOLD_APPROVED, target=gold, version=key.number)
    if had_another:
        review_standings(queue=gold.queue)
    return gold


@transaction.atomic
def decline_gold(*, actor: Any, key: GoldKey, reason: str = "") -> GoldItem:
    """Refuse what somebody else proposed; what was in use before goes on.

    An item that the proposal put before others waits in its turn again.
    """
    gold, key = _locked(key)
    check_approval(actor, gold.queue.project, key.proposed_by_id)
    _still_proposed(key)
    _check_reason(reason)
    key.state, key.decided_by, key.decided_at = KeyState.DECLINED, actor, timezone.now()
    key.save(update_fields=["state", "decided_by", "decided_at"])
    if gold.state == GoldState.PROPOSED:
        gold.state, gold.retired_because = GoldState.DECLINED, reason.strip()
        gold.save(update_fields=["state", "retired_because"])
        if first_by_proposal(gold.queue_item):
            mark_first(actor=actor, queue_item=gold.queue_item, first=False)
    record(
        project=gold.queue.project_id,
        actor=actor,
        verb=GoldVerb.GOLD_DECLINED,
        target=gold,
        version=key.number,
        reason=reason.strip(),
    )
    return gold


def _locked(key: GoldKey) -> tuple[GoldItem, GoldKey]:
    gold = (
        GoldItem.objects.select_for_update(of=("self",))
        .select_related("queue__project", "queue__rubric", "queue_item__queue__project", "queue_item__label")
        .get(pk=key.gold_item_id)
    )
    return gold, GoldKey.objects.select_related("proposed_by").get(pk=key.pk)


def _still_proposed(key: GoldKey) -> None:
    if key.state != KeyState.PROPOSED:
        raise Conflict(f"This proposal was {key.get_state_display().lower()} before.")


def _check_reason(reason: str) -> None:
    if len(reason) > REASON_LENGTH or "\x00" in reason:
        raise Invalid({"reason": f"The reason is plain text of at most {REASON_LENGTH} characters."})


@transaction.atomic
def retire_gold(*, actor: Any, gold_item: GoldItem, reason: str = "") -> GoldItem:
    """Deal it no more. What raters did on it stays and counts. Once retired it stays so, whoever asks again."""
    check(actor, "manage_queue", gold_item.queue.project)
    _check_reason(reason)
    if gold_item.keys.filter(state=KeyState.PROPOSED).exists():
        raise Conflict("Something is proposed for this gold item. Approve or decline that first.")
    retired = GoldItem.objects.filter(pk=gold_item.pk, state=GoldState.ACTIVE).update(
        state=GoldState.RETIRED, retired_because=reason.strip()
    )
    if retired:
        record(
            project=gold_item.queue.project_id,
            actor=actor,
            verb=GoldVerb.GOLD_RETIRED,
            target=gold_item,
            reason=reason.strip(),
        )
    gold_item.refresh_from_db()
    return gold_item
