"""OpenAI chat: `{"messages": [...]}`, a bare list of messages, a response, or a request with its response.

A row may also say what its task is (`Facts`). Whatever else stands beside the messages (model, metadata, reward, …) is
outcome data: kept, and never shown in blind review. `steps_of` serves every format that carries chat messages.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    StepBuilder,
    attachment_of,
    call_of,
    content_of,
    member,
    title_of,
    tools_of,
    with_note,
)
from reviews.trajectories.schema import ReadOptions, Role, RowError, Run, RunOutcome, Step

TITLE = "OpenAI chat"
NEEDS = frozenset({"messages", "request", "response", "choices"})
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "function": "tool",  # before 2024: the result of a `function_call`
}


def is_message(value: Any) -> bool:
    """Whether this is a chat message: a list that begins with one is one run."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def recognise(value: Any) -> str:
    """Why this is OpenAI chat, or "" when it is not."""
    if _is_message_list(value):
        return "a list of messages with roles"
    if not isinstance(value, dict):
        return ""
    if _is_message_list(value.get("messages")):
        return "it has messages with roles"
    if _is_message_list(member(value, "request", "messages")):
        return "it has a request with messages"
    if isinstance(_response_message(value), dict):
        return "it is a chat completion with choices"
    return ""


class Requester(msgspec.Struct, frozen=True):
    """What a rater should know before reading: the request in its own words, and facts about the requester."""

    request: str = ""
    requester: dict[str, str] = {}


class Policy(msgspec.Struct, frozen=True):
    """The policy the agent had to keep."""

    text: str
    title: str = ""


class Facts(msgspec.Struct, frozen=True):
    """What a row can say of its task, beside the messages. A member of another type is not taken for one of these.

    `reset` says how the environment is put back before a run, `stochasticity` what in it is left to chance.
    """

    task_id: str | int = ""
    run_id: str | int = ""
    family: str = ""
    title: str = ""
    context: Requester = Requester()
    policy: Policy = Policy(text="")
    slices: dict[str, str | int | float | bool] = {}
    environment: str = ""
    tools_version: str = ""
    reset: str = ""
    stochasticity: str = ""
    outcome: RunOutcome = RunOutcome()


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    steps = steps_of(_messages_of(value))
    if _alternatives(value) > 1:
        note = f"The source holds {_alternatives(value)} alternatives of this message; the first is shown."
        steps[-1] = with_note(steps[-1], note)
    facts, rest = _facts_of(value)
    metadata_id = member(rest, "metadata", "task_id")
    key = facts.task_id if facts.task_id != "" else metadata_id if isinstance(metadata_id, str | int) else ""
    versions = {
        "environment": facts.environment,
        "tools": facts.tools_version,
        "reset": facts.reset,
        "stochasticity": facts.stochasticity,
    }
    return Run(
        steps=tuple(steps),
        key=str(key).strip(),
        family=facts.family,
        title=facts.title or title_of(steps),
        policy_text=facts.policy.text,
        policy_title=facts.policy.title,
        context=_without_empty(msgspec.to_builtins(facts.context)),
        slices=facts.slices,
        versions=_without_empty(versions),
        tools=_tools(value),
        outcome=RunOutcome(
            result=facts.outcome.result,
            reward=facts.outcome.reward if facts.outcome.reward is not None else jsontext.number(rest.get("reward")),
            model=facts.outcome.model or _model(value) or options.model,
            data={**rest, **facts.outcome.data},
        ),
        source_ref=f"run {facts.run_id}" if facts.run_id != "" else "",
        source_id=str(facts.run_id),
    )


def steps_of(messages: list[tuple[str, Any]]) -> list[Step]:
    """The steps of chat messages, each given with its JSON pointer."""
    if not messages:
        raise RowError("It holds no messages.")
    builder = StepBuilder()
    for number, (pointer, message) in enumerate(messages, start=1):
        add_message(builder, number, pointer, message)
    return builder.steps


