"""Stages of a queue: what a reviewer says of live items, how that compares with people, and whether it may decide.

What a stage says of an item is told to nobody, leads included, before people have settled the item: it would draw them
to it. Only labels that people made are compared; what a reviewer settled itself says nothing about it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import log1p
from typing import Any

import msgspec
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from goldsets.enums import (
    STAGE_LIVE,
    GoldState,
    JudgedState,
    JudgeRunState,
    ReviewerState,
    StageOutcome,
    StagePhase,
    StageState,
)
from goldsets.models import GoldItem, GraderVersion, JudgedItem, JudgeRun, Reviewer, ReviewerLabel, Stage, StageVerdict
from goldsets.queries.judges import cannot_ask, setup_of, unfinished_runs
from goldsets.queries.reviewers import answers_by, target_of
from goldsets.reviewing.assurance import Demands
from goldsets.stats.anytime import always_at_most, more_without_error
from goldsets.stats.following import Chart, chart
from goldsets.stats.proportion import wilson
from goldsets.stats.shifting import WINDOW, Shift, shifts
from goldsets.writers.label_row import steps_of
from reviews.enums import UNANSWERED, CriterionKind, EvidenceRule, GateAnswer, ItemKind, QueueItemState, Scope
from reviews.models import Assignment, Criterion, LabelValue, Queue, QueueItem
from reviews.models import Step as StepRow
from reviews.stats.result import Estimate
from reviews.trajectories.schema import Step

PASS, FAIL = 1, 0
WORDS = {PASS: "Passes", FAIL: "Fails"}
# A reviewer that is as good as promised lasts so many audits, on average, before the chart rings without cause.
RUN_LENGTH = 200
FACETS = {
    "environment": "environment",
    "tools": "version of the tools",
    "grader": "grader",
    "model": "agent model",
    "tools offered": "set of tools",
}

_steps = msgspec.json.Decoder(list[Step]).decode


# --- Stages -----------------------------------------------------------------------------------------------------------
def stages_of(queue: Queue) -> QuerySet[Stage]:
    """Every stage the queue has had, the latest first."""
    return _with_all(Stage.objects.filter(queue=queue)).order_by("-pk")


def stage_by_uid(uid: Any) -> Stage | None:
    return _with_all(Stage.objects.filter(uid=uid)).first()


def stage_by_id(stage_id: int) -> Stage:
    return _with_all(Stage.objects.filter(pk=stage_id)).get()


def live_stages() -> list[int]:
    return list(Stage.objects.filter(state__in=STAGE_LIVE).order_by("pk").values_list("pk", flat=True))


def stopped_by_rule(queue: Queue) -> Stage | None:
    """The queue's latest stage, where a test and no lead has ended it."""
    latest = stages_of(queue).first()
    return latest if latest and not latest.is_live and latest.ended_by_id is None else None


def _with_all(stages: QuerySet[Stage]) -> QuerySet[Stage]:
    return stages.select_related(
        "queue__project",
        "queue__rubric",
        "queue__guideline",
        "reviewer__criterion",
        "reviewer__queue",
        "reviewer__judge__grader",
        "started_by",
    ).defer("secret")


def fit_reviewers(queue: Queue) -> QuerySet[Reviewer]:
    """Signed reviewers that were compiled under the very rubric and guideline by which this queue is judged."""
    rows = Reviewer.objects.filter(
        project=queue.project_id, state=ReviewerState.SIGNED, rubric=queue.rubric_id, guideline=queue.guideline_id
    )
    rows = rows.select_related("queue", "criterion", "signed_by")
    return rows.defer("artefact", "families").order_by("-signed_at")


def reviewer_in(queue: Queue, uid: Any) -> Reviewer | None:
    """The reviewer with this id, if it fits the queue."""
    return fit_reviewers(queue).filter(uid=uid).first()


