"""Files on their way: a part of the labels in each format, and the whole put together from its parts.

A part is written into files of its own and then marked as done, with all that was counted on the way. Whoever takes up
an export that was killed goes on behind the last part that is marked. Memory holds one batch of labels, and of each
table one row group as it is gathered and one as it is written.
"""

import csv
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from goldsets.writers.document import Document, Words
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.format import Format
from goldsets.writers.tally import Tally

COPY_BYTES = 1_048_576
# A row group of a table: what a reader loads at once.
GROUP_ROWS = 500
GROUP_BYTES = 16_000_000

_line = msgspec.json.Encoder().encode


class WrittenFile(msgspec.Struct, frozen=True):
    """A finished file as the manifest names it."""

    name: str
    rows: int
    bytes: int
    sha256: str
    format: str = ""


class Told(msgspec.Struct):
    """What one format made of the labels so far."""

    rows: int = 0
    left_out: dict[str, int] = {}
    counts: dict[str, int] = {}

    def add(self, other: "Told") -> None:
        self.rows += other.rows
        self.left_out = _sum(self.left_out, other.left_out)
        self.counts = _sum(self.counts, other.counts)


class Part(msgspec.Struct):
    """What is kept of a part that is done: how many labels, and what was counted of them."""

    tally: Tally
    told: dict[str, Told]


# --- A part -----------------------------------------------------------------------------------------------------------
def write_part(
    batches: Iterable[list[Document]],
    formats: list[Format],
    words: Words,
    policies: Policies,
    folder: Path,
    number: int,
    tally: Tally,
) -> Part:
    """The labels in each format, and the mark that they are all there.

    Where judgments stay back, no format ever gets one.
    """
    readings = {form.name: Reading(words, policies) for form in formats}
    rows = dict.fromkeys(readings, 0)
    with ExitStack() as stack:
        writers = [
            (form, reading, stack.enter_context(closing(_opened(form, reading, _piece(form, folder, number)))))
            for form, reading in zip(formats, readings.values(), strict=True)
        ]
        for document in chain.from_iterable(batches):
            tally.count(document, words)
            leaving = document if policies.raters == "within" else msgspec.structs.replace(document, judgments=[])
            for form, reading, writer in writers:
                for row in (form.ready or form.rows)(leaving, reading):
                    writer.write(row)
                    rows[form.name] += 1
    told = {name: Told(rows[name], dict(found.left_out), dict(found.counts)) for name, found in readings.items()}
    part = Part(tally, told)
    _mark(folder, number, part)
    return part


def parts_done(folder: Path) -> list[Part]:
    """The first parts, as far as each was written to its end."""
    marks = takewhile(Path.exists, (_mark_of(folder, number) for number in count()))
    return [msgspec.json.decode(mark.read_bytes(), type=Part) for mark in marks]


def _mark(folder: Path, number: int, part: Part) -> None:
    half = folder / f"mark-{number:05d}.half"
    half.write_bytes(msgspec.json.encode(part))
    half.replace(_mark_of(folder, number))


def _mark_of(folder: Path, number: int) -> Path:
    return folder / f"mark-{number:05d}.json"


def _piece(form: Format, folder: Path, number: int) -> Path:
    return folder / f"{form.name}-{number:05d}"


class _Lines:
    """A row a line. An array is written the same way and gets its brackets at the end."""

    def __init__(self, path: Path):
        self.file = path.open("wb")

    def write(self, row: Any) -> None:
        self.file.write(_line(row) + b"\n")

    def close(self) -> None:
        self.file.close()


class _Csv:
    def __init__(self, path: Path, columns: list[str]):
        self.file = path.open("w", encoding="utf-8", newline="")
        self.writer = csv.DictWriter(self.file, columns, restval="", lineterminator="\r\n")

    def write(self, row: Any) -> None:
        self.writer.writerow(row)

    def close(self) -> None:
        self.file.close()


