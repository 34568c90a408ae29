"""RewardBench 1 (pairs of texts) and 2 (several answers, of which more than one may be right)."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import as_text
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format

TEXT, WHOLE = pa.string(), pa.int64()
PAIRS = pa.schema(
    {
        "prompt": TEXT,
        "chosen": TEXT,
        "chosen_model": TEXT,
        "rejected": TEXT,
        "rejected_model": TEXT,
        "subset": TEXT,
        "id": TEXT,
    }
)
LISTS = pa.schema(
    {
        "id": TEXT,
        "prompt": TEXT,
        "chosen": pa.list_(TEXT),
        "rejected": pa.list_(TEXT),
        "num_correct": WHOLE,
        "num_incorrect": WHOLE,
        "total_completions": WHOLE,
        "models": pa.list_(TEXT),
        "subset": TEXT,
    }
)


def pairs(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in reading.pairs(document):
        yield {
            "prompt": as_text(pair.prompt),
            "chosen": as_text(pair.chosen),
            "chosen_model": pair.chosen_model,
            "rejected": as_text(pair.rejected),
            "rejected_model": pair.rejected_model,
            "subset": pair.about.family,
            "id": pair.about.id,
        }


def lists(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    """Right is who passes every gate and is ranked first, alone or with others."""
    for found in reading.rankings(document):
        right = [one for one in found.candidates if one.passes and one.rank == 1]
        wrong = [one for one in found.candidates if not (one.passes and one.rank == 1)]
        if not right or not wrong or (len(right) > 1 and reading.policies.ties == "leave_out"):
            why = "both fail a gate" if not right else "nothing is worse" if not wrong else "ties"
            reading.left_out[why] += 1
            continue
        yield {
            "id": found.about.id,
            "prompt": as_text(found.prompt),
            "chosen": [as_text(one.answer) for one in right],
            "rejected": [as_text(one.answer) for one in wrong],
            "num_correct": len(right),
            "num_incorrect": len(wrong),
            "total_completions": len(found.candidates),
            "models": [one.model for one in [*right, *wrong]],
            "subset": found.about.family,
        }


FORMATS = [
    Format(name="rewardbench", rows=pairs, kind="table", schema=PAIRS),
    Format(name="rewardbench2", rows=lists, kind="table", schema=LISTS),
]
