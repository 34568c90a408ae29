"""The steps of a run whose source is a tree of spans: what models were given and answered, and what tools did.

Every call of a model repeats the conversation before it, so what is repeated is told once. A call that goes back to an
earlier point, or asks again, is told with a note. Spans around model calls (chains, agents) add only what no call has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import StepBuilder, attachment_of, call_of, joined, member, with_note
from reviews.trajectories.dialects import Unit
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult

BACK_NOTE = "Here the source goes back to an earlier point of the conversation."
AGAIN_NOTE = "The model was asked again with the same messages; this is a further answer."
OTHER_OUTPUT_NOTE = "The tool's own span gives another output; it is attached."
UNREAD_ANSWER_NOTE = "What the model answered could not be read as a message; it is attached."
MAX_THREADS = 50  # so many conversations are looked at to find the one that a call goes on with
MAX_OVERLAP = 500  # so many of its last units are looked at where only a part of it is repeated

Print = tuple[str, ...]
Kind = Literal["model", "tool", "evaluator", "other"]


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the span of a tool says."""

    name: str
    call_id: str = ""
    arguments: Any = None
    result: str | None = None
    error: bool = False


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A span. `given` and `answered` are None where the span has no messages that can be read, and `unread` then holds
    what it has instead."""

    id: str
    parent: str = ""
    order: tuple[Any, ...] = ()
    kind: Kind = "other"
    name: str = ""
    pointer: str = ""
    given: list[Unit] | None = None
    answered: list[Unit] | None = None
    unread: tuple[Attachment, ...] = ()
    tool: ToolUse | None = None

    @property
    def readable(self) -> bool:
        return bool(self.given or self.answered)


def steps_of_spans(spans: Iterable[Span]) -> list[Step]:
    """The steps of one trace or conversation. What an evaluator does, and all inside it, is no part of the run."""
    ordered = _without_evaluators(sorted(spans, key=lambda span: span.order))
    calls, covered = _model_calls(ordered)
    told = _Telling()
    tools: list[tuple[int, ToolUse, Span]] = []
    for span in ordered:
        if span.id in calls:
            told.add_call(span)
        elif span.kind == "tool" and span.tool:
            tools.append((len(told.units), span.tool, span))
        elif span.kind == "model" and span.id not in covered and not span.readable and span.unread:
            told.add_unread(span)
    for span in ordered:
        if span.id not in calls and span.kind != "tool":
            told.add_unseen(span)
    return told.steps(tools)


def _without_evaluators(ordered: list[Span]) -> list[Span]:
    judging = {span.id for span in ordered if span.kind == "evaluator"}
    if not judging:
        return ordered
    by_id = {span.id: span for span in ordered}
    return [span for span in ordered if span.id not in judging and not judging & set(_ancestors(span, by_id))]


def _model_calls(ordered: list[Span]) -> tuple[set[str], set[str]]:
    """The spans that tell the conversation: the innermost model calls that can be read. And those that these cover."""
    by_id = {span.id: span for span in ordered}
    readable = {span.id for span in ordered if span.kind == "model" and span.readable}
    around: set[str] = set()
    covered: set[str] = set()
    for span in ordered:
        if span.kind != "model":
            continue
        above = _ancestors(span, by_id)
        if span.id in readable:
            around.update(above)
        elif any(name in readable for name in above):
            covered.add(span.id)
    calls = readable - around
    return calls, covered | (around & {span.id for span in ordered})


def _ancestors(span: Span, by_id: dict[str, Span]) -> list[str]:
    found: list[str] = []
    seen = {span.id}
    while span.parent in by_id and span.parent not in seen:
        span = by_id[span.parent]
        seen.add(span.id)
        found.append(span.id)
    return found


class _Telling:
    """Tells conversations once, call after call."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._front: list[Unit] = []
        self._threads: list[list[Print]] = []
        self._seen: set[Print] = set()
        self._calls: set[tuple[str, Print]] = set()  # calls by id: a history may put results between parallel ones

    def add_call(self, span: Span) -> None:
        """What a model was given, as far as it is new, and what it answered."""
        given = [(print_of(unit), unit) for unit in span.given or []]
        answered = [(print_of(unit), unit) for unit in span.answered or _unread_answer(span)]
        thread, begin, note = self._continued(given)
        new = [(mark, unit) for mark, unit in given[begin:] if not self._is_repeated(mark, unit)]
        if note == AGAIN_NOTE and not answered:
            note = ""
        if span.given is None and answered and span.unread:
            where = (
                f"What the model was given here could not be read as messages; the original has it at {span.pointer}."
            )
            note = joined(note, where)
        fresh = [unit for _, unit in [*new, *answered]]
        if fresh and note:
            fresh[0] = replace(fresh[0], step=with_note(fresh[0].step, note))
        self.units += fresh
        thread += [mark for mark, _ in [*given[begin:], *answered] if mark[0] != "reasoning"]
        self._seen.update(mark for mark, _ in [*given, *answered])
        calls = [(unit.call_id, mark) for mark, unit in [*given, *answered] if mark[0] == "call"]
        self._calls.update(call for call in calls if call[0])

    def _is_repeated(self, mark: Print, unit: Unit) -> bool:
        """Whether a unit that stands where new ones do was told before: an instruction, reasoning, a call by its id."""
        if mark[0] == "call":
            return (unit.call_id, mark) in self._calls
        return mark in self._seen and (mark[0] == "reasoning" or mark[1:2] == ("system",))

    def add_unread(self, span: Span) -> None:
        """A model call that says nothing that can be read as messages: what it has is attached, not cut."""
        note = f"The messages of {span.name or 'a model call'} could not be read."
        step = Step(role="system", note=note, attachments=span.unread, pointer=span.pointer)
        self.units.append(Unit(step))

    def add_unseen(self, span: Span) -> None:
        """What a span around the calls says and none of them did. What comes before anything known goes in front."""
        for units, behind in ((span.given or [], False), (span.answered or [], True)):
            known = [place for place, unit in enumerate(units) if print_of(unit) in self._seen]
            for place, unit in enumerate(units):
                if print_of(unit) in self._seen:
                    continue
                self._seen.add(print_of(unit))
                if place < (known[0] if known else 0 if behind else len(units)):
                    self._front.append(unit)
                else:
                    self.units.append(unit)

    def steps(self, tools: list[tuple[int, ToolUse, Span]]) -> list[Step]:
        """The steps, with the results of tools whose answer no message has."""
        builder = StepBuilder()
        lengths = [0]
        for unit in [*self._front, *self.units]:
            _add_unit(builder, unit)
            lengths.append(len(builder.steps))
        steps = builder.steps
        inserted: list[tuple[int, Step]] = []
        calls = _Calls(steps)
        for position, use, span in tools:
            place = calls.take(use)
            if place is None:
                inserted.append((lengths[min(position + len(self._front), len(lengths) - 1)], _tool_step(use, span)))
            else:
                steps[place] = _with_output(steps[place], use, span.pointer)
        for place, step in sorted(inserted, key=lambda pair: pair[0], reverse=True):
            steps.insert(place, step)
        return steps

    def _continued(self, given: list[tuple[Print, Unit]]) -> tuple[list[Print], int, str]:
        """The conversation that the call goes on with (a new one where there is none), how much of what the model was
        given it has already, and what is worth noting."""
        marks = [mark for mark, _ in given if mark[0] != "reasoning"]
        best: tuple[int, list[Print], int, bool] | None = None
        for thread in reversed(self._threads[-MAX_THREADS:]):
            common = _common(marks, thread)
            back = common < len(thread)
            if back and not any(mark[1:2] != ("system",) for mark in thread[:common]):
                common, back = _overlap(marks, thread), False
            if common and (best is None or common > best[0]):
                best = (common, thread, common, back)
        if best is None:
            self._threads.append([])
            return self._threads[-1], 0, ""
        _, thread, common, back = best
        begin = _place_behind(given, common)
        if not back:
            return thread, begin, ""
        self._threads.append(marks[:common])
        if begin == len(given):
            return self._threads[-1], begin, AGAIN_NOTE
        only_ordered_otherwise = set(thread[common:]) <= set(marks[common:])
        return self._threads[-1], begin, "" if only_ordered_otherwise else BACK_NOTE


