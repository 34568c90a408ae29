"""What gold says of each rater in a queue, beside how fast they are and how they agree with the others.

A gold item is right when every criterion on which both have a value is. What follows for a rater is proposed by
`next_step`, from nothing but the answers since the test began:
1. Somebody getting started, or watched, is put to Wald's test: passed, they are trusted; failed, they are paused.
2. Somebody trusted is followed by a CUSUM; when it rings they are watched, which is a new test.
3. Somebody paused comes back through a lead, or when gold was corrected and they would not fail now.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from goldsets.enums import STANDING_MOVES, MoveState, StandingState
from goldsets.models import GoldSchedule, Standing, StandingMove, StandingPolicy
from goldsets.queries.agreement import Kept, current_agreement
from goldsets.queries.answers import GoldAnswer, gold_answers
from goldsets.queries.questions import OWN_KEY, STEPS_KIND, questions_of
from goldsets.queries.values import criterion_of
from goldsets.queries.wording import expected_words, in_order, value_words
from goldsets.stats.following import Chart, Trial, answers_to_go, chart, last_good, trial
from goldsets.stats.matching import Expected
from goldsets.stats.proportion import wilson
from goldsets.stats.sequential import Verdict
from reviews.enums import CriterionKind, GateAnswer, QueueState, Role
from reviews.models import Criterion, Item, Membership, Queue, RaterPause
from reviews.stats.bias import bias
from reviews.stats.result import Estimate

# From here on a rater is said to lean one way.
LEAN_LEVEL = 0.05
# More answers in a row than any test that is allowed asks for.
MOST_ANSWERS = 3000


@dataclass(frozen=True)
class Confused:
    """A wrong answer as it was given and as it was expected, with the gold items on which it was."""

    expected: str
    said: str
    items: tuple[UUID, ...]

    @property
    def n(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Lean:
    """Which way a rater's answers differ from gold: `kinder` are those above what is expected, `stricter` those below.

    `p` is of McNemar's exact test for gates and Stuart and Maxwell's for levels; None where it is not defined.
    """

    kinder: int
    stricter: int
    n: int
    p: float | None
    method: str
    words: str

    @property
    def short(self) -> str:
        """A few words for a table; empty where nothing differs."""
        if self.p is None or not self.kinder + self.stricter:
            return ""
        if self.kinder == self.stricter:
            return "neither way"
        way = "kinder" if self.kinder > self.stricter else "stricter"
        return way if self.p <= LEAN_LEVEL else f"{way}, which may be chance"


@dataclass(frozen=True)
class GoldOnCriterion:
    """A rater on one criterion: of the gold items on which both rater and gold have a value."""

    key: str
    title: str
    n: int
    right: int
    accuracy: Estimate
    test: Trial
    drift: Chart
    lean: Lean | None
    confused: tuple[Confused, ...]


@dataclass(frozen=True)
class Step:
    """What the rule proposes, why in words, and after which answer the work was last good (None: never)."""

    after: StandingState
    why: str
    good_until: datetime | None


@dataclass(frozen=True)
class RaterStanding:
    """One rater in one queue.

    `test` and `drift` count from `tested_from`. `missed` are the gold items they got wrong. `alpha_change` is how alpha
    of the weakest criterion, named by `criterion_of_change`, changes without them. `others_seconds` is what the others
    usually take, where this rater is much faster, else None. `with_others` and `alpha_change` are
    None for who shares no item.
    """

    rater_id: int
    rater: str
    active: bool
    simulated: bool
    n_judgments: int
    median_seconds: Estimate | None
    others_seconds: Estimate | None
    state: str
    since: datetime | None
    tested_from: datetime | None
    test: Trial
    drift: Chart
    gold_n: int
    gold_right: int
    accuracy: Estimate
    criteria: tuple[GoldOnCriterion, ...]
    missed: tuple[UUID, ...]
    all_gold_seen: bool
    with_others: Estimate | None
    alpha_change: Estimate | None
    criterion_of_change: str

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists for JSON; ids of items are UUIDs."""
        return asdict(self)

    @property
    def state_words(self) -> str:
        return StandingState(self.state).label


