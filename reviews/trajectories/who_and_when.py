"""Who&When: failed runs of several agents, each with the agent and the step that somebody found to be the decisive one.

`{"history": [{"role", "name"?, "content"}], "mistake_agent", "mistake_step", "mistake_reason"}`. Who failed where, and
the answer that would have been right, are outcome data; all agents' words are shown, each with its speaker's name.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories.building import StepBuilder, content_of, member, text_of, title_of
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome, Step

TITLE = "Who&When failure attribution"
NEEDS = frozenset({"mistake_step", "mistake_agent"})
PERSON = "human"
TERMINAL = "Computer_terminal"  # it runs the agents' code and says what came of it
SIDES = {"user", "assistant"}  # of the talk between two agents; neither is the requester


def recognise(value: Any) -> str:
    """Why this is Who&When, or "" when it is not."""
    if isinstance(member(value, "history"), list) and value["history"] and "mistake_step" in value:
        return "its history has a mistake_step"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row. `failure` in the outcome names the decisive step as it is counted here."""
    builder = StepBuilder()
    _add_instructions(builder, value.get("system_prompt"))
    before = len(builder.steps)
    for number, message in enumerate(value["history"]):
        _add(builder, number, message)
    shown = {"history", "system_prompt"}
    data = {name: child for name, child in value.items() if name not in shown}
    question = text_of(value.get("question"))
    return Run(
        steps=tuple(builder.steps),
        key=text_of(value.get("question_ID")),
        title=title_of([Step(role="user", text=question), *builder.steps]),
        context={"request": question} if question else {},
        outcome=RunOutcome(
            result="success" if value.get("is_correct") is True else "failure",
            model=options.model,
            data={**data, "failure": _failure(value, before)},
        ),
    )


def _add_instructions(builder: StepBuilder, prompts: Any) -> None:
    for name, text in prompts.items() if isinstance(prompts, dict) else ():
        if isinstance(text, str):
            pointer = f"/system_prompt/{name.replace('~', '~0').replace('/', '~1')}"
            builder.add(Step(role="system", text=text, note=f"Instructions of {name[:80]}.", pointer=pointer))


def _add(builder: StepBuilder, number: int, message: Any) -> None:
    role = member(message, "role")
    if not isinstance(role, str):
        raise RowError(f"Message {number + 1} is not an object with a role.")
    pointer = f"/history/{number}"
    text, reasoning, attachments = content_of(message.get("content"), f"{pointer}/content")
    speaker = text_of(message.get("name")) or (role if role not in SIDES else "")
    if speaker == TERMINAL:
        builder.add_result(pointer, text, attachments=attachments, note=f"Said by {TERMINAL}.", alone=True)
        return
    builder.add(
        Step(
            role="user" if role == PERSON else "agent",
            text=text,
            reasoning=reasoning,
            attachments=attachments,
            note=f"Said by {speaker[:80]}." if speaker and role != PERSON else "",
            pointer=pointer,
        )
    )


def _failure(value: dict[str, Any], before: int) -> dict[str, Any]:
    """The failure point: each message of the history is one step, and so many steps stand before the first."""
    place = text_of(value["mistake_step"])
    step = int(place) + before + 1 if place.isdecimal() and int(place) < len(value["history"]) else None
    return {"step": step, "who": text_of(value.get("mistake_agent")), "reason": text_of(value.get("mistake_reason"))}
