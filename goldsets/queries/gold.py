"""The gold of a queue as leads see it: how hard each item is, what it tells, how classes balance, how long it lasts."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from goldsets.enums import ChallengeState, GoldState, KeyState
from goldsets.models import GoldChallenge, GoldItem, GoldKey, GoldPlacement, GoldPolicy
from goldsets.queries.answers import GoldAnswer, gold_answers
from goldsets.queries.questions import Questions, questions_of, questions_of_item
from goldsets.queries.wording import Said, in_order, said_and_expected, short_words, title_of
from goldsets.stats.forecast import Forecast, forecast
from goldsets.stats.items import LeakTest, discrimination, leak_test
from goldsets.stats.matching import read_expected
from goldsets.stats.proportion import wilson
from reviews.enums import AssignmentState, Basis, CriterionKind, GateAnswer, QueueItemState, Role, Verb
from reviews.models import Assignment, Criterion, Event, Guideline, Membership, Project, Queue, QueueItem
from reviews.queries.items import with_words
from reviews.stats.result import Estimate

DAYS_BACK = 14
# Why an item is decided before others, as its Event says.
PROPOSED_AS_GOLD = "proposed as gold"


@dataclass(frozen=True)
class Doubt:
    """A reason to look at a gold item again: a proposal for the lead, never a verdict."""

    kind: str
    words: str


@dataclass(frozen=True)
class GoldRow:
    """One gold item: what it expects, how often raters were right, what it tells, what speaks against it."""

    gold: GoldItem
    expects: tuple[Said, ...]
    right: Estimate
    tells: Estimate
    leak: LeakTest
    doubts: tuple[Doubt, ...]

    @property
    def title(self) -> str:
        return str(self.gold.queue_item.item.subject)


@dataclass(frozen=True)
class Balance:
    """How the active gold falls into the classes of one criterion."""

    title: str
    counts: tuple[tuple[str, int], ...]

    @property
    def lopsided(self) -> bool:
        """Whether somebody who always answers the same would be right on nearly all of it."""
        total = sum(count for _name, count in self.counts)
        return total >= 5 and max(count for _name, count in self.counts) >= 0.9 * total


@dataclass(frozen=True)
class Exposure:
    """How much of the gold in use a rater has met. Of the rest they judged `own` themselves, as plain items, and never
    meet it as gold."""

    rater_id: int
    rater: str
    met: int
    own: int
    of: int
    a_day: float

    @property
    def left(self) -> int:
        return self.of - self.met - self.own


@dataclass(frozen=True)
class Pool:
    """Everything a lead's page says of a queue's gold."""

    rate: float
    policy: GoldPolicy | None
    rows: list[GoldRow]
    balance: list[Balance]
    families: list[tuple[str, int]]
    exposure: list[Exposure]
    forecast: Forecast
    tested_for_leaks: int

    def of_state(self, state: str) -> list[GoldRow]:
        return [row for row in self.rows if row.gold.state == state]

    @property
    def active(self) -> list[GoldRow]:
        return self.of_state(GoldState.ACTIVE)

    @property
    def retired(self) -> list[GoldRow]:
        return self.of_state(GoldState.RETIRED)

    @property
    def doubtful(self) -> list[GoldRow]:
        return [row for row in self.active if row.doubts]


def gold_pool(queue: Queue) -> Pool:
    """A dozen queries, whatever the number of gold items."""
    asked = questions_of(queue)
    policy = GoldPolicy.objects.filter(queue=queue).first()
    rate = float(policy.rate) if policy else 0.0
    rows, tested = gold_rows(queue, asked)
    active = [row for row in rows if row.gold.state == GoldState.ACTIVE]
    families = Counter(row.gold.queue_item.item.subject.family or "no family" for row in active)
    exposure = _exposure(queue, [row.gold.pk for row in active])
    return Pool(
        rate=rate,
        policy=policy,
        rows=rows,
        balance=_balance(asked.of_rubric, active),
        families=families.most_common(),
        exposure=exposure,
        forecast=forecast(
            pool=len(active),
            rate=rate,
            left=[row.left for row in exposure],
            a_day=[row.a_day for row in exposure],
            to_judge=_to_judge(queue, len(exposure)),
        ),
        tested_for_leaks=tested,
    )


def gold_rows(queue: Queue, asked: Questions) -> tuple[list[GoldRow], int]:
    """Every gold item that was ever approved, those in use first, and how many could be tested for a leak."""
    answers = gold_answers(queue)
    of_item, scores, usual = _grouped(answers), _scores(answers), _usual_seconds(answers)
    leaks = {
        gold: leak_test([a.all_right for a in given], [a.seconds / usual[a.rater] for a in given])
        for gold, given in of_item.items()
    }
    tested = sum(test.p is not None for test in leaks.values())
    open_challenges = _open_challenges(queue)
    latest = _latest_guidelines(queue)
    items = (
        GoldItem.objects.filter(queue=queue, key__isnull=False)
        .select_related(
            "queue_item__item__trajectory__task",
            "queue_item__item__task",
            "queue_item__label",
            "key__guideline",
            "added_by",
        )
        .order_by("state", "times_used", "pk")
    )
    rows = []
    for gold in items:
        given = of_item.get(gold.pk, [])
        leak = leaks.get(gold.pk) or leak_test([], [])
        right = wilson(sum(a.all_right for a in given), len(given), statistic="Right on this item")
        rows.append(
            GoldRow(
                gold=gold,
                expects=_expects(asked, gold, gold.key),  # type: ignore[arg-type]
                right=right,
                tells=discrimination(*_against_the_rest(given, scores)),
                leak=leak,
                doubts=tuple(_doubts(gold, right, leak, tested, open_challenges, latest)),
            )
        )
    return rows, tested


def doubtful_gold(queue: Queue) -> list[GoldRow]:
    """Gold in use against which something speaks. None where none is in use, by one query."""
    if not GoldItem.objects.filter(queue=queue, state=GoldState.ACTIVE).exists():
        return []
    rows, _tested = gold_rows(queue, questions_of(queue))
    return [row for row in rows if row.doubts]


def _expects(asked: Questions, gold: GoldItem, key: GoldKey) -> tuple[Said, ...]:
    return tuple(short_words(asked.of(gold.queue_item.item.uid), read_expected(key.expected)))


def _grouped(answers: list[GoldAnswer]) -> dict[int, list[GoldAnswer]]:
    found: dict[int, list[GoldAnswer]] = defaultdict(list)
    for answer in answers:
        found[answer.gold].append(answer)
    return found


def _scores(answers: list[GoldAnswer]) -> dict[int, tuple[int, int]]:
    """By rater, on how many gold items they were right, of how many."""
    found: dict[int, tuple[int, int]] = {}
    for answer in answers:
        right, n = found.get(answer.rater, (0, 0))
        found[answer.rater] = (right + answer.all_right, n + 1)
    return found


def _against_the_rest(given: list[GoldAnswer], scores: dict[int, tuple[int, int]]) -> tuple[list[bool], list[float]]:
    """Of each rater who met other gold too: right here, and the share right on the rest."""
    pairs = [
        (answer.all_right, (scores[answer.rater][0] - answer.all_right) / (scores[answer.rater][1] - 1))
        for answer in given
        if scores[answer.rater][1] > 1
    ]
    return [here for here, _rest in pairs], [rest for _here, rest in pairs]


def _usual_seconds(answers: list[GoldAnswer]) -> dict[int, float]:
    """By rater, the median of their seconds on gold, and at least one."""
    seconds: dict[int, list[int]] = defaultdict(list)
    for answer in answers:
        seconds[answer.rater].append(answer.seconds)
    return {rater: max(1.0, float(np.median(given))) for rater, given in seconds.items()}


def _doubts(
    gold: GoldItem,
    right: Estimate,
    leak: LeakTest,
    tested: int,
    open_challenges: Counter[int],
    latest: dict[str, int],
) -> list[Doubt]:
    found, key = [], gold.key
    if key is None or gold.state != GoldState.ACTIVE:
        return []
    if challenges := open_challenges[gold.pk]:
        found.append(Doubt("disputed", f"{challenges} challenge{'' if challenges == 1 else 's'} wait for an answer."))
    if right.n_units >= 3 and right.value is not None and right.high is not None and right.value < 0.5:
        found.append(Doubt("missed", "Most who met it missed it: the expected values may be what is wrong."))
    if leak.suspected(tested):
        found.append(Doubt("leaked", f"Later answers are right and fast, as if it had been passed on. {leak.words}"))
    newer = latest.get(key.guideline.name, 0)
    if key.guideline.version < newer:
        found.append(Doubt("guideline", f"Made under {key.guideline}; version {newer} is out. Does it hold?"))
    if gold.queue_item.label_id != key.label_id and gold.queue_item.label is not None:
        found.append(Doubt("relabelled", "The item has been decided anew since this was approved."))
    return found


def _open_challenges(queue: Queue) -> Counter[int]:
    rows = GoldChallenge.objects.filter(placement__gold_item__queue=queue, state=ChallengeState.OPEN)
    return Counter(dict(rows.values_list("placement__gold_item").annotate(n=Count("pk")).order_by()))


def _latest_guidelines(queue: Queue) -> dict[str, int]:
    latest: dict[str, int] = {}
    for name, version in Guideline.objects.filter(project=queue.project_id).values_list("name", "version"):
        latest[name] = max(version, latest.get(name, 0))
    return latest


def _balance(criteria: list[Criterion], active: list[GoldRow]) -> list[Balance]:
    """Per criterion with classes, how many active gold items expect each value."""
    found = []
    for criterion in criteria:
        classes = _classes(criterion)
        counts: Counter[Any] = Counter()
        for row in active:
            expected = read_expected(row.gold.key.expected)  # type: ignore[union-attr]
            for _criterion, key in in_order([criterion], expected):
                value = expected[key].value
                counts[value if isinstance(value, int) else None] += 1
        if classes:
            found.append(Balance(criterion.title, tuple((name, counts[value]) for value, name in classes)))
    return found


def _classes(criterion: Criterion) -> list[tuple[int, str]]:
    if criterion.is_gate:
        return [(GateAnswer.PASS, "pass"), (GateAnswer.FAIL, "fail")]
    if criterion.kind == CriterionKind.BINARY:
        return [(1, "yes"), (0, "no")]
    if criterion.kind not in (CriterionKind.ORDINAL, CriterionKind.CHOICE):
        return []
    return [(level["value"], level["name"]) for level in criterion.levels]


def _exposure(queue: Queue, active: list[int]) -> list[Exposure]:
    """Everybody who may judge here or has in the last two weeks, those who have met most first."""
    met = dict(
        GoldPlacement.objects.filter(gold_item__in=active).values_list("rater").annotate(n=Count("pk")).order_by()
    )
    placed = GoldPlacement.objects.filter(assignment=OuterRef("pk"))
    judged = Assignment.objects.filter(~Exists(placed), queue=queue, item__queue_items__gold__in=active)
    own = dict(judged.values_list("rater").annotate(n=Count("pk")).order_by())
    since = timezone.now() - timedelta(days=DAYS_BACK)
    done = Assignment.objects.filter(queue=queue, state=AssignmentState.SUBMITTED, ended_at__gte=since)
    lately = dict(done.values_list("rater").annotate(n=Count("pk")).order_by())
    days = dict(
        done.values("rater").annotate(days=Count(F("ended_at__date"), distinct=True)).values_list("rater", "days")
    )
    rows = []
    for member in Membership.objects.filter(project=queue.project_id, active=True).select_related("user"):
        rater = member.user_id
        if member.role == Role.EXPERT or rater in lately:
            a_day = lately.get(rater, 0) / DAYS_BACK if days.get(rater, 0) > 1 else float(lately.get(rater, 0))
            rows.append(Exposure(rater, str(member.user), met.get(rater, 0), own.get(rater, 0), len(active), a_day))
    return sorted(rows, key=lambda row: (-row.met, row.rater))


def _to_judge(queue: Queue, raters: int) -> int:
    """How many plain items each rater will still judge until the queue is done, shared evenly."""
    open_slots = queue.slots.filter(state="open").count()
    return -(-open_slots // max(1, raters))


# --- Candidates, proposals, one item ----------------------------------------------------------------------------------
def candidates(queue: Queue) -> QuerySet[QueueItem]:
    """Settled items with a firm label, neither gold nor proposed: a lead's decisions first, the latest first."""
    taken = GoldItem.objects.filter(queue_item=OuterRef("pk"), state__in=[GoldState.ACTIVE, GoldState.PROPOSED])
    return (
        QueueItem.objects.filter(
            ~Exists(taken),
            queue=queue,
            state=QueueItemState.SETTLED,
            label__basis__in=[Basis.ADJUDICATED, Basis.UNANIMOUS],
        )
        .select_related("item__trajectory__task", "item__task", "label")
        .prefetch_related("label__values__criterion")
        .order_by("label__basis", "-label__created_at")
    )