def queue_standing(queue: Queue, *, kept: Kept | None = None) -> list[RaterStanding]:
    """Everybody who judges or has judged in the queue, by name.

    How they agree and how fast they are is as it was last counted where that is handed in, else counted now.
    """
    kept = kept or current_agreement(queue)
    agreement, seconds = kept.found, kept.seconds
    asked, policy = questions_of(queue), policy_of(queue)
    answers = by_rater(gold_answers(queue))
    standings = {standing.rater_id: standing for standing in Standing.objects.filter(queue=queue)}
    seen_all = set(
        GoldSchedule.objects.filter(queue=queue, used_up_at__isnull=False).values_list("rater_id", flat=True)
    )
    with_others = {entry.rater_id: entry.with_others for entry in agreement.raters}
    weakest = agreement.weakest
    much_faster = kept.much_faster
    change = {entry.rater_id: entry.change for entry in weakest.raters} if weakest else {}
    rows = []
    for member in Membership.objects.filter(project=queue.project_id).select_related("user"):
        rater = member.user_id
        judges = member.active and member.role == Role.EXPERT
        if rater not in seconds and not judges:
            continue
        own, standing = answers.get(rater, []), standings.get(rater)
        right = sum(answer.all_right for answer in own)
        tested_from = standing.tested_from if standing else None
        tested = [answer.all_right for answer in since(own, tested_from)]
        rows.append(
            RaterStanding(
                rater_id=rater,
                rater=str(member.user),
                active=member.active,
                simulated=member.simulated,
                n_judgments=seconds[rater].n_units if rater in seconds else 0,
                median_seconds=seconds.get(rater),
                others_seconds=much_faster.get(rater),
                state=standing.state if standing else StandingState.ONBOARDING,
                since=standing.since if standing else None,
                tested_from=tested_from,
                test=evidence_of(tested, policy),
                drift=drift_of(tested, policy),
                gold_n=len(own),
                gold_right=right,
                accuracy=wilson(right, len(own), statistic="Right on gold"),
                criteria=(
                    *(_on_criterion(criterion, own, policy) for criterion in asked.of_rubric),
                    *([_on_own_questions(asked.of_rubric, own, policy)] if asked.own else []),
                ),
                missed=tuple(answer.item for answer in own if not answer.all_right),
                all_gold_seen=rater in seen_all,
                with_others=with_others.get(rater),
                alpha_change=change.get(rater),
                criterion_of_change=weakest.title if weakest else "",
            )
        )
    return sorted(rows, key=lambda row: row.rater)


