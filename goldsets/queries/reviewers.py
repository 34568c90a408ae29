"""Reviewers: the decisions of a queue with the rungs of their ladder, and what the compile of one rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from goldsets.enums import (
    RULED,
    STAGE_LIVE,
    DatasetPurpose,
    FamilySplitName,
    GoldVerb,
    GraderScale,
    JudgeProtocol,
    ReviewerState,
    Rung,
)
from goldsets.models import GraderScore, GraderVersion, JudgeSetup, Reviewer, Stage
from goldsets.queries.graded import scores_of
from goldsets.queries.judges import judges_of, shown_families
from goldsets.queries.leaving import settled
from goldsets.queries.splits import plan_of, tasks_apart_from, tasks_with_split
from goldsets.reviewing.assurance import EPSILON, Demands
from goldsets.reviewing.examples import Target
from goldsets.reviewing.judge_scores import likelihood
from goldsets.reviewing.rule_lines import lines_of
from goldsets.stats.ledger import ratio
from reviews.enums import Basis, CriterionKind, GateAnswer, ItemKind, Scope, Tier
from reviews.models import Criterion, Event, Judgment, LabelValue, Membership, Project, Queue, QueueItem
from reviews.stats.result import SHORT, Estimate, Reason

# The kinds of criteria whose answers divide into pass and fail.
DECIDABLE = [CriterionKind.GATE, CriterionKind.ORDINAL, CriterionKind.BINARY, CriterionKind.CHOICE]
# The task of a row's item, be it of a run or under review.
TASK = Coalesce("item__trajectory__task", "item__task")
EVERY_GATE = "every-gate"
# The rungs that are compiled, the cheapest first.
COMPILED = [Rung.RULES, Rung.CLASSIFIER, Rung.CASCADE, Rung.JUDGE]


# --- What can be decided ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Decision:
    """A criterion with the value it passes from, or every gate of the rubric."""

    criterion: Criterion | None
    at_least: int = 1

    @property
    def key(self) -> str:
        return self.criterion.key if self.criterion else EVERY_GATE

    @property
    def form_key(self) -> str:
        """How the compile of it is asked for: the criterion's key, or nothing."""
        return self.criterion.key if self.criterion else ""

    @property
    def title(self) -> str:
        return self.criterion.title if self.criterion else "Every gate"

    @property
    def words(self) -> str:
        """When it passes: "passes", "2 Sound or more", "Keep"."""
        criterion = self.criterion
        if criterion is None:
            return "all pass"
        if criterion.kind == CriterionKind.ORDINAL:
            return f"{self.at_least} {criterion.level_name(self.at_least)} or more"
        if criterion.kind == CriterionKind.CHOICE:
            return criterion.level_name(self.at_least)
        return "yes" if criterion.kind == CriterionKind.BINARY else "passes"


def criteria_of(queue: Queue) -> list[Criterion]:
    """What a reviewer of the queue's items could decide. None where several runs are laid beside each other."""
    if queue.rubric.item_kind == ItemKind.COMPARISON:
        return []
    return list(
        Criterion.objects.filter(rubric=queue.rubric, kind__in=DECIDABLE, scope=Scope.ITEM).order_by("position")
    )


def values_of(criterion: Criterion) -> list[int]:
    """The values it could pass from: not the lowest level, from which everything passes."""
    if criterion.kind == CriterionKind.ORDINAL:
        return sorted(level["value"] for level in criterion.levels)[1:]
    if criterion.kind == CriterionKind.CHOICE:
        return [level["value"] for level in criterion.levels]
    return [1]


