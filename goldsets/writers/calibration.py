"""The calibration bundle: what is needed to tell how well a grader judges as the experts do.

Each line is an item with every rater's judgment under a pseudonym, the label, what graders said, and its weight in the
sample. `docs/schemas/calibration-bundle.json` describes it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from goldsets.writers.chat import bare, messages_of
from goldsets.writers.document import TEXT, Document, Said, Words
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import gates_of_item, said

HOW_DRAWN = "Every label that fits the definition of the data set, each once, so each has the weight 1."


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label, words = document.label, reading.words
    _count_ceiling(document, reading)
    yield {
        "item": document.item,
        "kind": document.kind,
        "task": document.task.key,
        "family": document.task.family,
        "split": document.task.split,
        "weight": 1.0,
        "double_coded": len(document.judgments) > 1,
        "label": {
            "uid": label.uid,
            "basis": label.basis,
            "gates_pass": gates_of_item(document, words),
            "values": [said(value, words) for value in label.values],
        },
        "judgments": [
            {
                "rater": judged.rater,
                "tier": judged.tier,
                "confidence": judged.confidence,
                "values": [said(value, words) for value in judged.values],
            }
            for judged in document.judgments
        ],
        "grader_scores": [
            {"run": run.position, "grader": score.grader, "value": score.value, "explanation": score.explanation}
            for run in document.runs
            for score in run.scores
        ],
        "outcome_rewards": [run.outcome.reward if run.outcome else None for run in document.runs],
        "runs": [[bare(message) for message in messages_of(run.steps)] for run in document.runs],
    }


def _count_ceiling(document: Document, reading: Reading) -> None:
    """How often two raters of one item say the same: no grader can be held to more than that."""
    told = [_comparable(judged.values, reading.words) for judged in document.judgments]
    for one, other in combinations(told, 2):
        for key in one.keys() & other.keys():
            reading.counts[f"pairs {key}"] += 1
            reading.counts[f"alike {key}"] += one[key] == other[key]


def _comparable(values: list[Said], words: Words) -> dict[str, Any]:
    return {
        f"{words.questions[value.criterion].key}": (value.value, value.number, value.choices, value.ranks, value.tie)
        for value in values
        if value.candidate is None and words.questions[value.criterion].kind != TEXT
    }


def ceiling(counts: Counter[str]) -> dict[str, Any]:
    keys = sorted(name.removeprefix("pairs ") for name in counts if name.startswith("pairs "))
    return {
        key: {
            "alike": counts[f"alike {key}"],
            "pairs": counts[f"pairs {key}"],
            "share": round(counts[f"alike {key}"] / counts[f"pairs {key}"], 4),
        }
        for key in keys
    }


def beside(reading: Reading, files: list[str]) -> dict[str, Any]:
    return {
        "calibration_bundle.json": {
            "bundle": "calibration",
            "version": 1,
            "items": files,
            "sampling": {"how": HOW_DRAWN, "weights": "the inverse of each item's chance to be drawn"},
            "human_ceiling": {
                "how": "Of all pairs of raters on one item, how many gave the same answer.",
                "by_criterion": ceiling(reading.counts),
            },
            "rubrics": [
                {"name": rubric.name, "version": rubric.version, "criteria": rubric.criteria}
                for rubric in reading.words.rubrics.values()
            ],
        }
    }


FORMATS = [Format(name="calibration", stem="calibration_items", rows=rows, beside=beside)]
