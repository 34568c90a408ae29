"""Rows of a file made ready for the tables: read, redacted and encoded, here or in a process beside this one.

All of it is pure work on a row, and most of the work of an import. Of a large file it is done in a process of its own,
so that one processor reads while another one writes. That process needs no settings and no database: it is told on its
standard input what to read, answers with one batch after the other on its standard output, waits while nobody takes
them, and ends when nobody is there any more.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import zstandard
from msgspec.structs import replace

from reviews.garbage import collecting_less
from reviews.trajectories import jsontext
from reviews.trajectories.assay_task import PARTS
from reviews.trajectories.detect import AUTO, read_runs
from reviews.trajectories.feedback import Said, feedback_in
from reviews.trajectories.outline import outline_of
from reviews.trajectories.reading import BadRow, RawRow, RunFile
from reviews.trajectories.redaction import Rules, redact, redact_text
from reviews.trajectories.schema import ReadOptions, RowError, Run, TaskText, encode_step
from reviews.trajectories.tools import writers_of

APART_FROM_BYTES = 4 * 1024 * 1024  # a smaller file is read before a process has started
PLACE_LENGTH = 60
FEEDBACK_FORMATS = (AUTO, "langsmith")
_ROOT = Path(__file__).resolve().parent.parent.parent
_LENGTH_BYTES = 8

log = logging.getLogger(__name__)


class _Compressor(threading.local):
    """One for each thread: two threads that share a compressor spoil what it makes."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor().compress


_compressor = _Compressor()


class Review(msgspec.Struct, frozen=True):
    """A task to be reviewed: its text, and its runs as (content hash, role of the agent, the verifier's result)."""

    text: TaskText
    runs: list[tuple[str, str, dict[str, Any]]]


class ReadyRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run as its tables take it: steps as (role, JSON), JSON columns as JSON, the original compressed.

    `redactions` counts by kind what was replaced; it is None where nothing was to be redacted. Where the row compares
    answers, `candidates` are the content hashes of all of them, and so many of their first steps are `shared`. Of a
    task to be reviewed the first run has the `review`.
    """

    place: str
    content_hash: str
    source_format: str
    key: str
    family: str
    title: str
    policy_text: str
    policy_title: str
    context: str
    tools: str
    spent: str | None
    slices: dict[str, str | int | float | bool]
    versions: dict[str, str]
    outline: str
    steps: list[tuple[str, str]]
    original: bytes
    result: str
    reward: float | None
    model: str
    data: str
    redactions: dict[str, int] | None
    source_id: str
    notes: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    shared: int = 0
    review: Review | None = None
    criteria: list[Any] | None = None


class ReadRow(msgspec.Struct, frozen=True):
    """What one row gave: its runs, or scores of runs that came in by themselves, or the reason why there are none."""

    place: str
    runs: list[ReadyRun] = []
    scores: list[Said] = []
    reason: str = ""


class Batch(msgspec.Struct, frozen=True, tag=True):
    """Rows that follow each other, and how far into the file they reach."""

    rows: list[ReadRow]
    bytes_done: int


class End(msgspec.Struct, frozen=True, tag=True):
    """The last word of the process beside: it is through, or why it cannot go on."""

    error: str = ""
    file_missing: bool = False


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to read: which file, how, from which row on, and how much makes a batch."""

    path: str
    options: ReadOptions
    rules: Rules = Rules()
    start: int = 0
    batch_rows: int
    batch_bytes: int


class ReaderEnded(RuntimeError):
    """The process beside ended before it was through, as when the system took its memory away."""


# --- One row ----------------------------------------------------------------------------------------------------------
def read_row(row: RawRow, options: ReadOptions) -> list[Run] | BadRow:
    """The runs in a row, or why there are none. What a file beside it says counts where the options say nothing."""
    if row.domain or row.model:
        options = replace(options, domain=options.domain or row.domain, model=options.model or row.model)
    try:
        return read_runs(row.original, options)
    except RowError as refused:
        return BadRow(row.place, str(refused))
    except Exception:  # one strange row must not hold up a file of a million
        log.exception("A row could not be read: %s of %s", row.place, options.name)
        return BadRow(row.place, "It could not be read because of an error inside Assay. The log has it.")


def ready_runs(runs: list[Run], *, place: str, rules: Rules) -> list[ReadyRun]:
    """The runs of a row as the project wants them read, encoded."""
    compared = len(runs) > 1 and all(run.compared for run in runs)
    candidates = tuple(run.content_hash for run in runs) if compared else ()
    shared = _shared_steps(runs) if compared else 0
    ready = [_ready(run, place=place, rules=rules, candidates=candidates, shared=shared) for run in runs]
    review = _review_of(runs, rules)
    return [replace(ready[0], review=review), *ready[1:]] if review else ready


def _review_of(runs: list[Run], rules: Rules) -> Review | None:
    if not runs or runs[0].task is None:
        return None
    attached = [(run.content_hash, run.verdict.role, redacted(run.verdict.result, rules)) for run in runs]
    return Review(text=redacted_task(runs[0].task, rules), runs=attached)


def redacted_task(text: TaskText, rules: Rules) -> TaskText:
    """The text of a task as the project wants it read."""
    parts = {name: redact_text(getattr(text, name), rules) for name in PARTS} if rules else {}
    prompts = tuple(redact_text(prompt, rules) for prompt in text.production_prompts) if rules else None
    return replace(text, **parts, production_prompts=prompts or text.production_prompts)


