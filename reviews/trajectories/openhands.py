"""OpenHands, its events until 2025: a list of events, or a row of output.jsonl with its `history`.

An action and the observation it caused make one step. Events that only say in which state the agent is, and their
empty answers, are folded into the note of the step before; the last ones tell how the run ended. They, patches, test
results, errors, metrics and whether the issue was resolved are outcome data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    attachment_of,
    call_of,
    content_of,
    member,
    score,
    text_of,
    title_of,
    with_note,
)
from reviews.trajectories.schema import (
    Attachment,
    ReadOptions,
    Result,
    Role,
    RowError,
    Run,
    RunOutcome,
    Step,
    ToolResult,
)

TITLE = "OpenHands"
NEEDS = frozenset({"history"})
STATE_ACTIONS = {"change_agent_state", "null"}
STATE_OBSERVATIONS = {"agent_state_changed", "null"}
# What the runtime adds to the arguments that the agent chose.
HOUSEKEEPING = {"thought", "blocking", "hidden", "is_confirmed", "confirmation_state", "keep_prompt", "action_risk"} | {
    "security_risk",
    "kernel_init_code",
    "translated_ipython_code",
    "images_urls",
    "image_urls",
    "wait_for_response",
}
# Members of a flat event (before `args` and `extras` came) that are not what the event is about.
FLAT = {"id", "timestamp", "source", "message", "cause", "action", "observation", "timeout", "tool_call_metadata"} | {
    "llm_metrics",
    "success",
}
RECALL_NOTE = "The system looked up what it knows for the agent."
FINAL_WORDS = ("final_thought", "thought")


def recognise(value: Any) -> str:
    """Why this is OpenHands, or "" when it is not."""
    if isinstance(value, list):
        return "a list of events with actions and observations" if value and is_event(value[0]) else ""
    history = value.get("history") if isinstance(value, dict) else None
    if isinstance(history, list) and history:
        first = history[0][0] if isinstance(history[0], list) and history[0] else history[0]
        if _is_any_event(first):
            return "its history has actions and observations"
    return ""


def is_event(value: Any) -> bool:
    """Whether this is an event that stands alone, with its id and source."""
    return _is_any_event(value) and "source" in value and "id" in value


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    row = value if isinstance(value, dict) else {}
    reader = _Reader(list(_events(value)))
    steps = reader.steps()
    if not steps:
        raise RowError("It holds no events that say anything.")
    issue = row.get("issue")
    data = {name: child for name, child in row.items() if name != "history"}
    if reader.states:
        data["last_states"] = reader.states
    if isinstance(row.get("success"), bool):
        data["scores"] = [score("resolver", row["success"], row.get("result_explanation"))]
    model = member(row, "metadata", "llm_config", "model")
    return Run(
        steps=tuple(steps),
        key=text_of(row.get("instance_id")) or _issue_key(issue),
        title=text_of(member(issue, "title"))[:80] or title_of(steps) or "OpenHands run",
        outcome=RunOutcome(result=_result(row), model=text_of(model) or options.model, data=data),
    )


def _is_any_event(value: Any) -> bool:
    if not isinstance(value, dict) or "kind" in value:
        return False
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


def _issue_key(issue: Any) -> str:
    parts = [text_of(member(issue, name)) for name in ("owner", "repo", "number")]
    return f"{parts[0]}/{parts[1]}#{parts[2]}" if all(parts) else ""


def _result(row: dict[str, Any]) -> Result:
    """How the row says the run ended: an error is a crash, tests or the resolver's check say success or failure."""
    if row.get("error"):
        return "timeout" if "iteration" in text_of(row["error"]).lower() else "crash"
    for said in (row.get("success"), member(row, "test_result", "resolved"), member(row, "report", "resolved")):
        if isinstance(said, bool):
            return "success" if said else "failure"
    return "unknown"


