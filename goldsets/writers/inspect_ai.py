"""Inspect: samples with the experts' verdict as target, and the experts' scores of each run with their provenance."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import Message, as_text
from goldsets.writers.document import TEXT, Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import in_words
from reviews.trajectories import jsontext


def samples(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.completions(document):
        yield {
            "input": [_message(message) for message in [*found.prompt, *found.completion]],
            "target": "pass" if found.good else "fail",
            "id": found.about.id,
            "metadata": {"family": found.about.family, "task": found.about.task, "basis": found.about.basis},
        }


def scores(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label, questions = document.label, reading.words.questions
    for found in reading.completions(document):
        yield {
            "sample_id": found.about.id,
            "scores": {
                questions[value.criterion].key: {
                    "value": in_words(value, reading.words) if value.value is None else value.value,
                    "answer": as_text(found.completion),
                    "explanation": value.note or label.rationale,
                    "metadata": {
                        "words": in_words(value, reading.words),
                        "basis": value.basis,
                        "provenance": {
                            "author": label.adjudicator or "consensus",
                            "reason": value.reason,
                            "timestamp": label.created_at,
                        },
                    },
                }
                for value in label.values
                if questions[value.criterion].kind != TEXT
            },
        }


def _message(message: Message) -> dict[str, Any]:
    """As Inspect's own chat messages: arguments are an object, under `raw` where they are not."""
    told: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if message["tool_calls"]:
        told["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": call["function"]["name"],
                "arguments": _arguments(call["function"]["arguments"]),
            }
            for call in message["tool_calls"]
        ]
    if message["role"] == "tool":
        told |= {"tool_call_id": message["tool_call_id"], "function": message["name"]}
    return told


def _arguments(text: str) -> dict[str, Any]:
    found = jsontext.parse_text(text)
    return found if isinstance(found, dict) else {"raw": text}


FORMATS = [Format(name="inspect", stem="inspect_samples", rows=samples), Format(name="inspect_scores", rows=scores)]
