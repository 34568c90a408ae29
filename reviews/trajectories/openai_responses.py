"""OpenAI Responses: a response with `output` items, a request with `input`, both, or a bare list of items.

Calls are joined to their outputs by `call_id`, never by `id`. Items that carry their own result (searches, MCP calls)
are one step. History that lies behind `previous_response_id` is not in the row; the first step says so.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    StepBuilder,
    attachment_of,
    call_of,
    content_of,
    joined,
    member,
    title_of,
    tools_of,
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

TITLE = "OpenAI Responses"
NEEDS = frozenset({"object", "response", "input", "request", "messages"})
ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}
# Members of a call that are neither its arguments nor shown elsewhere.
NO_ARGUMENTS = {"id", "type", "status", "call_id", "name", "server_label", "error", "created_by", "agent", "namespace"}
RESULTS = ("output", "outputs", "result", "results")
INCOMPLETE_NOTE = "The source marks this as incomplete."


def is_item(value: Any) -> bool:
    """Whether this is an item of the Responses API that is no chat message."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return False
    if kind == "message":
        return isinstance(value.get("role"), str)
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


def recognise(value: Any) -> str:
    """Why this is OpenAI Responses, or "" when it is not."""
    if isinstance(value, list):
        return "a list of Responses items" if _are_items(value) else ""
    if not isinstance(value, dict):
        return ""
    if _is_response(value):
        return "it is a response with output items"
    if _is_response(value.get("response")):
        return "it has a response with output items"
    for request in (value, value.get("request")):
        if member(request, "model") is not None and isinstance(member(request, "input"), str | list):
            return "it is a request with a model and input"
    if _are_items(value.get("messages")):
        return "its messages are Responses items"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    builder = _ItemBuilder()
    request, base = (value["request"], "/request") if isinstance(member(value, "request"), dict) else (value, "")
    response, response_base = _response_of(value)
    for owner, pointer in ((request, base), (response, response_base)):
        if builder.steps.steps or member(owner, "instructions") is None:
            continue
        builder.add_all(owner["instructions"], f"{pointer}/instructions", "system")
    if isinstance(value, list):
        builder.add_all(value, "", "user")
    for name in ("input", "messages"):
        if member(request, name) is not None:
            builder.add_all(request[name], f"{base}/{name}", "user")
    if response is not None:
        builder.add_all(response.get("output") or [], f"{response_base}/output", "agent")
    steps = builder.finished()
    if not steps:
        raise RowError("It holds no items.")
    earlier = member(request, "previous_response_id") or member(response, "previous_response_id")
    if earlier:
        note = f"What came before lies behind the response {str(earlier)[:80]} and is not in this row."
        steps[0] = with_note(steps[0], note)
    return Run(
        steps=tuple(steps),
        title=title_of(steps),
        tools=tools_of(member(request, "tools") or member(response, "tools")),
        outcome=RunOutcome(
            result=_result(response), model=_model(response, request) or options.model, data=_rest(value)
        ),
    )


class _ItemBuilder:
    """Takes item after item; thoughts go to the message that follows them."""

    def __init__(self) -> None:
        self.steps = StepBuilder()
        self._thought: Step | None = None

    def add_all(self, items: Any, pointer: str, role: Role) -> None:
        """A list of items, or the text of one message of this role."""
        if isinstance(items, str):
            self._add_step(Step(role=role, text=items, pointer=pointer))
            return
        if not isinstance(items, list):
            raise RowError(f"Its {pointer.rpartition('/')[2] or 'items'} are not a list of items.")
        for place, item in enumerate(items):
            self._add(f"{pointer}/{place}", item)

    def finished(self) -> list[Step]:
        self._flush()
        return self.steps.steps

    def _add(self, pointer: str, item: Any) -> None:
        if not isinstance(item, dict):
            raise RowError(f"The item at {pointer} is not an object.")
        kind = str(item.get("type") or "message")
        if kind == "message":
            self._add_message(pointer, item)
        elif kind == "reasoning":
            self._think(pointer, item)
        elif kind.endswith("_call_output"):
            text, _, attachments = content_of(item.get("output"), f"{pointer}/output")
            if isinstance(item.get("output"), dict):  # a picture of the screen, or the like
                text, attachments = "", (attachment_of(kind, item["output"], f"{pointer}/output"),)
            self._flush()
            call_id = item.get("call_id") or item.get("id")
            self.steps.add_result(pointer, text, call_id=call_id, attachments=attachments)
        elif kind.endswith("_call"):
            self._add_step(_call(kind, pointer, item))
        else:
            self._add_step(Step(role="system", attachments=(attachment_of(kind, item, pointer),), pointer=pointer))

    def _add_message(self, pointer: str, item: dict[str, Any]) -> None:
        role = ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
        if role is None:
            raise RowError(
                f"The item at {pointer} has the role {jsontext.dump(item.get('role'))[:60]}, which is not known."
            )
        text, reasoning, attachments = content_of(item.get("content"), f"{pointer}/content")
        note = INCOMPLETE_NOTE if item.get("status") == "incomplete" else ""
        step = Step(role=role, text=text, reasoning=reasoning, attachments=attachments, note=note, pointer=pointer)
        if role == "agent" and self._thought:
            thought, self._thought = self._thought, None
            step = Step(
                role="agent",
                text=text,
                reasoning="\n\n".join(filter(None, (thought.reasoning, reasoning))),
                attachments=thought.attachments + attachments,
                note=note,
                pointer=pointer,
            )
        self._add_step(step)

    def _think(self, pointer: str, item: dict[str, Any]) -> None:
        """Keep a thought until it is known whether a message follows it."""
        self._flush()
        words: list[str] = []
        attachments: list[Attachment] = []
        # The content is the thought itself, the summary what is told of it; a source rarely has both.
        for name in ("content", "summary"):
            parts = item.get(name)
            for place, part in enumerate(parts if isinstance(parts, list) else [parts] if parts else []):
                text = part if isinstance(part, str) else member(part, "text")
                if isinstance(text, str):
                    words.append(text)
                else:
                    attachments.append(attachment_of(f"reasoning {name}", part, f"{pointer}/{name}/{place}"))
        if item.get("encrypted_content"):
            attachments.append(
                attachment_of("encrypted reasoning", item["encrypted_content"], f"{pointer}/encrypted_content")
            )
        self._thought = Step(
            role="agent", reasoning="\n\n".join(words), attachments=tuple(attachments), pointer=pointer
        )

    def _flush(self) -> None:
        if self._thought:
            thought, self._thought = self._thought, None
            if thought.reasoning or thought.attachments:
                self.steps.add(thought)

    def _add_step(self, step: Step) -> None:
        self._flush()
        self.steps.add(step)


