"""Label Studio: tasks to be imported there, with one annotation for the label and one for each rater."""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import as_text, messages_of
from goldsets.writers.document import MULTI_CHOICE, NUMBER, TEXT, Document, Said
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import in_words


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label = document.label
    annotations = [_annotation(label.values, reading, label.adjudicator or "consensus", 0, ground_truth=True)]
    if reading.policies.raters == "within":
        annotations += [
            _annotation(judged.values, reading, judged.rater, judged.active_seconds) for judged in document.judgments
        ]
    texts = {
        f"run_{run.position}" if len(document.runs) > 1 else "run": as_text(messages_of(run.steps))
        for run in document.runs
    }
    yield {
        "data": {"item": document.item, "task": document.task.key, "family": document.task.family, **texts},
        "annotations": annotations,
        "predictions": [],
    }


def _annotation(
    values: list[Said], reading: Reading, by: str, seconds: int, *, ground_truth: bool = False
) -> dict[str, Any]:
    return {
        "completed_by": {"email": by},
        "lead_time": seconds,
        "was_cancelled": False,
        "ground_truth": ground_truth,
        "result": [_result(value, reading) for value in values],
    }


def _result(value: Said, reading: Reading) -> dict[str, Any]:
    question = reading.words.questions[value.criterion]
    name = question.key if value.candidate is None else f"{question.key}_{value.candidate}"
    to = "run" if value.candidate is None else f"run_{value.candidate}"
    told: dict[str, Any]
    if question.kind == TEXT:
        kind, told = "textarea", {"text": [value.text]}
    elif question.kind == NUMBER:
        kind, told = "number", {"number": value.number}
    elif question.kind == MULTI_CHOICE:
        kind, told = "choices", {"choices": [question.names.get(one, str(one)) for one in value.choices or ()]}
    else:
        kind, told = "choices", {"choices": [in_words(value, reading.words)]}
    return {"from_name": name, "to_name": to, "type": kind, "value": told}


FORMATS = [Format(name="label_studio", rows=rows, kind="array")]
