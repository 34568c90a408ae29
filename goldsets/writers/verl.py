"""verl: tasks for training by reward, in parquet. `data_source` selects the reward function.

`ground_truth` is what came hidden with the run, as JSON text; the expert's verdict stands beside it in `extra_info`.
Runs of one task are a group, see `groups`. There are no `tools_kwargs`: verl takes none for an empty object, and a
table has no type for one.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from goldsets.writers.chat import MESSAGES
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.groups import group_of
from goldsets.writers.label_row import as_json

TEXT = pa.string()
SCHEMA = pa.schema(
    {
        "data_source": TEXT,
        "prompt": MESSAGES,
        "ability": TEXT,
        "reward_model": pa.struct({"style": TEXT, "ground_truth": TEXT}),
        "extra_info": pa.struct(
            {
                "split": TEXT,
                "index": pa.int64(),
                "label": TEXT,
                "gates_pass": pa.bool_(),
                "outcome_reward": pa.float64(),
                "tools": TEXT,
                "group": TEXT,
                "group_size": pa.int64(),
                "no_variance": pa.bool_(),
            }
        ),
    }
)


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.completions(document):
        outcome = found.run.outcome
        yield {
            "data_source": found.run.source_format,
            "prompt": found.prompt,
            "ability": found.about.family,
            "reward_model": {"style": "rule", "ground_truth": as_json(outcome.data if outcome else {})},
            "extra_info": {
                "split": "train",
                "index": document.position,
                "label": found.about.label,
                "gates_pass": found.good,
                "outcome_reward": outcome.reward if outcome else None,
                "tools": found.tools,
                **group_of(document),
            },
        }


FORMATS = [Format(name="verl", rows=rows, kind="table", training=True, grouped=True, schema=SCHEMA)]
