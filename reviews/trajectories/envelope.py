"""A document that holds many runs, and how each of them becomes a row of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Envelope(NamedTuple):
    """Any of the `members` tell such a document, and `runs` names the member whose list holds the runs.

    `composer` takes the members named in `head`, as bytes, and gives the function that makes the row of one run. A row
    is put together from pieces of the file, none of them changed.
    """

    members: tuple[frozenset[str], ...]
    runs: str
    head: tuple[str, ...]
    composer: Callable[[Mapping[str, bytes]], Callable[[bytes], bytes]]
    without_runs: str


def spliced(**members: bytes) -> bytes:
    """A JSON object of members that are JSON already; empty ones are left out."""
    return b"{" + b", ".join(f'"{name}": '.encode() + value for name, value in members.items() if value) + b"}"