def usual_value(criterion: Criterion) -> int:
    """Of levels the one in the upper middle, of options the first."""
    values = values_of(criterion)
    return values[len(values) // 2] if criterion.kind == CriterionKind.ORDINAL and values else next(iter(values), 1)


def decisions_of(queue: Queue) -> list[Decision]:
    """Each criterion with its usual value and those that something was compiled for; every gate first."""
    criteria = criteria_of(queue)
    compiled = Reviewer.objects.filter(queue=queue, criterion__in=criteria).values_list("criterion", "at_least")
    asked = set(compiled.order_by().distinct())
    found = [Decision(None)] if sum(criterion.kind == CriterionKind.GATE for criterion in criteria) > 1 else []
    for criterion in criteria:
        usual = usual_value(criterion)
        values = sorted({usual} | {value for pk, value in asked if pk == criterion.pk})
        found += [Decision(criterion, value) for value in values]
    return found


def target_of(reviewer: Reviewer) -> Target:
    """The decision as `goldsets.reviewing` has it."""
    criterion = reviewer.criterion
    if criterion is None:
        gates = Criterion.objects.filter(rubric=reviewer.rubric, kind=CriterionKind.GATE, scope=Scope.ITEM)
        return Target("", gates=tuple(gates.order_by("position").values_list("key", flat=True)))
    return Target(
        criterion.key,
        reviewer.at_least,
        is_gate=criterion.kind == CriterionKind.GATE,
        is_choice=criterion.kind == CriterionKind.CHOICE,
    )


# --- The labels it rests on -------------------------------------------------------------------------------------------
def labelled(queue: Queue) -> QuerySet[QueueItem]:
    """The settled items whose labels say something and come from people: no reviewer learns from another."""
    return settled(queue.project, queue).exclude(label__basis__in=[Basis.AMBIGUOUS, Basis.REVIEWER])


def sealed_families(project: Project) -> list[str]:
    """Families that are held out, as examples name them: nothing is ever fitted on one."""
    return _named(tasks_apart_from(project, DatasetPurpose.ONLINE))


def calibration_families(project: Project) -> list[str]:
    """Families that are dealt to calibration, on which weights are not fitted either."""
    if plan_of(project) is None:
        return []
    return _named(tasks_with_split(project).filter(dealt=FamilySplitName.CALIBRATION))


def families_shown_to(judge: GraderVersion) -> list[str]:
    """Families of which a judge has examples, as `sealed_families` names them: nothing of it is proven on one."""
    shown = shown_families(JudgeSetup.objects.filter(version=judge))
    return _named(tasks_with_split(judge.grader.project).filter(dealt_as__in=shown))


def _named(tasks: QuerySet[Any]) -> list[str]:
    return sorted({family or f"task {key}" for family, key in tasks.values_list("family", "key")})


def earlier_readings(reviewer: Reviewer) -> int:
    """How often the proof's families were read for this decision before this reviewer."""
    same = Reviewer.objects.filter(
        queue=reviewer.queue_id, criterion=reviewer.criterion_id, at_least=reviewer.at_least, number__lt=reviewer.number
    )
    read = Event.objects.filter(project=reviewer.project_id, verb=GoldVerb.SEALED_TEST_READ, target_type="reviewer")
    return read.filter(target_id__in=same.values("pk")).count()


# --- The ladder -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """One rung of one decision: the latest reviewer that was compiled for it, and the stage in which one is at work."""

    rung: Rung
    reviewer: Reviewer | None
    stage: Stage | None

    @property
    def decides(self) -> str:
        """Which share of its test it decided alone: "61% [55%, 67%], n 120"; nothing where it came to no test."""
        share = self._proven("selective").get("coverage") or {}
        if share.get("value") is None:
            return str(share.get("words", ""))
        return f"{share['value']:.0%} [{share['low']:.0%}, {share['high']:.0%}], n {share['n_units']}"

    @property
    def takes(self) -> str:
        """What a verdict takes: of a judge the dollars for asking it, where they are known, else computing, which is
        timed for the whole test at once and so has no interval."""
        if self.rung == Rung.JUDGE:
            return _dollars((self.reviewer.origins if self.reviewer else {}).get("judge", {}).get("dollars"))
        cost = self._proven("cost")
        return f"{cost['seconds'] * 1000:.2g} ms, mean of n {cost['n']}, timed once" if cost else ""

    @property
    def keeps(self) -> str:
        """From which share right on a rule of a cascade keeps what it decides."""
        return f"{1 - Demands().risk:.0%}"

    def _proven(self, key: str) -> dict[str, Any]:
        proofs = ((self.reviewer and self.reviewer.assurance) or {}).get("proofs", [])
        return next((proof["figures"] for proof in proofs if proof["key"] == key), {})

    @property
    def missing(self) -> list[str]:
        """Of a refused one what it lacks."""
        known = self.reviewer and self.reviewer.state == ReviewerState.REFUSED and self.reviewer.assurance
        return list(known["missing"]) if known else []

    @property
    def ruled(self) -> bool:
        """Whether somebody writes rules for it."""
        return self.rung in RULED

    @property
    def rule_lines(self) -> str:
        return lines_of(self.reviewer.rules) if self.reviewer else ""

    @property
    def running(self) -> bool:
        return self.reviewer is not None and self.reviewer.state in (ReviewerState.WAITING, ReviewerState.COMPILING)


def _dollars(spent: dict[str, Any] | None) -> str:
    """ "$0.0020 [0.0018, 0.0023], n 40 tasks", or why there is no interval; nothing where no cost is known."""
    if not spent or spent["value"] is None:
        return ""
    span = f"[{spent['low']:.4f}, {spent['high']:.4f}]" if spent["low"] is not None else SHORT[Reason(spent["reason"])]
    return f"${spent['value']:.4f} {span}, n {spent['n_units']} task{'' if spent['n_units'] == 1 else 's'}"


@dataclass(frozen=True)
class Ladder:
    """A decision with its rungs, the dearest first, and how many labels of the queue pass and fail it."""

    decision: Decision
    passes: int
    fails: int
    steps: list[Step]
    judges: list[GraderVersion]

    @property
    def levels(self) -> list[tuple[int, str]]:
        """What it could pass from as well, of levels and options."""
        criterion = self.decision.criterion
        values = values_of(criterion) if criterion else []
        return [(value, criterion.level_name(value)) for value in values] if criterion and values != [1] else []

    @property
    def wanting(self) -> list[str]:
        """What labels of either kind are missing before anything can be fitted."""
        wanted = Demands().fewest_of_class
        short = [(wanted - self.passes, "pass", "passes"), (wanted - self.fails, "fail", "fails")]
        return [f"{n} more {one if n == 1 else many}" for n, one, many in short if n > 0]


def ladders_of(queue: Queue) -> list[Ladder]:
    """Every decision of the queue with the latest of each rung; the number of queries does not grow with them."""
    rows = reviewers_of(queue).order_by("number")
    latest = {(row.criterion_id, row.at_least, row.rung): row for row in rows}
    live = Stage.objects.filter(reviewer__queue=queue, state__in=STAGE_LIVE).select_related("queue", "reviewer")
    at_work = {(one.reviewer.criterion_id, one.reviewer.at_least, one.reviewer.rung): one for one in live}
    decisions = decisions_of(queue)
    counts, judges = _counts(queue, decisions), judges_for(queue)
    found = []
    for decision in decisions:
        about = (decision.criterion.pk if decision.criterion else None, decision.at_least)
        places = [(rung, (*about, rung.value)) for rung in reversed(COMPILED)]
        steps = [Step(rung, latest.get(place), at_work.get(place)) for rung, place in places]
        passes, fails = counts[decision.key, decision.at_least]
        found.append(Ladder(decision, passes, fails, steps, judges.get(decision.form_key, [])))
    return found


def worth_of_a_person(queue: Queue) -> float:
    """How much closer to the others a person may be before nothing stands in for them: the cost-benefit penalty of
    Calderon, Reichart and Dror (2025), that of the lowest tier among the queue's raters.
    """
    judged = Judgment.objects.filter(queue=queue).order_by().values("rater")
    tiers = Membership.objects.filter(project=queue.project_id, user__in=judged).values_list("tier", flat=True)
    return min((EPSILON[tier] for tier in tiers), default=EPSILON[Tier.EXPERT])


def minutes_a_label(queue: Queue) -> Estimate:
    """What the queue's raters took for each of its labels, in minutes, over its tasks. Two queries."""
    judged = Judgment.objects.filter(queue=queue, revision=1).order_by()
    spent = judged.values_list(TASK).annotate(seconds=Sum("active_seconds"))
    labels = labelled(queue).order_by().values_list(TASK).annotate(n=Count("pk"))
    minutes = {task: seconds / 60 for task, seconds in spent}
    return ratio(minutes, dict(labels), statistic="minutes per label", nothing="There is no label yet.")


def judges_for(queue: Queue) -> dict[str, list[GraderVersion]]:
    """By the criterion that they judge, the versions of judging models of the project that can be asked from here."""
    found: dict[str, list[GraderVersion]] = {}
    for setup in judges_of(queue.project):
        found.setdefault(setup.version.grader.criterion, []).append(setup.version)
    return found


def judge_version(project: Project, uid: Any) -> GraderVersion | None:
    """The version of a judging model of the project with this public id."""
    return GraderVersion.objects.select_related("grader").filter(uid=uid, grader__project=project).first()


@dataclass(frozen=True)
class Answer:
    """What a judge said of an item; of a service that said how sure it is of a pass or a fail, how likely a pass is."""

    said: float
    evidence: Sequence[Mapping[str, Any]]


def answers_by(version: GraderVersion, criterion: str, **only: Any) -> dict[str, Answer]:
    """What the judge said first, by the item's public id; of the items that `only` names, or of all."""
    first = scores_of(version, criterion).filter(**only).order_by("item", "attempt").distinct("item")
    sure_of = version.scale == GraderScale.BINARY and version.judge.protocol == JudgeProtocol.DECISIONS
    return {
        str(uid): Answer(likelihood(value, sure if sure_of else None), evidence)
        for uid, value, sure, evidence in first.values_list("item__uid", "value", "meta__confidence", "evidence")
    }


def said_by(version: GraderVersion, criterion: str) -> dict[str, float]:
    """What the judge said of each item first, by the item's public id."""
    return {uid: answer.said for uid, answer in answers_by(version, criterion).items()}


def cost_of_asking(version: GraderVersion) -> Estimate:
    """US dollars that an item took, over its tasks."""
    scores = GraderScore.objects.filter(version=version, cost__isnull=False).order_by()
    rows = list(scores.values_list(TASK).annotate(dollars=Sum("cost"), n=Count("pk")))
    dollars, asked = {task: float(cost) for task, cost, _n in rows}, {task: n for task, _cost, n in rows}
    return ratio(dollars, asked, statistic="US dollars per item", nothing="No cost is known.")


def _counts(queue: Queue, decisions: list[Decision]) -> dict[tuple[str, int], tuple[int, int]]:
    values = LabelValue.objects.filter(label__in=labelled(queue).order_by().values("label"), value__isnull=False)
    said: dict[str, dict[int, int]] = {}
    for key, value, n in values.values_list("criterion__key", "value").annotate(n=Count("pk")).order_by():
        said.setdefault(key, {})[value] = n
    found = {}
    for decision in decisions:
        if decision.criterion is None:
            gates = values.filter(criterion__kind=CriterionKind.GATE, criterion__rubric=queue.rubric)
            by_label = gates.values("label").annotate(
                failed=Count("pk", filter=Q(value=GateAnswer.FAIL)),
                unsure=Count("pk", filter=Q(value=GateAnswer.UNSURE)),
            )
            found[decision.key, 1] = (
                by_label.filter(failed=0, unsure=0).count(),
                by_label.filter(failed__gt=0).count(),
            )
            continue
        answers = said.get(decision.key, {})
        exact = decision.criterion.kind == CriterionKind.CHOICE
        passing = [v for v in answers if (v == decision.at_least if exact else v >= decision.at_least)]
        failing = [v for v in answers if v >= 0 and v not in passing]
        found[decision.key, decision.at_least] = (sum(answers[v] for v in passing), sum(answers[v] for v in failing))
    return found


# --- Reviewers --------------------------------------------------------------------------------------------------------
def reviewers_of(queue: Queue) -> QuerySet[Reviewer]:
    """Without weights and proofs, which may be large."""
    return _light(Reviewer.objects.filter(queue=queue))


def reviewers_of_project(project: Project) -> QuerySet[Reviewer]:
    return _light(Reviewer.objects.filter(project=project)).order_by("-pk")


def _light(rows: QuerySet[Reviewer]) -> QuerySet[Reviewer]:
    return rows.select_related("project", "queue", "criterion", "rubric", "guideline", "created_by", "signed_by").defer(
        "artefact", "families"
    )


def reviewer_by_uid(uid: Any) -> Reviewer | None:
    rows = Reviewer.objects.select_related(
        "project", "queue__rubric", "criterion", "rubric", "guideline", "judge__grader", "created_by", "signed_by"
    )
    return rows.filter(uid=uid).first()


def decision_of(reviewer: Reviewer) -> Decision:
    return Decision(reviewer.criterion, reviewer.at_least)