def add_message(builder: StepBuilder, number: int, pointer: str, message: Any) -> None:
    """One message of a conversation; `number` is how a refusal names it."""
    if not isinstance(message, dict):
        raise RowError(f"Message {number} is not an object with a role.")
    source_role = message.get("role")
    role = ROLES.get(source_role) if isinstance(source_role, str) else None
    if role is None:
        raise RowError(f"Message {number} has the role {jsontext.dump(source_role)[:60]}, which is not known.")
    if role == "tool":
        text, _, attachments = content_of(message.get("content"), f"{pointer}/content")
        builder.add_result(
            pointer, text, call_id=message.get("tool_call_id"), name=message.get("name"), attachments=attachments
        )
        return
    calls = _calls_of(number, pointer, message) if role == "agent" else []
    step = _message_step(role, pointer, message)
    if step.text or step.reasoning or step.attachments or not calls:
        builder.add(step)
    for call in calls:
        builder.add(call)


def _message_step(role: Role, pointer: str, message: dict[str, Any]) -> Step:
    text, reasoning, attachments = content_of(message.get("content"), f"{pointer}/content")
    note = ""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str):
            reasoning = reasoning or message[name]
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        text = f"{text}\n\n{message['refusal']}" if text else message["refusal"]
        note = "The source marks this message as a refusal."
    if message.get("audio"):
        attachments += (attachment_of("audio", message["audio"], f"{pointer}/audio"),)
    return Step(role=role, text=text, reasoning=reasoning, attachments=attachments, note=note, pointer=pointer)


def _calls_of(number: int, pointer: str, message: dict[str, Any]) -> list[Step]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise RowError(f"Message {number} has tool_calls that are not a list.")
    found = [_call(number, f"{pointer}/tool_calls/{place}", call) for place, call in enumerate(calls)]
    legacy = message.get("function_call")
    if legacy and not found:
        found = [_call(number, f"{pointer}/function_call", {"function": legacy})]
    return found


def _call(number: int, pointer: str, source: Any) -> Step:
    function = source.get("function") or source.get("custom") if isinstance(source, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RowError(f"Message {number} has a tool call without a function and its name.")
    arguments = function.get("arguments", function.get("input", ""))
    call = call_of(function["name"], arguments, source.get("id"))
    note = "" if isinstance(arguments, str) else "The source gives the arguments as a value, not as text."
    return Step(role="tool", call=call, note=note, pointer=pointer)


def _messages_of(value: Any) -> list[tuple[str, Any]]:
    """Every message of the row with its JSON pointer, the response's last."""
    if isinstance(value, list):
        return _located(value, "")
    messages: list[tuple[str, Any]] = []
    if "messages" in value:
        messages = _located(value["messages"], "/messages")
    elif isinstance(value.get("request"), dict):
        messages = _located(value["request"].get("messages") or [], "/request/messages")
    answer = _response_message(value)
    if answer is not None:
        messages.append(("/response/choices/0/message" if "response" in value else "/choices/0/message", answer))
    return messages


def _facts_of(value: Any) -> tuple[Facts, dict[str, Any]]:
    """What the row says of its task, and everything else beside the messages."""
    found: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, child in value.items() if isinstance(value, dict) else ():
        if name in {"messages", "tools"}:
            continue
        kind = _FACT_TYPES.get(name)
        try:
            if kind is None:
                rest[name] = child
            else:
                found[name] = msgspec.convert(child, kind)
        except msgspec.ValidationError:
            rest[name] = child
    for name in ("task_id", "run_id"):
        if name in found:
            rest[name] = found[name]
    return Facts(**found), rest


_FACT_TYPES = {field.name: field.type for field in msgspec.structs.fields(Facts)}


def _without_empty(value: dict[str, Any]) -> dict[str, Any]:
    return {name: child for name, child in value.items() if child}


def _located(messages: Any, pointer: str) -> list[tuple[str, Any]]:
    if not isinstance(messages, list):
        raise RowError("Its messages are not a list.")
    return [(f"{pointer}/{place}", message) for place, message in enumerate(messages)]


def _is_message_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "role" in value[0]


def _choices(value: Any) -> list[Any]:
    choices = member(value, "response", "choices") or member(value, "choices")
    return choices if isinstance(choices, list) else []


def _response_message(value: Any) -> Any:
    choices = _choices(value)
    return member(choices[0], "message") if choices else None


def _alternatives(value: Any) -> int:
    return len(_choices(value))


def _model(value: Any) -> str:
    for model in (member(value, "response", "model"), member(value, "model"), member(value, "request", "model")):
        if isinstance(model, str) and model:
            return model
    return ""


def _tools(value: Any) -> list[dict[str, Any]]:
    return tools_of(member(value, "tools") or member(value, "request", "tools"))
