"""OpenHands, the events of its SDK (2025 and later): one event per line, or a list; every event says its `kind`.

An ActionEvent and the observation that names its call make one step. State updates are folded into the note of the
step before; the last ones say how the run ended and are outcome data. Unknown kinds are attached, not cut.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    StepBuilder,
    attachment_of,
    content_of,
    member,
    text_of,
    title_of,
    tools_of,
    with_note,
)
from reviews.trajectories.schema import Attachment, ReadOptions, Result, Role, RowError, Run, RunOutcome, Step

TITLE = "OpenHands events"
NEEDS = frozenset({"events"})
RESULT_KINDS = {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}
KIND_ENDS = ("Event", "Observation", "Condensation")
STATE_KINDS = {"ConversationStateUpdateEvent", "PauseEvent"}


def recognise(value: Any) -> str:
    """Why this is OpenHands' SDK, or "" when it is not."""
    events = _events_of(value)
    return "a list of events that say their kind and source" if events and is_event(events[0]) else ""


def is_event(value: Any) -> bool:
    """Whether this is one event."""
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return False
    return {"source", "timestamp"} <= value.keys() and value["kind"].endswith(KIND_ENDS)


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one conversation."""
    builder = StepBuilder()
    states: list[str] = []
    waiting: list[str] = []  # states since the last step; those behind the last one tell how the run ended
    tools: list[dict[str, Any]] = []
    base = "" if isinstance(value, list) else "/events"
    for number, event in enumerate(_events_of(value)):
        pointer = f"{base}/{number}"
        kind = text_of(member(event, "kind"))
        if kind in STATE_KINDS:
            if member(event, "key") == "execution_status" and (state := text_of(event.get("value"))):
                states.append(state)
                waiting.append(state)
            continue
        if waiting and builder.steps:
            builder.steps[-1] = with_note(builder.steps[-1], f"The agent's state: {', '.join(waiting)}.")
        waiting = []
        if kind == "SystemPromptEvent":
            tools = tools or tools_of(event.get("tools"))
        _add(builder, pointer, kind, event)
    if not builder.steps:
        raise RowError("It holds no messages, actions or observations, only changes of state.")
    data: dict[str, Any] = {"states": states} if states else {}
    if stats := _last_stats(_events_of(value)):
        data["stats"] = stats
    return Run(
        steps=tuple(builder.steps),
        title=title_of(builder.steps) or "OpenHands run",
        tools=tools,
        outcome=RunOutcome(
            result=_result(states),
            model=text_of(member(stats, "usage_to_metrics", "default", "model_name")) or options.model,
            data=data,
        ),
    )


def _events_of(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("events"), list):
        return value["events"]
    return value if isinstance(value, list) else []


def _result(states: list[str]) -> Result:
    """What the last state says. Finishing is no success."""
    last = states[-1] if states else ""
    return "crash" if last == "error" else "timeout" if last == "stuck" else "unknown"


def _last_stats(events: list[Any]) -> Any:
    stats = [event.get("value") for event in events if member(event, "key") == "stats"]
    return stats[-1] if stats else None


def _add(builder: StepBuilder, pointer: str, kind: str, event: Any) -> None:
    if kind == "SystemPromptEvent":
        text, _, attachments = _words(event.get("system_prompt"), f"{pointer}/system_prompt")
        builder.add(Step(role="system", text=text, attachments=attachments, pointer=pointer))
    elif kind == "MessageEvent":
        _add_message(builder, pointer, event)
    elif kind == "ActionEvent":
        _add_action(builder, pointer, event)
    elif kind in RESULT_KINDS:
        _add_result(builder, pointer, kind, event)
    else:
        attachment = attachment_of(kind or "not an event", event, pointer)
        summary = text_of(member(event, "summary"))
        builder.add(Step(role="system", text=summary, attachments=(attachment,), pointer=pointer))


def _add_message(builder: StepBuilder, pointer: str, event: dict[str, Any]) -> None:
    message = event.get("llm_message")
    text, reasoning, attachments = _words(member(message, "content"), f"{pointer}/llm_message/content")
    extended, _, more = _words(event.get("extended_content"), f"{pointer}/extended_content")
    role: Role = "user" if event.get("source") == "user" or member(message, "role") == "user" else "agent"
    builder.add(
        Step(
            role=role,
            text="\n\n".join(part for part in (text, extended) if part),
            reasoning=_string(member(message, "reasoning_content")) or reasoning,
            attachments=attachments + more,
            pointer=pointer,
        )
    )


def _add_action(builder: StepBuilder, pointer: str, event: dict[str, Any]) -> None:
    text, reasoning, attachments = _words(event.get("thought"), f"{pointer}/thought")
    reasoning = _string(event.get("reasoning_content")) or reasoning
    blocks = event.get("thinking_blocks")
    if blocks and not reasoning:
        reasoning = _words(blocks, f"{pointer}/thinking_blocks")[1]
    if text or reasoning or attachments:
        builder.add(Step(role="agent", text=text, reasoning=reasoning, attachments=attachments, pointer=pointer))
    name = text_of(member(event, "tool_call", "name")) or text_of(event.get("tool_name")) or "unnamed"
    arguments = member(event, "tool_call", "arguments")
    if arguments is None:
        action = event.get("action")
        arguments = {key: child for key, child in action.items() if key != "kind"} if isinstance(action, dict) else ""
    builder.add_call(f"{pointer}/tool_call" if event.get("tool_call") else pointer, name, arguments, _call_id(event))


def _add_result(builder: StepBuilder, pointer: str, kind: str, event: dict[str, Any]) -> None:
    observation = event.get("observation")
    attachments: tuple[Attachment, ...] = ()
    if kind == "AgentErrorEvent":
        text = _string(event.get("error"))
    elif kind == "UserRejectObservation":
        text = _string(event.get("rejection_reason"))
    else:
        text, attachments = _observed(observation, f"{pointer}/observation")
    error = kind == "AgentErrorEvent" or member(observation, "is_error") is True
    note = "The user rejected this action." if kind == "UserRejectObservation" else ""
    builder.add_result(
        pointer,
        text,
        call_id=_call_id(event),
        name=text_of(event.get("tool_name")) or None,
        error=error,
        attachments=attachments,
        note=note,
    )


def _observed(observation: Any, pointer: str) -> tuple[str, tuple[Attachment, ...]]:
    """What the agent saw: the content, or (older) the output; anything else as JSON."""
    for name in ("content", "output", "message"):
        value = member(observation, name)
        if isinstance(value, str | list) and value:
            text, _, attachments = _words(value, f"{pointer}/{name}")
            return text, attachments
    if isinstance(observation, dict):
        rest = {name: child for name, child in observation.items() if name != "kind"}
        return (jsontext.dump(rest), ()) if any(rest.values()) else ("", ())
    return _string(observation), ()


def _call_id(event: dict[str, Any]) -> str:
    return text_of(event.get("tool_call_id")) or text_of(member(event, "tool_call", "id"))


def _words(content: Any, pointer: str) -> tuple[str, str, tuple[Attachment, ...]]:
    """The words of a content: a text, one part, or a list of parts."""
    if isinstance(content, dict):
        content = [content]
    return content_of(content, pointer)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else jsontext.dump(value)
