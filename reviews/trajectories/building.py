"""What every format needs to make steps: calls joined to their results, parts that are not text, titles, notes, scores.

A format walks its source in order and tells a `StepBuilder` what it meets: a step, a call, a result.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import Any

from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.schema import Attachment, Result, Role, Step, ToolCall, ToolResult

TEXT_PARTS = {"text", "input_text", "output_text"}
REASONING_PARTS = {"reasoning", "thinking"}
TITLE_LENGTH = 80
MOST_FOR_TITLE = 10_000  # characters that are looked at
MARKS = re.compile(r"^[ \t]*(?:#{1,6}|[-*>])[ \t]+|\*\*|`+", re.MULTILINE)  # of Markdown
RAW_ATTACHMENT_LIMIT = 4000  # longer ones (an image as base64) stay in the original, and the note says where
NO_CALL_NOTE = "This result belongs to no call."
NO_STEPS_NOTE = "The run ended before its first step."


class StepBuilder:
    """Collects steps and joins every tool result to its call: by id, and by name and order where there is none."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._call_ids: set[str] = set()
        self._open: set[int] = set()  # places in `steps` of calls without a result
        # Where a result can look for its call: by id, by name, or any. A place may be in several, so `_open` decides.
        self._places: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)

    def add(self, step: Step) -> None:
        """A step as it is; one with a call and no result waits for its result."""
        if step.call and step.result is None:
            place = len(self.steps)
            self._call_ids.add(step.call.id)
            self._open.add(place)
            for key in (("id", step.call.id), ("name", step.call.name), ("any", "")):
                self._places[key].append(place)
        self.steps.append(step)

    def add_call(self, pointer: str, name: str, arguments: Any, call_id: Any = None, note: str = "") -> None:
        """A call; `arguments` are the text the model wrote, or the value where the source keeps only that."""
        self.add(Step(role="tool", call=call_of(name, arguments, call_id), note=note, pointer=pointer))

    def add_result(
        self,
        pointer: str,
        text: str,
        *,
        call_id: Any = None,
        name: Any = None,
        error: bool = False,
        attachments: tuple[Attachment, ...] = (),
        note: str = "",
        alone: bool = False,
    ) -> None:
        """A result, put into the step of its call, or a step of its own with a note; `alone` if it has no call."""
        place, why = (None, NO_CALL_NOTE) if alone else self._call_for(call_id, name)
        result = ToolResult(text=text, error=error)
        if place is None:
            self.steps.append(
                Step(
                    role="tool",
                    result=result,
                    attachments=attachments,
                    note=joined(note, why),
                    result_pointer=pointer,
                )
            )
            return
        step = self.steps[place]
        self.steps[place] = replace(
            step,
            result=result,
            attachments=step.attachments + attachments,
            note=joined(step.note, note, why),
            result_pointer=pointer,
        )

    def _call_for(self, call_id: Any, name: Any) -> tuple[int | None, str]:
        """The place of the call this result answers, if there is one, and what is worth noting."""
        if call_id:
            place = self._take("id", str(call_id))
            if place is not None:
                return place, ""
            what = "has its result already" if str(call_id) in self._call_ids else "is not in the run"
            return None, f"This result names the call {jsontext.dump(call_id)[:80]}, which {what}."
        place = self._take("name", name) if isinstance(name, str) else None
        if place is None:
            place = self._take("any", "")
        if place is None:
            return None, NO_CALL_NOTE
        return place, "The result has no call id; it was joined by order."

    def _take(self, by: str, what: str) -> int | None:
        """The first open call found this way, which is open no longer."""
        places = self._places[by, what]
        while places:
            place = places.popleft()
            if place in self._open:
                self._open.remove(place)
                return place
        return None


def call_of(name: str, arguments: Any, call_id: Any = None) -> ToolCall:
    """A call; arguments that come as text are kept and parsed if they are JSON, a value is kept and written as text."""
    if isinstance(arguments, str):
        text, parsed = arguments, jsontext.parse_text(arguments)
    else:
        text, parsed = jsontext.dump(arguments), arguments
    return ToolCall(id="" if call_id is None else str(call_id), name=name, arguments_text=text, arguments=parsed)