def _events(value: Any) -> Iterator[tuple[str, Any]]:
    """All events with their pointers; old histories put an action and its observation into a pair."""
    base = "" if isinstance(value, list) else "/history"
    for number, event in enumerate(value if isinstance(value, list) else value["history"]):
        if isinstance(event, list):
            yield from ((f"{base}/{number}/{place}", part) for place, part in enumerate(event))
        else:
            yield f"{base}/{number}", event


class _Reader:
    """Goes through events, joins observations to their actions and folds states into notes."""

    def __init__(self, events: list[tuple[str, Any]]) -> None:
        self._events = events
        self._steps: list[Step] = []
        self._by_id: dict[str, int] = {}  # the step of an action, by the id that its observation names as its cause
        self._by_call: dict[str, int] = {}
        self._open: list[tuple[str, int]] = []  # actions without an observation: kind and step
        self.states: list[str] = []  # since the last step; those behind the last one tell how the run ended

    def steps(self) -> list[Step]:
        """The steps of all events."""
        for pointer, event in self._events:
            if not isinstance(event, dict):
                self._add(_attached("not an event", event, pointer))
            elif isinstance(event.get("action"), str):
                self._act(pointer, event, event["action"])
            elif isinstance(event.get("observation"), str):
                self._observe(pointer, event, event["observation"])
            else:
                self._add(_attached("event", event, pointer))
        return self._steps

    def _add(self, step: Step) -> int:
        self._fold_states()
        self._steps.append(step)
        return len(self._steps) - 1

    def _fold_states(self) -> None:
        """The states since the last step, as a note of that step."""
        names = list(dict.fromkeys(self.states))
        if names and self._steps:
            self._steps[-1] = with_note(self._steps[-1], f"The agent's state: {', '.join(names)}.")
        if self._steps:
            self.states = []

    def _act(self, pointer: str, event: dict[str, Any], kind: str) -> None:
        arguments = _arguments(event)
        if kind in STATE_ACTIONS:
            self._note_state(arguments)
            return
        if kind in {"message", "system"}:
            role: Role = "system" if kind == "system" else "user" if _source(event, self._steps) == "user" else "agent"
            text = _text(arguments.get("content"))
            self._add(Step(role=role, text=text, attachments=_images(arguments, pointer), pointer=pointer))
            return
        if kind in {"think", "finish", "reject"}:
            self._say(pointer, event, kind, arguments)
            return
        thought = _text(arguments.get("thought"))
        if thought:
            self._add(Step(role="agent", text=thought, pointer=pointer))
        call_id, name, chosen = _call(event, kind, arguments)
        note = RECALL_NOTE if kind == "recall" else ""
        place = self._add(Step(role="tool", call=call_of(name, chosen, call_id), note=note, pointer=pointer))
        self._await(event, kind, place)

    def _say(self, pointer: str, event: dict[str, Any], kind: str, arguments: dict[str, Any]) -> None:
        """Words in the form of an action: a thought, or how the agent ends."""
        text = next((words for name in FINAL_WORDS if (words := _text(arguments.get(name)))), "")
        outputs = arguments.get("outputs")
        if not text and isinstance(outputs, dict) and outputs:
            text = jsontext.dump(outputs)
        note = "" if kind == "think" else f"The agent ends its work ({kind})."
        reasoning, text = (text, "") if kind == "think" else ("", text)
        place = self._add(Step(role="agent", text=text, reasoning=reasoning, note=note, pointer=pointer))
        self._await(event, kind, place)

    def _await(self, event: dict[str, Any], kind: str, place: int) -> None:
        if event.get("id") is not None:
            self._by_id[text_of(event["id"])] = place
        if call_id := text_of(member(event, "tool_call_metadata", "tool_call_id")):
            self._by_call[call_id] = place
        self._open.append((kind, place))

    def _observe(self, pointer: str, event: dict[str, Any], kind: str) -> None:
        if kind in STATE_OBSERVATIONS and not _text(event.get("content")):
            self._note_state(event.get("extras"))
            return
        text, _, attachments = content_of(event.get("content"), f"{pointer}/content")
        attachments += _images(event.get("extras"), pointer)
        error = kind == "error"
        place = self._action_of(event, kind)
        if place is None:
            role: Role = "tool" if error or kind != "recall" else "system"
            if role == "system":
                self._add(Step(role="system", text=text, attachments=attachments, note=RECALL_NOTE, pointer=pointer))
            else:
                note = "This result belongs to no call."
                result = ToolResult(text=text, error=error)
                self._add(Step(role="tool", result=result, attachments=attachments, note=note, result_pointer=pointer))
            return
        step = self._steps[place]
        if step.call is None:  # a thought's echo
            if text and text not in {step.text, step.reasoning} and not text.startswith("Your thought has been logged"):
                self._steps[place] = replace(step, attachments=(*step.attachments, attachment_of(kind, text, pointer)))
            return
        self._steps[place] = replace(
            step,
            result=ToolResult(text=text, error=error),
            attachments=step.attachments + attachments,
            result_pointer=pointer,
        )

    def _action_of(self, event: dict[str, Any], kind: str) -> int | None:
        """The step this answers: named as the cause, by its call, or else the last open action of the kind."""
        place = self._by_call.get(text_of(member(event, "tool_call_metadata", "tool_call_id")))
        if place is None and event.get("cause") is not None:
            place = self._by_id.get(text_of(event["cause"]))
        if place is None and event.get("cause") is None:
            place = next((at for name, at in reversed(self._open) if name == kind), None)
        if place is None and kind == "error" and self._open:
            place = self._open[-1][1]
        if place is None or (self._steps[place].call and self._steps[place].result):
            return None
        self._open = [(name, at) for name, at in self._open if at != place]
        return place

    def _note_state(self, source: Any) -> None:
        if state := text_of(member(source, "agent_state")):
            self.states.append(state)


