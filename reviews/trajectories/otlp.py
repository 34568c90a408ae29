"""OpenTelemetry GenAI: OTLP JSON (`resourceSpans`, `resourceLogs`), spans as an SDK dumps them, or their attributes.

Messages are read from the JSON texts of `gen_ai.input.messages` and its kin, from message events as they were before,
and from the attributes of OpenInference, OpenLLMetry and the AI SDK. The spans of one conversation make one run.
Evaluation events, errors and token counts are outcome data.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reviews.trajectories import jsontext
from reviews.trajectories.building import attachment_of, score, text_of, title_of, tools_of
from reviews.trajectories.dialects import Place, Unit, messages_in, spoken, text_and_attachments, unwrapped
from reviews.trajectories.otlp_spans import (
    BATCHES,
    Attribute,
    Attributes,
    Event,
    RawSpan,
    conversation_of,
    conversations,
    is_attribute_map,
    is_batch,
    is_span,
    narrowed_to,
    path_of,
    raw_spans,
)
from reviews.trajectories.schema import Attachment, ReadOptions, RowError, Run, RunOutcome
from reviews.trajectories.spans import Kind, Span, ToolUse, steps_of_spans

TITLE = "OpenTelemetry GenAI"
MODEL_OPERATIONS = {"chat", "text_completion", "generate_content"}
AGENT_OPERATIONS = {"invoke_agent", "create_agent", "invoke_workflow"}
EVALUATION = "gen_ai.evaluation.result"
DETAILS = "gen_ai.client.inference.operation.details"
GIVEN_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
# Messages spread over numbered attributes: OpenInference's and OpenLLMetry's.
NUMBERED_GIVEN = ("llm.input_messages.", "gen_ai.prompt.")
NUMBERED_ANSWERED = ("llm.output_messages.", "gen_ai.completion.")
MODEL_NAMES = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model", "ai.model.id")


def recognise(value: Any) -> str:
    """Why this is OpenTelemetry, or "" when it is not."""
    if isinstance(value, list):
        return "a list of spans" if value and (is_span(value[0]) or is_batch(value[0])) else ""
    if not isinstance(value, dict):
        return ""
    if is_batch(value):
        return f"it has {' and '.join(name for name in BATCHES if name in value)}"
    if is_span(value):
        return "it is a span with a trace id and attributes"
    if is_attribute_map(value):
        return "its members are attributes of a GenAI span"
    return ""


def to_runs(value: Any, options: ReadOptions) -> list[tuple[str, Run]]:
    """A run for each conversation, or for each trace where no conversation is named."""
    raw = list(raw_spans(value))
    groups = conversations(raw)
    if len(groups) == 1:
        name, spans = groups.popitem()
        run = _run(name, spans, options)
        runs = [(name, run)] if run else []
    else:
        runs = [run for spans in groups.values() for run in _alone(value, spans, options)]
    if not runs:
        raise RowError(
            f"None of its {len(raw)} spans has messages or tool calls. Tracers leave content out unless they are told "
            "to record it."
        )
    return runs


def _alone(value: Any, spans: list[RawSpan], options: ReadOptions) -> list[tuple[str, Run]]:
    """The run of one conversation among several. Its original is the file with the spans of the others left out."""
    paths = sorted(path_of(pointer) for span in spans for pointer in {span.pointer, *span.records})
    narrowed = narrowed_to(value, paths)
    ((name, own),) = conversations(list(raw_spans(narrowed))).items()
    run = _run(name, own, options)
    original = jsontext.dump(narrowed).encode("utf-8", "surrogatepass")
    return [(name, msgspec.structs.replace(run, original=original))] if run else []


def _run(name: str, raw: list[RawSpan], options: ReadOptions) -> Run | None:
    spans = [_span(span) for span in raw]
    if not any(span.readable or span.tool for span in spans):
        return None
    steps = steps_of_spans(spans)
    if not steps:
        return None
    ids = {span.id for span in raw}
    models = (model for span in sorted(raw, key=lambda span: span.start) if (model := span.text(*MODEL_NAMES)))
    crashed = any(span.failed and span.parent not in ids for span in raw)
    return Run(
        steps=tuple(steps),
        title=title_of(steps) or f"Trace {name}".strip(),
        tools=next((tools for span in raw if (tools := _tools(span))), []),
        outcome=RunOutcome(
            result="crash" if crashed else "unknown",
            model=next(models, options.model),
            data=_outcome_data(raw),
        ),
        source_ref=name[:40],
    )


def _span(span: RawSpan) -> Span:
    kind = _kind(span)
    given, answered = _given(span), _answered(span)
    return Span(
        id=span.id,
        parent=span.parent,
        order=(span.start,),
        kind=kind,
        name=span.name,
        pointer=span.pointer,
        given=given,
        answered=answered,
        tool=_tool_use(span) if kind == "tool" else None,
        unread=_unread(span, given=not given, answered=not answered) if kind == "model" else (),
    )


def _kind(span: RawSpan) -> Kind:
    operation = span.text("gen_ai.operation.name")
    described = span.text("openinference.span.kind").upper()
    step = span.text("ai.operationId")
    if operation == "execute_tool" or described == "TOOL" or step == "ai.toolCall":
        return "tool"
    if described == "EVALUATOR":
        return "evaluator"
    if operation in AGENT_OPERATIONS or described in {"AGENT", "CHAIN"}:
        return "other"
    is_model = operation in MODEL_OPERATIONS or described == "LLM" or step.startswith(("ai.generate", "ai.stream"))
    has_messages = "gen_ai.input.messages" in span.attributes or any(
        event.name in GIVEN_EVENTS or event.name in {CHOICE, DETAILS} for event in span.events
    )
    return "model" if is_model or has_messages else "other"


def _sources(span: RawSpan) -> list[Attributes]:
    """Where messages can stand: the span's attributes, and those of the event that holds a call's details."""
    return [span.attributes, *(event.attributes for event in span.events if event.name == DETAILS)]


def _given(span: RawSpan) -> list[Unit] | None:
    found: list[Unit] = []
    for attributes in _sources(span):
        if (system := attributes.get("gen_ai.system_instructions")) is not None:
            value, place = unwrapped(system.value, system.place)
            text, attachments = text_and_attachments(value, place)
            found += [
                msgspec.structs.replace(unit, step=msgspec.structs.replace(unit.step, attachments=attachments))
                for unit in spoken("system", text, place)
            ]
        for name in ("gen_ai.input.messages", "ai.prompt.messages", "ai.prompt"):
            units = _in_attribute(attributes.get(name))
            if units:
                found += units
                break
    if found:
        return found
    found = [unit for event in span.events if event.name in GIVEN_EVENTS for unit in _of_event(event)]
    return found or _numbered(span.attributes, NUMBERED_GIVEN)


def _answered(span: RawSpan) -> list[Unit] | None:
    for attributes in _sources(span):
        if units := _in_attribute(attributes.get("gen_ai.output.messages")):
            return units
    found = [unit for event in span.events if event.name == CHOICE for unit in _of_choice(event)]
    return found or _ai_sdk_answer(span.attributes) or _numbered(span.attributes, NUMBERED_ANSWERED)


def _in_attribute(attribute: Attribute | None) -> list[Unit] | None:
    return None if attribute is None else messages_in(attribute.value, attribute.place)


def _of_event(event: Event) -> list[Unit]:
    """A message event as it was until version 1.36: the members of the message are attributes."""
    message = {name: attribute.value for name, attribute in event.attributes.items()}
    message.setdefault("role", GIVEN_EVENTS[event.name])
    if event.name == "gen_ai.tool.message":
        message["role"] = "tool"
    place = next((attribute.place for attribute in event.attributes.values()), Place(""))
    for name in ("content", "tool_calls"):
        if name in event.attributes:
            place = event.attributes[name].place
            break
    return messages_in([_parsed(message)], Place(place.pointer, True)) or []


def _of_choice(event: Event) -> list[Unit]:
    message = event.attributes.get("message")
    if message is None:
        return _of_event(Event("gen_ai.assistant.message", event.attributes))
    value, place = unwrapped(message.value, message.place)
    if isinstance(value, dict):
        return messages_in(_parsed({"role": "assistant", **value}), place) or []
    return spoken("agent", value, place) if isinstance(value, str) else []


def _parsed(message: dict[str, Any]) -> dict[str, Any]:
    """The message with what is JSON in a text by its nature as a value; its content stays the text it is."""
    if isinstance(message.get("tool_calls"), str):
        message["tool_calls"], _ = unwrapped(message["tool_calls"], Place(""))
    return message


def _ai_sdk_answer(attributes: Attributes) -> list[Unit] | None:
    found: list[Unit] = []
    for name in ("ai.response.text", "ai.response.object"):
        attribute = attributes.get(name)
        if attribute is not None and isinstance(attribute.value, str):
            found += spoken("agent", attribute.value, attribute.place)
    found += _in_attribute(attributes.get("ai.response.toolCalls")) or []
    return found or None


def _numbered(attributes: Attributes, prefixes: tuple[str, ...]) -> list[Unit] | None:
    """Messages whose members are attributes with numbers in their names."""
    tree: dict[str, Any] = {}
    place = None
    for name, attribute in attributes.items():
        prefix = next((prefix for prefix in prefixes if name.startswith(prefix)), None)
        if prefix is None:
            continue
        place = place or attribute.place
        parts = name[len(prefix) :].split(".")
        if len(parts) <= jsontext.MAX_DEPTH // 2:
            _plant(tree, parts, attribute.value)
    if place is None:
        return None
    messages = [_flat_message(_listed(message)) for message in _in_order(tree)]
    return messages_in(messages, Place(place.pointer, True))


def _plant(tree: dict[str, Any], parts: list[str], value: Any) -> None:
    for part in parts[:-1]:
        child = tree.setdefault(part, {})
        if not isinstance(child, dict):
            return
        tree = child
    tree.setdefault(parts[-1], value)


def _in_order(tree: dict[str, Any]) -> list[Any]:
    return [tree[name] for name in sorted(tree, key=lambda name: (len(name), name))]


def _listed(value: Any) -> Any:
    """Objects whose keys are numbers as the lists they stand for."""
    if not isinstance(value, dict):
        return value
    if value and all(name.isascii() and name.isdigit() for name in value):
        return [_listed(child) for child in _in_order(value)]
    return {name: _listed(child) for name, child in value.items()}


def _flat_message(message: Any) -> Any:
    """OpenInference puts `message.`, `message_content.` and `tool_call.` between; without them it is a chat message."""
    if isinstance(message, list):
        return [_flat_message(child) for child in message]
    if not isinstance(message, dict):
        return message
    for name in ("message", "message_content", "tool_call"):
        if isinstance(message.get(name), dict):
            message = {key: child for key, child in message.items() if key != name} | message[name]
    return {name: _flat_message(child) for name, child in message.items()}


def _tool_use(span: RawSpan) -> ToolUse:
    first = span.attributes.get
    arguments = (
        first("gen_ai.tool.call.arguments") or first("ai.toolCall.args") or first("input.value") or first("input")
    )
    result = first("gen_ai.tool.call.result") or first("ai.toolCall.result") or first("output.value") or first("output")
    return ToolUse(
        name=span.text("gen_ai.tool.name", "ai.toolCall.name", "tool.name") or span.name or "unnamed",
        call_id=span.text("gen_ai.tool.call.id", "ai.toolCall.id"),
        arguments=None if arguments is None else arguments.value,
        result=None if result is None else _as_text(result.value),
        error=span.failed,
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.dump(value)


def _unread(span: RawSpan, *, given: bool, answered: bool) -> tuple[Attachment, ...]:
    """What stands where messages would, of the sides that have none."""
    names = [name for name in ("input.value", "input", "gen_ai.input.messages") if given]
    names += [name for name in ("output.value", "output", "gen_ai.output.messages") if answered]
    return tuple(
        attachment_of(name, span.attributes[name].value, span.attributes[name].place.pointer)
        for name in names
        if name in span.attributes and span.attributes[name].value not in (None, "", [], "[]")
    )


def _tools(span: RawSpan) -> list[dict[str, Any]]:
    for name in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        if name in span.attributes:
            value, _ = unwrapped(span.attributes[name].value, Place(""))
            if isinstance(value, list):
                return tools_of([unwrapped(tool, Place(""))[0] for tool in value])
    return []


def _outcome_data(raw: list[RawSpan]) -> dict[str, Any]:
    scores = [_score(event.attributes) for span in raw for event in span.events if event.name == EVALUATION]
    errors = [span.error or f"{span.name} failed." for span in raw if span.failed]
    usage: dict[str, int] = {}
    for span in raw:
        for name, attribute in span.attributes.items():
            if name.startswith("gen_ai.usage.") and isinstance(attribute.value, int):
                short = name.removeprefix("gen_ai.usage.")
                usage[short] = usage.get(short, 0) + attribute.value
    data: dict[str, Any] = {"trace_ids": sorted({span.trace for span in raw if span.trace})}
    conversation = next((found for span in raw if (found := conversation_of(span))), "")
    evaluators = [
        {"name": span.name, "output": span.attributes["output.value"].value}
        for span in raw
        if _kind(span) == "evaluator" and "output.value" in span.attributes
    ]
    said = {
        "conversation_id": conversation,
        "scores": scores,
        "errors": errors,
        "usage": usage,
        "evaluators": evaluators,
    }
    return data | {name: value for name, value in said.items() if value}


def _score(attributes: Attributes) -> dict[str, Any]:
    def value(name: str) -> Any:
        found = attributes.get(f"gen_ai.evaluation.{name}")
        return None if found is None else found.value

    number = value("score.value")
    label = value("score.label")
    return score(text_of(value("name")), label if number is None else number, value("explanation"))
