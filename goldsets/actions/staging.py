"""Stages: a signed reviewer is put to work in a queue, watched, and taken out once something speaks against it.

1. First it is in shadow: the worker notes what it says of live items, and nothing follows. It decides once live items
   bear out what was certified, at a bound that may be looked at as often as one likes; only the verdicts that do are
   taken.
2. Then what it is sure of, of items that nobody has begun, becomes a label with a basis of its own; all else stays
   with people, where it always was. A share of what it could decide stays with people too, drawn by a keyed hash of the
   item: these audits are the queue's own open slots, untouched, so there is nothing by which a rater could tell them.
3. Audits and gold are followed by a drift chart, and what comes in is held against what it was calibrated on. Either
   ends it at once: open items are with people already, and labels since it was last good are kept or asked again, as
   its policy says.
4. It expires with the first item of another environment, tools, grader or model, and with another rubric or guideline.
5. A judge is asked about what comes in by runs of its own, within the stage's budget (`asking_for_stages`). Until it
   has answered, and where it may not be asked, an item is with people like any other.
6. Gold, settled items and what people have begun are never touched.

Each item has one transaction, which holds the stage: two workers give one verdict, and of what a killed one began there
is all or nothing.
"""

import hmac
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goldsets.actions.judges import check_can_ask, wrong_budget
from goldsets.enums import (
    STAGE_LIVE,
    GoldVerb,
    ReviewerState,
    StageOutcome,
    StagePhase,
    StageState,
    StageWork,
)
from goldsets.models import GoldItem, Reviewer, Stage, StageVerdict
from goldsets.queries.judges import setup_of
from goldsets.queries.stages import (
    as_items,
    compiled_from,
    fit_reviewers,
    gold_to_judge,
    grounds_of,
    inputs_of,
    live_of,
    new_in,
    pending,
    stage_by_id,
    values_for,
    watched,
)
from goldsets.reviewing.scoring import judged, known_share, structure_of
from goldsets.stats.shifting import baseline_of
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.actions.taking import give_back, take
from reviews.enums import ItemKind, Purpose, QueueState
from reviews.errors import Conflict, Invalid
from reviews.models import Queue, QueueItem
from reviews.rules import check

SHARES = (0.01, 1)
WHY_LENGTH = 2000
# So many items are judged in one look of the worker, and so many tell how input looked at calibration.
MOST_AT_ONCE = 500
MOST_OF_BASELINE = 500


# --- What a lead does -------------------------------------------------------------------------------------------------
@transaction.atomic
def start_stage(
    *,
    actor: Any,
    queue: Queue,
    reviewer: Reviewer,
    audit_share: float = 0.1,
    work: str = StageWork.KEEP,
    budget: Decimal = Decimal(0),
) -> Stage:
    """Put a signed reviewer in shadow; a judge with a budget in US dollars for being asked about what comes in.

    Raises Forbidden, Invalid, or Conflict where a stage is at work already, or the judge may not be asked.
    """
    check(actor, "manage_queue", queue.project)
    errors = _errors_of(audit_share=audit_share, work=work) | _budget_errors(reviewer, budget)
    if not fit_reviewers(queue).filter(pk=reviewer.pk).exists():
        errors["reviewer"] = (
            "Choose a signed reviewer of this project that was compiled under the queue's own rubric and guideline."
        )
    if queue.rubric.item_kind != ItemKind.TRAJECTORY or queue.purpose != Purpose.WORK:
        errors["queue"] = "A stage judges single runs in a queue for work."
    if errors:
        raise Invalid(errors)
    if reviewer.judge:
        check_can_ask(setup_of(reviewer.judge))
    try:
        with transaction.atomic():
            stage = Stage.objects.create(
                queue=queue,
                reviewer=reviewer,
                audit_share=audit_share,
                work=work,
                budget=budget,
                rubric_id=queue.rubric_id,
                guideline_id=queue.guideline_id,
                grounds=grounds_of(reviewer),
                started_by=actor,
            )
    except IntegrityError:
        raise Conflict("A stage is at work in this queue already. Retire it first.") from None
    money = {"budget": str(budget)} if budget else {}
    _record(stage, GoldVerb.STAGE_STARTED, actor=actor, reviewer=str(reviewer), audit_share=audit_share, **money)
    return stage


