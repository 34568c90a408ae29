"""Spans as they lie in a file: OTLP JSON with its typed values, an SDK's dump, one span's attributes, log records.

Nothing here knows what a message is; `otlp` reads that out of the attributes and events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from reviews.trajectories.building import member, text_of
from reviews.trajectories.dialects import Place

BATCHES = ("resourceSpans", "resourceLogs")
# The lists in which spans and log records lie.
NESTED = {*BATCHES, "scopeSpans", "instrumentationLibrarySpans", "scopeLogs", "spans", "logRecords"}
LINE_STARTS = tuple(f'{{"{name}":'.encode() for name in BATCHES)  # how a batch begins that is too long to look into
CONVERSATIONS = ("gen_ai.conversation.id", "session.id")


class Attribute(msgspec.Struct, frozen=True):
    """A value with its place in the original."""

    value: Any
    place: Place


Attributes = dict[str, Attribute]


class Event(msgspec.Struct, frozen=True):
    """An event of a span, or a log record that belongs to it."""

    name: str
    attributes: Attributes


class RawSpan(msgspec.Struct):
    """A span or, where only its log records are there, what they say of it."""

    trace: str
    id: str
    pointer: str
    parent: str = ""
    name: str = ""
    start: int = 0
    attributes: Attributes = {}
    events: list[Event] = []
    error: str = ""
    failed: bool = False
    records: list[str] = []  # pointers of the log records that belong to it

    def text(self, *names: str) -> str:
        """The first of these attributes that is a text."""
        values = (self.attributes[name].value for name in names if name in self.attributes)
        return next((value for value in values if isinstance(value, str) and value), "")


def is_batch(value: Any) -> bool:
    """Whether this is what an exporter sends at a time."""
    return isinstance(value, dict) and any(isinstance(value.get(name), list) for name in BATCHES)


def is_span(value: Any) -> bool:
    """Whether this is one span as an SDK or a collector writes it."""
    if not isinstance(value, dict) or not isinstance(value.get("attributes"), dict | list):
        return False
    contexts = [value, value.get("spanContext"), value.get("context")]
    return any(isinstance(member(context, name), str) for context in contexts for name in ("traceId", "trace_id"))


def path_of(pointer: str) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part for part in pointer.split("/")[1:])


def narrowed_to(value: Any, paths: list[tuple[Any, ...]]) -> Any:
    """The value with only what lies at the paths, which are in order, and what stands around it."""
    if not paths[0]:
        return value
    kept: Any = [] if isinstance(value, list) else {name: value[name] for name in value if name not in NESTED}
    for name, group in groupby(paths, key=lambda path: path[0]):
        child = narrowed_to(value[name], [path[1:] for path in group])
        if isinstance(value, list):
            kept.append(child)
        else:
            kept[name] = child
    return kept


def is_attribute_map(value: dict[str, Any]) -> bool:
    return any(name in value for name in ("gen_ai.operation.name", "openinference.span.kind", "ai.operationId")) or any(
        name.startswith(("gen_ai.input.", "gen_ai.output.", "llm.input_messages.")) for name in value
    )


def raw_spans(value: Any) -> Iterator[RawSpan]:
    """All spans, log records put to theirs."""
    spans: dict[tuple[str, str], RawSpan] = {}
    for span in _found_spans(value):
        if (span.trace, span.id) in spans:  # sent twice by an exporter
            continue
        spans[span.trace, span.id] = span
    for trace, span_id, time, pointer, event in _log_events(value):
        key = (trace, span_id)
        if key not in spans:
            spans[key] = RawSpan(trace=trace, id=span_id, pointer=pointer, start=time)
        spans[key].events.append(event)
        spans[key].records.append(pointer)
    yield from spans.values()


def _found_spans(value: Any, pointer: str = "") -> Iterator[RawSpan]:
    if isinstance(value, list):
        for number, child in enumerate(value):
            yield from _found_spans(child, f"{pointer}/{number}")
    elif is_span(value):
        yield _raw_span(value, pointer)
    elif is_batch(value):
        for inner, resource in _children(value, pointer, "resourceSpans"):
            for place, scope in _children(resource, inner, "scopeSpans", "instrumentationLibrarySpans"):
                for where, span in _children(scope, place, "spans"):
                    yield _raw_span(span, where)
    elif isinstance(value, dict):
        yield RawSpan(trace="", id="span", pointer=pointer, attributes=_attributes(value, pointer), events=[])


def _children(value: Any, pointer: str, *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        children = value.get(name)
        for number, child in enumerate(children if isinstance(children, list) else []):
            if isinstance(child, dict):
                yield f"{pointer}/{name}/{number}", child


def _raw_span(span: dict[str, Any], pointer: str) -> RawSpan:
    context = next((span[name] for name in ("spanContext", "context") if isinstance(span.get(name), dict)), span)
    parent = span.get("parentSpanId") or span.get("parent_id") or member(span, "parentSpanContext", "spanId")
    status = span.get("status")
    code = text_of(member(status, "code") or member(status, "status_code"))
    return RawSpan(
        trace=text_of(context.get("traceId") or context.get("trace_id")),
        id=text_of(context.get("spanId") or context.get("span_id")) or f"span {pointer}",
        pointer=pointer,
        parent=text_of(parent),
        name=text_of(span.get("name")),
        start=_nanoseconds(span.get("startTimeUnixNano", span.get("startTime"))),
        attributes=_attributes(span.get("attributes"), f"{pointer}/attributes"),
        events=[
            Event(text_of(event.get("name")), _attributes(event.get("attributes"), f"{place}/attributes"))
            for place, event in _children(span, pointer, "events")
        ],
        error=text_of(member(status, "message") or member(status, "description")),
        failed=code.upper() in {"2", "ERROR", "STATUS_CODE_ERROR"},
    )


def _nanoseconds(time: Any) -> int:
    """A time as OTLP (a text of digits) or as JavaScript's SDK ([seconds, nanoseconds]) gives it."""
    if isinstance(time, list) and len(time) == 2 and all(isinstance(part, int) for part in time):
        return int(time[0]) * 10**9 + int(time[1])
    digits = text_of(time)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 40 else 0


