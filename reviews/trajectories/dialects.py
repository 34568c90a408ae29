"""A message as any framework writes it, as the steps it stands for: what tracers record is what ran under them.

Read are the messages of OpenAI, Anthropic, LangChain (also serialised), OpenTelemetry's parts, Gemini and the AI SDK,
and what requests and answers wrap around them. A value that holds no messages gives None, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import attachment_of, call_of, content_of, member, text_of, with_note
from reviews.trajectories.schema import Attachment, Role, Step, ToolResult

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
    "agent": "agent",
    "tool": "tool",
    "function": "tool",
}
# LangChain's classes, whose names stand in `type` or at the end of `id`.
CLASSES: dict[str, Role] = {
    "HumanMessage": "user",
    "AIMessage": "agent",
    "AIMessageChunk": "agent",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
REASONING = {"reasoning", "thinking", "thought"}
CALLS = {"tool_call", "tool_use", "tool-call", "server_tool_use", "function_call"}
RESULTS = {"tool_call_response", "tool_result", "tool-result", "tool_response", "function_response"}
REFUSAL_NOTE = "The source marks this message as a refusal."
INVALID_CALL_NOTE = "The source marks this call as one that could not be read."


class Place(NamedTuple):
    """Where a value lies. Inside JSON that is itself a text, a pointer can only name the text."""

    pointer: str
    in_text: bool = False

    def at(self, *parts: str | int) -> Place:
        """The place of a member or element of what lies here."""
        if self.in_text:
            return self
        return Place(self.pointer + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts))


class Unit(msgspec.Struct, frozen=True):
    """One thing that was said, called or answered. A result names its call by `call_id` or, failing that, `tool`."""

    step: Step
    call_id: str = ""
    tool: str = ""


def unwrapped(value: Any, place: Place) -> tuple[Any, Place]:
    """The value inside JSON that is written as a text (once or twice); any other value as it is."""
    for _ in range(2):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            break
        inner = jsontext.parse_text(value)
        if inner is None:
            break
        value, place = inner, Place(place.pointer, in_text=True)
    return value, place


def messages_in(value: Any, place: Place) -> list[Unit] | None:
    """The messages in a request, an answer, a list or a single message; None where there are none."""
    value, place = unwrapped(value, place)
    if isinstance(value, list):
        return _in_list(value, place)
    if not isinstance(value, dict):
        return None
    found = _message(value, place)
    if found is not None:
        return found
    return _in_wrapper(value, place)


def spoken(role: Role, text: str, place: Place) -> list[Unit]:
    """A text that is known to be a message of this role."""
    return [Unit(Step(role=role, text=text, pointer=place.pointer))] if text else []


def text_and_attachments(content: Any, place: Place) -> tuple[str, tuple[Attachment, ...]]:
    """What a result or another plain content says: its text, and the parts that are no text."""
    if isinstance(content, list) and not all(_is_part(part) for part in content):
        return jsontext.dump(content), ()
    text, reasoning, attachments = content_of(_plain_parts(content), place.pointer)
    return joined_lines(text, reasoning), attachments


def _in_list(values: list[Any], place: Place) -> list[Unit] | None:
    """The messages of a list (LangChain puts one list into another). What stands among them and is none is kept."""
    found: list[Unit] = []
    any_message = False
    for number, child in enumerate(values):
        inner, inner_place = unwrapped(child, place.at(number))
        units = _in_list(inner, inner_place) if isinstance(inner, list) else _message(inner, inner_place)
        if units is not None:
            any_message = True
            found += units
        else:
            attachment = attachment_of("not a message", inner, inner_place.pointer)
            found.append(Unit(Step(role="system", attachments=(attachment,), pointer=inner_place.pointer)))
    return found if any_message else None


def _in_wrapper(value: dict[str, Any], place: Place) -> list[Unit] | None:
    """What requests and answers of frameworks wrap around messages."""
    for name in ("messages", "message"):
        if name in value and (found := messages_in(value[name], place.at(name))) is not None:
            return _with_system(value, place, found)
    for name in ("choices", "candidates", "generations"):
        children = value.get(name)
        if isinstance(children, list) and children:
            return _first_answer(children, place.at(name))
    if "contents" in value:
        return _gemini_request(value, place)
    if isinstance(value.get("prompt"), str):
        return _with_system(value, place, spoken("user", value["prompt"], place.at("prompt")))
    if isinstance(value.get("output"), dict | list):
        return messages_in(value["output"], place.at("output"))
    return None


def _with_system(value: dict[str, Any], place: Place, found: list[Unit]) -> list[Unit]:
    system = value.get("system")
    if system is None:
        return found
    text, attachments = text_and_attachments(system, place.at("system"))
    return [Unit(Step(role="system", text=text, attachments=attachments, pointer=place.at("system").pointer)), *found]


def _gemini_request(value: dict[str, Any], place: Place) -> list[Unit] | None:
    contents, where = value["contents"], place.at("contents")
    found = spoken("user", contents, where) if isinstance(contents, str) else messages_in(contents, where)
    return None if found is None else _with_system(value, place, found)


def _first_answer(children: list[Any], place: Place) -> list[Unit] | None:
    """The first of several alternatives; how many there were is noted."""
    first, where = children[0], place.at(0)
    if isinstance(first, list):  # LangChain: generations of a batch of prompts
        return _first_answer(first, where) if first else None
    found = None
    for name in ("message", "content"):
        if isinstance(first, dict) and isinstance(first.get(name), dict):
            found = _message({"role": "assistant", **_without_none(first[name])}, where.at(name))
            break
    if found is None and isinstance(first, dict) and isinstance(first.get("text"), str):
        found = spoken("agent", first["text"], where.at("text"))
    if found and len(children) > 1:
        note = f"The source holds {len(children)} alternatives of this message; the first is shown."
        found[-1] = replace(found[-1], step=with_note(found[-1].step, note))
    return found


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {name: child for name, child in value.items() if child is not None}


def _message(value: Any, place: Place) -> list[Unit] | None:
    """The units of one message, None when it is none."""
    if not isinstance(value, dict):
        return None
    role, message, place = _role_and_body(value, place)
    if role is None:
        return _bare_call(value, place)
    if role == "tool" and _is_tool_definition(message.get("content")):
        return []
    name = next((name for name in ("content", "parts", "contents", "text") if message.get(name) is not None), "content")
    content, where = message.get(name), place.at(name)
    if calls := _calls_in_text(content, where):
        return calls
    if role == "tool":
        return _tool_message(message, content, place, where)
    return list(_spoken_and_called(role, message, content, place, where))


def _role_and_body(value: dict[str, Any], place: Place) -> tuple[Role | None, dict[str, Any], Place]:
    """Who speaks, and the object that holds the message (LangChain wraps it)."""
    kind, ids = value.get("type"), value.get("id")
    if isinstance(value.get("kwargs"), dict) and isinstance(ids, list) and ids:
        role = CLASSES.get(ids[-1]) if isinstance(ids[-1], str) else None
        return role, value["kwargs"], place.at("kwargs")
    if isinstance(value.get("data"), dict) and isinstance(kind, str) and kind in ROLES:
        return ROLES[kind], value["data"], place.at("data")
    for name in (value.get("role"), kind):
        if isinstance(name, str) and (role := ROLES.get(name) or CLASSES.get(name)):
            has_body = value.keys() & {"content", "parts", "contents", "text", "tool_calls", "function_call", "role"}
            return (role, value, place) if has_body else (None, value, place)
    return None, value, place


def _is_tool_definition(content: Any) -> bool:
    """Some tracers list the tools as messages of the role tool."""
    return isinstance(content, dict) and content.get("type") == "function" and isinstance(content.get("function"), dict)


def tool_definitions_in(value: Any) -> list[dict[str, Any]]:
    """Tools that a request defines, beside its messages or as messages."""
    value, _ = unwrapped(value, Place(""))
    if isinstance(value, dict):
        tools, _ = unwrapped(value.get("tools"), Place(""))
        return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if not isinstance(value, list):
        return []
    contents = [child.get("content") for child in value if isinstance(child, dict) and child.get("role") == "tool"]
    return [content for content in contents if isinstance(content, dict) and _is_tool_definition(content)]


def _bare_call(value: dict[str, Any], place: Place) -> list[Unit] | None:
    """A call that stands where a message would (the AI SDK's answers)."""
    if isinstance(value.get("toolName"), str) and "toolCallId" in value:
        return [_call_part(value, place)]
    return None


def _calls_in_text(content: Any, where: Place) -> list[Unit]:
    """Calls that are the whole text of a message (Koog), of whatever role."""
    if not isinstance(content, str) or not content.startswith('[{"'):
        return []
    calls = jsontext.parse_text(content)
    is_calls = isinstance(calls, list) and all(isinstance(member(call, "function", "name"), str) for call in calls)
    return [_call_part(call, Place(where.pointer, in_text=True)) for call in calls] if is_calls else []


def _tool_message(message: dict[str, Any], content: Any, place: Place, where: Place) -> list[Unit]:
    if isinstance(content, list) and any(_kind(part) in RESULTS for part in content):
        found = [_result_part(part, where.at(n)) for n, part in enumerate(content) if _kind(part) in RESULTS]
        others = [
            attachment_of(_kind(part) or "part", part, where.at(number).pointer)
            for number, part in enumerate(content)
            if _kind(part) not in RESULTS
        ]
        last = found[-1].step
        found[-1] = replace(found[-1], step=replace(last, attachments=(*last.attachments, *others)))
        return found
    text, attachments = text_and_attachments(content, where)
    call_id = text_of(message.get("tool_call_id")) or text_of(message.get("id"))
    error = message.get("status") == "error" or message.get("is_error") is True
    step = Step(
        role="tool",
        result=ToolResult(text=text, error=error),
        attachments=attachments,
        result_pointer=place.pointer,
    )
    return [Unit(step, call_id=call_id, tool=text_of(message.get("name")))]


def _spoken_and_called(role: Role, message: dict[str, Any], content: Any, place: Place, where: Place) -> Iterator[Unit]:
    """Results first (Anthropic puts them into the next user message), then what is said, then the calls."""
    parts = content if isinstance(content, list) else []
    calls: list[Unit] = []
    for number, part in enumerate(parts):
        kind = _kind(part)
        if kind in RESULTS:
            yield _result_part(part, where.at(number))
        elif kind in CALLS:
            calls.append(_call_part(part, where.at(number)))
    # Parts that were read elsewhere keep their number, so that pointers of the others stay right.
    plain = [None if _kind(part) in CALLS | RESULTS else _plain_part(part) for part in parts]
    body = plain if isinstance(content, list) else content
    text, reasoning, attachments = _content(body, where)
    known = {unit.step.call.id for unit in calls if unit.step.call and unit.step.call.id}
    calls += [unit for unit in _member_calls(message, place) if not (unit.step.call and unit.step.call.id in known)]
    note = ""
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        text, note = joined_lines(text, refusal), REFUSAL_NOTE
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str):
            reasoning = reasoning or message[name]
    has_results = any(_kind(part) in RESULTS for part in parts)
    if text or reasoning or attachments or not (calls or has_results):
        step = Step(
            role=role, text=text, reasoning=reasoning, attachments=attachments, note=note, pointer=place.pointer
        )
        yield Unit(step)
    yield from calls


