"""How rows lie in one stream of JSON: a row per line, a list of rows, one row, or one document that holds many runs.

The layout is told by content. Some formats spread a run over what otherwise are rows, or put many runs into one
document; `WHOLE_LISTS`, `SESSION_LINES` and `ENVELOPES` name them. What cannot be read is a `BadRow` with the reason,
and the rows around it still come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from reviews.trajectories import (
    coding_agent,
    inspect_log,
    jsontext,
    langsmith,
    openai_chat,
    openai_responses,
    openhands,
    openhands_v1,
    otlp_spans,
    tau2_bench,
)
from reviews.trajectories.envelope import Envelope
from reviews.trajectories.schema import RowError
from reviews.trajectories.splitting import CHUNK_BYTES, DEEPEST, TOKEN, WHITE, ListSplitter, ObjectScanner

MAX_ROW_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 1024 * 1024  # enough to tell the layout

# A list whose first element is one of these is one row.
WHOLE_LISTS: tuple[Callable[[Any], bool], ...] = (
    openai_chat.is_message,
    openai_responses.is_item,
    openhands.is_event,
    openhands_v1.is_event,
    otlp_spans.is_span,
    otlp_spans.is_batch,
    langsmith.is_part,
)
# A file of lines whose first line is one of these is one run; its original is the list of its lines.
SESSION_LINES: tuple[Callable[[Any], bool], ...] = (coding_agent.is_line, openhands.is_event, openhands_v1.is_event)
# Lines of these hold pieces of runs that may go on in the next line, so as many as fit are gathered into one row.
GATHERED_LINES: tuple[Callable[[Any], bool], ...] = (otlp_spans.is_span, otlp_spans.is_batch, langsmith.is_part)
GATHERED_BYTES = 8 * 1024 * 1024
# Documents that hold many runs.
ENVELOPES: tuple[Envelope, ...] = (tau2_bench.ENVELOPE, inspect_log.ENVELOPE)

_BOM = b"\xef\xbb\xbf"
THE_FILE = "the file"


class RawRow(msgspec.Struct, frozen=True):
    """One row as the file has it, with its place: "line 12" (from 1), "index 3" (from 0) or "the file".

    `domain` and `model` are what a file beside it says; they are no part of the row.
    """

    place: str
    original: bytes
    domain: str = ""
    model: str = ""


class BadRow(msgspec.Struct, frozen=True):
    """A place that gave no row, and why."""

    place: str
    reason: str


Rows = Iterator[RawRow | BadRow]


def rows_of(opened: Callable[[], BinaryIO], name: str, limit: int = MAX_ROW_BYTES) -> Rows:
    """The rows of a stream. `opened` gives it from its beginning, as often as it is asked.

    `name` helps only where content leaves two readings open: a first line like `{"messages": [` is the start of a
    document, unless the name ends in .jsonl, where it is a broken line.
    """
    head = opened().read(HEAD_BYTES)
    if reason := _unreadable(head):
        yield BadRow(THE_FILE, reason)
        return
    start = len(_BOM) if head.startswith(_BOM) else 0
    head = head.removeprefix(_BOM)
    if envelope := _envelope(head):
        yield from _envelope_rows(opened, start, envelope, limit)
        return
    stream = _from(opened, start)
    layout = _layout(head, name)
    if layout == "list":
        yield from _list_rows(stream, limit)
    elif layout == "document":
        yield from _document(stream, limit)
    elif layout == "session":
        yield from _session(stream, limit)
    elif layout == "gathered":
        yield from _gathered(stream, limit)
    else:
        yield from _lines(stream, limit)


def _unreadable(head: bytes) -> str:
    """Why nothing in the stream can be read, or "" when it can be tried."""
    if not head.removeprefix(_BOM).strip(WHITE):
        return "The file is empty."
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:4]:
        return "The file is UTF-16 or UTF-32 (or binary). Save it as UTF-8 and try again."
    return ""


def _from(opened: Callable[[], BinaryIO], place: int) -> BinaryIO:
    """The stream, read up to a place."""
    stream = opened()
    while place > 0 and (piece := stream.read(min(place, CHUNK_BYTES))):
        place -= len(piece)
    return stream


def _envelope(head: bytes) -> Envelope | None:
    """What kind of document with many runs this is, if it is one."""
    body = head.lstrip(WHITE)
    if not body.startswith(b"{"):
        return None
    scanner = ObjectScanner()
    scanner.feed(body)
    if scanner.closed_at is not None and body[scanner.closed_at :].strip(WHITE):
        return None  # the first of several lines
    names = scanner.starts.keys()
    return next((known for known in ENVELOPES if any(members <= names for members in known.members)), None)


def _layout(head: bytes, name: str) -> str:
    """How the rows lie in the stream ("lines", "session", "gathered", "list" or "document"), from its first mebibyte.

    A list whose first element is a message is one run; any other list is a list of runs. A first line that is a whole
    value makes lines. A first line that is the beginning of an object makes a document, unless the name says JSONL.
    """
    body = head.lstrip(WHITE)
    first_line, newline, rest = body.partition(b"\n")
    if body.startswith(b"[") and not _is_one_run(body):
        several_lists = newline and _value(first_line) is not None and rest.lstrip(WHITE).startswith(b"[")
        return "lines" if several_lists else "list"
    if any(test(_value(first_line)) for test in SESSION_LINES):
        return "session"
    if first_line.startswith(otlp_spans.LINE_STARTS) or any(test(_value(first_line)) for test in GATHERED_LINES):
        return "gathered"
    named_lines = body.startswith(b"{") and re.search(r"\.(jsonl|ndjson)(\.(gz|zst))?$", name, re.IGNORECASE)
    if newline and not named_lines and _is_open(first_line):
        return "document"
    return "lines"


def _is_one_run(body: bytes) -> bool:
    """Whether the first element of the list is of a kind of which the list makes one run."""
    rows = ListSplitter(MAX_ROW_BYTES).feed(body)
    first = _value(rows[0]) if rows else None
    return first is not None and any(test(first) for test in WHOLE_LISTS)


def _value(data: bytes) -> Any:
    """The value of some JSON, None where it is none."""
    try:
        return jsontext.parse(data)
    except RowError:
        return None


def _is_open(line: bytes) -> bool:
    """Whether the line stops between tokens with brackets still open: the first line of a document on many lines."""
    depth = 0
    for token in TOKEN.finditer(line):
        text = token.group()
        if text.startswith(b'"'):
            if token.group("end") != b'"':
                return False
        elif text in b"{[":
            depth += 1
            if depth > DEEPEST:
                return False
        elif text in b"}]":
            depth -= 1
    return depth > 0


def _lines(stream: BinaryIO, limit: int) -> Rows:
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            _skip_line(stream)
            yield BadRow(f"line {number}", too_long(limit))
        elif stripped := line.strip(WHITE):
            yield RawRow(f"line {number}", stripped)
        else:
            number += _skip_empty_lines(stream)


def _skip_empty_lines(stream: BinaryIO) -> int:
    """Pass over lines of white space many at a time, for a small packed file can hold very many. Returns how many."""
    skipped = 0
    while ahead := stream.peek(CHUNK_BYTES) if hasattr(stream, "peek") else b"":
        white = len(ahead) - len(ahead.lstrip(WHITE))
        whole = ahead.rfind(b"\n", 0, white) + 1
        if not whole:
            break
        skipped += ahead.count(b"\n", 0, whole)
        stream.read(whole)
    return skipped


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(CHUNK_BYTES)) and not piece.endswith(b"\n"):
        pass


def _session(stream: BinaryIO, limit: int) -> Rows:
    """All lines as one row, a list. A line that cannot be read is refused, and the others make the row."""
    lines: list[bytes] = []
    size = 0
    for row in _lines(stream, limit):
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            jsontext.parse(row.original)
        except RowError as refused:
            yield BadRow(row.place, str(refused))
            continue
        size += len(row.original)
        if size > limit:
            yield BadRow(THE_FILE, too_long(limit))
            return
        lines.append(row.original)
    yield RawRow(THE_FILE, b"[" + b",\n".join(lines) + b"]")


def _gathered(stream: BinaryIO, limit: int) -> Rows:
    """Lines together as rows, each a list, as many in one as `GATHERED_BYTES` allow; a line alone stays as it is."""
    lines: list[RawRow] = []
    for row in _lines(stream, limit):
        if isinstance(row, BadRow):
            yield row
        elif _value(row.original) is None:
            yield row  # refused where rows are read, with its own place
        else:
            if lines and sum(len(line.original) for line in lines) + len(row.original) > GATHERED_BYTES:
                yield _together(lines)
                lines = []
            lines.append(row)
    if lines:
        yield _together(lines)


def _together(lines: list[RawRow]) -> RawRow:
    if len(lines) == 1:
        return lines[0]
    place = f"lines {lines[0].place.removeprefix('line ')} to {lines[-1].place.removeprefix('line ')}"
    return RawRow(place, b"[" + b",\n".join(line.original for line in lines) + b"]")


def _document(stream: BinaryIO, limit: int) -> Rows:
    data = stream.read(limit + 1)
    if len(data) > limit:
        yield BadRow(THE_FILE, too_long(limit))
    else:
        yield RawRow(THE_FILE, data.strip(WHITE))


def _envelope_rows(opened: Callable[[], BinaryIO], start: int, envelope: Envelope, limit: int) -> Rows:
    """Each run in the document, together with what the document says of all of them."""
    scanner = _scan(_from(opened, start), envelope)
    head: dict[str, bytes] = {}
    for name in envelope.head:
        if name not in scanner.ends:
            continue
        size = scanner.ends[name] - scanner.starts[name]
        if size > limit:
            yield BadRow(THE_FILE, f"Its {name} is longer than the {limit // (1024 * 1024) or 1} MiB a row may have.")
            return
        head[name] = _from(opened, start + scanner.starts[name]).read(size).strip(WHITE)
    begin = start + scanner.starts.get(envelope.runs, 0)
    if not _from(opened, begin).read(HEAD_BYTES).lstrip(WHITE).startswith(b"["):
        yield BadRow(THE_FILE, envelope.without_runs)
        return
    compose = envelope.composer(head)
    for row in _list_rows(_from(opened, begin), limit, inner=True):
        if row.place == THE_FILE:
            yield BadRow(THE_FILE, f"Its list of {envelope.runs} is empty.")
            continue
        place = f"{envelope.runs}, {row.place}"
        yield BadRow(place, row.reason) if isinstance(row, BadRow) else RawRow(place, compose(row.original))


def _scan(stream: BinaryIO, envelope: Envelope) -> ObjectScanner:
    """Where the members lie; stops early when all that is needed is found."""
    scanner = ObjectScanner()
    needed = {envelope.runs, *envelope.head}
    while scanner.closed_at is None and (chunk := stream.read(CHUNK_BYTES)):
        scanner.feed(chunk)
        if needed <= scanner.starts.keys() and not needed - {envelope.runs} - scanner.ends.keys():
            break
    return scanner


def _list_rows(stream: BinaryIO, limit: int, *, inner: bool = False) -> Rows:
    """The elements of a list; of an `inner` one, what follows it belongs to the document around it."""
    splitter = ListSplitter(limit)
    index = 0
    while not splitter.closed and (chunk := stream.read(splitter.wants())):
        for element in splitter.feed(chunk):
            yield _element(f"index {index}", element, limit)
            index += 1
    if splitter.too_deep:
        yield BadRow(f"index {index}", f"It is nested more than {DEEPEST:,} levels deep. Nothing after it was read.")
        return
    if splitter.closed:
        if index == 0:
            yield BadRow(THE_FILE, "The list is empty.")
        if not inner and (splitter.rest() + stream.read(CHUNK_BYTES)).strip(WHITE):
            yield BadRow("end of file", "There is more after the end of the list. It was not read.")
        return
    if last := splitter.last_element():
        yield RawRow(f"index {index}", last)
        index += 1
    if splitter.in_element:
        yield BadRow(f"index {index}", "The file is cut off in the middle of this row.")
    else:
        yield BadRow(f"index {index}", "The file is cut off: the list does not end.")


def _element(place: str, element: bytes, limit: int) -> RawRow | BadRow:
    if len(element) > limit:
        return BadRow(place, too_long(limit))
    if not element:
        return BadRow(place, "There is nothing between two commas.")
    return RawRow(place, element)


def too_long(limit: int) -> str:
    """Why a row past the limit is refused."""
    return f"It is longer than the {limit // (1024 * 1024) or 1} MiB a row may have."
