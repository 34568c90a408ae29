"""Step labels in the form of PRM800K: one problem, its steps, a rating of -1, 0 or 1 for each."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.stepwise(document):
        ratings = [max(-1, min(1, rating)) for rating in found.ratings]
        yield {
            "labeler": found.labeler,
            "timestamp": document.label.created_at,
            "generation": None,
            # Labels are what experts settled; answers to gold never leave.
            "is_quality_control_question": False,
            "is_initial_screening_question": False,
            "question": {"problem": found.prompt, "ground_truth_answer": None, "id": found.about.id},
            "label": {
                "steps": [
                    {
                        "completions": [{"text": text, "rating": rating, "flagged": None}],
                        "human_completion": None,
                        "chosen_completion": 0,
                    }
                    for text, rating in zip(found.steps, ratings, strict=True)
                ],
                "total_time": found.seconds * 1000,
                "finish_reason": "found_error" if ratings[-1] < 0 else "solution",
            },
        }


FORMATS = [Format(name="prm800k", rows=rows)]