def _unread_answer(span: Span) -> list[Unit]:
    """What a model answered, where it is no message: attached, not cut."""
    if not span.given or not span.unread:
        return []
    step = Step(role="agent", attachments=span.unread, note=UNREAD_ANSWER_NOTE, pointer=span.pointer)
    return [Unit(step)]


def print_of(unit: Unit) -> Print:
    """What makes two units the same: who says what, not under which id or with which reasoning."""
    step = unit.step
    if step.call:
        arguments = step.call.arguments
        text = step.call.arguments_text if arguments is None else _canonical(arguments)
        return ("call", step.call.name, text)
    attached = tuple(attachment.raw or attachment.kind for attachment in step.attachments)
    if step.result:
        return ("result", step.result.text.strip(), *attached)
    if not step.text and not attached and step.reasoning:
        return ("reasoning", step.reasoning.strip())
    return ("message", step.role, step.text.strip(), *attached)


def _canonical(value: Any) -> str:
    return jsontext.canonical_hash(value)


def _common(marks: list[Print], thread: list[Print]) -> int:
    count = 0
    for one, other in zip(marks, thread, strict=False):
        if one != other:
            break
        count += 1
    return count


def _overlap(marks: list[Print], thread: list[Print]) -> int:
    """How many of the first marks are the last of the thread: of a long conversation only its end is repeated."""
    lead = 0
    while lead < len(marks) and marks[lead][1:2] == ("system",) and marks[lead] in thread:
        lead += 1
    rest = marks[lead:]
    tail = thread[-MAX_OVERLAP:]
    for start in range(len(tail)):
        length = len(tail) - start
        if rest and tail[start] == rest[0] and length <= len(rest) and tail[start:] == rest[:length]:
            return lead + length
    return 0


