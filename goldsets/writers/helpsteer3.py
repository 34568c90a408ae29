"""Comparisons of two in the form of HelpSteer3: -3 (the first is much better) to 3, with each rater's own opinion.

A side that fails a gate stands for the largest strength. Parquet with declared types, as in `openrlhf`.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import MESSAGES, as_text
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format

TEXT, WHOLE = pa.string(), pa.int32()
OPINION = pa.struct({"score": WHOLE, "reasoning": TEXT})
SCHEMA = pa.schema(
    {
        "domain": TEXT,
        "id": TEXT,
        "context": MESSAGES,
        "response1": TEXT,
        "response2": TEXT,
        "overall_preference": WHOLE,
        "individual_preference": pa.list_(OPINION),
    }
)


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.rankings(document):
        if len(found.candidates) != 2:
            reading.left_out["a ranking, not two"] += 1
            continue
        first, second = found.candidates
        overall = found.strength
        if overall is None:
            overall = -1 if first.rank < second.rank else 1 if second.rank < first.rank else 0
        if overall == 0 and reading.policies.ties == "leave_out":
            reading.left_out["ties"] += 1
            continue
        yield {
            "domain": found.about.family,
            "id": found.about.id,
            "context": found.prompt,
            "response1": as_text(first.answer),
            "response2": as_text(second.answer),
            "overall_preference": overall,
            "individual_preference": [
                {"score": opinion.score, "reasoning": opinion.reasoning} for opinion in found.opinions
            ],
        }


FORMATS = [Format(name="helpsteer3", rows=rows, kind="table", schema=SCHEMA)]