@transaction.atomic
def change_stage(
    *,
    actor: Any,
    stage: Stage,
    audit_share: float | None = None,
    work: str | None = None,
    budget: Decimal | None = None,
) -> Stage:
    """Change how much is audited, what becomes of its labels, or how much money its judge may take in all.

    Raises Forbidden, Invalid, or Conflict once it ended.

    What was drawn stays drawn: a larger share adds audits among the items to come.
    """
    check(actor, "manage_queue", stage.queue.project)
    changes: dict[str, Any] = {
        name: value for name, value in (("audit_share", audit_share), ("work", work)) if value is not None
    }
    errors = _errors_of(**changes)
    if budget is not None:
        errors |= _budget_errors(stage.reviewer, budget)
        changes["budget"] = budget
    if errors:
        raise Invalid(errors)
    if not Stage.objects.filter(pk=stage.pk, state__in=STAGE_LIVE).update(**changes or {"work": stage.work}):
        raise Conflict("This stage has ended.")
    if changes:
        money = {"budget": str(budget)} if budget is not None else {}
        _record(stage, GoldVerb.STAGE_CHANGED, actor=actor, **changes | money)
    return stage_by_id(stage.pk)


def _errors_of(**fields: Any) -> dict[str, str]:
    errors = {}
    share = fields.get("audit_share", SHARES[0])
    if isinstance(share, bool) or not isinstance(share, int | float) or not SHARES[0] <= share <= SHARES[1]:
        errors["audit_share"] = f"The share that is audited is a number from {SHARES[0]} to {SHARES[1]}."
    if fields.get("work", StageWork.KEEP) not in StageWork.values:
        errors["work"] = f"The policy for its labels is one of {', '.join(StageWork.values)}."
    return errors


def _budget_errors(reviewer: Reviewer, budget: Any) -> dict[str, str]:
    if reviewer.judge_id is None:
        return {"budget": "Only a judge takes a budget: this reviewer asks nobody."} if budget else {}
    words = wrong_budget(budget)
    return {"budget": words} if words else {}


@transaction.atomic
def let_decide(*, actor: Any, stage: Stage) -> Stage:
    """Let it decide what live items bear out. Raises Forbidden, or Conflict with what is missing."""
    check(actor, "manage_queue", stage.queue.project)
    stage = _locked(stage.pk)
    if stage.state != StageState.SHADOW:
        raise Conflict(f"This stage is {stage.get_state_display().lower()}. Only one in shadow can begin to decide.")
    if why := _expiry(stage):
        raise Conflict(why)
    live = live_of(stage)
    if live.why_not:
        raise Conflict(" ".join(live.why_not))
    if drifted := live.watched.drifted:
        raise Conflict(f"What comes in no longer looks as it did: {drifted[0].name}. {drifted[0].words}")
    stage.state, stage.takes = StageState.DECIDING, live.takes
    stage.decides_by, stage.decides_from = actor, timezone.now()
    stage.save(update_fields=["state", "takes", "decides_by", "decides_from"])
    shown = {kind.title.lower(): kind.words for kind in live.kinds}
    _record(stage, GoldVerb.STAGE_DECIDES, actor=actor, takes=live.takes, **shown)
    return stage


@transaction.atomic
def roll_back(*, actor: Any, stage: Stage, why: str, work: str | None = None) -> Stage:
    """Stop it and leave everything to people; `work` as in `StageWork`, its own policy where it is left out.

    With “requeue” all its labels are asked again that stand: a lead's own reason names no moment until which it was
    good. Raises Forbidden, Invalid, or Conflict for one that does not decide.
    """
    check(actor, "manage_queue", stage.queue.project)
    _check_why(why)
    if work is not None and work not in StageWork.values:
        raise Invalid({"work": f"The policy for its labels is one of {', '.join(StageWork.values)}."})
    stage = _locked(stage.pk)
    if stage.state != StageState.DECIDING:
        raise Conflict(f"This stage is {stage.get_state_display().lower()}. Only one that decides is rolled back.")
    return _end(stage, StageState.ROLLED_BACK, why.strip(), actor=actor, work=work or stage.work)


@transaction.atomic
def retire_stage(*, actor: Any, stage: Stage, why: str) -> Stage:
    """Take it out for good, without a word against it: its labels stay. Raises Forbidden, Invalid or Conflict."""
    check(actor, "manage_queue", stage.queue.project)
    _check_why(why)
    stage = _locked(stage.pk)
    if not stage.is_live:
        raise Conflict("This stage has ended.")
    return _end(stage, StageState.RETIRED, why.strip(), actor=actor, work=StageWork.KEEP)