def _place_behind(given: list[tuple[Print, Unit]], common: int) -> int:
    """The place in `given` behind so many units, reasoning not counted."""
    place = 0
    while place < len(given) and common:
        common -= given[place][0][0] != "reasoning"
        place += 1
    return place


def _add_unit(builder: StepBuilder, unit: Unit) -> None:
    if unit.step.result is None:
        builder.add(unit.step)
        return
    builder.add_result(
        unit.step.result_pointer,
        unit.step.result.text,
        call_id=unit.call_id,
        name=unit.tool or None,
        error=unit.step.result.error,
        attachments=unit.step.attachments,
        note=unit.step.note,
    )


class _Calls:
    """The calls among the steps, found by what a tool's span says: by id, or else by name and arguments."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._taken: set[int] = set()
        self._by_id: defaultdict[str, list[int]] = defaultdict(list)
        self._by_name: defaultdict[str, list[int]] = defaultdict(list)
        for place, step in enumerate(steps):
            if step.call:
                self._by_id[step.call.id].append(place)
                self._by_name[step.call.name].append(place)

    def take(self, use: ToolUse) -> int | None:
        """The place of the call that was carried out, which is then taken."""
        place = self._free(self._by_id[use.call_id], lambda _: True) if use.call_id else None
        if place is None:
            place = self._free(self._by_name[use.name], lambda call: self._fits(call, use))
        if place is not None:
            self._taken.add(place)
        return place

    def _free(self, places: list[int], fits: Callable[[ToolCall], bool]) -> int | None:
        for place in places:
            call = self._steps[place].call
            if place not in self._taken and call and fits(call):
                return place
        return None

    def _fits(self, call: ToolCall, use: ToolUse) -> bool:
        return not (call.id and use.call_id) and _same(call.arguments, use.arguments)


def _same(one: Any, other: Any) -> bool:
    if isinstance(other, str):
        other = jsontext.parse_text(other)
    return one is not None and (one == other or one == member(other, "input"))


def _tool_step(use: ToolUse, span: Span) -> Step:
    step = Step(
        role="tool",
        call=call_of(use.name, "" if use.arguments is None else use.arguments, use.call_id),
        attachments=span.unread,
        pointer=span.pointer,
    )
    return _with_output(step, use, span.pointer)


def _with_output(step: Step, use: ToolUse, pointer: str) -> Step:
    if step.result and use.error:
        step = replace(step, result=replace(step.result, error=True))
    if use.result is None:
        return step
    if step.result is None:
        return replace(step, result=ToolResult(text=use.result, error=use.error), result_pointer=pointer)
    if _plain(use.result) in _plain(step.result.text) or not use.result:
        return step
    other = attachment_of("output", use.result, pointer)
    return with_note(replace(step, attachments=(*step.attachments, other)), OTHER_OUTPUT_NOTE)


def _plain(text: str) -> str:
    """The text without what only its writing as JSON adds."""
    value = jsontext.parse_text(text) if text[:1] in {'"', "{", "["} else None
    return text.strip() if value is None else value.strip() if isinstance(value, str) else jsontext.dump(value)
