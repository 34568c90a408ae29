"""Runs as chat messages, the form that training stacks read: `{role, content, tool_calls, tool_call_id, name, …}`.

Arguments of a tool call are JSON text, as they were written: loaders that guess types merge the arguments of different
tools into one and fill in foreign nulls. What one message of the source said and called is one message again. Calls are
numbered, so that two runs which begin alike begin with equal messages, whatever their sources called the calls.
"""

from typing import Any

import pyarrow as pa

from goldsets.writers.document import Run
from goldsets.writers.label_row import as_json
from reviews.trajectories.schema import Step
from reviews.trajectories.tools import Tool, tools_of

ROLES = {"system": "system", "user": "user", "agent": "assistant", "tool": "tool"}
Message = dict[str, Any]

MESSAGE = pa.struct(
    {
        "role": pa.string(),
        "content": pa.string(),
        "reasoning_content": pa.string(),
        "tool_calls": pa.list_(
            pa.struct(
                {
                    "id": pa.string(),
                    "type": pa.string(),
                    "function": pa.struct({"name": pa.string(), "arguments": pa.string()}),
                }
            )
        ),
        "tool_call_id": pa.string(),
        "name": pa.string(),
    }
)
MESSAGES = pa.list_(MESSAGE)


def messages_of(steps: list[Step]) -> list[Message]:
    """The steps as messages. Every message has all members that the schema declares."""
    messages: list[Message] = []
    answers: list[Message] = []
    told_by = ""
    for number, step in enumerate(steps, start=1):
        if step.call is None:
            messages += answers
            answers, told_by = [], _source_message(step) if step.role == "agent" else ""
            text = step.result.text if step.result else step.text
            messages.append(_message(ROLES[step.role], text, reasoning=step.reasoning))
            continue
        origin = _source_message(step)
        if not (origin and origin == told_by and messages[-1]["role"] == "assistant"):
            messages += answers
            answers, told_by = [], origin
            messages.append(_message("assistant", step.text, reasoning=step.reasoning))
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": step.call.name, "arguments": step.call.arguments_text},
        }
        messages[-1]["tool_calls"] = [*(messages[-1]["tool_calls"] or ()), call]
        if step.result:
            answers.append(_message("tool", step.result.text, tool_call_id=call["id"], name=step.call.name))
    return messages + answers


def _message(role: str, content: str, *, reasoning: str = "", **more: Any) -> Message:
    return {
        "role": role,
        "content": content,
        "reasoning_content": reasoning or None,
        "tool_calls": None,
        "tool_call_id": None,
        "name": None,
        **more,
    }


def _source_message(step: Step) -> str:
    """The part of the pointer that leads to the message of the source, such as "/messages/3"."""
    return "/".join(step.pointer.split("/")[:3])


def tools_text(described: list[Any]) -> str:
    """The tools as chat templates take them, as JSON text: whatever the source called it, a schema is `parameters`."""
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": {**ANYTHING, **_schema(tool)}}
        for tool in tools_of(described)
    ]
    return as_json([{"type": "function", "function": tool} for tool in tools])


# A tool that does not say what it takes. Trainers look for the properties whether there are any or not.
ANYTHING = {"type": "object", "properties": {}}


def _schema(tool: Tool) -> dict[str, Any]:
    return tool.takes if isinstance(tool.takes, dict) else {}


def bare(message: Message) -> Message:
    """The message without members that say nothing, for formats that hold JSON."""
    return {name: value for name, value in message.items() if value is not None}


def first_answer(messages: list[Message]) -> int:
    """Where the agent first speaks; the end where it never does."""
    return next((at for at, message in enumerate(messages) if message["role"] == "assistant"), len(messages))


def common_prefix(one: list[Message], other: list[Message]) -> int:
    """How many first messages both have in common, cut so that both go on with an answer of the agent."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    while same and not (_answers(one, same) and _answers(other, same)):
        same -= 1
    return same


def _answers(messages: list[Message], at: int) -> bool:
    return at < len(messages) and messages[at]["role"] == "assistant"


def as_text(messages: list[Message]) -> str:
    """The messages as one text: a single answer as it stands, several with who says what."""
    if len(messages) == 1 and not messages[0]["tool_calls"]:
        return str(messages[0]["content"])
    return "\n\n".join(_told(message) for message in messages)


def _told(message: Message) -> str:
    who = f"tool {message['name']}" if message["name"] else message["role"]
    return f"{who}: {message['content']}{calls_in_words(message)}"


def calls_in_words(message: Message) -> str:
    """A line for each call of the message."""
    calls = [call["function"] for call in message["tool_calls"] or ()]
    return "".join(f"\n[calls {function['name']} {function['arguments']}]" for function in calls)


def has_attachments(run: Run) -> bool:
    return any(step.attachments for step in run.steps)
