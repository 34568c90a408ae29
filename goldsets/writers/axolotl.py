"""Axolotl: `type: chat_template.default` for DPO. The conversation in `messages`, one message on each side.

It reads nothing of a message but role and content. So calls in the conversation are told in words, and a pair with a
side that calls a tool, or says nothing, is left out.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import Message, calls_in_words
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.single import single_pairs
from goldsets.writers.trl import ABOUT, about

SAID = pa.struct({"role": pa.string(), "content": pa.string()})
SCHEMA = pa.schema({"messages": pa.list_(SAID), "chosen": SAID, "rejected": SAID, **ABOUT})


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in single_pairs(document, reading):
        chosen, rejected = pair.chosen[0], pair.rejected[0]
        if chosen["tool_calls"] or rejected["tool_calls"]:
            reading.left_out["a side calls a tool"] += 1
        elif not (chosen["content"] and rejected["content"]):
            reading.left_out["a side says nothing"] += 1
        else:
            yield {
                "messages": [_said(message) for message in pair.prompt],
                "chosen": _said(chosen),
                "rejected": _said(rejected),
            } | about(pair.about)


def _said(message: Message) -> dict[str, str]:
    return {"role": message["role"], "content": message["content"] + calls_in_words(message)}


FORMATS = [Format(name="axolotl", rows=rows, kind="table", training=True, schema=SCHEMA)]
