"""Langfuse: an exported trace, `{"trace": {…, "scores"}, "observations": [...]}`.

Inputs and outputs are often JSON inside a text. Those of generations and tools make the steps; what cannot be read as
messages is attached to the run, and a trace in which nothing can be read is refused with the reason. Scores, tags,
metadata and costs are outcome data.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import attachment_of, score, text_of, title_of
from reviews.trajectories.dialects import (
    Place,
    Unit,
    messages_in,
    spoken,
    text_and_attachments,
    tool_definitions_in,
    unwrapped,
)
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome, Step
from reviews.trajectories.spans import Kind, Span, ToolUse, steps_of_spans

TITLE = "Langfuse"
NEEDS = frozenset({"observations"})
TOOL_PREFIXES = ("running tool: ", "tool.")  # what frameworks put before a tool's name
KINDS: dict[str, Kind] = {"GENERATION": "model", "TOOL": "tool", "EVALUATOR": "evaluator"}
SHOWN = {"input", "output"}
PLAIN_NOTE = "The source keeps this prompt as one text, without saying who speaks in it."


def recognise(value: Any) -> str:
    """Why this is Langfuse, or "" when it is not."""
    if isinstance(value, dict) and isinstance(value.get("trace"), dict) and isinstance(value.get("observations"), list):
        return "it has a trace with observations"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one trace."""
    observations = [
        (f"/observations/{number}", child)
        for number, child in enumerate(value["observations"])
        if isinstance(child, dict)
    ]
    spans = [_span(pointer, child) for pointer, child in observations]
    if not any(span.readable for span in spans):
        spans = [_span(pointer, child, plain=True) for pointer, child in observations]
    if not any(span.readable for span in spans):
        raise RowError(_why_unreadable(value, observations))
    steps = steps_of_spans(spans)
    if not steps:
        raise RowError(_why_unreadable(value, observations))
    trace = value["trace"]
    data = {name: child for name, child in trace.items() if name not in SHOWN | {"scores"}}
    scores = [_score(child) for child in _scores_of(trace, observations)]
    evaluators = [
        {"name": text_of(child.get("name")), "output": child.get("output")}
        for _, child in observations
        if child.get("type") == "EVALUATOR"
    ]
    errors = [
        text_of(child.get("statusMessage")) or f"{text_of(child.get('name'))} failed."
        for _, child in observations
        if child.get("level") == "ERROR"
    ]
    data |= {
        name: found for name, found in (("scores", scores), ("errors", errors), ("evaluators", evaluators)) if found
    }
    roots = [child for _, child in observations if not child.get("parentObservationId")]
    return Run(
        steps=tuple(steps),
        title=title_of(steps) or "Langfuse trace",
        tools=next((tools for _, child in observations if (tools := _tools(child))), []),
        outcome=RunOutcome(
            result="crash" if any(child.get("level") == "ERROR" for child in roots) else "unknown",
            model=next((model for _, child in observations if (model := text_of(child.get("model")))), options.model),
            data=data,
        ),
        source_ref=text_of(trace.get("id"))[:40],
    )


def _span(pointer: str, observation: dict[str, Any], *, plain: bool = False) -> Span:
    """An observation; `plain` takes a generation's prompt that is no messages for what the user said."""
    kind = KINDS.get(text_of(observation.get("type")), "other")
    place = Place(pointer)
    common: dict[str, Any] = {
        "id": text_of(observation.get("id")) or pointer,
        "parent": text_of(observation.get("parentObservationId")),
        "order": (text_of(observation.get("startTime")),),
        "name": text_of(observation.get("name")),
        "pointer": pointer,
    }
    if kind == "tool":
        return Span(kind="tool", tool=_tool_use(observation), **common)
    given = messages_in(observation.get("input"), place.at("input"))
    if plain and kind == "model" and not given:
        given = _plain_prompt(observation.get("input"), place.at("input"))
    answered = messages_in(observation.get("output"), place.at("output"))
    output, where = unwrapped(observation.get("output"), place.at("output"))
    if kind == "model" and given and answered is None and isinstance(output, str):
        answered = spoken("agent", output, where)
    unread = tuple(
        attachment_of(name, observation[name], place.at(name).pointer)
        for name, found in (("input", given), ("output", answered))
        if not found and observation.get(name)
    )
    return Span(kind=kind, given=given, answered=answered, unread=unread, **common)


def _plain_prompt(value: Any, place: Place) -> list[Unit] | None:
    """A prompt that is kept as one text, or as the only argument of a call."""
    value, _ = unwrapped(value, place)
    if isinstance(value, dict) and isinstance(value.get("args"), list) and len(value["args"]) == 1:
        value = value["args"][0]
    if not isinstance(value, str) or not value.strip():
        return None
    return [Unit(Step(role="user", text=value, note=PLAIN_NOTE, pointer=place.pointer))]


def _tool_use(observation: dict[str, Any]) -> ToolUse:
    name = text_of(observation.get("name")) or "unnamed"
    for prefix in TOOL_PREFIXES:
        name = name.removeprefix(prefix)
    arguments, _ = unwrapped(observation.get("input"), Place(""))
    output, where = unwrapped(observation.get("output"), Place(""))
    if output is None or observation.get("output") == "null":
        result = None
    elif isinstance(output, dict) and list(output) == ["content"]:
        result, _ = text_and_attachments(output["content"], where)
    else:
        result = output if isinstance(output, str) else jsontext.dump(output)
    return ToolUse(name=name, arguments=arguments, result=result, error=observation.get("level") == "ERROR")


def _why_unreadable(value: dict[str, Any], observations: list[tuple[str, dict[str, Any]]]) -> str:
    seen = [
        f"{text_of(child.get('name')) or 'an observation'} ({_what(child.get('input'))} in, "
        f"{_what(child.get('output'))} out)"
        for _, child in observations
        if child.get("type") == "GENERATION"
    ]
    if not seen:
        return "None of its observations is a generation with messages."
    return f"No generation has messages that can be read: {', '.join(seen)[:300]}."


def _what(value: Any) -> str:
    value, _ = unwrapped(value, Place(""))
    kinds = {str: "a text", dict: "an object", list: "a list", type(None): "nothing"}
    return kinds.get(type(value), "a value")


def _scores_of(trace: dict[str, Any], observations: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    sources = [trace, *(child for _, child in observations)]
    lists = [source["scores"] for source in sources if isinstance(source.get("scores"), list)]
    return [child for found in lists for child in found if isinstance(child, dict)]


def _score(source: dict[str, Any]) -> dict[str, Any]:
    value = source.get("value") if source.get("value") is not None else source.get("stringValue")
    return score(text_of(source.get("name")), value, source.get("comment"))


def _tools(observation: dict[str, Any]) -> list[dict[str, Any]]:
    return tool_definitions_in(observation.get("input"))