def joined_lines(*texts: str) -> str:
    """Several texts as one, with an empty line between them."""
    return "\n\n".join(text for text in texts if text)


def _content(content: Any, where: Place) -> tuple[str, str, tuple[Attachment, ...]]:
    if not isinstance(content, list):
        if isinstance(content, dict) and _is_part(content):
            return content_of([_plain_part(content)], where.pointer)
        return content_of(content, where.pointer)
    texts: list[str] = []
    reasonings: list[str] = []
    attachments: tuple[Attachment, ...] = ()
    for number, part in enumerate(content):
        if part is None:
            continue
        text, reasoning, more = content_of([part], where.pointer)
        if more:
            more = (attachment_of(_kind(part) or "part", part, where.at(number).pointer),)
        texts.append(text)
        reasonings.append(reasoning)
        attachments += more
    return joined_lines(*texts), joined_lines(*reasonings), attachments


def _member_calls(message: dict[str, Any], place: Place) -> list[Unit]:
    """Calls beside the content. LangChain holds them twice; the one with the model's own text is taken."""
    kwargs = message.get("additional_kwargs")
    raw = kwargs.get("tool_calls") if isinstance(kwargs, dict) else None
    calls, where = message.get("tool_calls"), place.at("tool_calls")
    if isinstance(raw, list) and raw:
        calls, where = raw, place.at("additional_kwargs", "tool_calls")
    calls, where = unwrapped(calls, where)
    found = []
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        call, inner = unwrapped(call, where.at(number))
        if isinstance(call, dict):
            found.append(_call_part(call, inner))
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and not found:
        found.append(_call_part(legacy, place.at("function_call")))
    invalid = message.get("invalid_tool_calls")
    for number, call in enumerate(invalid if isinstance(invalid, list) and not found else []):
        if isinstance(call, dict):
            found.append(_call_part(call, place.at("invalid_tool_calls", number), note=INVALID_CALL_NOTE))
    return found


