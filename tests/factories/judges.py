"""Judging models for tests: a judge over a queue, asked at a server of the test's own."""

from decimal import Decimal
from typing import Any

from goldsets.actions.graders import register_grader
from goldsets.actions.judge_work import run_judge
from goldsets.actions.judges import define_judge, start_judge
from goldsets.models import JudgeRun, JudgeSetup
from reviews.models import Queue
from tests import factories as make


def judge(queue: Queue, *, name: str = "Judge", criterion: str = "", **more: Any) -> JudgeSetup:
    """A judge that asks by the queue's own rubric and guideline, at 3 and 15 dollars for a million tokens."""
    lead = make.lead_of(queue.project)
    grader = register_grader(actor=lead, project=queue.project, name=name, kind="model", criterion=criterion)
    return version(grader, queue, **more)


def version(grader: Any, queue: Queue, **more: Any) -> JudgeSetup:
    asked = {"model": "judge-1", "price_in": Decimal(3), "price_out": Decimal(15), **more}
    actor = make.lead_of(queue.project)
    return define_judge(actor=actor, grader=grader, rubric=queue.rubric, guideline=queue.guideline, **asked)


def start(setup: JudgeSetup, queue: Queue, *, budget: str = "10", scope: str = "all", **more: Any) -> JudgeRun:
    actor = make.lead_of(queue.project)
    return start_judge(actor=actor, setup=setup, queue=queue, budget=Decimal(budget), scope=scope, **more)


def work_off(run: JudgeRun, **more: Any) -> JudgeRun:
    """The run after a worker's time with it."""
    run_judge(run_id=run.pk, **more)
    run.refresh_from_db()
    return run
