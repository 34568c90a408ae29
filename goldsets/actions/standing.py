"""Standing: the rule looks at the answers on gold and proposes; a lead confirms, or the policy has it done at once.

A rater who is paused gets no new items and is told so kindly; what they judged since their work was last good is kept,
set aside or sent to a lead, as the policy says. Everything is an Event.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from goldsets.enums import STANDING_MOVES, GoldVerb, MoveState, StandingState, WorkPolicy
from goldsets.models import GoldItem, Standing, StandingMove, StandingPolicy
from goldsets.queries.answers import gold_answers
from goldsets.queries.standing import (
    Step,
    by_rater,
    last_pause,
    last_return,
    next_step,
    policy_of,
    since,
    would_not_fail_now,
)
from goldsets.stats.following import trial
from reviews.actions.events import record
from reviews.actions.pausing import Touched, pause_rater, resume_rater, send_work_to_lead, set_aside
from reviews.actions.payloads import storable
from reviews.enums import Role
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Assignment, Membership, Queue
from reviews.rules import check

WHY_LENGTH = 2000
RUN_LENGTHS = (20, 5000)


# --- The policy -------------------------------------------------------------------------------------------------------
@transaction.atomic
def set_standing_policy(
    *,
    actor: Any,
    queue: Queue,
    p0: float | None = None,
    p1: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    run_length: int | None = None,
    automatic: bool | None = None,
    work: str | None = None,
) -> StandingPolicy:
    """Change what is given. Raises Forbidden, or Invalid with a sentence per field. One bad item fails nobody."""
    check(actor, "manage_queue", queue.project)
    policy = StandingPolicy.objects.select_for_update().filter(queue=queue).first() or StandingPolicy(queue=queue)
    given = {"p0": p0, "p1": p1, "alpha": alpha, "beta": beta, "run_length": run_length, "automatic": automatic}
    changes = {name: value for name, value in {**given, "work": work}.items() if value is not None}
    for name, value in changes.items():
        setattr(policy, name, value)
    if errors := _errors_of(policy):
        raise Invalid(errors)
    policy.save()
    record(project=queue.project_id, actor=actor, verb=GoldVerb.STANDING_POLICY_CHANGED, target=queue, **changes)
    return policy


def _errors_of(policy: StandingPolicy) -> dict[str, str]:
    errors = {}
    for name in ("p0", "p1", "alpha", "beta"):
        value = getattr(policy, name)
        if type(value) not in (int, float) or not 0.001 <= value <= 0.999:
            errors[name] = "Give a rate between 0.001 and 0.999."
    if policy.work not in WorkPolicy.values:
        errors["work"] = f"The policy for work is one of {', '.join(WorkPolicy.values)}."
    if type(policy.run_length) is not int or not RUN_LENGTHS[0] <= policy.run_length <= RUN_LENGTHS[1]:
        errors["run_length"] = f"Give a whole number from {RUN_LENGTHS[0]} to {RUN_LENGTHS[1]:,}."
    if errors:
        return errors
    if policy.p0 + 0.02 > policy.p1:
        return {"p1": "The error rate that is not good enough must be at least 0.02 above the one that is."}
    if policy.alpha + policy.beta >= 1:
        return {"beta": "The two risks must add up to less than 1."}
    if trial([False], policy.p0, policy.p1, policy.alpha, policy.beta).at:
        return {"p1": "With these numbers a single wrong answer would fail somebody. Bring the rates closer together."}
    return {}


# --- The rule ---------------------------------------------------------------------------------------------------------
@transaction.atomic
def review_standings(*, queue: Queue, actor: Any = None) -> list[StandingMove]:
    """Put everybody in the queue to the test. Returns the steps that are new: proposed, or carried out by the policy.

    What was proposed and no longer follows, because gold was corrected or answers came in, is overtaken.
    """
    if actor is not None:
        check(actor, "view_agreement", queue.project)
    policy, answers = policy_of(queue), by_rater(gold_answers(queue))
    Standing.objects.bulk_create((Standing(queue=queue, rater_id=rater) for rater in answers), ignore_conflicts=True)
    standings = Standing.objects.select_for_update().filter(queue=queue).order_by("pk")
    new = []
    for standing in standings:
        step = _step_of(standing, answers.get(standing.rater_id, []), policy)
        move = _propose(standing, step, answers.get(standing.rater_id, []))
        if move and policy.automatic:
            move = _carry_out(move, actor=None, work=policy.work, words="")
        if move:
            new.append(move)
    return new


def _step_of(standing: Standing, answers: list[Any], policy: StandingPolicy) -> Step | None:
    state = StandingState(standing.state)
    if state != StandingState.PAUSED:
        return next_step(state, since(answers, standing.tested_from), since(answers, last_return(standing)), policy)
    pause = last_pause(standing)
    again = would_not_fail_now(pause, answers, policy) if pause else None
    if again is None:
        return None
    return Step(StandingState.WATCHED, f"Gold was corrected. On what it expects now: {again.words}", None)


def _propose(standing: Standing, step: Step | None, answers: list[Any]) -> StandingMove | None:
    """The step as a new proposal; None where there is none, or it stands as one already."""
    waiting = standing.moves.filter(state=MoveState.PROPOSED).first()
    if waiting and step and waiting.after == step.after:
        return None
    if waiting:
        waiting.state, waiting.decided_at = MoveState.OVERTAKEN, timezone.now()
        waiting.save(update_fields=["state", "decided_at"])
        record(
            project=standing.queue.project_id,
            actor=None,
            verb=GoldVerb.STANDING_OVERTAKEN,
            target=standing,
            rater=standing.rater_id,
            after=waiting.after,
        )
    if step is None:
        return None
    move = StandingMove.objects.create(
        standing=standing,
        before=standing.state,
        after=step.after,
        by_rule=True,
        why=step.why,
        good_until=step.good_until,
        figures={
            "answers": len(since(answers, standing.tested_from)),
            "tested_from": standing.tested_from.isoformat() if standing.tested_from else None,
            "until": answers[-1].at.isoformat() if answers else None,
        },
    )
    record(
        project=standing.queue.project_id,
        actor=None,
        verb=GoldVerb.STANDING_PROPOSED,
        target=standing,
        rater=standing.rater_id,
        before=move.before,
        after=move.after,
        why=move.why,
    )
    return move


# --- What a lead does -------------------------------------------------------------------------------------------------
@transaction.atomic
def confirm_move(*, actor: Any, move: StandingMove, work: str | None = None, words: str = "") -> StandingMove:
    """Carry out what the rule proposes. For a pause, `work` says what becomes of the work since it was last good (the
    queue's policy where it is left out) and `words` what the rater is told."""
    move = _locked(actor, move)
    return _carry_out(move, actor=actor, work=work or policy_of(move.standing.queue).work, words=words)


@transaction.atomic
def decline_move(*, actor: Any, move: StandingMove, why: str = "") -> StandingMove:
    """Leave the standing as it is. The test begins anew, so the same answers do not propose the same again."""
    move = _locked(actor, move)
    _check_why(why)
    now = timezone.now()
    move.state, move.decided_by, move.decided_at = MoveState.DECLINED, actor, now
    move.save(update_fields=["state", "decided_by", "decided_at"])
    Standing.objects.filter(pk=move.standing_id).update(tested_from=now)
    record(
        project=move.standing.queue.project_id,
        actor=actor,
        verb=GoldVerb.STANDING_DECLINED,
        target=move.standing,
        rater=move.standing.rater_id,
        after=move.after,
        why=why.strip(),
    )
    return move


@transaction.atomic
def change_standing(
    *, actor: Any, queue: Queue, rater_id: int, after: str, why: str, work: str | None = None, words: str = ""
) -> StandingMove:
    """A lead's own step, with a reason. Raises Invalid for a state that cannot follow, NotFound for who is no rater."""
    check(actor, "manage_queue", queue.project)
    _refuse_own(actor, rater_id)
    _check_why(why, needed=True)
    rater = _rater(queue, rater_id)
    if after not in StandingState.values:
        raise Invalid({"state": f"The state must be one of {', '.join(StandingState.values)}."})
    Standing.objects.get_or_create(queue=queue, rater=rater)
    standing = Standing.objects.select_for_update().get(queue=queue, rater=rater)
    if after not in STANDING_MOVES[StandingState(standing.state)]:
        now = standing.get_state_display().lower()
        raise Invalid({"state": f"{rater} is “{now}” and cannot become “{after}” from there."})
    _propose(standing, None, [])
    move = StandingMove.objects.create(
        standing=standing, before=standing.state, after=after, by_rule=False, why=why.strip()
    )
    return _carry_out(move, actor=actor, work=work or WorkPolicy.KEEP, words=words)


def _rater(queue: Queue, rater_id: int) -> Any:
    member = Membership.objects.filter(
        project=queue.project_id, user=rater_id, role__in=[Role.EXPERT, Role.LEAD]
    ).first()
    if member is None:
        raise NotFound("Nobody like that judges in this queue.")
    return member.user


def _refuse_own(actor: Any, rater_id: int) -> None:
    """Raises Forbidden where a lead who judges would say how they stand themselves."""
    if actor.pk == rater_id:
        raise Forbidden("This is your own standing. Another lead decides it.")


def _locked(actor: Any, move: StandingMove) -> StandingMove:
    """The move with its standing, both as they are now. Raises Forbidden, or Conflict where somebody decided it."""
    check(actor, "manage_queue", move.standing.queue.project)
    _refuse_own(actor, move.standing.rater_id)
    standing = Standing.objects.select_for_update().get(pk=move.standing_id)
    move = StandingMove.objects.get(pk=move.pk)
    move.standing = standing
    if move.state != MoveState.PROPOSED or move.before != standing.state:
        raise Conflict(f"This was {move.get_state_display().lower()} already. Look at where the rater stands now.")
    return move


def _carry_out(move: StandingMove, *, actor: Any, work: str, words: str) -> StandingMove:
    """The step itself. Call it in a transaction that holds the standing."""
    standing, now = move.standing, timezone.now()
    queue, rater = standing.queue, standing.rater
    touched = Touched()
    if move.after == StandingState.PAUSED:
        if work not in WorkPolicy.values:
            raise Invalid({"work": f"The policy for work is one of {', '.join(WorkPolicy.values)}."})
        pause_rater(actor=actor, queue=queue, rater=rater, words=words)
        touched = _treat_work(actor, queue, rater, move, WorkPolicy(work))
        move.work = work
    elif move.before == StandingState.PAUSED:
        resume_rater(actor=actor, queue=queue, rater=rater)
    standing.state, standing.since, standing.tested_from = move.after, now, now
    standing.save(update_fields=["state", "since", "tested_from"])
    move.state, move.decided_by, move.decided_at, move.touched = MoveState.DONE, actor, now, vars(touched)
    move.save(update_fields=["state", "decided_by", "decided_at", "touched", "work"])
    record(
        project=queue.project_id,
        actor=actor,
        verb=GoldVerb.STANDING_CHANGED,
        target=standing,
        rater=rater.pk,
        before=move.before,
        after=move.after,
        by_rule=move.by_rule,
        why=move.why,
        **({"work": work} if move.work else {}),
    )
    return move


def _treat_work(actor: Any, queue: Queue, rater: Any, move: StandingMove, work: WorkPolicy) -> Touched:
    """Do with the work since it was last good what is asked, leaving out gold: its label was approved by two people."""
    if work == WorkPolicy.KEEP:
        return Touched()
    gold = GoldItem.objects.filter(queue=queue).values("queue_item__item")
    leave_out = Assignment.objects.filter(queue=queue, rater=rater, item__in=gold).values("pk")
    treat = set_aside if work == WorkPolicy.REQUEUE else send_work_to_lead
    return treat(actor=actor, queue=queue, rater=rater, since=move.good_until, leave_out=leave_out)


def _check_why(why: str, *, needed: bool = False) -> None:
    if (needed and not why.strip()) or len(why) > WHY_LENGTH or not storable(why):
        raise Invalid({"why": f"Say why in 1 to {WHY_LENGTH:,} characters."})
