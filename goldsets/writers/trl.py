"""TRL (Hugging Face): preference with explicit and implicit prompt, reward with margin, KTO, stepwise and SFT.

Parquet with declared types. DPO wants the prompt apart, reward training wants it in front of both sides. `tools` is
JSON text, and so are the arguments of calls.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import MESSAGES
from goldsets.writers.document import Document
from goldsets.writers.examples import About, Pair, Reading
from goldsets.writers.format import Format

TEXT = pa.string()
ABOUT = {"id": TEXT, "family": TEXT, "source": TEXT, "basis": TEXT}
TOOLS = {"tools": TEXT}
PAIR = {"chosen": MESSAGES, "rejected": MESSAGES}


def about(found: About) -> dict[str, Any]:
    return {"id": found.id, "family": found.family, "source": found.source, "basis": found.basis}


def explicit(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        yield {"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected, "tools": pair.tools} | about(
            pair.about
        )


def implicit(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        yield _whole(pair) | {"tools": pair.tools} | about(pair.about)


def reward(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        yield _whole(pair) | {"margin": pair.margin, "tools": pair.tools} | about(pair.about)


def _whole(pair: Pair) -> dict[str, Any]:
    return {"chosen": pair.prompt + pair.chosen, "rejected": pair.prompt + pair.rejected}


def kto(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.completions(document):
        row = {"prompt": found.prompt, "completion": found.completion, "label": found.good, "tools": found.tools}
        yield row | about(found.about)


def stepwise(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.stepwise(document):
        if 0 in found.ratings and reading.policies.neutral == "leave_out":
            reading.left_out["neutral steps"] += 1
            continue
        neutral = reading.policies.neutral == "good"
        labels = [rating > 0 or (rating == 0 and neutral) for rating in found.ratings]
        yield {"prompt": found.prompt, "completions": found.steps, "labels": labels} | about(found.about)


def sft(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.demonstrations(document):
        yield {"prompt": found.prompt, "completion": found.completion, "tools": found.tools} | about(found.about)


def _table(name: str, rows: Any, **fields: pa.DataType) -> Format:
    return Format(name=name, rows=rows, kind="table", training=True, schema=pa.schema({**fields, **ABOUT}))


FORMATS = [
    _table("trl_preference", explicit, prompt=MESSAGES, **PAIR, **TOOLS),
    _table("trl_preference_implicit", implicit, **PAIR, **TOOLS),
    _table("trl_reward", reward, **PAIR, margin=pa.float64(), **TOOLS),
    _table("trl_kto", kto, prompt=MESSAGES, completion=MESSAGES, label=pa.bool_(), **TOOLS),
    _table("trl_stepwise", stepwise, prompt=TEXT, completions=pa.list_(TEXT), labels=pa.list_(pa.bool_())),
    _table("trl_sft", sft, prompt=MESSAGES, completion=MESSAGES, **TOOLS),
]