def redacted(result: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """What a verifier said, with its log as the project wants it read."""
    return {**result, "log": redact_text(result["log"], rules)} if rules and result.get("log") else result


def _shared_steps(runs: list[Run]) -> int:
    """How many first steps all have in common, apart from where they lie; the last step is each one's own."""
    together = zip(
        *([replace(step, pointer="", result_pointer="") for step in run.steps[:-1]] for run in runs), strict=False
    )
    return sum(1 for _ in takewhile(lambda steps: all(step == steps[0] for step in steps), together))


def _ready(run: Run, *, place: str, rules: Rules, candidates: tuple[str, ...], shared: int) -> ReadyRun:
    counts = None
    if rules:
        run, counts = redact(run, rules)
    return ReadyRun(
        place=", ".join(filter(None, (place, run.source_ref)))[:PLACE_LENGTH],
        content_hash=run.content_hash,
        source_format=run.source_format,
        key=run.key,
        family=run.family,
        title=run.title,
        policy_text=run.policy_text,
        policy_title=run.policy_title,
        context=json.dumps(run.context),
        tools=json.dumps(run.tools),
        spent=msgspec.json.encode(run.spent).decode() if run.spent else None,
        slices=run.slices,
        versions=run.versions,
        outline=str(outline_of(run.steps, writers_of(run.tools))),
        steps=[(step.role, encode_step(step).decode()) for step in run.steps],
        original=_compressor.compress(run.original),
        criteria=run.criteria,
        result=run.outcome.result,
        reward=run.outcome.reward,
        model=run.outcome.model,
        data=json.dumps(run.outcome.data),
        redactions=counts,
        source_id=run.source_id,
        notes=run.notes,
        candidates=candidates,
        shared=shared,
    )


def scores_in(row: RawRow, options: ReadOptions) -> list[Said]:
    """The scores in a row that holds no run; none where it is nothing of that kind, or another format was chosen."""
    if options.format not in FEEDBACK_FORMATS:
        return []
    try:
        return feedback_in(jsontext.parse(row.original))
    except RowError:
        return []


def _ready_row(row: RawRow | BadRow, order: Order) -> ReadRow:
    runs = read_row(row, order.options) if isinstance(row, RawRow) else row
    if isinstance(runs, BadRow):
        if isinstance(row, RawRow) and (scores := scores_in(row, order.options)):
            return ReadRow(row.place, scores=scores)
        return ReadRow(runs.place, reason=jsontext.clean(runs.reason))
    return ReadRow(row.place, runs=ready_runs(runs, place=row.place, rules=order.rules))


# --- A file, here or beside -------------------------------------------------------------------------------------------
@contextmanager
def batches(order: Order, *, size: int) -> Generator[Iterator[Batch]]:
    """The rows in batches, from the order's first row on, always cut alike. A large file is read by a process beside.

    While they come an OSError of the file is raised, or ReaderEnded.
    """
    if size >= APART_FROM_BYTES:
        with _beside(order) as read:
            yield read
    else:
        with RunFile(order.path, name=order.options.name) as file:
            yield _batches_of(file, order)


def _batches_of(file: RunFile, order: Order) -> Iterator[Batch]:
    """Rows together up to a number and a size, so that memory and transactions stay small."""
    rows: list[ReadRow] = []
    size = 0
    for row in islice(file, order.start, None):
        rows.append(_ready_row(row, order))
        size += len(row.original) if isinstance(row, RawRow) else 0
        if len(rows) >= order.batch_rows or size >= order.batch_bytes:
            yield Batch(rows, file.bytes_done)
            rows, size = [], 0
    if rows:
        yield Batch(rows, file.bytes_done)


@contextmanager
def _beside(order: Order) -> Generator[Iterator[Batch]]:
    program = [sys.executable, "-m", __name__]
    reading = subprocess.Popen(program, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    with reading as reader, collecting_less():
        try:
            yield _answers_of(reader, order)
        finally:
            reader.kill()


def _answers_of(reader: subprocess.Popen[bytes], order: Order) -> Iterator[Batch]:
    assert reader.stdin  # noqa: S101  it was asked for, and so was the other
    assert reader.stdout  # noqa: S101
    reader.stdin.write(msgspec.msgpack.encode(order))
    reader.stdin.close()
    decoder = msgspec.msgpack.Decoder(Batch | End)
    while length := int.from_bytes(reader.stdout.read(_LENGTH_BYTES), "big"):
        data = reader.stdout.read(length)
        if len(data) < length:
            break
        answer = decoder.decode(data)
        if isinstance(answer, Batch):
            yield answer
        elif answer.file_missing:
            raise FileNotFoundError(answer.error)
        elif answer.error:
            raise OSError(answer.error)
        else:
            return
    raise ReaderEnded(f"The process that reads the file ended before its end, with the code {reader.wait()}.")


def _answer(asked: BinaryIO, told: BinaryIO) -> None:
    """What the process beside does."""
    order = msgspec.msgpack.decode(asked.read(), type=Order)
    end = End()
    try:
        with RunFile(order.path, name=order.options.name) as file:
            for batch in _batches_of(file, order):
                _say(told, batch)
    except BrokenPipeError:
        raise
    except OSError as error:
        end = End(error=str(error), file_missing=isinstance(error, FileNotFoundError))
    _say(told, end)


def _say(told: BinaryIO, what: Batch | End) -> None:
    data = msgspec.msgpack.encode(what)
    told.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    told.write(data)
    told.flush()


if __name__ == "__main__":
    # Of its own: under PYTHONUNBUFFERED a write to the usual one may end half-way, when the system stops us in it.
    with collecting_less(), suppress(BrokenPipeError), open(sys.stdout.fileno(), "wb", closefd=False) as told:
        _answer(sys.stdin.buffer, told)