def candidate_rows(rows: Any) -> list[tuple[QueueItem, Any]]:
    return [(row, with_words(row.label)) for row in rows if row.label]


def chosen_candidates(queue: Queue, uids: list[Any]) -> list[QueueItem]:
    return list(QueueItem.objects.filter(queue=queue, uid__in=uids).select_related("queue__project"))


@dataclass(frozen=True)
class Proposal:
    """One version that waits for a second person, with what holds now where it changes something."""

    key: GoldKey
    expects: tuple[Said, ...]
    now: tuple[Said, ...]


def proposals(queue: Queue) -> list[Proposal]:
    asked = questions_of(queue)
    return [_proposal(asked, key) for key in _proposed(queue).order_by("proposed_at", "pk")]


def proposal(key: GoldKey) -> Proposal:
    return _proposal(questions_of(key.gold_item.queue), key)


def proposed_key(queue: Queue, uid: Any) -> GoldKey | None:
    """A version that waits for a second person; None once it is decided."""
    return _proposed(queue).filter(uid=uid).first()


def _proposed(queue: Queue) -> QuerySet[GoldKey]:
    return GoldKey.objects.filter(gold_item__queue=queue, state=KeyState.PROPOSED).select_related(
        "gold_item__queue__rubric",
        "gold_item__queue_item__item__trajectory__task",
        "gold_item__queue_item__item__trajectory__policy",
        "gold_item__queue_item__item__task",
        "gold_item__queue_item__item__task_version",
        "gold_item__key",
        "label",
        "guideline",
        "proposed_by",
    )