def by_rater(answers: Iterable[GoldAnswer]) -> dict[int, list[GoldAnswer]]:
    found: dict[int, list[GoldAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.right:
            found[answer.rater].append(answer)
    return found


def since(answers: Sequence[GoldAnswer], moment: datetime | None) -> list[GoldAnswer]:
    return [answer for answer in answers if moment is None or answer.at > moment]


def _on_criterion(criterion: Criterion, answers: list[GoldAnswer], policy: StandingPolicy) -> GoldOnCriterion:
    compared = [(answer, key) for answer in answers for _of, key in in_order([criterion], answer.right)]
    outcomes = [answer.right[key] for answer, key in compared]
    right, n = sum(outcomes), len(outcomes)
    confused: dict[tuple[str, str], list[UUID]] = defaultdict(list)
    for answer, key in compared:
        if not answer.right[key]:
            for mixed_up in _mixed_up(criterion, answer, key):
                confused[mixed_up].append(answer.item)
    classes = classes_of(criterion)
    ordered = sorted(confused.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return GoldOnCriterion(
        key=criterion.key,
        title=criterion.title,
        n=n,
        right=right,
        accuracy=wilson(right, n, statistic=f"Right on gold, {criterion.title}"),
        test=evidence_of(outcomes, policy),
        drift=drift_of(outcomes, policy),
        lean=_lean(classes, compared) if classes else None,
        confused=tuple(Confused(expected, said, tuple(items)) for (expected, said), items in ordered),
    )


def _on_own_questions(of_rubric: list[Criterion], answers: list[GoldAnswer], policy: Any) -> GoldOnCriterion:
    """All questions that single items brought along, together: each is asked too seldom to be looked at alone."""
    known = {criterion.key for criterion in of_rubric}
    outcomes = [right for answer in answers for key, right in answer.right.items() if criterion_of(key) not in known]
    return GoldOnCriterion(
        key=OWN_KEY,
        title="Questions of single items",
        n=len(outcomes),
        right=sum(outcomes),
        accuracy=wilson(sum(outcomes), len(outcomes), statistic="Right on gold, questions of single items"),
        test=evidence_of(outcomes, policy),
        drift=drift_of(outcomes, policy),
        lean=None,
        confused=(),
    )


def _mixed_up(criterion: Criterion, answer: GoldAnswer, key: str) -> set[tuple[str, str]]:
    """What was expected and what was said, in words; of steps, word by word."""
    expected, said = answer.expected[key].value, answer.said[key]
    if criterion.kind == STEPS_KIND and isinstance(expected, Mapping) and isinstance(said, Mapping):
        return {
            (criterion.level_name(value), criterion.level_name(said[step]) if step in said else "no word")
            for step, value in expected.items()
            if said.get(step) != value
        }
    return {(expected_words(criterion, Expected(expected)), value_words(criterion, said))}


def _lean(classes: list[int], compared: list[tuple[GoldAnswer, str]]) -> Lean:
    """Over the answers on which both sides gave one of the criterion's ordered classes."""
    place: dict[Any, int] = {value: number for number, value in enumerate(classes)}
    table = np.zeros((len(classes), len(classes)), dtype=int)
    for answer, key in compared:
        said, expected = answer.said[key], answer.expected[key].value
        if said in place and expected in place:
            at = (place[said], place[expected])
            table[at] += 1
    test = bias(table).test
    kinder, stricter = int(np.tril(table, -1).sum()), int(np.triu(table, 1).sum())
    n = int(table.sum())
    words = f"{kinder} above and {stricter} below what is expected, of {n}."
    said = f"{words} p {test.p:.2g}, {test.method}." if test.p is not None else f"{words} {test.words}"
    return Lean(kinder, stricter, n, test.p, test.method, said)


def classes_of(criterion: Criterion) -> list[int]:
    """The values of a criterion in ascending order of how good they are; none where they have no such order."""
    if criterion.is_gate:
        return [int(GateAnswer.FAIL), int(GateAnswer.PASS)]
    return [level["value"] for level in criterion.levels] if criterion.kind == CriterionKind.ORDINAL else []


# --- The test and its rule --------------------------------------------------------------------------------------------
def policy_of(queue: Queue) -> StandingPolicy:
    """The queue's policy, or the defaults, which are not stored."""
    return StandingPolicy.objects.filter(queue=queue).first() or StandingPolicy(queue=queue)


def measured_queues() -> list[Queue]:
    """Open queues in which gold is mixed in."""
    measured = Queue.objects.filter(state=QueueState.OPEN, gold_policy__rate__gt=0)
    return list(measured.select_related("project", "rubric"))


def shortest(policy: StandingPolicy) -> tuple[int, int]:
    """After how many answers in a row, all right or all wrong, the test passes and fails at the earliest."""
    return evidence_of([True] * MOST_ANSWERS, policy).at, evidence_of([False] * MOST_ANSWERS, policy).at


def evidence_of(outcomes: Sequence[bool], policy: StandingPolicy) -> Trial:
    return trial(outcomes, policy.p0, policy.p1, policy.alpha, policy.beta)


def drift_of(outcomes: Sequence[bool], policy: StandingPolicy) -> Chart:
    return chart(outcomes, policy.p0, policy.p1, policy.run_length)


def next_step(
    state: StandingState, tested: Sequence[GoldAnswer], all_of: Sequence[GoldAnswer], policy: Any
) -> Step | None:
    """What the rule proposes on the answers `tested` since the test began; `all_of` reach back to the last pause."""
    outcomes = [answer.all_right for answer in tested]
    if state == StandingState.ACTIVE:
        drift = drift_of(outcomes, policy)
        return Step(StandingState.WATCHED, drift.words, _good_until(all_of, policy)) if drift.rang else None
    if state == StandingState.PAUSED:
        return None
    test = evidence_of(outcomes, policy)
    if test.verdict == Verdict.PASS:
        return Step(StandingState.ACTIVE, test.words, tested[test.at - 1].at)
    if test.verdict == Verdict.FAIL:
        return Step(StandingState.PAUSED, test.words, _good_until(all_of, policy))
    return None


def _good_until(answers: Sequence[GoldAnswer], policy: Any) -> datetime | None:
    at = last_good([answer.all_right for answer in answers], policy.p0, policy.p1)
    return answers[at - 1].at if at else None


def would_not_fail_now(move: StandingMove, answers: Sequence[GoldAnswer], policy: Any) -> Trial | None:
    """The test that paused somebody, run again on what gold expects now; None where it fails them still."""
    start, end = move.figures.get("tested_from"), move.figures.get("until")
    if not move.by_rule or not end:
        return None
    first, last = (datetime.fromisoformat(start) if start else None), datetime.fromisoformat(end)
    again = evidence_of([answer.all_right for answer in since(answers, first) if answer.at <= last], policy)
    return again if again.verdict != Verdict.FAIL else None


# --- Moves ------------------------------------------------------------------------------------------------------------
def proposed_moves(queue: Queue) -> list[StandingMove]:
    """What the rule proposes and no lead has decided."""
    return list(moves_of(queue).filter(state=MoveState.PROPOSED))


def moves_of(queue: Queue, *, rater: int | None = None) -> Any:
    moves = StandingMove.objects.filter(standing__queue=queue).select_related(
        "standing__rater", "standing__queue__project", "decided_by"
    )
    return moves.filter(standing__rater=rater) if rater is not None else moves


def move_by_uid(queue: Queue, uid: Any) -> StandingMove | None:
    return moves_of(queue).filter(uid=uid).first()


def last_pause(standing: Standing) -> StandingMove | None:
    """The step that paused them last."""
    return standing.moves.filter(after=StandingState.PAUSED, state=MoveState.DONE).order_by("-decided_at").first()


def last_return(standing: Standing) -> datetime | None:
    """When they last came back from a pause."""
    back = standing.moves.filter(before=StandingState.PAUSED, state=MoveState.DONE).order_by("-decided_at").first()
    return back.decided_at if back else None


# --- One rater --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RaterPage:
    """One rater as a lead looks at them: every answer on gold, the test that runs, every step so far."""

    standing: RaterStanding
    answers: list[tuple[GoldAnswer, str]]
    tested: list[tuple[GoldAnswer, str]]
    drift: Chart
    moves: list[StandingMove]
    proposed: StandingMove | None
    policy: StandingPolicy
    can_become: list[tuple[str, str]]
    told: str
    to_go: str


def _to_go(standing: RaterStanding, tested: list[bool], policy: StandingPolicy) -> str:
    """How many more answers it takes until the test decides, on average."""
    if standing.test.verdict != Verdict.UNDECIDED:
        return ""
    good, bad = answers_to_go(tested, policy.p0, policy.p1, policy.alpha, policy.beta)
    return f"On average {good:.0f} more answers if they are good enough, {bad:.0f} if they are not."


def rater_page(queue: Queue, rater_id: int, *, kept: Kept | None = None) -> RaterPage | None:
    standing = next((row for row in queue_standing(queue, kept=kept) if row.rater_id == rater_id), None)
    if standing is None:
        return None
    policy = policy_of(queue)
    own = by_rater(gold_answers(queue, rater=rater_id)).get(rater_id, [])
    items = Item.objects.filter(uid__in=[answer.item for answer in own]).select_related("trajectory__task", "task")
    titles = {item.uid: str(item.subject) for item in items}
    named = [(answer, titles.get(answer.item, "")) for answer in own]
    tested = {answer.placement for answer in since(own, standing.tested_from)}
    moves = list(moves_of(queue, rater=rater_id))
    pause = RaterPause.objects.filter(queue=queue, rater=rater_id, ended_at=None).first()
    return RaterPage(
        standing=standing,
        answers=named,
        tested=[(answer, title) for answer, title in named if answer.placement in tested],
        drift=drift_of([answer.all_right for answer in own], policy),
        moves=[move for move in moves if move.state != MoveState.PROPOSED],
        proposed=next((move for move in moves if move.state == MoveState.PROPOSED), None),
        policy=policy,
        can_become=[
            (state.value, state.label)
            for state in StandingState
            if state in STANDING_MOVES[StandingState(standing.state)]
        ],
        told=pause.words if pause else "",
        to_go=_to_go(standing, [answer.all_right for answer in since(own, standing.tested_from)], policy),
    )