def content_of(content: Any, pointer: str) -> tuple[str, str, tuple[Attachment, ...]]:
    """Text, reasoning and everything else of a message's content: a text, a list of parts, or nothing."""
    if content is None:
        return "", "", ()
    if isinstance(content, str):
        return content, "", ()
    if not isinstance(content, list):
        return jsontext.dump(content), "", ()
    texts: list[str] = []
    reasoning: list[str] = []
    attachments: list[Attachment] = []
    for place, part in enumerate(content):
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type") if isinstance(part, dict) else ""
        words = next((part[name] for name in _words_in(kind) if isinstance(part.get(name), str)), None)
        if words is None:
            attachments.append(attachment_of(str(kind or "part"), part, f"{pointer}/{place}"))
        elif kind in REASONING_PARTS:
            reasoning.append(words)
        else:
            texts.append(words)
    return "\n\n".join(texts), "\n\n".join(reasoning), tuple(attachments)


def blocks_of(content: Any, pointer: str) -> list[tuple[str, Any]]:
    """Every part of a message's content with its pointer; a text is one part."""
    if content is None:
        return []
    if isinstance(content, list):
        return [(f"{pointer}/{place}", block) for place, block in enumerate(content)]
    return [(pointer, content if isinstance(content, str) else jsontext.dump(content))]


def words_step(role: Role, pointer: str, blocks: list[tuple[str, Any]], note: str = "") -> Step:
    """The step of parts that hold words, thoughts and what is neither."""
    texts: list[str] = []
    reasoning: list[str] = []
    attachments: list[Attachment] = []
    for place, block in blocks:
        text, thought, others = content_of([block], place)
        texts += [text] if text else []
        reasoning += [thought] if thought else []
        # `content_of` counts places in the list it is given: here there is one part, and its pointer is known.
        attachments += [attachment_of(other.kind, block, place) for other in others]
    return Step(
        role=role,
        text="\n\n".join(texts),
        reasoning="\n\n".join(reasoning),
        attachments=tuple(attachments),
        note=note,
        pointer=pointer,
    )


def _words_in(kind: Any) -> tuple[str, ...]:
    """The members that hold the words of a part of this kind."""
    if not isinstance(kind, str):
        return ()
    if kind in TEXT_PARTS:
        return ("text",)
    if kind == "refusal":
        return ("refusal",)
    if kind in REASONING_PARTS:
        return ("text", "thinking", "reasoning")
    return ()


def attachment_of(kind: str, part: Any, pointer: str) -> Attachment:
    """A part that is not text, whole, or with a note that says where in the original it is."""
    raw = jsontext.dump(part)
    if len(raw) <= RAW_ATTACHMENT_LIMIT:
        return Attachment(kind=kind, raw=raw)
    return Attachment(kind=kind, note=f"{len(raw):,} characters, kept in the original at {pointer}", pointer=pointer)


def title_of(steps: list[Step]) -> str:
    """What a list of items shows: the beginning of the requester's first words, without the marks of Markdown (in the
    steps anyway, so it leaks nothing)."""
    said = next((step.text for step in steps if step.role == "user" and step.text.strip()), "")[:MOST_FOR_TITLE]
    words = " ".join(MARKS.sub("", said).split()) or " ".join(said.split())
    return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"


def joined(*notes: str) -> str:
    """Several notes as one."""
    return " ".join(note for note in notes if note)


def with_note(step: Step, note: str) -> Step:
    """The step with one more note."""
    return replace(step, note=joined(step.note, note))


def tools_of(tools: Any) -> list[dict[str, Any]]:
    """Tool definitions, given as a list or as a JSON text."""
    if isinstance(tools, str):
        tools = jsontext.parse_text(tools)
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []


def member(value: Any, *names: str) -> Any:
    """What lies under these names, one inside the other; None where there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_of(value: Any) -> str:
    """A name or id as text; "" for anything that cannot be one."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def score(grader: str, value: Any, explanation: Any = "") -> dict[str, Any]:
    """What a grader of the source says of a run, in the one shape in which outcomes keep it (`data["scores"]`)."""
    return {"grader": grader, "value": value, "explanation": explanation if isinstance(explanation, str) else ""}


def result_of(reward: float | None) -> Result:
    """What a reward says where 1 is known to mean success and 0 failure; anything else leaves it open."""
    if reward == 1:
        return "success"
    return "failure" if reward == 0 else "unknown"