def _call_part(call: dict[str, Any], place: Place, note: str = "") -> Unit:
    for name in ("function", "functionCall", "function_call", "custom"):
        if isinstance(call.get(name), dict):
            call = {**call, **call[name]}
    name = text_of(call.get("name")) or text_of(call.get("toolName")) or "unnamed"
    call_id = text_of(call.get("id")) or text_of(call.get("toolCallId"))
    arguments = next((call[key] for key in ("arguments", "input", "args") if call.get(key) is not None), "")
    made = call_of(name, arguments, call_id)
    return Unit(Step(role="tool", call=made, note=note, pointer=place.pointer), call_id=call_id, tool=name)


def _result_part(part: dict[str, Any], place: Place) -> Unit:
    for name in ("functionResponse", "function_response"):
        if isinstance(part.get(name), dict):
            part = {**part, **part[name]}
    names = ("response", "result", "content", "output")
    name = next((name for name in names if part.get(name) is not None), "result")
    content = part.get(name)
    if isinstance(content, dict) and text_of(content.get("type")) in {"text", "json", "error-text", "error-json"}:
        content = content.get("value", content.get("text", content))  # the AI SDK's outputs
    text, attachments = text_and_attachments(content, place.at(name))
    call_id = next(
        (text_of(part[key]) for key in ("id", "tool_use_id", "toolCallId", "tool_call_id") if key in part), ""
    )
    error = part.get("is_error") is True or part.get("isError") is True
    step = Step(
        role="tool",
        result=ToolResult(text=text, error=error),
        attachments=attachments,
        result_pointer=place.pointer,
    )
    return Unit(step, call_id=call_id, tool=text_of(part.get("name")) or text_of(part.get("toolName")))


def _kind(part: Any) -> str:
    """What kind of part this is; Gemini's parts name it by their member."""
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("type"), str):
        return part["type"]
    for name, kind in (
        ("functionCall", "tool_call"),
        ("function_call", "tool_call"),
        ("functionResponse", "tool_call_response"),
        ("function_response", "tool_call_response"),
    ):
        if isinstance(part.get(name), dict):
            return kind
    if isinstance(part.get("text"), str):
        return "thinking" if part.get("thought") is True else "text"
    return ""


def _is_part(part: Any) -> bool:
    return isinstance(part, str) or bool(_kind(part))


def _plain_parts(content: Any) -> Any:
    return [_plain_part(part) for part in content] if isinstance(content, list) else content


def _plain_part(part: Any) -> Any:
    """The part in the form that `content_of` reads: `text` holds the words."""
    kind = _kind(part)
    if kind not in REASONING | {"text", "input_text", "output_text"}:
        return part
    words = next((part[name] for name in ("text", "content", "thinking") if isinstance(part.get(name), str)), None)
    if words is None:
        return part
    return {"type": "thinking" if kind in REASONING else "text", "text": words}