def _proposal(asked: Questions, key: GoldKey) -> Proposal:
    gold = key.gold_item
    in_use = gold.key if gold.state == GoldState.ACTIVE else None
    return Proposal(key, _expects(asked, gold, key), _expects(asked, gold, in_use) if in_use else ())


def proposal_count(queue: Queue) -> int:
    return GoldKey.objects.filter(gold_item__queue=queue, state=KeyState.PROPOSED).count()


def first_by_proposal(queue_item: QueueItem) -> bool:
    """Whether its proposal as gold is why the item is decided before others: nobody has said so before or since."""
    said = Event.objects.filter(target_type=QueueItem._meta.model_name, target_id=queue_item.pk)
    last = said.filter(verb=Verb.ITEM_PUT_FIRST).order_by("-pk").first()
    return last is not None and last.data.get("because") == PROPOSED_AS_GOLD


def to_approve(person: Any, projects: QuerySet[Project]) -> QuerySet[Queue]:
    """Queues of these projects in which proposals of others wait, counted as `proposals`."""
    proposed = Q(gold_items__keys__state=KeyState.PROPOSED) & ~Q(gold_items__keys__proposed_by=person)
    queues = Queue.objects.filter(project__in=projects).annotate(proposals=Count("gold_items__keys", filter=proposed))
    return queues.filter(proposals__gt=0).order_by("name")