class _Table:
    """Parquet, a row group at a time. While one is written, by a thread beside, the rows of the next are made.

    Arrow reads the rows from JSON, with the declared types: that takes a third of the time it takes from objects.
    """

    def __init__(self, path: Path, schema: pa.Schema):
        self.writer = pq.ParquetWriter(path, schema, compression="zstd")
        self.schema = schema
        self.lines: list[bytes] = []
        self.size = 0
        self.beside = ThreadPoolExecutor(1)
        self.writing: Future[None] | None = None

    def write(self, row: Any) -> None:
        line = _line(row)
        self.lines.append(line)
        self.size += len(line)
        if len(self.lines) >= GROUP_ROWS or self.size >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        try:
            self._write_group()
            self._wait()
        finally:
            self.beside.shutdown()
            self.writer.close()

    def _write_group(self) -> None:
        """Hand the rows over, once the group before is written."""
        self._wait()
        if self.lines:
            self.writing = self.beside.submit(self._write, self.lines)
            self.lines, self.size = [], 0

    def _wait(self) -> None:
        if self.writing:
            self.writing.result()

    def _write(self, lines: list[bytes]) -> None:
        content = b"\n".join(lines)
        self.writer.write_table(
            pa_json.read_json(
                pa.BufferReader(content),
                read_options=pa_json.ReadOptions(block_size=len(content) + 1),
                parse_options=pa_json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="error"),
            )
        )


def _opened(form: Format, reading: Reading, path: Path) -> _Lines | _Csv | _Table:
    """The piece of a format, written anew where an earlier try left one."""
    if form.kind == "table":
        return _Table(path, form.schema)
    if form.kind == "csv":
        return _Csv(path, form.columns(reading) if form.columns else [])
    return _Lines(path)


# --- The whole --------------------------------------------------------------------------------------------------------
def put_together(
    folder: Path, out: Path, formats: list[Format], parts: int, told: dict[str, Told], reading: Callable[[str], Reading]
) -> list[WrittenFile]:
    """The finished files in `out`, from the pieces in `folder`, which stay as they are."""
    files: list[WrittenFile] = []
    beside: dict[str, Any] = {}
    for form in formats:
        pieces = [_piece(form, folder, number) for number in range(parts)]
        made = _tables(form, pieces, out) if form.kind == "table" else [_joined(form, pieces, out, reading(form.name))]
        for path in made:
            rows = pq.read_metadata(path).num_rows if form.kind == "table" else told[form.name].rows
            files.append(report(path, rows, form.name))
        if form.beside:
            for name, content in form.beside(reading(form.name), [path.name for path in made]).items():
                known = beside.get(name)
                beside[name] = {**known, **content} if isinstance(known, dict) else content
    for name, content in beside.items():
        text = content.encode() if isinstance(content, str) else _indented(content)
        (out / name).write_bytes(text)
        files.append(report(out / name, 0))
    return files


def _indented(content: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _tables(form: Format, pieces: list[Path], out: Path) -> list[Path]:
    """Parquet stays in its parts, which every loader takes together by their names."""
    if len(pieces) == 1:
        return [_linked(pieces[0], out / form.file)]
    stem = form.file.removesuffix(".parquet")
    return [
        _linked(piece, out / f"{stem}-{number:05d}-of-{len(pieces):05d}.parquet") for number, piece in enumerate(pieces)
    ]


def _linked(piece: Path, path: Path) -> Path:
    """The same file under its final name; copied where the file system knows no links."""
    try:
        os.link(piece, path)
    except OSError:
        shutil.copyfile(piece, path)
    return path


def _joined(form: Format, pieces: list[Path], out: Path, reading: Reading) -> Path:
    path = out / form.file
    if form.kind == "lines" and len(pieces) == 1:
        return _linked(pieces[0], path)
    with path.open("xb") as whole:
        if form.kind == "csv" and form.columns:
            head = ",".join(form.columns(reading))
            # Without the mark at the front, Excel takes UTF-8 for something else.
            whole.write(b"\xef\xbb\xbf" + head.encode() + b"\r\n")
        if form.kind == "array":
            whole.writelines(_array(pieces))
            return path
        for piece in pieces:
            with piece.open("rb") as part:
                shutil.copyfileobj(part, whole, COPY_BYTES)
    return path


def _array(pieces: list[Path]) -> Iterator[bytes]:
    before = b"[\n"
    for piece in pieces:
        with piece.open("rb") as part:
            for line in part:
                yield before + line.rstrip(b"\n")
                before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def report(path: Path, rows: int, form: str = "") -> WrittenFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return WrittenFile(path.name, rows, path.stat().st_size, digest, form)


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in [*one, *(set(other) - set(one))]}
