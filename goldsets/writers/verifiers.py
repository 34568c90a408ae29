"""verifiers (Prime Intellect): runs with their reward, 1 where every gate passes, and the values as metrics."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import bare
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.groups import group_of
from goldsets.writers.label_row import as_json


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    questions = reading.words.questions
    for found in reading.completions(document):
        outcome, group = found.run.outcome, group_of(document)
        yield {
            "example_id": document.group.first if document.group else document.position,
            "prompt": [bare(message) for message in found.prompt],
            "completion": [bare(message) for message in found.completion],
            "task": found.about.family,
            "answer": "",
            "info": as_json({"label": found.about.label, "task": found.about.task, "tools": found.tools}),
            "reward": float(found.good),
            **group,
            "outcome_reward": outcome.reward if outcome else None,
            "metrics": {
                questions[value.criterion].key: float(number)
                for value in document.label.values
                if (number := value.value if value.number is None else value.number) is not None
            },
        }


FORMATS = [Format(name="verifiers", rows=rows, training=True, grouped=True)]
