"""mini-swe-agent: `{"info", "messages", "trajectory_format"}`, older files a bare list of messages.

The agent writes one command in a fenced block, and what the command printed is the next user message. Both make one
step. Newer files have calls of tools. The exit status, the submission and costs are outcome data.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from reviews.trajectories import openai_chat
from reviews.trajectories.building import StepBuilder, content_of, member, text_of, title_of
from reviews.trajectories.schema import ReadOptions, Result, RowError, Run, RunOutcome, Step, ToolCall

TITLE = "mini-swe-agent"
NEEDS = frozenset({"trajectory_format", "info"})
BLOCK = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(?P<command>.*?)\n?```", re.DOTALL)
MARK = "```mswea_bash_command"
OBSERVATION = "<returncode>"
TOOL = "bash"


def recognise(value: Any) -> str:
    """Why this is mini-swe-agent, or "" when it is not."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        if text_of(value.get("trajectory_format")).startswith("mini-swe-agent"):
            return "its trajectory_format says so"
        if isinstance(member(value, "info", "exit_status"), str) and "mini_version" in value["info"]:
            return "its info has mini_version and exit_status"
    if isinstance(value, list) and any(_writes_command(message) for message in value):
        return "a list of messages with commands in blocks named mswea_bash_command"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one file."""
    messages = value if isinstance(value, list) else value["messages"]
    base = "" if isinstance(value, list) else "/messages"
    if not messages:
        raise RowError("It holds no messages.")
    builder = StepBuilder()
    for number, message in enumerate(messages):
        _add(builder, number, f"{base}/{number}", message)
    info = value.get("info") if isinstance(value, dict) else None
    data = {name: child for name, child in value.items() if name != "messages"} if isinstance(value, dict) else {}
    exits = [message for message in messages if member(message, "role") == "exit"]
    if exits:
        data["exit"] = exits
    model = member(info, "config", "model", "model_name")
    return Run(
        steps=tuple(builder.steps),
        key=text_of(member(value, "instance_id")),
        title=title_of(builder.steps) or "mini-swe-agent run",
        outcome=RunOutcome(
            result=_result(text_of(member(info, "exit_status"))), model=text_of(model) or options.model, data=data
        ),
    )


def _writes_command(message: Any) -> bool:
    content = member(message, "content")
    return member(message, "role") == "assistant" and isinstance(content, str) and MARK in content


def _result(status: str) -> Result:
    """Whether the run came to its end. Submitting is no success, and nothing here says failure."""
    if status in {"LimitsExceeded", "TimeExceeded"}:
        return "timeout"
    return "unknown" if status in {"", "Submitted", "submitted"} else "crash"


def _add(builder: StepBuilder, number: int, pointer: str, message: Any) -> None:
    role = member(message, "role")
    if role == "exit":  # how the run ended: outcome data
        return
    if role == "user" and _awaits(builder):
        text, _, attachments = content_of(message.get("content"), f"{pointer}/content")
        builder.add_result(pointer, text, attachments=attachments)
        builder.steps[-1] = replace(builder.steps[-1], note="")  # joined by order, as the format means it
        return
    content = member(message, "content")
    found = BLOCK.search(content) if role == "assistant" and isinstance(content, str) else None
    if found and not message.get("tool_calls"):
        said = "\n\n".join(part for part in (content[: found.start()].strip(), content[found.end() :].strip()) if part)
        if said:
            builder.add(Step(role="agent", text=said, pointer=pointer))
        call = ToolCall(id="", name=TOOL, arguments_text=found["command"])
        builder.add(Step(role="tool", call=call, pointer=pointer))
        return
    openai_chat.add_message(builder, number + 1, pointer, message)


def _awaits(builder: StepBuilder) -> bool:
    last = builder.steps[-1] if builder.steps else None
    return bool(last and last.call and last.call.name == TOOL and not last.call.id and last.result is None)
