"""OpenAI: preference fine-tuning, and evals as `{item, sample}` with graders that compare with the experts' labels."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import as_text, bare
from goldsets.writers.document import GATE, PREFERENCE, Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import in_words
from goldsets.writers.single import single_pairs


def preference(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in single_pairs(document, reading):
        yield {
            "input": {"messages": [bare(message) for message in pair.prompt]},
            "preferred_output": [bare(pair.chosen[0])],
            "non_preferred_output": [bare(pair.rejected[0])],
        }


def evals(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.completions(document):
        values = {
            reading.words.questions[value.criterion].key: in_words(value, reading.words)
            for value in document.label.values
            if reading.words.questions[value.criterion].kind != PREFERENCE
        }
        yield {
            "item": {
                "id": found.about.id,
                "input": [bare(message) for message in found.prompt],
                "verdict": "pass" if found.good else "fail",
                "label": values,
                "rationale": document.label.rationale,
            },
            "sample": {
                "output_text": as_text(found.completion),
                "output": [bare(message) for message in found.completion],
            },
        }


def graders(reading: Reading, _files: list[str]) -> dict[str, Any]:
    """A model grader for each gate, asked what the experts were asked, to be compared with `item.label`."""
    gates = {question.key: question.title for question in reading.words.questions.values() if question.kind == GATE}
    return {
        "openai_graders.json": [
            {
                "type": "label_model",
                "name": key,
                "model": "gpt-4.1",
                "labels": ["pass", "fail"],
                "passing_labels": ["pass"],
                "input": [
                    {"role": "developer", "content": f"Does the run pass this gate: {title}? Answer pass or fail."},
                    {"role": "user", "content": "{{sample.output_text}}"},
                ],
            }
            for key, title in gates.items()
        ]
    }


FORMATS = [
    Format(name="openai_preference", rows=preference, training=True),
    Format(name="openai_evals", rows=evals, beside=graders),
]
