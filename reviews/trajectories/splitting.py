"""Cuts JSON that comes in chunks into elements of a list or members of an object, without reading their meaning.

Nothing is held but the part under way, so a document of any size can be read. What is cut out has its original bytes.
"""

from __future__ import annotations

import json
import re

CHUNK_BYTES = 1024 * 1024
WHITE = b" \t\r\n"
# No row is nested a tenth as deep. What is deeper is not looked through any further, nor is what comes after it.
DEEPEST = 1000

# A whole string, a string that the buffer cuts, or one bracket or comma. The possessive quantifiers (Python 3.11) keep
# it linear on any input.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>"|\\?\Z)'
TOKEN = re.compile(_STRING + rb"|[{}\[\],]", re.DOTALL)
_MEMBER_TOKEN = re.compile(_STRING + rb"|[{}\[\],:]", re.DOTALL)
_OPENS = {ord("{"): ord("}"), ord("["): ord("]")}
_QUOTE, _COMMA, _COLON = ord('"'), ord(","), ord(":")


class ListSplitter:
    """Cuts the elements out of a JSON list that comes in chunks, without reading their meaning.

    A closing bracket of the wrong kind closes up to the nearest bracket it fits, so that one element with a bracket
    too few usually does not take its neighbours along. An element past the limit is given out cut, one byte longer
    than the limit, so that memory stays bounded. Past `DEEPEST` brackets it is `too_deep`, and closed.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.closed = False
        self.too_deep = False
        self._buffer = b""  # begins where the element under way begins
        self._scanned = 0  # everything before this place in the buffer is understood
        self._expected = bytearray()  # the closing brackets still to come; the first closes the list itself
        self._too_long = b""  # the start of the element under way, once it is past the limit

    @property
    def in_element(self) -> bool:
        return len(self._expected) > 1 or bool((self._too_long + self._buffer).strip(WHITE))

    def wants(self) -> int:
        """How much to read next: as much again as is kept, so that a long element is not copied too often."""
        return max(CHUNK_BYTES, len(self._buffer))

    def rest(self) -> bytes:
        """What was fed and lies behind the end of the list."""
        return self._buffer[self._scanned :]

    def last_element(self) -> bytes:
        """Where the list was cut off right behind an element: that element, taken out."""
        if len(self._expected) != 1 or self._too_long or not self._buffer.rstrip(WHITE).endswith((b"}", b"]")):
            return b""
        element, self._buffer, self._scanned = self._buffer.strip(WHITE), b"", 0
        return element

    def feed(self, chunk: bytes) -> list[bytes]:
        """The elements that are whole now."""
        self._buffer += chunk
        elements: list[bytes] = []
        start = 0
        for token in TOKEN.finditer(self._buffer, self._scanned):
            kind = self._buffer[token.start()]
            if kind == _QUOTE and token.end() == len(self._buffer):
                break  # perhaps cut by the chunk: it is scanned again with the next one
            self._scanned = token.end()
            if kind == _QUOTE:
                continue
            if kind in _OPENS:
                self._expected.append(_OPENS[kind])
                if len(self._expected) == 1:
                    start = token.end()
                elif len(self._expected) > DEEPEST:
                    self.too_deep = self.closed = True
                    return elements
            elif kind == _COMMA:
                if len(self._expected) == 1:
                    elements.append(self._cut(start, token.start()))
                    start = token.end()
            elif self._closes_list(kind):
                last = self._cut(start, token.start())
                self.closed = True
                return [*elements, last] if last else elements
        self._keep_from(start)
        return elements

    def _closes_list(self, kind: int) -> bool:
        place = self._expected.rfind(kind)
        if place >= 0:
            del self._expected[place:]
        return not self._expected

    def _cut(self, start: int, end: int) -> bytes:
        element = self._too_long or self._buffer[start:end].strip(WHITE)
        self._too_long = b""
        return element

    def _keep_from(self, start: int) -> None:
        """Keep of the buffer only the element under way, or, past the limit, only that it is too long."""
        self._buffer = self._buffer[start:]
        self._scanned = max(self._scanned - start, 0)
        if self._too_long or len(self._buffer) > self.limit:
            self._too_long = self._too_long or self._buffer[: self.limit + 1]
            unscanned = self._buffer[self._scanned :]
            self._buffer = _string_under_way(unscanned)
            self._scanned = 0


class ObjectScanner:
    """Finds where the members of a JSON object lie that comes in chunks.

    `starts` and `ends` are places in the stream, by name; a member under way has only a start. Of a name given twice
    the last counts. `closed_at` is the place behind the object's end, or where it is nested past `DEEPEST`.
    """

    def __init__(self) -> None:
        self.starts: dict[str, int] = {}
        self.ends: dict[str, int] = {}
        self.closed_at: int | None = None
        self._buffer = b""  # what is not understood yet: part of a string
        self._place = 0  # of the buffer's first byte in the stream
        self._depth = 0
        self._name: str | None = None  # the member under way
        self._text = b""  # the last string seen where a name can stand

    def feed(self, chunk: bytes) -> None:
        """Understand one more chunk; nothing happens behind the end of the object."""
        self._buffer += chunk
        understood = 0
        for token in _MEMBER_TOKEN.finditer(self._buffer):
            if self.closed_at is not None:
                return
            kind = self._buffer[token.start()]
            if kind == _QUOTE and token.end() == len(self._buffer):
                break  # perhaps cut by the chunk
            understood = token.end()
            self._take(kind, token.group(), self._place + token.start())
        rest = self._buffer[understood:]
        kept = rest if len(rest) <= CHUNK_BYTES else _string_under_way(rest)
        self._place += len(self._buffer) - len(kept)
        self._buffer = kept

    def _take(self, kind: int, text: bytes, place: int) -> None:
        if kind in _OPENS:
            self._depth += 1
            if self._depth > DEEPEST:
                self.closed_at = place
        elif kind == _QUOTE:
            if self._depth == 1 and self._name is None:
                self._text = text
        elif kind == _COLON:
            if self._depth == 1 and self._name is None:
                self._name = _name_of(self._text)
                self.starts[self._name] = place + 1
                self.ends.pop(self._name, None)
        else:
            self._depth -= kind != _COMMA
            if self._name is not None and self._depth == (kind == _COMMA):
                self.ends[self._name] = place
                self._name = None
            if self._depth == 0:
                self.closed_at = place + 1


def members_of(data: bytes) -> dict[str, bytes]:
    """The members of a JSON object, each with its original bytes; none for anything else."""
    scanner = ObjectScanner()
    if data.lstrip(WHITE).startswith(b"{"):
        scanner.feed(data)
    return {name: data[scanner.starts[name] : end].strip(WHITE) for name, end in scanner.ends.items()}


def _name_of(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.decode("utf-8", "replace")


def _string_under_way(unscanned: bytes) -> bytes:
    """The shortest text that leaves a scanner where this one does: inside a string, perhaps after a backslash."""
    cut = TOKEN.search(unscanned)
    if not cut or unscanned[cut.start()] != _QUOTE:
        return b""
    backslashes = len(unscanned) - len(unscanned.rstrip(b"\\"))
    if cut.group("end") == b'"':
        return b'""'
    return b'"' + b"\\" * (backslashes % 2)
