"""Files on their way: a part of the labels in each format, and the whole put together from its parts.

A part is written into files of its own and then marked as done, with all that was counted on the way. Whoever takes up
an export that was killed goes on behind the last part that is marked. Memory holds one batch of labels.
"""

import csv
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import msgspec
import pyarrow as pa
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from goldsets.writers.document import Document, Words
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.format import Format
from goldsets.writers.tally import Tally

COPY_BYTES = 1_048_576
GROUP_BYTES = 32_000_000

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
    """The labels in each format, and the mark that they are all there."""
    readings = {form.name: Reading(words, policies) for form in formats}
    rows = dict.fromkeys(readings, 0)
    with ExitStack() as stack:
        writers = [
            (form, readings[form.name], stack.enter_context(_open(form, readings[form.name], folder, number)))
            for form in formats
        ]
        for batch in batches:
            for document in batch:
                tally.count(document, words)
            for form, reading, writer in writers:
                made = [row for document in batch for row in form.rows(document, reading)]
                writer.write(made)
                rows[form.name] += len(made)
    told = {name: Told(rows[name], dict(found.left_out), dict(found.counts)) for name, found in readings.items()}
    part = Part(tally, told)
    _mark(folder, number, part)
    return part


def part_done(folder: Path, number: int) -> Part | None:
    """The part where it was written to its end."""
    try:
        return msgspec.json.decode(_mark_of(folder, number).read_bytes(), type=Part)
    except FileNotFoundError:
        return None


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

    def __init__(self, file: IO[bytes]):
        self.file = file

    def write(self, rows: list[dict[str, Any]]) -> None:
        self.file.writelines(_line(row) + b"\n" for row in rows)


class _Csv:
    def __init__(self, file: IO[str], columns: list[str]):
        self.writer = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")

    def write(self, rows: list[dict[str, Any]]) -> None:
        self.writer.writerows(rows)


class _Table:
    """A row group for each batch, or for `GROUP_BYTES` of it: what a reader loads at once, and what is held in memory.

    Arrow reads the rows from JSON, with the declared types: that takes a third of the time it takes from objects.
    """

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema):
        self.writer = writer
        self.schema = schema

    def write(self, rows: list[dict[str, Any]]) -> None:
        for lines in _groups(_line(row) + b"\n" for row in rows):
            self.writer.write_table(self._read(lines))

    def _read(self, lines: bytes) -> pa.Table:
        return pa_json.read_json(
            pa.BufferReader(lines),
            read_options=pa_json.ReadOptions(block_size=len(lines) + 1),
            parse_options=pa_json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="error"),
        )


def _groups(lines: Iterable[bytes]) -> Iterator[bytes]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line)
        if size >= GROUP_BYTES:
            yield b"".join(group)
            group, size = [], 0
    if group:
        yield b"".join(group)


class _open:  # noqa: N801  reads as a verb where it is used
    """The piece of a format in this part, written anew where an earlier try left one."""

    def __init__(self, form: Format, reading: Reading, folder: Path, number: int):
        self.form, self.reading, self.path = form, reading, _piece(form, folder, number)

    def __enter__(self) -> _Lines | _Csv | _Table:
        if self.form.kind == "table":
            writer = pq.ParquetWriter(self.path, self.form.schema, compression="zstd")
            self.close = writer.close
            return _Table(writer, self.form.schema)
        if self.form.kind == "csv":
            text = self.path.open("w", encoding="utf-8", newline="")
            self.close = text.close
            return _Csv(text, self.form.columns(self.reading) if self.form.columns else [])
        file = self.path.open("wb")
        self.close = file.close
        return _Lines(file)

    def __exit__(self, *_: object) -> None:
        self.close()


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