def _call(kind: str, pointer: str, item: dict[str, Any]) -> Step:
    name = item.get("name")
    name = name if isinstance(name, str) and name else kind.removesuffix("_call")
    if "arguments" in item:
        arguments = item["arguments"]
    elif isinstance(item.get("input"), str):
        arguments = item["input"]
    else:
        arguments = {key: value for key, value in item.items() if key not in NO_ARGUMENTS and key not in RESULTS}
    found = next((key for key in RESULTS if item.get(key) is not None), None)
    failure = item.get("error")
    result: ToolResult | None = None
    attachments: tuple[Attachment, ...] = ()
    if failure:
        result = ToolResult(text=failure if isinstance(failure, str) else jsontext.dump(failure), error=True)
    elif kind == "image_generation_call" and found:
        attachments = (attachment_of("image", item[found], f"{pointer}/{found}"),)
        result = ToolResult(text="")
    elif found:
        result = ToolResult(text=item[found] if isinstance(item[found], str) else jsontext.dump(item[found]))
    label = item.get("server_label")
    notes = (
        f"A tool of the server {str(label)[:80]}." if label else "",
        INCOMPLETE_NOTE if item.get("status") == "incomplete" else "",
    )
    return Step(
        role="tool",
        call=call_of(name, arguments, item.get("call_id") or item.get("id")),
        result=result,
        attachments=attachments,
        note=joined(*notes),
        pointer=pointer,
        result_pointer=f"{pointer}/{'error' if failure else found}" if result else "",
    )


def _are_items(value: Any) -> bool:
    """A list of items; a list of messages alone is one if their parts are those of this format."""
    if not isinstance(value, list) or not value:
        return False
    if any(is_item(item) and item["type"] != "message" for item in value):
        return all(isinstance(item, dict) and ("type" in item or "role" in item) for item in value)
    return all(is_item(item) for item in value)


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and value.get("object") == "response" and isinstance(value.get("output"), list)


def _response_of(value: Any) -> tuple[Any, str]:
    if _is_response(value):
        return value, ""
    if _is_response(member(value, "response")):
        return value["response"], "/response"
    if isinstance(value, dict) and _are_items(value.get("output")):
        return value, ""
    return None, ""


def _result(response: Any) -> Result:
    if member(response, "status") == "failed" or member(response, "error"):
        return "crash"
    return "timeout" if member(response, "status") == "incomplete" else "unknown"


def _model(*owners: Any) -> str:
    found = (member(owner, "model") for owner in owners)
    return next((model for model in found if isinstance(model, str) and model), "")


def _rest(value: Any) -> dict[str, Any]:
    """Everything beside the conversation."""
    shown = {"input", "output", "instructions", "tools", "messages"}
    if not isinstance(value, dict):
        return {}
    rest = {name: child for name, child in value.items() if name not in shown | {"request", "response"}}
    for name in ("request", "response"):
        if isinstance(value.get(name), dict):
            rest[name] = {key: child for key, child in value[name].items() if key not in shown}
    return rest
