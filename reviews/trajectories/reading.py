"""A file, an archive or a folder of runs as a stream of rows, each with its place and its original bytes.

gzip, zstd, ZIP (also with zstd inside) and Inspect's .eval are told by content. Memory is bounded by the size a row
may have, whatever the size of the source. Rows come in the same order every time, so that reading can go on at the row
where it stopped. What cannot be read is a `BadRow` in the stream with the reason; the rows around it still come.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from msgspec.structs import replace

from reviews.trajectories import inspect_log, tau2_bench, verifiers
from reviews.trajectories.archives import (
    UNPACK_ERRORS,
    ZIP_MAGIC,
    Archive,
    ArchiveError,
    Folder,
    ZipArchive,
    raise_if_of_the_disk,
    unpacked,
)
from reviews.trajectories.layouts import MAX_ROW_BYTES, THE_FILE, BadRow, RawRow, Rows, rows_of, too_long

__all__ = ["BadRow", "RawRow", "RunFile", "size_of"]

PLACE_LENGTH = 60
# What is read of a folder or an archive; a file of another name is refused once, and not line by line.
_RUN_FILES = re.compile(r"\.(json|jsonl|ndjson|traj|eval|zip)(\.(gz|zst))?$", re.IGNORECASE)


class RunFile:
    """An open file or folder of runs: iterate over it for rows, ask `bytes_done` for progress. Use it with `with`.

    `name` helps only where content leaves two readings open (see `layouts.rows_of`).
    """

    def __init__(self, path: Path | str, name: str = "", max_row_bytes: int = MAX_ROW_BYTES):
        self.path = Path(path)
        self.name = name or self.path.name
        self.max_row_bytes = max_row_bytes
        self.bytes_total = size_of(self.path)
        self._done = 0  # bytes of files and members that are read to their end
        self._reading: BinaryIO | None = None  # what is read now

    def __enter__(self) -> RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    @property
    def bytes_done(self) -> int:
        """How far into the source (as it lies on disk, so compressed bytes of what is compressed) the reading is."""
        reading = self._reading
        on_disk = isinstance(reading, io.BufferedReader) and not reading.closed and reading.seekable()
        return min(self._done + (reading.tell() if reading and on_disk else 0), self.bytes_total)

    def __iter__(self) -> Iterator[RawRow | BadRow]:
        self._done = 0
        if self.path.is_dir():
            yield from self._archive_rows(Folder(self.path))
        else:
            yield from self._file_rows(self.path, self.name)

    def _close(self) -> None:
        if self._reading:
            self._reading.close()
        self._reading = None

    def _file_rows(self, path: Path, name: str) -> Rows:
        with path.open("rb") as file:
            if file.read(4) == ZIP_MAGIC:
                yield from self._zip_rows(file)
                return
        yield from self._stream_rows(lambda: path.open("rb"), name)

    def _zip_rows(self, file: BinaryIO) -> Rows:
        try:
            archive = ZipArchive(file)
        except ArchiveError as error:
            yield BadRow(THE_FILE, str(error))
            return
        yield from self._archive_rows(archive)

    def _stream_rows(self, open_packed: Callable[[], BinaryIO], name: str) -> Rows:
        def opened() -> BinaryIO:
            self._close()
            self._reading = open_packed()
            return unpacked(self._reading)

        try:
            yield from rows_of(opened, name, self.max_row_bytes)
        except ArchiveError as error:
            yield BadRow(THE_FILE, f"It cannot be unpacked: {error}.")
        except UNPACK_ERRORS as error:
            raise_if_of_the_disk(error)
            yield BadRow("end of file", f"The compressed file is damaged or cut: {str(error).rstrip('.')}.")
        finally:
            self._close()

    def _archive_rows(self, archive: Archive) -> Rows:
        names = archive.names()
        if not names:
            yield BadRow(THE_FILE, "There are no files in it.")
        elif inspect_log.is_archive(names):
            yield from self._eval_rows(archive, names)
        else:
            yield from self._folder_rows(archive, names)

    def _eval_rows(self, archive: Archive, names: list[str]) -> Rows:
        """The samples of an Inspect .eval, one at a time, each with the log's header."""
        header_name = inspect_log.header_of(names)
        header, _ = self._member(archive, header_name) if header_name else (b"", "")
        compose = inspect_log.composer(header)
        samples = [name for name in names if inspect_log.is_sample(name)]
        if not samples:
            yield BadRow(THE_FILE, "The log holds no samples.")
        for name in samples:
            data, reason = self._member(archive, name)
            yield BadRow(_placed(name), reason) if reason else RawRow(_placed(name), compose(data))
            self._done += archive.packed_size(name)

    def _folder_rows(self, archive: Archive, names: list[str]) -> Rows:
        """The rows of every file; files that only say more of others are no rows of their own."""
        results = {folder: name for name in names if (folder := tau2_bench.folder_of(name, names)) is not None}
        composers: dict[str, Callable[[bytes], bytes]] = {}
        hints = self._hints(archive, names)
        for name in names:
            simulations = next((folder for folder in results if tau2_bench.is_simulation(name, folder)), None)
            if name in results.values() or name in hints:
                pass
            elif not _RUN_FILES.search(name):
                yield BadRow(_placed(name), "By its name this is no file of runs. It was not read.")
            elif simulations is not None:
                if simulations not in composers:
                    composers = {simulations: tau2_bench.composer(self._member(archive, results[simulations])[0])}
                data, reason = self._member(archive, name)
                yield BadRow(_placed(name), reason) if reason else RawRow(_placed(name), composers[simulations](data))
            else:
                for row in self._member_rows(archive, name):
                    row = replace(row, place=_placed(name, row.place))
                    domain, model = hints.get(verifiers.metadata_beside(name), ("", ""))
                    yield replace(row, domain=domain, model=model) if isinstance(row, RawRow) else row
            self._done += archive.packed_size(name)

    def _member_rows(self, archive: Archive, name: str) -> Rows:
        try:
            with archive.open(name) as stream:
                is_zip = stream.read(4) == ZIP_MAGIC
        except (ArchiveError, *UNPACK_ERRORS) as error:
            raise_if_of_the_disk(error)
            yield BadRow(THE_FILE, f"It cannot be unpacked: {str(error).rstrip('.')}.")
            return
        if not is_zip:
            yield from self._stream_rows(lambda: archive.open(name), name)
        elif isinstance(archive, Folder):
            done = self._done
            yield from self._file_rows(archive.path / name, name)
            self._done = done
        else:
            yield BadRow(THE_FILE, "It is an archive inside an archive. Unpack the outer one.")

    def _member(self, archive: Archive, name: str) -> tuple[bytes, str]:
        """A member's bytes, or why there are none."""
        try:
            with archive.open(name) as packed:
                data = unpacked(packed).read(self.max_row_bytes + 1)
        except (ArchiveError, *UNPACK_ERRORS) as error:
            raise_if_of_the_disk(error)
            return b"", f"It cannot be unpacked: {str(error).rstrip('.')}."
        return (b"", too_long(self.max_row_bytes)) if len(data) > self.max_row_bytes else (data, "")

    def _hints(self, archive: Archive, names: list[str]) -> dict[str, tuple[str, str]]:
        """Environment and model by the name of the file that tells them."""
        return {
            name: verifiers.hints(self._member(archive, name)[0])
            for name in names
            if verifiers.is_metadata(name, names)
        }


def size_of(path: Path) -> int:
    """Bytes of a file, or of all that is read of a folder."""
    if path.is_dir():
        folder = Folder(path)
        return sum(folder.packed_size(name) for name in folder.names())
    return path.stat().st_size


def _placed(name: str, place: str = THE_FILE) -> str:
    """The place of a row in a file of an archive; of a long one the end, which tells more."""
    whole = name if place == THE_FILE else f"{name}, {place}"
    return whole if len(whole) <= PLACE_LENGTH else "…" + whole[1 - PLACE_LENGTH :]
