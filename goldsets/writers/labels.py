"""Labels of every kind as JSON lines or parquet, with the row of `label_row`."""

from collections.abc import Iterator
from typing import Any

import msgspec

from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import LABEL_ROW, sealed_json, sealed_row


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    yield sealed_row(document, reading.words)


def ready(document: Document, reading: Reading) -> Iterator[msgspec.Raw]:
    yield sealed_json(document, reading.words)


FORMATS = [
    Format(name="jsonl", stem="labels", rows=rows),
    Format(name="parquet", stem="labels", rows=rows, ready=ready, kind="table", schema=LABEL_ROW),
]
