"""ATIF, the Agent Trajectory Interchange Format: `{"schema_version": "ATIF-v1.x", "agent", "steps": […]}`.

An observation lies in the same step as its calls. Steps copied from an earlier run for context are left out, with a
step that says so. The format has no reward; one in `extra` is taken. The agent and what it cost are outcome data.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    NO_STEPS_NOTE,
    StepBuilder,
    attachment_of,
    content_of,
    member,
    result_of,
    score,
    text_of,
    title_of,
    tools_of,
    with_note,
)
from reviews.trajectories.schema import ReadOptions, Role, RowError, Run, RunOutcome, Step

TITLE = "ATIF"
NEEDS = frozenset({"schema_version"})
SOURCES: dict[str, Role] = {"system": "system", "user": "user", "agent": "agent"}


def recognise(value: Any) -> str:
    """Why this is ATIF, or "" when it is not."""
    if isinstance(value, dict) and isinstance(value.get("steps"), list) and "schema_version" in value:
        version = text_of(value["schema_version"])
        if version.startswith("ATIF") or ("agent" in value and "session_id" in value):
            return f"it has schema_version {version[:20]} and steps"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one trajectory."""
    builder = StepBuilder()
    copied: list[int] = []
    for place, step in enumerate(value["steps"]):
        if member(step, "is_copied_context") is True:
            copied.append(place)
            continue
        _tell_copied(builder, copied)
        _add_step(builder, place, step)
    _tell_copied(builder, copied)
    steps = builder.steps or [Step(role="system", note=NO_STEPS_NOTE)]
    if value.get("continued_trajectory_ref"):
        note = f"The run goes on in another file: {str(value['continued_trajectory_ref'])[:200]}."
        steps[-1] = with_note(steps[-1], note)
    if value.get("subagent_trajectories"):
        steps[-1] = with_note(steps[-1], "The original holds runs of sub-agents too; they are not shown.")
    extra = value.get("extra")
    reward = jsontext.number(member(extra, "reward"))
    key = text_of(member(extra, "task_id"))
    return Run(
        steps=tuple(steps),
        key=f"{options.domain}-{key}" if key and options.domain else key,
        title=title_of(steps) or _copied_title(value["steps"]),
        tools=tools_of(member(value, "agent", "tool_definitions")),
        outcome=RunOutcome(
            result=result_of(reward),
            reward=reward,
            model=text_of(member(value, "agent", "model_name")) or options.model,
            data={
                **({"scores": [score("reward", reward)]} if reward is not None else {}),
                **{name: child for name, child in value.items() if name not in {"steps", "subagent_trajectories"}},
            },
        ),
        source_ref=f"session {text_of(value.get('session_id'))}"[:60] if text_of(value.get("session_id")) else "",
    )


def _tell_copied(builder: StepBuilder, copied: list[int]) -> None:
    if copied:
        what = "1 step that was" if len(copied) == 1 else f"{len(copied)} steps that were"
        note = f"Left out here: {what} copied from an earlier run for context. The original has them."
        builder.add(Step(role="system", note=note, pointer=f"/steps/{copied[0]}"))
        copied.clear()


def _add_step(builder: StepBuilder, place: int, step: Any) -> None:
    pointer = f"/steps/{place}"
    source = member(step, "source")
    role = SOURCES.get(source) if isinstance(source, str) else None
    if role is None:
        raise RowError(f"Step {place + 1} has the source {jsontext.dump(source)[:60]}, which is not known.")
    calls = step.get("tool_calls") or []
    results = member(step, "observation", "results") or []
    if not isinstance(calls, list) or not isinstance(results, list):
        raise RowError(f"Step {place + 1} has tool_calls or results that are not a list.")
    text, reasoning, attachments = content_of(step.get("message"), f"{pointer}/message")
    thought = step.get("reasoning_content")
    reasoning = "\n\n".join(filter(None, (reasoning, thought if isinstance(thought, str) else "")))
    if text or reasoning or attachments or not (calls or results):
        builder.add(Step(role=role, text=text, reasoning=reasoning, attachments=attachments, pointer=pointer))
    for number, call in enumerate(calls):
        if not isinstance(call, dict) or not isinstance(call.get("function_name"), str):
            raise RowError(f"Step {place + 1} has a tool call without a function_name.")
        where = f"{pointer}/tool_calls/{number}"
        builder.add_call(where, call["function_name"], call.get("arguments", {}), call.get("tool_call_id"))
    for number, result in enumerate(results):
        _add_result(builder, f"{pointer}/observation/results/{number}", result, bool(calls))


def _add_result(builder: StepBuilder, pointer: str, result: Any, has_calls: bool) -> None:
    """A result of one of the step's calls, or what the world answered to the step's words."""
    text, _, attachments = content_of(member(result, "content"), f"{pointer}/content")
    others = member(result, "subagent_trajectory_ref")
    if others:
        attachments += (attachment_of("run of a sub-agent", others, f"{pointer}/subagent_trajectory_ref"),)
    call_id = member(result, "source_call_id")
    # Where the step has no call, the result must not go to an open call of an earlier one.
    alone = not (has_calls or call_id)
    builder.add_result(pointer, text, call_id=call_id, attachments=attachments, alone=alone)


def _copied_title(steps: list[Any]) -> str:
    words = [
        Step(role="user", text=step["message"])
        for step in steps
        if member(step, "source") == "user" and isinstance(step.get("message"), str)
    ]
    return title_of(words)
