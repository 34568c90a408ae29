"""Steps that a person writes in place of an agent's: read, checked against the tools there were, and written back.

A person gives a message as {"text": str, "reasoning": str}, a call as {"tool": name, "arguments": object} with "result"
where they say what the tool would have answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema
import msgspec
import re2
from referencing import Registry

from reviews.trajectories.jsontext import dump
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from reviews.trajectories.tools import Tool

LONGEST_TEXT = 20_000
DEEPEST = 20
LARGEST_SCHEMA = 50_000
LONGEST_REASON = 300


class Unfit(ValueError):
    """What was given is no step. `part` names the field at fault, empty where it is the whole."""

    def __init__(self, sentence: str, part: str = ""):
        super().__init__(sentence)
        self.part = part


def read_given(given: Any, tools: Sequence[Tool]) -> Step:
    """The step that a person wrote. Raises Unfit. Without any tools known, any call is taken."""
    if not isinstance(given, Mapping):
        raise Unfit('A step is {"text": …} or {"tool": …, "arguments": …}.')
    unknown = set(given) - {"text", "reasoning", "tool", "arguments", "result"}
    if unknown:
        raise Unfit("A step has no such field.", str(min(unknown))[:40])
    text, reasoning = _text(given, "text"), _text(given, "reasoning")
    if given.get("tool") is None:
        if not text.strip():
            raise Unfit("Write what the agent should have said.", "text")
        return Step(role="agent", text=text, reasoning=reasoning)
    if text:
        raise Unfit("A step is a message or a call; write two steps for both.", "text")
    return Step(role="tool", reasoning=reasoning, call=_call(given, tools), result=_result(given))


def given_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """A stored step in the form in which it was given."""
    reasoning = {"reasoning": step["reasoning"]} if step.get("reasoning") else {}
    if "call" not in step:
        return {"text": step["text"], **reasoning}
    result = {"result": step["result"]["text"]} if "result" in step else {}
    return {"tool": step["call"]["name"], "arguments": step["call"].get("arguments"), **result, **reasoning}


def stored(step: Step) -> Any:
    """The step as plain JSON types, as it is kept."""
    return msgspec.to_builtins(step)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name, "")
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not _storable(value):
        raise Unfit(f"This is text of at most {LONGEST_TEXT:,} characters that can be stored.", name)
    return value


def _storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _call(given: Mapping[str, Any], tools: Sequence[Tool]) -> ToolCall:
    name, arguments = given["tool"], given.get("arguments", {})
    known = {tool.name: tool for tool in tools}
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not _storable(name):
        raise Unfit("Name the tool.", "tool")
    if known and name not in known:
        raise Unfit(f"The agent had no tool “{name[:60]}”. It had: {', '.join(known)[:300]}.", "tool")
    if not isinstance(arguments, Mapping):
        raise Unfit('The arguments are a JSON object, like {"account_id": "A-1"}.', "arguments")
    text = dump(arguments)
    if len(text) > LONGEST_TEXT or not _storable(text) or "\\u0000" in text or _depth(arguments) > DEEPEST:
        raise Unfit(f"Arguments have at most {LONGEST_TEXT:,} characters and {DEEPEST} levels.", "arguments")
    if known:
        _check_arguments(known[name], arguments)
    return ToolCall(id="", name=name, arguments_text=text, arguments=dict(arguments))


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raises Unfit where the arguments are not what the tool takes.

    The schema came with the run and may be anything: one that is none, or that is not safe to follow, checks nothing.
    """
    if not isinstance(tool.takes, Mapping) or not _is_safe(tool.parameters):
        return
    try:
        errors = sorted(Checker(tool.takes, registry=Registry()).iter_errors(arguments), key=_place)
    except Exception:
        return
    if errors:
        at = _place(errors[0])
        raise Unfit(f"“{tool.name}” does not take this{f' at {at}' if at else ''}: {_words(errors[0])}.", "arguments")


def _is_safe(schema: str) -> bool:
    """No larger than a tool's schema is, and no names by pattern, which only a backtracking engine could match."""
    return len(schema) <= LARGEST_SCHEMA and '"patternProperties"' not in schema


def _pattern(_checker: Any, pattern: Any, value: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
    """Patterns are matched in linear time."""
    if isinstance(value, str) and not re2.search(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


# No schema is ever fetched: the registry that is handed in is empty.
Checker = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})


def _place(error: jsonschema.ValidationError) -> str:
    return "/".join(map(str, error.path))


def _words(error: jsonschema.ValidationError) -> str:
    return error.message if len(error.message) <= LONGEST_REASON else f"{error.message[:LONGEST_REASON]}…"


def _result(given: Mapping[str, Any]) -> ToolResult | None:
    return ToolResult(text=_text(given, "result")) if given.get("result") is not None else None