def key_by_uid(queue: Queue, uid: Any) -> GoldKey | None:
    return GoldKey.objects.filter(gold_item__queue=queue, uid=uid).select_related("gold_item__queue__project").first()


def gold_item_by_id(queue: Queue, number: int) -> GoldItem | None:
    return (
        GoldItem.objects.filter(queue=queue, pk=number)
        .select_related(
            "queue__project", "queue__rubric", "key", "queue_item__item__trajectory__task", "queue_item__item__task"
        )
        .first()
    )


@dataclass(frozen=True)
class GivenAnswer:
    """One rater's answer on a gold item, for leads."""

    answer: GoldAnswer
    rater: str
    lines: tuple[Said, ...]


@dataclass(frozen=True)
class GoldPage:
    """One gold item with every version of what it expects, every answer, and the challenges."""

    row: GoldRow
    keys: list[tuple[GoldKey, list[Said]]]
    given: list[GivenAnswer]
    challenges: list[GoldChallenge]
    proposed: GoldKey | None


def gold_page(queue: Queue, gold: GoldItem) -> GoldPage | None:
    asked = questions_of(queue)
    rows, _tested = gold_rows(queue, asked)
    row = next((row for row in rows if row.gold.pk == gold.pk), None)
    if row is None:
        return None
    names = {member.user_id: str(member.user) for member in _members(queue)}
    keys = list(gold.keys.select_related("guideline", "label", "proposed_by", "decided_by").order_by("-number"))
    return GoldPage(
        row=row,
        keys=[(key, list(_expects(asked, gold, key))) for key in keys],
        given=[
            GivenAnswer(answer, names.get(answer.rater, "somebody"), said_and_expected(asked.of(answer.item), answer))
            for answer in gold_answers(queue, gold=gold)
        ],
        challenges=list(challenges_of(queue).filter(placement__gold_item=gold)),
        proposed=next((key for key in keys if key.state == KeyState.PROPOSED), None),
    )


