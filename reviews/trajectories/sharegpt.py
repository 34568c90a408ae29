"""ShareGPT: `{"conversations": [{"from", "value"}]}`, with `system` and `tools` beside it.

`function_call` turns hold one call, or a list of calls, as JSON; `observation` turns are results, joined by order.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import StepBuilder, attachment_of, call_of, title_of, tools_of
from reviews.trajectories.schema import ReadOptions, Role, RowError, Run, RunOutcome, Step

TITLE = "ShareGPT"
ROLES: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "agent",
    "assistant": "agent",
    "chatgpt": "agent",
    "bing": "agent",
    "bard": "agent",
    "model": "agent",
    "function_call": "agent",
    "tool_call": "agent",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}
CALL_TURNS = {"function_call", "tool_call"}
MEMBERS = ("conversations", "conversation")
NEEDS = frozenset(MEMBERS)


def recognise(value: Any) -> str:
    """Why this is ShareGPT, or "" when it is not."""
    name = _member_of(value)
    return f"it has {name} with from and value" if name else ""


def is_turn(value: Any) -> bool:
    """Whether this is one turn."""
    return isinstance(value, dict) and isinstance(value.get("from"), str) and "value" in value


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    name = _member_of(value)
    turns = [*system_turn(value), *((f"/{name}/{number}", turn) for number, turn in enumerate(value[name]))]
    steps = steps_of_turns(turns)
    return Run(
        steps=tuple(steps),
        title=title_of(steps) or "ShareGPT conversation",
        tools=tools_of(value.get("tools")),
        outcome=RunOutcome(
            model=options.model,
            data={key: child for key, child in value.items() if key not in {name, "system", "tools"}},
        ),
    )


def system_turn(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """The system prompt beside the turns as a turn."""
    system = value.get("system")
    return [("/system", {"from": "system", "value": system})] if isinstance(system, str) and system else []


def steps_of_turns(turns: list[tuple[str, Any]]) -> list[Step]:
    """The steps of turns, each given with its JSON pointer."""
    builder = StepBuilder()
    for number, (pointer, turn) in enumerate(turns, start=1):
        if not is_turn(turn):
            raise RowError(f"Turn {number} is not an object with from and value.")
        role = ROLES.get(turn["from"])
        if role is None:
            raise RowError(f"Turn {number} is from {jsontext.dump(turn['from'])[:60]}, which is not known.")
        _add_turn(builder, pointer, role, turn)
    return builder.steps


def _add_turn(builder: StepBuilder, pointer: str, role: Role, turn: dict[str, Any]) -> None:
    value = turn["value"]
    text = value if isinstance(value, str) else "" if value is None else jsontext.dump(value)
    if role == "tool":
        builder.add_result(pointer, text)
        return
    calls = _calls(turn["from"], value)
    if calls:
        for call in calls:
            arguments = call.get("arguments", call.get("parameters", ""))
            builder.add(Step(role="tool", call=call_of(call["name"], arguments, call.get("id")), pointer=pointer))
        return
    extra = {key: child for key, child in turn.items() if key not in {"from", "value", "weight", "loss"}}
    attachments = tuple(attachment_of(key, child, f"{pointer}/{key}") for key, child in extra.items() if child)
    builder.add(Step(role=role, text=text, attachments=attachments, pointer=pointer))


def _calls(speaker: str, value: Any) -> list[dict[str, Any]]:
    """The calls a turn makes; [] where its value is no call after all, and stays text."""
    if speaker not in CALL_TURNS:
        return []
    if isinstance(value, str):
        value = jsontext.parse_text(value)
    calls = value if isinstance(value, list) else [value]
    return calls if all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls) else []


def _member_of(value: Any) -> str:
    for name in MEMBERS:
        turns = value.get(name) if isinstance(value, dict) else None
        if isinstance(turns, list) and turns and is_turn(turns[0]):
            return name
    return ""
