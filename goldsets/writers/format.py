"""What a format is: a name, the kind of its file, and how its rows are made from one label."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
import pyarrow as pa

from goldsets.writers.document import Document
from goldsets.writers.examples import Reading

Kind = Literal["lines", "table", "array", "csv"]
ENDINGS = {"lines": "jsonl", "table": "parquet", "array": "json", "csv": "csv"}


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """`training` says that a model is fitted to it, so that held-out labels never leave in it; `graded` that it tells
    what graders said of items, `grouped` which runs are of one task.

    A table has a `schema`; no type is ever guessed from the data. `ready` gives the same rows as JSON, where that is to
    be had for less. `beside` gives small files that the consumer reads along with it, by their names: a text, or what
    is written as JSON.
    """

    name: str
    rows: Callable[[Document, Reading], Iterable[dict[str, Any]]]
    ready: Callable[[Document, Reading], Iterable[msgspec.Raw]] | None = None
    kind: Kind = "lines"
    training: bool = False
    graded: bool = False
    grouped: bool = False
    schema: pa.Schema | None = None
    columns: Callable[[Reading], list[str]] | None = None
    beside: Callable[[Reading, list[str]], dict[str, Any]] | None = None
    stem: str = ""

    @property
    def file(self) -> str:
        return f"{self.stem or self.name}.{ENDINGS[self.kind]}"
