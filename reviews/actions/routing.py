"""Puts new items into queues by the project's rules on arrival, and makes, changes and removes these rules."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from reviews import arrival
from reviews.actions.events import record
from reviews.actions.queueing import add_items
from reviews.enums import Verb
from reviews.errors import Conflict, Invalid
from reviews.models import ArrivalRule, Item, Project, Queue
from reviews.models.arrival import MAX_PRIORITY
from reviews.queries.arrivals import matching, not_in, rules_of, tried
from reviews.rules import check
from reviews.trajectories import jsontext

NAME_LENGTH = 80


def route(*, actor: Any, project: Project, items: Sequence[Item]) -> dict[int, list[ArrivalRule]]:
    """Put new items where the rules send them, inside the caller's transaction; each item's rules by its key."""
    rules = list(rules_of(project)) if items else []
    routed: dict[int, list[ArrivalRule]] = {}
    for rule, taken in matching(rules, items).items():
        if taken:
            add_items(actor=actor, queue=rule.queue, items=taken, rule=rule)
        for item in taken:
            routed.setdefault(item.pk, []).append(rule)
    return routed


def route_scored(
    *, actor: Any, project: Project, scored: Mapping[Item, Collection[str]]
) -> dict[int, list[ArrivalRule]]:
    """The same for items of which graders said something later, by the rules that ask for what these graders say.

    An item that is in a rule's queue already stays as it is there, whatever brought it.
    """
    routed: dict[int, list[ArrivalRule]] = {}
    for rule in rules_of(project) if scored else ():
        asked = {name for condition in rule.conditions for name in arrival.fields_of(condition)}
        items = [item for item, graders in scored.items() if asked & {f"{arrival.SCORE}{name}" for name in graders}]
        for taken in matching([rule], not_in(rule.queue, items)).values():
            if taken:
                add_items(actor=actor, queue=rule.queue, items=taken, rule=rule)
            for item in taken:
                routed.setdefault(item.pk, []).append(rule)
    return routed


@transaction.atomic
def create_rule(
    *,
    actor: Any,
    project: Project,
    name: str,
    queue: Queue,
    conditions: list[dict[str, Any]] | None = None,
    share: float = 1,
    priority: int = 0,
    position: int | None = None,
) -> ArrivalRule:
    """A new rule, behind the others if no position is given. Raises Forbidden, Invalid or, for a name in use, Conflict.

    It holds for items that come in from now on.
    """
    check(actor, "manage_rules", project)
    rule = draft_rule(
        project=project, name=name, queue=queue, conditions=conditions or [], share=share, priority=priority
    )
    last = ArrivalRule.objects.filter(project=project).aggregate(last=Max("position"))["last"] or 0
    rule.position, rule.created_by = last + 1 if position is None else position, actor
    _save(rule, position=rule.position)
    record(project=project, actor=actor, verb=Verb.RULE_CREATED, target=rule, **_described(rule))
    return rule


@transaction.atomic
def change_rule(*, actor: Any, rule: ArrivalRule, **changes: Any) -> ArrivalRule:
    """Change name, queue, conditions, share, priority or position. Items that it brought stay where they are."""
    check(actor, "manage_rules", rule.project)
    rule = ArrivalRule.objects.select_for_update(of=("self",)).select_related("project", "queue").get(pk=rule.pk)
    if not rule.active:
        raise Conflict("This rule was removed.")
    unknown = changes.keys() - {"name", "queue", "conditions", "share", "priority", "position"}
    if unknown:
        raise Invalid(dict.fromkeys(sorted(unknown), "This cannot be changed."))
    for name, value in changes.items():
        setattr(rule, name, value)
    draft = draft_rule(
        project=rule.project,
        name=rule.name,
        queue=rule.queue,
        conditions=rule.conditions,
        share=rule.share,
        priority=rule.priority,
    )
    rule.name, rule.conditions = draft.name, draft.conditions
    _save(rule, position=rule.position)
    record(project=rule.project, actor=actor, verb=Verb.RULE_CHANGED, target=rule, **_described(rule))
    return rule


@transaction.atomic
def remove_rule(*, actor: Any, rule: ArrivalRule) -> ArrivalRule:
    """Let a rule end. It is kept, because the items that it brought name it."""
    check(actor, "manage_rules", rule.project)
    moved = ArrivalRule.objects.filter(pk=rule.pk, active=True).update(active=False)
    if not moved:
        raise Conflict("This rule was removed before.")
    rule.active = False
    record(project=rule.project, actor=actor, verb=Verb.RULE_REMOVED, target=rule, name=rule.name)
    return rule


def try_rule(*, actor: Any, project: Project, **asked: Any) -> tuple[int, int]:
    """How many of the items that are there a rule would have taken, and at how many was looked. Writes nothing."""
    check(actor, "manage_rules", project)
    counts, seen = tried(project, [draft_rule(project=project, **asked)])
    return counts[0], seen


def draft_rule(
    *,
    project: Project,
    queue: Queue | None = None,
    name: str = "Trial",
    conditions: Any = (),
    share: Any = 1,
    priority: Any = 0,
) -> ArrivalRule:
    """A rule that is not saved, after a look at every part of it. Raises Invalid with a sentence per field."""
    errors = {}
    if not isinstance(name, str) or not 0 < len(name.strip()) <= NAME_LENGTH:
        errors["name"] = f"Give a name of 1 to {NAME_LENGTH} characters."
    if queue and queue.project_id != project.pk:
        errors["queue"] = "The queue belongs to another project."
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        errors["share"] = "The share is above 0 and at most 1."
    if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority <= MAX_PRIORITY:
        errors["priority"] = f"The priority is a whole number from 0 to {MAX_PRIORITY}."
    conditions = list(conditions) if isinstance(conditions, tuple) else conditions
    if problem := arrival.problem_with(conditions):
        errors["conditions"] = problem
    if errors:
        raise Invalid(errors)
    return ArrivalRule(
        project=project,
        queue=queue,
        name=jsontext.clean(name.strip()),
        conditions=conditions,
        share=share,
        priority=priority,
    )


def _save(rule: ArrivalRule, *, position: Any) -> None:
    if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < 2**31:
        raise Invalid({"position": "The position is a whole number from 0."})
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError:
        raise Conflict(f"This project has a rule called “{rule.name}” already.", field="name") from None


def _described(rule: ArrivalRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "queue": str(rule.queue),
        "conditions": [arrival.in_a_line(condition) for condition in rule.conditions],
        "share": rule.share,
        "priority": rule.priority,
        "position": rule.position,
    }
