"""Files inside a folder or a ZIP archive, and files that are compressed, as streams of what they hold.

Python 3.11's own library cannot read ZIP members compressed with zstd (method 93), as Inspect writes them today; their
raw bytes are read and unpacked here.
"""

from __future__ import annotations

import errno
import gzip
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import zstandard

ZIP_ZSTD = 93
ZIP_MAGIC = b"PK\x03\x04"
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# More than this is no text of runs: deflate cannot pack JSON as tightly, and a bomb would keep a worker busy for hours.
# So the work is in proportion to what was sent; of the first mebibyte nobody asks what it was packed into.
MAX_RATIO = 500
RATIO_FREE_BYTES = 1024 * 1024
ZSTD_PIECE_BYTES = 1024
UNPACKED_BUFFER_BYTES = 256 * 1024
MAX_WINDOW_BYTES = 128 * 1024 * 1024
_LOCAL_HEADER_BYTES = 30

UNPACK_ERRORS = (EOFError, OSError, zipfile.BadZipFile, zlib.error, zstandard.ZstdError, struct.error)


class ArchiveError(ValueError):
    """This member, or the whole archive, cannot be read. The message says why."""


def raise_if_of_the_disk(error: Exception) -> None:
    """An error of the disk ends the import, which can go on later; one of the file is a refusal.

    A damaged archive can ask for places that no file has, which the system calls an invalid argument.
    """
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error


class Archive(Protocol):
    """Files by their names, with "/" between folders, in an order that is always the same."""

    def names(self) -> list[str]: ...

    def open(self, name: str) -> BinaryIO:
        """The file's bytes from their beginning."""
        ...

    def packed_size(self, name: str) -> int:
        """How many bytes of the source the file takes."""
        ...


class Folder:
    """A folder on disk with all that is below it, but for what is hidden."""

    def __init__(self, path: Path):
        self.path = path

    def names(self) -> list[str]:
        found = (path.relative_to(self.path).as_posix() for path in self.path.rglob("*") if path.is_file())
        return sorted(filter(_is_shown, found), key=natural)

    def open(self, name: str) -> BinaryIO:
        return (self.path / name).open("rb")

    def packed_size(self, name: str) -> int:
        return (self.path / name).stat().st_size


class ZipArchive:
    """A ZIP archive. Of two members with one name the last counts, as everywhere."""

    def __init__(self, file: BinaryIO):
        self._file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OSError) as error:
            raise_if_of_the_disk(error)
            raise ArchiveError(f"The ZIP archive is damaged or cut: {error}.") from error

    def names(self) -> list[str]:
        return sorted(filter(_is_shown, self._zip.NameToInfo), key=natural)

    def packed_size(self, name: str) -> int:
        return self._zip.getinfo(name).compress_size

    def open(self, name: str) -> BinaryIO:
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise ArchiveError("it is encrypted")
        if info.file_size > max(RATIO_FREE_BYTES, MAX_RATIO * info.compress_size):
            raise ArchiveError(f"it would unpack to more than {MAX_RATIO} times its size")
        try:
            return self._open_zstd(info) if info.compress_type == ZIP_ZSTD else cast(BinaryIO, self._zip.open(info))
        except (NotImplementedError, RuntimeError, zipfile.BadZipFile, struct.error, ValueError, OSError) as error:
            raise_if_of_the_disk(error)
            raise ArchiveError(str(error)) from error

    def _open_zstd(self, info: zipfile.ZipInfo) -> BinaryIO:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER_BYTES)
        if len(header) < _LOCAL_HEADER_BYTES or not header.startswith(ZIP_MAGIC):
            raise ArchiveError("its header is damaged")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        begin = info.header_offset + _LOCAL_HEADER_BYTES + name_length + extra_length
        return _zstd(_Section(self._file, begin, info.compress_size), info.file_size)


class _Section(io.RawIOBase):
    """Part of a file as a stream of its own; several may be read in turns."""

    def __init__(self, file: BinaryIO, begin: int, size: int):
        self._file, self._place, self._end = file, begin, begin + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._place)
        data = self._file.read(min(len(buffer), self._end - self._place))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


class _ZstdReader(io.RawIOBase):
    """What zstd frames hold. The package's own reader does not tell a stream that is cut from one that ends."""

    def __init__(self, stream: BinaryIO | io.RawIOBase | _Counted, limit: int | None):
        self._stream = stream
        self._left = limit  # what may still come, where the archive has promised a size
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
        self._frame = self._decompressor.decompressobj()
        self._begun = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            if not self._unpack():
                return 0
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise zipfile.BadZipFile("it unpacks to more than its header says")
        buffer[: len(data)] = data
        return len(data)

    def _unpack(self) -> bool:
        """One more piece; False at the end. Pieces are small because a few bytes can stand for very many."""
        packed = b""
        if self._frame.eof:
            packed = self._frame.unused_data
            self._frame, self._begun = self._decompressor.decompressobj(), False
        packed = packed or self._stream.read(ZSTD_PIECE_BYTES) or b""
        if not packed:
            if self._begun:
                raise EOFError("the stream ends before its end mark")
            return False
        self._begun = True
        self._ready = self._frame.decompress(packed)
        return True


def unpacked(stream: BinaryIO) -> BinaryIO:
    """What a stream holds, unpacked if its first bytes say gzip or zstd."""
    peekable: Any = stream if hasattr(stream, "peek") else io.BufferedReader(cast(io.RawIOBase, stream))
    magic = peekable.peek(4)[:4]
    packed = _Counted(peekable)
    if magic.startswith(GZIP_MAGIC):
        return _bounded(gzip.GzipFile(fileobj=cast(BinaryIO, packed)), packed)
    if magic == ZSTD_MAGIC:
        return _bounded(_ZstdReader(packed, None), packed)
    return cast(BinaryIO, peekable)


class _Counted:
    """A packed stream that knows how much of it was read."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream
        self.bytes_read = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.bytes_read += len(data)
        return data


class _Bounded(io.RawIOBase):
    """What is unpacked, as long as it stays in proportion to what it is unpacked from."""

    def __init__(self, stream: gzip.GzipFile | _ZstdReader, packed: _Counted):
        self._stream, self._packed = stream, packed
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = self._stream.readinto(buffer)
        self._unpacked += size
        if self._unpacked > max(RATIO_FREE_BYTES, MAX_RATIO * self._packed.bytes_read):
            raise ArchiveError(f"it unpacks to more than {MAX_RATIO} times its size")
        return size


def _bounded(stream: gzip.GzipFile | _ZstdReader, packed: _Counted) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, packed), UNPACKED_BUFFER_BYTES))


def _zstd(stream: BinaryIO | io.RawIOBase, limit: int) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_ZstdReader(stream, limit), UNPACKED_BUFFER_BYTES))


def natural(name: str) -> list[tuple[int, int | str]]:
    """A key that sorts "9_epoch_1" before "10_epoch_1"."""
    return [(0, int(part)) if part.isdigit() and len(part) < 19 else (1, part) for part in _pieces(name)]


def _pieces(name: str) -> Iterator[str]:
    return (part for part in re.split(r"([0-9]+)", name) if part)


def _is_shown(name: str) -> bool:
    """Whether this is the name of a file, and of one that is not hidden."""
    return not any(part.startswith(".") or part in {"", "__MACOSX"} for part in name.split("/"))
