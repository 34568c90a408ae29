"""A project with a label for everything that files are afraid of, judged and exported as people would."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.queries.datasets import folder_of
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Item, Label, Queue, Step
from reviews.trajectories.schema import Step as StepBody
from reviews.trajectories.schema import decode_step
from tests import factories as make
from tests.goldsets.writers.making import HOSTILE, MIXED, called, said_by_agent
from tests.reviews.actions.test_corrections import REWRITE, TOOLS
from tests.reviews.actions.test_kinds import AUTHORISED, PASS, preference

ASKED = StepBody(role="user", text=HOSTILE, pointer="/messages/0")
# A tool as sources describe it, with nulls.
NULLS = {"name": "refund", "description": None, "parameters": {"type": "object", "properties": {}, "default": None}}


@dataclass(frozen=True)
class World:
    """`mixed` passes, `long` passes and says a megabyte, `failed` has a correction, of `pair` the second is better."""

    project: Any
    mixed: Label
    long: Label
    failed: Label
    pair: Label


def furnish() -> World:
    project = make.project()
    runs = [
        make.item(project, steps=(ASKED, *MIXED, said_by_agent(9, HOSTILE)), tools=(NULLS, {"name": "bare"})),
        make.item(project, steps=(ASKED, said_by_agent(1, "x" * 1_000_000))),
        make.item(project, tools=TOOLS),
    ]
    queue = make.queue(project, items=runs, overlap=1, rubric={"correction": "offered"})
    alice = make.expert(project, "Alice")
    for payload in (make.passing(rationale=HOSTILE), make.passing(), make.failing(corrections=[REWRITE])):
        _judge(queue, alice, payload)
    sides = [
        make.item(project, steps=(ASKED, called(1), said_by_agent(9, text)), tools=TOOLS) for text in ("plain", HOSTILE)
    ]
    pairs = make.queue(
        project,
        items=[make.comparison(project, sides, shared=2)],
        overlap=1,
        criteria=[AUTHORISED, preference()],
        rubric={"item_kind": "comparison"},
    )
    _judge(pairs, alice, _second_is_better)
    return World(project, *(Label.objects.get(item=item) for item in [*runs, pairs.queue_items.get().item]))


def _second_is_better(mine: Any) -> Mapping[str, Any]:
    """Whichever of the two the rater sees first."""
    better = {"prefers": mine.candidate_order.index(2) + 1, "strength": 2}
    return {"candidates": [PASS, PASS], "criteria": {"better": better}, "rationale": HOSTILE, "confidence": 3}


def _judge(queue: Queue, rater: Any, payload: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]) -> None:
    mine = claim(actor=rater, queue=queue)
    said = payload(mine) if callable(payload) else payload
    submit(actor=rater, uid=mine.uid, payload=said, idempotency_key=str(mine.uid))


def exported(world: World, *formats: str) -> Path:
    lead = make.lead_of(world.project)
    dataset = define_dataset(actor=lead, project=world.project, name="all", formats=formats)
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    assert version.state == "finished", version.error
    return folder_of(version)


# --- What the database holds, told as `programs/tiny.py` has it -------------------------------------------------------
def steps_of(item: Item, candidate: int | None = None) -> list[StepBody]:
    run = item.candidates.get(position=candidate).trajectory if candidate else item.trajectory
    rows = Step.objects.filter(trajectory=run).order_by("position")
    return [decode_step(row.body.encode()) for row in rows]


def told(steps: list[StepBody]) -> str:
    """Steps each of which was a message of its own, a call with the tool's answer behind it."""
    return "".join(_told(step) for step in steps)


def _told(step: StepBody) -> str:
    if step.call is None:
        return f"<{'assistant' if step.role == 'agent' else step.role}>{step.text}</>"
    answer = step.result.text if step.result else ""
    return f"<assistant>{step.text}<call {step.call.name}>{step.call.arguments_text}</><tool>{answer}</>"