# --- What it decides, and what that says of a label -------------------------------------------------------------------
def values_for(reviewer: Reviewer, verdict: int) -> dict[str, int] | None:
    """The answers that the verdict amounts to, by criterion; None where it could be several, or is none at all.

    A failed gate is none: who fails one names the step, who caused it and how, which a reviewer cannot. Nor is a value
    for which the rubric asks evidence that a person has seen.
    """
    criterion = reviewer.criterion
    if criterion is None:
        gates = _gates_of(reviewer)
        asks = any(gate.evidence == EvidenceRule.ALWAYS for gate in gates)
        return {gate.key: GateAnswer.PASS.value for gate in gates} if verdict == PASS and gates and not asks else None
    if criterion.kind == CriterionKind.GATE:
        possible = [GateAnswer.PASS.value] if verdict == PASS else []
        worst = GateAnswer.FAIL.value
    elif criterion.kind == CriterionKind.BINARY:
        possible, worst = [verdict], 0
    else:
        values = criterion.level_values
        possible = [value for value in values if _passes(reviewer, value) == bool(verdict)]
        worst = min(values, default=0)
    asked_when = {EvidenceRule.ALWAYS: possible, EvidenceRule.ON_FAIL: [worst], EvidenceRule.NEVER: []}
    if len(possible) != 1 or possible[0] in asked_when[EvidenceRule(criterion.evidence)]:
        return None
    return {criterion.key: possible[0]}


def _passes(reviewer: Reviewer, value: int) -> bool:
    criterion = reviewer.criterion
    exact = criterion is not None and criterion.kind == CriterionKind.CHOICE
    return value == reviewer.at_least if exact else value >= reviewer.at_least


def _gates_of(reviewer: Reviewer) -> list[Criterion]:
    return list(Criterion.objects.filter(rubric=reviewer.rubric, kind=CriterionKind.GATE, scope=Scope.ITEM))


def asked_besides(reviewer: Reviewer) -> list[str]:
    """What else the rubric asks of every item, so that a label by this reviewer alone would leave it open."""
    rubric, criterion = reviewer.rubric, reviewer.criterion
    rows = rubric.criteria.filter(required=True)
    rows = rows.exclude(pk=criterion.pk) if criterion else rows.exclude(kind=CriterionKind.GATE)
    besides = [row.title for row in rows]
    return besides + (["labels of steps"] if rubric.step_labels else [])


def reading_of(reviewer: Reviewer) -> Callable[[Mapping[str, int | None]], int | None]:
    """A function that says whether an answer passes the decision; None where it says nothing on it."""
    criterion = reviewer.criterion
    gates = [] if criterion else [gate.key for gate in _gates_of(reviewer)]

    def read(values: Mapping[str, int | None]) -> int | None:
        if criterion is None:
            said = [values[key] for key in gates if key in values]
            if GateAnswer.FAIL in said:
                return FAIL
            return PASS if said and set(said) == {GateAnswer.PASS} else None
        value = values.get(criterion.key)
        return None if value is None or value < 0 else int(_passes(reviewer, value))

    return read


# --- Items ------------------------------------------------------------------------------------------------------------
def pending(stage: Stage, *, most: int) -> list[QueueItem]:
    """Items that the stage has still to judge in its phase, and can: a judge those about which it was asked."""
    rows = _to_judge(stage).order_by("pk").select_related("item__trajectory__outcome")
    return list(_asked(stage, rows, "item")[:most])


def _to_judge(stage: Stage) -> QuerySet[QueueItem]:
    """Items without its verdict in this phase, none of them gold or what its reviewer was compiled from.

    In shadow all that people have not settled; once it decides those that nobody has begun.
    """
    said = StageVerdict.objects.filter(stage=stage, queue_item=OuterRef("pk"), phase=stage.state)
    gold = GoldItem.objects.filter(queue_item=OuterRef("pk"))
    seen = ReviewerLabel.objects.filter(reviewer=stage.reviewer_id, queue_item=OuterRef("pk"))
    rows = QueueItem.objects.filter(queue=stage.queue_id, item__kind=ItemKind.TRAJECTORY)
    if stage.state == StageState.SHADOW:
        rows = rows.exclude(state=QueueItemState.SETTLED)
    else:
        begun = Assignment.objects.filter(queue=OuterRef("queue"), item=OuterRef("item"))
        rows = rows.filter(~Exists(begun), state=QueueItemState.COLLECTING)
    return rows.filter(~Exists(said), ~Exists(gold), ~Exists(seen))


def gold_to_judge(stage: Stage) -> list[GoldItem]:
    """Gold in use that the stage has not judged yet, and can, and that its reviewer has not met."""
    rows = _gold_to_judge(stage).select_related("key", "queue_item__item__trajectory__outcome").order_by("pk")
    return list(_asked(stage, rows, "queue_item__item"))


