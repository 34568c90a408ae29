"""Axolotl: `type: chat_template.default` for DPO. The conversation in `messages`, one message on each side."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import bare
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.single import single_pairs
from goldsets.writers.trl import about


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in single_pairs(document, reading):
        yield {
            "messages": [bare(message) for message in pair.prompt],
            "chosen": bare(pair.chosen[0]),
            "rejected": bare(pair.rejected[0]),
        } | about(pair.about)


FORMATS = [Format(name="axolotl", rows=rows, training=True)]
