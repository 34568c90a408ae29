"""Asks the judges that are at work in a queue about what has come in, within the budgets of their stages."""

from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from goldsets.actions.judges import begin_run, moved
from goldsets.enums import JudgeRunState, JudgeScope
from goldsets.models import JudgeRun, Stage
from goldsets.queries.judges import cannot_ask, setup_of, unfinished_runs
from goldsets.queries.stages import last_asking, money_left, stage_by_id, to_ask
from reviews.enums import QueueState
from reviews.errors import Conflict

# What comes in is gathered for so long, so that a busy queue does not make a run of every few items.
GATHERED_FOR = timedelta(minutes=5)
# So long after a run failed, for want of an endpoint or of its answers, it is tried again.
TRIED_AGAIN_AFTER = timedelta(minutes=10)


@transaction.atomic
def ask_for_stage(*, stage_id: int, at_once: bool = False) -> JudgeRun | None:
    """A run of the stage's judge that waits for `run_judge`; None where nothing is to be asked now, or may be.

    `at_once` gathers nothing. A run that stopped at its budget goes on when that was raised, one that failed when some
    time has passed, one that a person stopped when a person says so.
    """
    Stage.objects.select_for_update(no_key=True).get(pk=stage_id)
    stage = stage_by_id(stage_id)
    judge, left = stage.reviewer.judge, money_left(stage)
    if judge is None or left <= 0 or not stage.is_live or stage.queue.state != QueueState.OPEN:
        return None
    if unfinished_runs().filter(version=judge, queue=stage.queue).exists():
        return None
    last = last_asking(stage)
    if last and last.state != JudgeRunState.FINISHED:
        return _again(last, left, at_once=at_once)
    gathered = at_once or last is None or _is_past(last, GATHERED_FOR)
    items = to_ask(stage) if gathered else []
    if not items or cannot_ask(setup_of(judge)):
        return None
    try:
        return begin_run(
            actor=stage.started_by,
            version=judge,
            queue=stage.queue,
            items=items,
            budget=left,
            scope=JudgeScope.UNSETTLED,
            stage=stage,
        )
    except Conflict:
        # Somebody has sent it over the queue in this very moment.
        return None


def _again(run: JudgeRun, left: Decimal, *, at_once: bool) -> JudgeRun | None:
    """The stage's last run, where it may go on: with all that is left of the budget."""
    raised = left > run.budget - run.spent
    failed = run.state == JudgeRunState.FAILED and (at_once or _is_past(run, TRIED_AGAIN_AFTER))
    if not failed and not (run.state == JudgeRunState.STOPPED and raised):
        return None
    if cannot_ask(setup_of(run.version)):
        return None
    budget = run.spent + left
    return run if moved(run, JudgeRunState.WAITING, budget=budget, finished_at=None, error="") else None


def _is_past(run: JudgeRun, pause: timedelta) -> bool:
    return run.finished_at is None or run.finished_at < timezone.now() - pause