def _gold_to_judge(stage: Stage) -> QuerySet[GoldItem]:
    said = StageVerdict.objects.filter(stage=stage, queue_item=OuterRef("queue_item"), phase=StagePhase.GOLD)
    seen = ReviewerLabel.objects.filter(reviewer=stage.reviewer_id, queue_item=OuterRef("queue_item"))
    rows = GoldItem.objects.filter(queue=stage.queue_id, state=GoldState.ACTIVE, key__isnull=False)
    return rows.filter(~Exists(said), ~Exists(seen), queue_item__item__kind=ItemKind.TRAJECTORY)


def _asked(stage: Stage, rows: QuerySet[Any], item: str) -> QuerySet[Any]:
    """Of these rows, whose item is named, those on which the stage's judge was asked; all where it asks nobody."""
    if stage.reviewer.judge_id is None:
        return rows
    done = JudgedItem.objects.filter(run__version=stage.reviewer.judge_id, item=OuterRef(item))
    return rows.filter(Exists(done.exclude(state=JudgedState.WAITING)))


def to_ask(stage: Stage) -> list[int]:
    """Ids of the items, gold among them, that wait for an answer of the stage's judge that nobody has asked for yet.

    In the order of the queue, so that gold is nothing that is asked about first or last.
    """
    live = _to_judge(stage).values("item")
    gold = _gold_to_judge(stage).values("queue_item__item")
    rows = QueueItem.objects.filter(Q(item__in=live) | Q(item__in=gold), queue=stage.queue_id)
    theirs = JudgedItem.objects.filter(run__version=stage.reviewer.judge_id, item=OuterRef("item"))
    # What waits in a run of somebody else that has ended is asked about by nobody else.
    asked = theirs.filter(~Q(state=JudgedState.WAITING) | Q(run__stage=stage) | Q(run__in=unfinished_runs()))
    return list(rows.filter(~Exists(asked)).order_by("pk").values_list("item", flat=True))


def as_items(reviewer: Reviewer, rows: Sequence[QueueItem]) -> list[dict[str, Any]]:
    """What the reviewer goes by on each run: its steps, and what its judge said, where it has one. Two queries."""
    runs = [row.item.trajectory_id for row in rows]
    answers = _answers_of(reviewer, rows)
    bodies: dict[int, list[str]] = {}
    for run, body in StepRow.objects.filter(trajectory__in=runs).order_by("position").values_list("trajectory", "body"):
        bodies.setdefault(run, []).append(body)
    return [
        {
            "id": str(row.item.uid),
            "steps": steps_of(_steps(f"[{','.join(bodies.get(row.item.trajectory_id or 0, ()))}]")),
            "tools": row.item.run.tools,
            **answers.get(str(row.item.uid), {}),
        }
        for row in rows
    ]


def _answers_of(reviewer: Reviewer, rows: Sequence[QueueItem]) -> dict[str, dict[str, Any]]:
    if reviewer.judge is None:
        return {}
    found = answers_by(reviewer.judge, target_of(reviewer).criterion, item__in=[row.item_id for row in rows])
    return {uid: {"said": answer.said, "evidence": answer.evidence} for uid, answer in found.items()}


def facets_of(row: QueueItem) -> dict[str, str]:
    """What an item was made with, each facet "" where it is not known."""
    run = row.item.run
    outcome = getattr(run, "outcome", None)
    names = sorted(_tool_name(tool) for tool in run.tools)
    return {name: str(run.versions.get(name) or "") for name in ("environment", "tools", "grader")} | {
        "model": outcome.model if outcome else "",
        "tools offered": ", ".join(names),
    }


def _tool_name(tool: Any) -> str:
    described = tool.get("function", tool) if isinstance(tool, dict) else {}
    return str(described.get("name", "")) if isinstance(described, dict) else ""


def grounds_of(reviewer: Reviewer) -> dict[str, list[str]]:
    """Every value of every facet among the items it was compiled from."""
    known: dict[str, set[str]] = {name: set() for name in FACETS}
    rows = compiled_from(reviewer)
    for row in rows.iterator(chunk_size=2000):
        for name, value in facets_of(row).items():
            known[name].add(value)
    return {name: sorted(values) for name, values in known.items()}


