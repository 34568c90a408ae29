"""OpenRLHF: pairs of conversations as JSON lines, with the keys `prompt`, `chosen` and `rejected`."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import bare
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.trl import about


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        sides = {"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected}
        told = {name: [bare(message) for message in messages] for name, messages in sides.items()}
        yield told | {"margin": pair.margin} | about(pair.about)


FORMATS = [Format(name="openrlhf", rows=rows, training=True)]