def _check_why(why: Any) -> None:
    if not isinstance(why, str) or not why.strip() or len(why) > WHY_LENGTH or not storable(why):
        raise Invalid({"why": f"Say why in 1 to {WHY_LENGTH:,} characters."})


# --- What the worker does ---------------------------------------------------------------------------------------------
def run_stage(*, stage_id: int, most: int = MOST_AT_ONCE) -> Counter[str]:
    """One look: what waits is judged, gold as well, and every test is made. Returns how many verdicts, by outcome.

    Nothing happens where the queue is not open or the stage has ended.
    """
    stage = stage_by_id(stage_id)
    done: Counter[str] = Counter()
    if not stage.is_live or stage.queue.state != QueueState.OPEN:
        return done
    if why := _expiry(stage):
        _expire(stage.pk, why)
        return done
    if stage.baseline is None:
        Stage.objects.filter(pk=stage.pk, baseline__isnull=True).update(baseline=_baseline(stage.reviewer))
    rows = pending(stage, most=most)
    for row, item in zip(rows, as_items(stage.reviewer, rows), strict=True):
        if why := new_in(stage, row):
            _expire(stage.pk, why)
            return done
        if outcome := _judge(stage, row, item):
            done[outcome] += 1
    done += _judge_gold(stage)
    watch(stage_id=stage_id)
    return done


def _judge(stage: Stage, row: QueueItem, item: Mapping[str, Any]) -> StageOutcome | None:
    """The stage's verdict on one item with all that follows; None where another was quicker, or it is over."""
    found = _said(stage.reviewer, item)
    with transaction.atomic():
        now = _locked(stage.pk)
        if now.state != stage.state or now.queue.state != QueueState.OPEN or _is_said(now, row, now.state):
            return None
        row = QueueItem.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if GoldItem.objects.filter(queue_item=row).exists():
            return None
        outcome, label = StageOutcome.WATCHED, None
        if now.state == StageState.DECIDING:
            outcome = _outcome(now, row, found)
        if outcome == StageOutcome.TAKEN:
            values = values_for(stage.reviewer, found["verdict"]) or {}
            label = take(queue_item_id=row.pk, values=values)
            # Somebody is just being dealt it, or it asks something of its own.
            outcome = outcome if label else StageOutcome.DEFERRED
        StageVerdict.objects.create(
            stage=now, queue_item=row, phase=StagePhase(now.state), outcome=outcome, label=label, **found
        )
    return outcome


def _outcome(stage: Stage, row: QueueItem, found: Mapping[str, Any]) -> StageOutcome:
    if not found["sure"] or found["verdict"] not in stage.takes:
        return StageOutcome.DEFERRED
    return StageOutcome.AUDITED if drawn(stage, row) < stage.audit_share else StageOutcome.TAKEN


def drawn(stage: Stage, row: QueueItem) -> float:
    """From 0 to 1, always the same for an item, and not to be foretold without the stage's secret."""
    digest = hmac.digest(bytes(stage.secret), row.uid.bytes, "sha256")
    return int.from_bytes(digest[:8]) / 2**64


def _said(reviewer: Reviewer, item: Mapping[str, Any]) -> dict[str, Any]:
    """The reviewer's words on an item, as columns of StageVerdict."""
    artefact = reviewer.artefact or {}
    found = judged(artefact, item)
    return {
        "verdict": found["verdict"],
        "confidence": found["confidence"],
        "sure": found["verdict"] is not None and not found["deferred"],
        "evidence": found["evidence"],
        "known": known_share(artefact, item),
        "measures": structure_of(item),
    }


def _is_said(stage: Stage, row: QueueItem, phase: str) -> bool:
    return StageVerdict.objects.filter(stage=stage, queue_item=row, phase=phase).exists()


def _judge_gold(stage: Stage) -> Counter[str]:
    """What it says of gold that it has not met, noted beside; the gold itself is not touched."""
    gold = gold_to_judge(stage)
    done: Counter[str] = Counter()
    for one, item in zip(gold, as_items(stage.reviewer, [one.queue_item for one in gold]), strict=True):
        found = _said(stage.reviewer, item)
        _row, made = StageVerdict.objects.get_or_create(
            stage=stage,
            queue_item=one.queue_item,
            phase=StagePhase.GOLD,
            defaults={**found, "outcome": StageOutcome.WATCHED},
        )
        done["gold"] += made
    return done