def compiled_from(reviewer: Reviewer) -> QuerySet[QueueItem]:
    chosen = ReviewerLabel.objects.filter(reviewer=reviewer).order_by().values("queue_item")
    rows = QueueItem.objects.filter(pk__in=chosen, item__kind=ItemKind.TRAJECTORY).order_by("pk")
    return rows.select_related("item__trajectory__outcome", "item__trajectory__task")


def new_in(stage: Stage, row: QueueItem) -> str:
    """In words, in what the item differs from all that the reviewer was compiled from; "" where in nothing."""
    for name, value in facets_of(row).items():
        if value not in stage.grounds.get(name, ()):
            known = ", ".join(stage.grounds.get(name, ())) or "none"
            return (
                f"An item came with another {FACETS[name]}: “{value or 'none'}”, where it was compiled from: {known}."
            )
    return ""


# --- Held against people ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Compared:
    """A verdict on an item that people have settled since, and what they said."""

    row: StageVerdict
    said: int
    settled_at: datetime

    @property
    def right(self) -> bool:
        return self.row.verdict == self.said


def compared(stage: Stage, **only: Any) -> list[Compared]:
    """Verdicts on live items, in the order in which people settled these. Two queries."""
    rows = StageVerdict.objects.filter(
        stage=stage,
        verdict__isnull=False,
        phase__in=[StagePhase.SHADOW, StagePhase.DECIDING],
        queue_item__state=QueueItemState.SETTLED,
        **only,
    ).exclude(queue_item__label__basis__in=UNANSWERED)
    found = list(rows.select_related("queue_item__label", "queue_item__item__trajectory__task"))
    values, read = _values_of(row.queue_item.label_id for row in found), reading_of(stage.reviewer)
    pairs = []
    for row in found:
        label = row.queue_item.label
        said = read(values.get(row.queue_item.label_id or 0, {}))
        if label is not None and said is not None:
            pairs.append(Compared(row, said, label.created_at))
    return sorted(pairs, key=lambda pair: (pair.settled_at, pair.row.pk))


def _values_of(labels: Iterable[int | None]) -> dict[int, dict[str, int | None]]:
    found: dict[int, dict[str, int | None]] = {}
    rows = LabelValue.objects.filter(label__in=list(labels), candidate__isnull=True)
    for label, key, value in rows.values_list("label", "criterion__key", "value"):
        found.setdefault(label, {})[key] = value
    return found


@dataclass(frozen=True)
class Kind:
    """What the reviewer stands alone for, passes or fails, on live items: how often people agree, and the bound."""

    verdict: int
    agreement: Estimate
    risk: Estimate
    limit: float
    more: int | None
    values: Mapping[str, int] | None

    @property
    def title(self) -> str:
        return WORDS[self.verdict]

    @property
    def holds(self) -> bool:
        return self.values is not None and self.agreement.n_units > 0 and (self.risk.high or 0) <= self.limit

    @property
    def words(self) -> str:
        if self.values is None:
            return f"{self.title} are left to people: such a verdict is no answer that a label could have."
        if not self.agreement.n_units:
            return f"{self.title}: none that it was sure of has been settled by people yet. {self._wanting}"
        wrong = round((self.risk.value or 0) * self.risk.n_units)
        held = f"{self.title}: {wrong} of {self.risk.n_units} wrong on live items, at most {self.risk.high or 0:.1%}"
        return f"{held}; {self.limit:.0%} is promised." + ("" if self.holds else f" {self._wanting}")

    @property
    def _wanting(self) -> str:
        if self.more is None:
            return "It errs too often for any number of further items to bear it out."
        return f"{self.more} more without an error would bear it out."


@dataclass(frozen=True)
class Check:
    """A verdict that would have been decided, held against what people or gold say."""

    right: bool
    at: datetime
    gold: bool
    row: StageVerdict

    @property
    def words(self) -> str:
        return f"{self.row.queue_item.item.subject}, by {'gold' if self.gold else 'people'}"


@dataclass(frozen=True)
class Watched:
    """What may end a stage: audits and gold one after the other with their drift chart, and how input has shifted.

    `inputs_from` is when the first of the latest items came that tell of the shift.
    """

    checks: tuple[Check, ...]
    chart: Chart
    shifts: tuple[Shift, ...]
    inputs_from: datetime | None

    @property
    def audited(self) -> Estimate:
        return self._right(gold=False, statistic="Agreement on audits")

    @property
    def on_gold(self) -> Estimate:
        return self._right(gold=True, statistic="Right on gold")

    def _right(self, *, gold: bool, statistic: str) -> Estimate:
        found = [check.right for check in self.checks if check.gold == gold]
        return wilson(sum(found), len(found), statistic=statistic)

    @property
    def drifted(self) -> list[Shift]:
        return [shift for shift in self.shifts if shift.drifted]