def challenges_of(queue: Queue) -> QuerySet[GoldChallenge]:
    return GoldChallenge.objects.filter(placement__gold_item__queue=queue).select_related(
        "placement__rater",
        "placement__gold_item__queue__project",
        "placement__gold_item__queue_item__item__trajectory__task",
        "placement__gold_item__queue_item__item__task",
        "key",
        "decided_by",
    )


def challenge_by_uid(queue: Queue, uid: Any) -> GoldChallenge | None:
    return challenges_of(queue).filter(uid=uid).first()


def _members(queue: Queue) -> QuerySet[Membership]:
    return Membership.objects.filter(project=queue.project_id).select_related("user")


@dataclass(frozen=True)
class ChangeField:
    """One criterion in the form that proposes another version: the classes to choose from and what holds now."""

    key: str
    title: str
    is_gate: bool
    is_ordered: bool
    options: list[tuple[str, str]]
    value: str
    also: list[str]
    tolerance: str


def change_fields(gold: GoldItem, entered: Any) -> list[ChangeField]:
    """The form of a gold item, with what was entered where something was. Criteria without classes are left out."""
    found = []
    expected = read_expected(gold.key.expected) if gold.key else {}
    for criterion, key in in_order(questions_of_item(gold.queue_item).values(), expected):
        entry, classes, gate = expected[key], _classes(criterion), criterion.is_gate
        if not classes:
            continue
        options = [(name, name) if gate else (str(value), f"{value} {name}") for value, name in classes]
        now = next((name for value, name in classes if value == entry.value), "") if gate else entry.value
        value = entered.get(f"value.{key}", str(now))
        also = entered.getlist(f"also.{key}") if entered else [str(other) for other in entry.also]
        tolerance = entered.get(f"tolerance.{key}", f"{entry.tolerance:g}")
        found.append(
            ChangeField(
                key=key,
                title=title_of(criterion, key),
                is_gate=gate,
                is_ordered=criterion.kind == CriterionKind.ORDINAL,
                options=options,
                value=value,
                also=also,
                tolerance=tolerance,
            )
        )
    return found
