"""What the rules on arrival look at: facts about items, the rules of a project, and what it redacts."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from reviews.arrival import facts_of, fits, in_share
from reviews.enums import QueueState
from reviews.models import ArrivalRule, Item, Project, Queue, QueueItem, Redaction, RunScore
from reviews.trajectories.redaction import Rules

# How many of the latest items a trial of a rule looks at.
MOST_TRIED = 20_000
CHUNK = 1000
# A comparison has no run of its own: it is asked about its task and what it holds.
_COLUMNS: dict[str, Combinable] = {
    "hash": Coalesce("trajectory__content_hash", "content_hash"),
    "family": Coalesce("trajectory__task__family", "task__family"),
    "slices": Coalesce("trajectory__task__slices", "task__slices"),
    "versions": F("trajectory__versions"),
    "step_count": F("trajectory__step_count"),
    "source_format": F("trajectory__source_format"),
    "verifiability": F("task_version__verifiability"),
    "recipe": F("task_version__recipe"),
    "result": F("trajectory__outcome__result"),
    "reward": F("trajectory__outcome__reward"),
    "scores": F("trajectory__outcome__data__scores"),
}


def rules_of(project: Project) -> QuerySet[ArrivalRule]:
    """The rules that are active, in their order."""
    return ArrivalRule.objects.filter(project=project, active=True).select_related("queue__rubric")


def rule_by_uid(project: Project, uid: Any) -> ArrivalRule | None:
    return rules_of(project).filter(uid=uid).first()


def matching(rules: Iterable[ArrivalRule], items: Iterable[Item]) -> dict[ArrivalRule, list[Item]]:
    """Which items each rule takes: an item goes to each queue that a rule names, by the first rule that fits."""
    rules = [rule for rule in rules if rule.queue.state != QueueState.CLOSED]
    given = {item.pk: item for item in items}
    taken: dict[ArrivalRule, list[Item]] = {rule: [] for rule in rules}
    if not rules or not given:
        return taken
    for key, content_hash, facts in _facts(Item.objects.filter(pk__in=given).order_by("pk")):
        queues = set()
        for rule in rules:
            of_its_kind = given[key].kind == rule.queue.rubric.item_kind
            if of_its_kind and rule.queue_id not in queues and takes(rule, content_hash, facts):
                queues.add(rule.queue_id)
                taken[rule].append(given[key])
    return taken


def takes(rule: ArrivalRule, content_hash: str, facts: dict[str, Any]) -> bool:
    return fits(rule.conditions, facts) and in_share(content_hash, rule.share, str(rule.uid))


def tried(project: Project, rules: list[ArrivalRule]) -> tuple[list[int], int]:
    """How many of the project's latest items each rule fits, had it been there; and at how many was looked."""
    counts = [0] * len(rules)
    seen = 0
    if not rules:
        return counts, seen
    for _key, content_hash, facts in _facts(Item.objects.filter(project=project).order_by("-pk")[:MOST_TRIED]):
        seen += 1
        for place, rule in enumerate(rules):
            counts[place] += takes(rule, content_hash, facts)
    return counts, seen


def _facts(items: QuerySet[Item]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Each item's key, its content hash, and what rules can ask about it."""
    rows = items.values_list("pk", "trajectory", *_COLUMNS.values()).iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        later = _later_scores([trajectory for _, trajectory, *_ in chunk])
        for key, trajectory, *values in chunk:
            known = dict(zip(_COLUMNS, values, strict=True))
            content_hash, scores = known.pop("hash"), known.pop("scores")
            scores = [*later.get(trajectory, ()), *(scores if isinstance(scores, list) else ())]
            yield key, content_hash, facts_of(scores=scores, **known)


def _later_scores(trajectories: list[int]) -> dict[int, list[dict[str, Any]]]:
    """What was said of runs after they came in, the latest first: of a grader who speaks twice the last word counts."""
    found: dict[int, list[dict[str, Any]]] = {}
    scores = RunScore.objects.filter(trajectory__in=trajectories).order_by("-pk")
    for trajectory, grader, value in scores.values_list("trajectory", "grader", "value"):
        found.setdefault(trajectory, []).append({"grader": grader, "value": value})
    return found


def not_in(queue: Queue, items: Iterable[Item]) -> list[Item]:
    """Those that are not in the queue."""
    items = list(items)
    there = set(QueueItem.objects.filter(queue=queue, item__in=items).values_list("item", flat=True))
    return [item for item in items if item.pk not in there]


def redaction_of(project: Project) -> Redaction:
    """What the project redacts; nothing, as long as nobody has said."""
    return Redaction.objects.filter(project=project).first() or Redaction(project=project)


def redaction_rules(project: Project) -> Rules:
    """The same as the pure rules take it."""
    redaction = redaction_of(project)
    own = tuple((each["name"], each["pattern"]) for each in redaction.own)
    return Rules(kinds=tuple(redaction.kinds), own=own, region=redaction.region)