@dataclass(frozen=True)
class AskedSoFar:
    """How far a stage's judge has come: US dollars spent and allowed, items about which nobody has asked it yet.

    `held_up` says why it is not asked just now; "" where it is, or has nothing to be asked.
    """

    spent: Decimal
    budget: Decimal
    waiting: int
    held_up: str


def asked_so_far(stage: Stage) -> AskedSoFar | None:
    """None for a reviewer that asks nobody."""
    judge = stage.reviewer.judge
    if judge is None:
        return None
    begun = JudgedItem.objects.filter(run__stage=stage, state=JudgedState.WAITING).count()
    waiting, left = begun + len(to_ask(stage)), money_left(stage)
    held_up = _held_up(judge, last_asking(stage), left) if waiting else ""
    return AskedSoFar(stage.budget - left, stage.budget, waiting, held_up)


def money_left(stage: Stage) -> Decimal:
    """What of the stage's budget its judge has not taken yet, in US dollars."""
    spent: Decimal = JudgeRun.objects.filter(stage=stage).aggregate(spent=Sum("spent", default=Decimal(0)))["spent"]
    return stage.budget - spent


def last_asking(stage: Stage) -> JudgeRun | None:
    return JudgeRun.objects.filter(stage=stage).order_by("-pk").first()


def _held_up(judge: GraderVersion, last: JudgeRun | None, left: Decimal) -> str:
    if why := cannot_ask(setup_of(judge)):
        return why
    if last and last.state == JudgeRunState.CANCELLED:
        return "Somebody stopped the judge's run in this queue. Let it go on there, or take the stage out."
    if last and last.state == JudgeRunState.FAILED:
        return f"{last.error} It is tried again every ten minutes."
    if left <= 0 or (last and last.state == JudgeRunState.STOPPED and left <= last.budget - last.spent):
        return "Its budget does not allow for another item. What waits is with people; raise the budget to go on."
    return ""


@dataclass(frozen=True)
class Live:
    """A stage on live items: verdicts by what followed, agreement with people in shadow, and what it may decide."""

    stage: Stage
    counts: Mapping[str, int]
    pairs: tuple[Compared, ...]
    agreement: Estimate
    agreement_of_all: Estimate
    kinds: tuple[Kind, ...]
    besides: tuple[str, ...]
    watched: Watched
    last_at: datetime | None
    asking: AskedSoFar | None

    @property
    def takes(self) -> list[int]:
        """The verdicts that it may decide by what live items show."""
        return [] if self.besides else [kind.verdict for kind in self.kinds if kind.holds]

    @property
    def why_not(self) -> list[str]:
        """Why it may not decide anything; empty where it may."""
        if self.besides:
            asked = ", ".join(self.besides)
            return [f"The rubric also asks {asked}, on which this reviewer says nothing. It can only be measured here."]
        if self.takes:
            return []
        if not self.kinds:
            return ["Neither its passes nor its fails were certified to stand alone."]
        return [kind.words for kind in self.kinds]

    @property
    def differing(self) -> list[Compared]:
        """Where it was sure and people said otherwise, the latest first."""
        return [pair for pair in reversed(self.pairs) if pair.row.sure and not pair.right]


def live_of(stage: Stage) -> Live:
    """Everything that is known of a stage. Some ten queries, and time in proportion to its settled verdicts."""
    pairs = compared(stage)
    in_shadow = [pair for pair in pairs if pair.row.phase == StagePhase.SHADOW]
    sure = [pair for pair in in_shadow if pair.row.sure]
    rows = stage.verdicts.exclude(phase=StagePhase.GOLD).order_by()
    counts = Counter(dict(rows.values_list("outcome").annotate(n=Count("pk"))))
    return Live(
        stage=stage,
        counts={outcome.value: counts[outcome] for outcome in StageOutcome},
        pairs=tuple(pairs),
        agreement=wilson(sum(p.right for p in sure), len(sure), statistic="Agreement where it is sure"),
        agreement_of_all=wilson(sum(p.right for p in in_shadow), len(in_shadow), statistic="Agreement on all"),
        kinds=tuple(_kind(stage.reviewer, verdict, sure) for verdict in (PASS, FAIL) if _certified(stage, verdict)),
        besides=tuple(asked_besides(stage.reviewer)),
        watched=watched(stage),
        last_at=stage.verdicts.order_by("-pk").values_list("at", flat=True).first(),
        asking=asked_so_far(stage),
    )