def _attached(kind: str, event: Any, pointer: str) -> Step:
    """What is no event as we know them: kept, not cut."""
    return Step(role="system", attachments=(attachment_of(kind, event, pointer),), pointer=pointer)


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    """What the action is about: `args`, or in old files the event's own members."""
    arguments = event.get("args")
    if isinstance(arguments, dict):
        return arguments
    return {name: child for name, child in event.items() if name not in FLAT}


def _source(event: dict[str, Any], steps: list[Step]) -> str:
    """Who speaks; old files do not say it, and begin with the user's words."""
    return text_of(event.get("source")) or ("user" if not steps else "agent")


def _call(event: dict[str, Any], kind: str, arguments: dict[str, Any]) -> tuple[str, str, Any]:
    """Id, name and arguments: as the model wrote them where the event keeps its answer, else the runtime's."""
    metadata = event.get("tool_call_metadata")
    call_id = text_of(member(metadata, "tool_call_id"))
    choices = member(metadata, "model_response", "choices")
    for choice in choices if isinstance(choices, list) else []:
        calls = member(choice, "message", "tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if text_of(member(call, "id")) == call_id and isinstance(member(call, "function", "name"), str):
                return call_id, call["function"]["name"], call["function"].get("arguments", "")
    chosen = {name: child for name, child in arguments.items() if name not in HOUSEKEEPING and child is not None}
    if kind == "call_tool_mcp" and isinstance(chosen.get("arguments"), dict):
        return call_id, text_of(chosen.get("name")) or kind, chosen["arguments"]
    return call_id, text_of(member(metadata, "function_name")) or kind, chosen


def _images(source: Any, pointer: str) -> tuple[Attachment, ...]:
    found: list[Attachment] = []
    for name in ("image_urls", "images_urls", "screenshot"):
        value = member(source, name)
        images = value if isinstance(value, list) else [value]
        found += [attachment_of("image", image, pointer) for image in images if isinstance(image, str) and image]
    return tuple(found)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else jsontext.dump(value)