def _log_events(value: Any, pointer: str = "") -> Iterator[tuple[str, str, int, str, Event]]:
    """The log records: trace, span, time, place and what they say."""
    if isinstance(value, list):
        for number, child in enumerate(value):
            yield from _log_events(child, f"{pointer}/{number}")
    if not isinstance(value, dict):
        return
    for outer, resource in _children(value, pointer, "resourceLogs"):
        for inner, scope in _children(resource, outer, "scopeLogs"):
            for place, record in _children(scope, inner, "logRecords"):
                attributes = _attributes(record.get("attributes"), f"{place}/attributes")
                name = text_of(record.get("eventName"))
                if not name and "event.name" in attributes:
                    name = text_of(attributes["event.name"].value)
                body, where = _any_value(record.get("body"), Place(f"{place}/body"))
                if isinstance(body, dict):
                    attributes |= {key: Attribute(child, Place(where.pointer, True)) for key, child in body.items()}
                span = text_of(record.get("spanId")) or f"log {place}"
                time = _nanoseconds(record.get("timeUnixNano"))
                yield text_of(record.get("traceId")), span, time, place, Event(name, attributes)


def _attributes(source: Any, pointer: str) -> Attributes:
    """Attributes by name: OTLP lists them with a type, SDKs and maps have them plain."""
    if isinstance(source, dict):
        return {name: Attribute(value, Place(pointer).at(name)) for name, value in source.items()}
    found: Attributes = {}
    for number, pair in enumerate(source if isinstance(source, list) else []):
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            value, place = _any_value(pair.get("value"), Place(f"{pointer}/{number}/value"))
            found[pair["key"]] = Attribute(value, place)
    return found


def _any_value(value: Any, place: Place) -> tuple[Any, Place]:
    """OTLP's typed value as a plain one; whole numbers come as texts."""
    if not isinstance(value, dict):
        return value, place
    for name, inner in value.items():
        where = place.at(name)
        if name == "intValue":
            digits = text_of(inner)
            whole = re.fullmatch(r"-?\d{1,40}", digits)
            return (int(digits) if whole else inner), where
        if name == "arrayValue":
            values = member(inner, "values")
            plain = [_any_value(child, where)[0] for child in values] if isinstance(values, list) else []
            return plain, Place(where.pointer, True)
        if name == "kvlistValue":
            pairs = _attributes(member(inner, "values"), where.pointer)
            return {key: pair.value for key, pair in pairs.items()}, Place(where.pointer, True)
        if name in {"stringValue", "doubleValue", "boolValue", "bytesValue"}:
            return inner, where
    return None, place


def conversations(spans: list[RawSpan]) -> dict[str, list[RawSpan]]:
    """Spans by conversation. One that names none belongs to the conversation of its trace."""
    named: dict[str, str] = {}
    for span in spans:
        conversation = conversation_of(span)
        if conversation and span.trace:
            named.setdefault(span.trace, conversation)
    groups: dict[str, list[RawSpan]] = {}
    for span in spans:
        groups.setdefault(conversation_of(span) or named.get(span.trace) or span.trace, []).append(span)
    return groups


def conversation_of(span: RawSpan) -> str:
    for name in CONVERSATIONS:
        if name in span.attributes and (found := text_of(span.attributes[name].value)):
            return found
    return ""