def _baseline(reviewer: Reviewer) -> dict[str, list[float]]:
    """How the items looked by which it was calibrated; all that it was compiled from, where these are not known."""
    rows = list(compiled_from(reviewer))
    families = set(reviewer.families.get("calibration", ()))
    chosen = [row for row in rows if (row.item.subject.family or f"task {row.item.subject.key}") in families] or rows
    artefact = reviewer.artefact or {}
    items = as_items(reviewer, chosen[:MOST_OF_BASELINE])
    return baseline_of([inputs_of(known_share(artefact, item), structure_of(item)) for item in items])


@transaction.atomic
def watch(*, stage_id: int) -> Stage:
    """Put a stage that decides to every test, and end it where one speaks against it."""
    stage = _locked(stage_id)
    if stage.state != StageState.DECIDING:
        return stage
    seen = watched(stage)
    if seen.chart.rang:
        turned = seen.checks[seen.chart.turned - 1].row.at if seen.chart.turned else None
        wrong = sum(not check.right for check in seen.checks[: seen.chart.at])
        why = f"{wrong} of {seen.chart.at} of its verdicts that people or gold checked were wrong. {seen.chart.words}"
        return _end(stage, StageState.ROLLED_BACK, why, actor=None, work=stage.work, good_until=turned)
    if seen.drifted:
        worst = max(seen.drifted, key=lambda shift: abs(shift.shift or 0))
        why = f"What comes in no longer looks as it did when it was calibrated: {worst.name}. {worst.words}"
        return _end(stage, StageState.ROLLED_BACK, why, actor=None, work=stage.work, good_until=seen.inputs_from)
    return stage


def _expiry(stage: Stage) -> str:
    """Why the stage no longer holds, whatever items come; "" while it does."""
    queue = stage.queue
    if stage.reviewer.state != ReviewerState.SIGNED:
        because = stage.reviewer.expired_because
        return f"Its reviewer is {stage.reviewer.get_state_display().lower()}. {because}".strip()
    if queue.rubric_id != stage.rubric_id:
        return f"The queue is judged by another rubric: {queue.rubric}, where it was {stage.rubric}."
    if queue.guideline_id != stage.guideline_id:
        return f"The queue is judged by another guideline: {queue.guideline}, where it was {stage.guideline}."
    return ""


@transaction.atomic
def _expire(stage_id: int, why: str) -> None:
    stage = _locked(stage_id)
    if stage.is_live:
        _end(stage, StageState.EXPIRED, why, actor=None, work=StageWork.KEEP)


def _end(
    stage: Stage, state: StageState, why: str, *, actor: Any, work: str, good_until: datetime | None = None
) -> Stage:
    """End a stage that is held by the transaction, and do with its labels since it was last good what is asked."""
    taken = stage.verdicts.filter(outcome=StageOutcome.TAKEN)
    if good_until is not None:
        taken = taken.filter(at__gt=good_until)
    if work == StageWork.REQUEUE:
        gold = GoldItem.objects.filter(queue=stage.queue_id).values("queue_item")
        items = taken.exclude(queue_item__in=gold).values("queue_item")
        stage.given_back = give_back(actor=actor, queue=stage.queue, queue_items=items)
    stage.state, stage.why, stage.ended_by, stage.ended_at = state, why, actor, timezone.now()
    stage.good_until = good_until
    stage.save(update_fields=["state", "why", "ended_by", "ended_at", "good_until", "given_back"])
    verbs = {
        StageState.ROLLED_BACK: GoldVerb.STAGE_ROLLED_BACK,
        StageState.EXPIRED: GoldVerb.STAGE_EXPIRED,
        StageState.RETIRED: GoldVerb.STAGE_RETIRED,
    }
    _record(stage, verbs[state], actor=actor, why=why, work=work, given_back=stage.given_back)
    return stage


def _locked(stage_id: int) -> Stage:
    rows = Stage.objects.select_for_update(of=("self",))
    return rows.select_related(
        "queue__project",
        "queue__rubric",
        "queue__guideline",
        "rubric",
        "guideline",
        "reviewer__criterion",
        "reviewer__judge__grader__project",
    ).get(pk=stage_id)


def _record(stage: Stage, verb: GoldVerb, *, actor: Any, **data: Any) -> None:
    """The queue and the reviewer by their public ids, as webhooks name them."""
    named = {"queue": str(stage.queue.uid), "stage": str(stage.uid)}
    record(project=stage.queue.project_id, actor=actor, verb=verb, target=stage, **named, **data)
