"""Anthropic messages: a request with `system` and `messages` of blocks, a response, both, or a bare list.

`tool_result` blocks sit in user messages and are no words of the user: they go to the calls they answer. Tools that run
at the provider (`server_tool_use`, `mcp_tool_use`) are calls like others. Whatever stands beside the conversation
(model, usage, metadata, …) is outcome data.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    StepBuilder,
    blocks_of,
    content_of,
    member,
    title_of,
    tools_of,
    words_step,
)
from reviews.trajectories.schema import ReadOptions, Role, RowError, Run, RunOutcome, Step

TITLE = "Anthropic messages"
NEEDS = frozenset({"messages", "request", "response", "content"})
ROLES: dict[str, Role] = {"user": "user", "assistant": "agent", "system": "system"}
# Blocks that tell this format from its neighbours.
BLOCKS = {"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "redacted_thinking"}


def recognise(value: Any) -> str:
    """Why this is Anthropic's format, or "" when it is not."""
    if isinstance(value, list):
        return "a list of messages with Anthropic's blocks" if _has_blocks(value) else ""
    if not isinstance(value, dict):
        return ""
    for request in (value, value.get("request")):
        messages = request.get("messages") if isinstance(request, dict) else None
        if not isinstance(request, dict) or not (
            isinstance(messages, list) and messages and isinstance(messages[0], dict) and "role" in messages[0]
        ):
            continue
        if _has_blocks(messages):
            return "its messages have Anthropic's blocks"
        if "system" in request:
            return "it has messages and a system text beside them"
        if any(isinstance(tool, dict) and "input_schema" in tool for tool in tools_of(request.get("tools"))):
            return "its tools have an input_schema"
    if _is_response(value) or _is_response(value.get("response")):
        return "it is a response of type message"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    request, base, response = _parts_of(value)
    builder = StepBuilder()
    if member(request, "system"):
        text, _, attachments = content_of(request["system"], f"{base}/system")
        builder.add(Step(role="system", text=text, attachments=attachments, pointer=f"{base}/system"))
    messages, list_base = (value, "") if isinstance(value, list) else (member(request, "messages"), f"{base}/messages")
    if not isinstance(messages, list | None):
        raise RowError("Its messages are not a list.")
    for place, message in enumerate(messages or []):
        _add_message(builder, place + 1, f"{list_base}/{place}", message)
    if response is not None:
        _add_message(builder, len(messages or []) + 1, "/response" if "response" in value else "", response)
    if not builder.steps:
        raise RowError("It holds no messages.")
    return Run(
        steps=tuple(builder.steps),
        title=title_of(builder.steps),
        tools=tools_of(member(request, "tools")),
        outcome=RunOutcome(model=_model(request, response) or options.model, data=_rest(value)),
    )


def _parts_of(value: Any) -> tuple[Any, str, Any]:
    """The request with its pointer, and the response."""
    if isinstance(value, list):
        return {}, "", None
    if _is_response(value):
        return {}, "", value
    response = value.get("response")
    response = response if _is_response(response) else None
    return (value["request"], "/request", response) if isinstance(value.get("request"), dict) else (value, "", response)


def _add_message(builder: StepBuilder, number: int, pointer: str, message: Any) -> None:
    role = ROLES.get(message["role"]) if isinstance(message, dict) and isinstance(message.get("role"), str) else None
    if role is None:
        source_role = jsontext.dump(message.get("role"))[:60] if isinstance(message, dict) else "missing"
        raise RowError(f"Message {number} has the role {source_role}, which is not known.")
    add_blocks(builder, role, pointer, blocks_of(message.get("content"), f"{pointer}/content"))


def add_blocks(builder: StepBuilder, role: Role, pointer: str, blocks: list[tuple[str, Any]], note: str = "") -> None:
    """The steps of one message: words and thoughts up to each call, the calls, and results where their calls are."""
    before = len(builder.steps)
    gathered: list[tuple[str, Any]] = []
    here = pointer
    is_told = False

    def flush() -> None:
        if gathered:
            builder.add(words_step(role, here, gathered, note))
            gathered.clear()

    for place, block in blocks:
        kind = block.get("type") if isinstance(block, dict) else "text"
        kind = kind if isinstance(kind, str) else ""
        if kind.endswith("tool_use") and isinstance(block.get("name"), str):
            flush()
            builder.add_call(place, block["name"], block.get("input", {}), block.get("id"), note)
        elif kind.endswith("tool_result"):
            flush()
            is_told = True
            _add_result(builder, kind, place, block, note)
        else:
            if not gathered:
                here = pointer if len(builder.steps) == before else place
            gathered.append((place, block))
    flush()
    if len(builder.steps) == before and not is_told:
        builder.add(Step(role=role, note=note, pointer=pointer))


def _add_result(builder: StepBuilder, kind: str, pointer: str, block: dict[str, Any], note: str) -> None:
    content = block.get("content")
    if kind in {"tool_result", "mcp_tool_result"}:
        text, _, attachments = content_of(content, f"{pointer}/content")
    else:  # what the provider's own tools give has a form of its own
        text, attachments = "" if content is None else jsontext.dump(content), ()
    failed = block.get("is_error") is True or str(member(content, "type")).endswith("_error")
    builder.add_result(
        pointer, text, call_id=block.get("tool_use_id"), error=failed, attachments=attachments, note=note
    )


def _has_blocks(messages: list[Any]) -> bool:
    for message in messages:
        content = member(message, "content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and isinstance(block.get("type"), str) and block["type"] in BLOCKS:
                return "role" in message
    return False


def _is_response(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and isinstance(value.get("content"), list)
        and (value.get("type") == "message" and "messages" not in value)
        and ("stop_reason" in value or "usage" in value)
    )


def _model(request: Any, response: Any) -> str:
    found = (member(response, "model"), member(request, "model"))
    return next((model for model in found if isinstance(model, str) and model), "")


def _rest(value: Any) -> dict[str, Any]:
    """Everything beside the conversation."""
    if not isinstance(value, dict):
        return {}
    shown = {"messages", "system", "tools", "content"}
    rest = {name: child for name, child in value.items() if name not in shown | {"request", "response"}}
    for name in ("request", "response"):
        if isinstance(value.get(name), dict):
            rest[name] = {key: child for key, child in value[name].items() if key not in shown}
    return rest
