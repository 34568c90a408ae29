"""SWE-agent: `{"trajectory": [...], "history": [...], "info"}`, and files that hold the history only.

Each entry of the trajectory is what the agent thought, what it did and what it saw. The instructions, and the calls as
the model wrote them, are taken from the history. There is no pass or fail inside: the exit status, the submission and
costs are outcome data.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import StepBuilder, attachment_of, call_of, content_of, member, text_of, title_of
from reviews.trajectories.schema import ReadOptions, Result, Role, RowError, Run, RunOutcome, Step, ToolCall

TITLE = "SWE-agent"
NEEDS = frozenset({"trajectory", "history"})
ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "agent",
    "ai": "agent",
    "tool": "tool",
    "environment": "user",
}
DEMONSTRATION_NOTE = "A demonstration that the agent was given; it is no part of this run."
# What an action is called where the model wrote a command and no call of a tool.
COMMAND = "command"
READ = {"trajectory", "history"}


def recognise(value: Any) -> str:
    """Why this is SWE-agent, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    entries, history = value.get("trajectory"), value.get("history")
    first = entries[0] if isinstance(entries, list) and entries else None
    if isinstance(first, dict) and {"action", "observation"} <= first.keys():
        return "its trajectory has actions with observations"
    if isinstance(history, list) and history and _is_message(history[0]) and "messages" not in value:
        return "its history has messages with roles"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one file."""
    entries = value.get("trajectory") or []
    history = value.get("history") or []
    if not isinstance(entries, list) or not isinstance(history, list):
        raise RowError("Its trajectory or its history is not a list.")
    steps = _entry_steps(entries, history) if entries else _history_steps(history)
    if not steps:
        raise RowError("It holds no steps.")
    info = value.get("info")
    status = text_of(member(info, "exit_status"))
    problem = member(value, "replay_config", "problem_statement")
    model = member(value, "replay_config", "agent", "model", "name")
    return Run(
        steps=tuple(steps),
        key=text_of(value.get("instance_id")) or text_of(member(problem, "id")),
        title=_title(problem) or title_of(steps) or "SWE-agent run",
        outcome=RunOutcome(
            result=_result(status),
            model=text_of(model) or options.model,
            data={name: child for name, child in value.items() if name not in READ},
        ),
    )


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and value["role"] in ROLES


def _result(status: str) -> Result:
    """Whether the run came to its end. Submitting is no success, and nothing here says failure."""
    if status.startswith("exit_error") or "error" in status.lower():
        return "crash"
    if status.startswith(("exit_cost", "exit_context", "exit_format", "exit_total", "exit_command_timeout")):
        return "timeout"
    return "unknown"


def _title(problem: Any) -> str:
    lines = text_of(member(problem, "text")).splitlines()
    return lines[0].strip()[:80] if lines else ""


def _entry_steps(entries: list[Any], history: list[Any]) -> list[Step]:
    """Instructions and demonstrations from the history, then each entry of the trajectory."""
    first = next(
        (n for n, message in enumerate(history) if member(message, "role") == "assistant" and not _is_demo(message)),
        len(history),
    )
    steps = _history_steps(history[:first])
    acted = [
        (f"/history/{number}", message)
        for number, message in enumerate(history)
        if member(message, "role") == "assistant" and not _is_demo(message)
    ]
    builder = StepBuilder()
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise RowError(f"Entry {number + 1} of its trajectory is not an object.")
        pointer = f"/trajectory/{number}"
        thought, response, action = (_text(entry.get(name)) for name in ("thought", "response", "action"))
        said = thought if thought.strip() else "" if action.strip() and action.strip() in response else response
        if said.strip():
            source = "thought" if thought.strip() else "response"
            builder.add(Step(role="agent", text=said, pointer=f"{pointer}/{source}"))
        if action.strip():
            where, call = _call(f"{pointer}/action", action, number, acted)
            builder.add(Step(role="tool", call=call, pointer=where))
        if "observation" in entry and (action.strip() or _text(entry["observation"])):
            text, _, attachments = content_of(entry["observation"], f"{pointer}/observation")
            builder.add_result(f"{pointer}/observation", text, attachments=attachments, alone=not action.strip())
    return [*steps, *(_plain(step) for step in builder.steps)]


def _plain(step: Step) -> Step:
    """An observation stands in the entry of its action, so that it was joined by order says nothing."""
    return replace(step, note="") if step.call and step.result else step


def _call(pointer: str, action: str, number: int, acted: list[tuple[str, Any]]) -> tuple[str, ToolCall]:
    """The call as the model wrote it, where the history has it for this entry; otherwise the command. And where."""
    place, message = acted[number] if number < len(acted) else ("", None)
    calls = member(message, "tool_calls")
    if member(message, "action") == action and isinstance(calls, list) and len(calls) == 1:
        function = member(calls[0], "function")
        if isinstance(member(function, "name"), str):
            call = call_of(function["name"], function.get("arguments", ""), calls[0].get("id"))
            return f"{place}/tool_calls/0", call
    return pointer, ToolCall(id="", name=COMMAND, arguments_text=action)


def _history_steps(history: list[Any]) -> list[Step]:
    """The history as a conversation."""
    builder = StepBuilder()
    for number, message in enumerate(history):
        pointer = f"/history/{number}"
        if not _is_message(message):
            raise RowError(f"Message {number + 1} of its history has no role that is known.")
        text, reasoning, attachments = content_of(message.get("content"), f"{pointer}/content")
        role = ROLES[message["role"]]
        if _is_demo(message):
            step = Step(role="system", text=text, attachments=attachments, note=DEMONSTRATION_NOTE, pointer=pointer)
            builder.add(step)
        elif role == "tool":
            ids = message.get("tool_call_ids")
            call_id = message.get("tool_call_id") or (ids[0] if isinstance(ids, list) and ids else None)
            builder.add_result(pointer, text, call_id=call_id, attachments=attachments)
        elif role == "agent":
            _add_agent(builder, pointer, message, Step(role="agent", text=text, reasoning=reasoning, pointer=pointer))
        elif message.get("message_type") == "observation" and _awaits_observation(builder):
            builder.add_result(pointer, text, attachments=attachments)
            builder.steps[-1] = _plain(builder.steps[-1])
        else:
            builder.add(Step(role=role, text=text, attachments=attachments, pointer=pointer))
    return builder.steps


def _add_agent(builder: StepBuilder, pointer: str, message: dict[str, Any], said: Step) -> None:
    calls = message.get("tool_calls")
    action = _text(message.get("action"))
    if isinstance(calls, list) and calls:
        if said.text or said.reasoning:
            builder.add(said)
        for place, call in enumerate(calls):
            function, where = member(call, "function"), f"{pointer}/tool_calls/{place}"
            if isinstance(member(function, "name"), str):
                builder.add_call(where, function["name"], function.get("arguments", ""), call.get("id"))
            else:
                builder.add(Step(role="agent", attachments=(attachment_of("tool call", call, where),), pointer=where))
        return
    thought = _text(message.get("thought"))
    if action.strip():
        if thought.strip():
            builder.add(replace(said, text=thought))
        call = ToolCall(id="", name=COMMAND, arguments_text=action)
        builder.add(Step(role="tool", call=call, pointer=f"{pointer}/action"))
        return
    builder.add(said)


def _awaits_observation(builder: StepBuilder) -> bool:
    last = builder.steps[-1] if builder.steps else None
    return bool(last and last.call and last.call.name == COMMAND and last.result is None)


def _is_demo(message: Any) -> bool:
    return member(message, "is_demo") is True


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else jsontext.dump(value)