def _certified(stage: Stage, verdict: int) -> bool:
    thresholds = (stage.reviewer.artefact or {}).get("thresholds", {})
    return thresholds.get("pass" if verdict == PASS else "fail") is not None


def _kind(reviewer: Reviewer, verdict: int, sure: Sequence[Compared]) -> Kind:
    chosen = [pair for pair in sure if pair.row.verdict == verdict]
    right, limit = sum(pair.right for pair in chosen), limit_of(reviewer, verdict)
    wrong = len(chosen) - right
    return Kind(
        verdict=verdict,
        agreement=wilson(right, len(chosen), statistic="Agreement"),
        risk=always_at_most(wrong, len(chosen), limit=limit, statistic="Risk on live items"),
        limit=limit,
        more=more_without_error(wrong, len(chosen), limit=limit),
        values=values_for(reviewer, verdict),
    )


def limit_of(reviewer: Reviewer, verdict: int) -> float:
    """How often such a verdict may be wrong, as its assurance has it: on a gate passes are held to the lower rate."""
    demands = Demands(**reviewer.demands)
    gate = reviewer.criterion is None or reviewer.criterion.kind == CriterionKind.GATE
    return demands.false_accepts if verdict == PASS and gate else demands.risk


# --- While it decides -------------------------------------------------------------------------------------------------
def watched(stage: Stage) -> Watched:
    """Audits that people have settled and gold, in order of time, and how the latest input looks."""
    found = [
        Check(pair.right, pair.settled_at, False, pair.row) for pair in compared(stage, outcome=StageOutcome.AUDITED)
    ]
    rows = stage.verdicts.filter(phase=StagePhase.GOLD, sure=True, verdict__in=stage.takes)
    read = reading_of(stage.reviewer)
    for row in rows.select_related("queue_item__gold__key", "queue_item__item__trajectory__task"):
        key = row.queue_item.gold.key
        wanted = read({name: _whole(entry) for name, entry in key.expected.items()}) if key else None
        if wanted is not None:
            found.append(Check(row.verdict == wanted, row.at, True, row))
    checks = tuple(sorted(found, key=lambda check: (check.at, check.row.pk)))
    latest = list(stage.verdicts.exclude(phase=StagePhase.GOLD).order_by("-pk")[:WINDOW])[::-1]
    inputs = [inputs_of(row.known, row.measures) for row in latest]
    moved = tuple(shifts(stage.baseline or {}, inputs))
    return Watched(checks, chart_of(stage, checks), moved, latest[0].at if latest else None)


def _whole(entry: Mapping[str, Any]) -> int | None:
    value = entry.get("value")
    return value if isinstance(value, int) else None


def chart_of(stage: Stage, found: Sequence[Check]) -> Chart:
    """The drift chart of audits and gold: from half the rate that was promised to twice as much."""
    promised = max((limit_of(stage.reviewer, verdict) for verdict in stage.takes or (PASS,)), default=0.1)
    return chart([check.right for check in found], promised / 2, promised * 2, RUN_LENGTH)


def inputs_of(known: float | None, measures: Mapping[str, float]) -> dict[str, float]:
    """Measures as logarithms, for they are counts of any size; the share of known words as it is."""
    return {name: log1p(value) for name, value in measures.items()} | ({} if known is None else {"known words": known})


# --- What leads may read ----------------------------------------------------------------------------------------------
def told_verdicts(stage: Stage) -> QuerySet[StageVerdict]:
    """Verdicts on items that are settled, the latest first; of all others nothing is told."""
    rows = StageVerdict.objects.filter(stage=stage, queue_item__state=QueueItemState.SETTLED)
    rows = rows.exclude(phase=StagePhase.GOLD).annotate(basis=F("queue_item__label__basis"))
    return rows.select_related("queue_item__item__trajectory__task", "queue_item__label").order_by("-pk")
