"""OpenRLHF: pairs of conversations with the keys `prompt`, `chosen` and `rejected`, and their margin.

Parquet, since it takes the types of a JSON file from its first ten megabytes: a first call behind them would not load.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import MESSAGES
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.trl import ABOUT, PAIR, about

SCHEMA = pa.schema({"prompt": MESSAGES, **PAIR, "margin": pa.float64(), **ABOUT})


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        sides = {"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected}
        yield sides | {"margin": pair.margin} | about(pair.about)


FORMATS = [Format(name="openrlhf", rows=rows, kind="table", training=True, schema=SCHEMA)]
