"""A wide CSV for people: a label a row, a column for each criterion in words.

Texts that a spreadsheet would take for a formula get an apostrophe in front.
"""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import gates_of_item, in_words, letter

FIRST = [
    *("item", "kind", "task", "family", "provenance", "basis", "judgments", "certainty", "gates_pass", "labelled_at")
]
LAST = ["rationale", "adjudicator", "rubric", "failure_step", "failure_who", "failure_cause", "failure_note", "label"]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def columns(reading: Reading) -> list[str]:
    """Known before the first row: every criterion of the rubrics that the labels were made by, in their order."""
    return [*FIRST, *reading.words.asked, "other", *LAST]


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label, words = document.label, reading.words
    rubric = words.rubrics[label.rubric]
    row: dict[str, Any] = {
        "item": document.item,
        "kind": document.kind,
        "task": document.task.key,
        "family": document.task.family,
        "provenance": document.provenance,
        "basis": label.basis,
        "judgments": label.judgment_count,
        "certainty": "" if label.certainty is None else label.certainty,
        "gates_pass": {True: "yes", False: "no", None: ""}[gates_of_item(document, words)],
        "labelled_at": label.created_at.isoformat(),
        "rationale": label.rationale,
        "adjudicator": label.adjudicator or "",
        "rubric": f"{rubric.name} {rubric.version}",
        "failure_step": label.failure.step or "",
        "failure_who": label.failure.who,
        "failure_cause": label.failure.cause,
        "failure_note": label.failure.note,
        "label": label.uid,
    }
    said: dict[str, list[str]] = {}
    for value in label.values:
        question = words.questions[value.criterion]
        where = "" if value.candidate is None else f"{letter(value.candidate)}: "
        if question.place[0]:
            said.setdefault("other", []).append(f"{question.key}: {in_words(value, words)}")
        else:
            said.setdefault(question.key, []).append(where + in_words(value, words))
    row |= {name: "; ".join(texts) for name, texts in said.items()}
    yield {name: harmless(value) for name, value in row.items()}


def harmless(value: Any) -> Any:
    """The text so that no spreadsheet runs it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


FORMATS = [Format(name="csv", stem="labels", rows=rows, kind="csv", columns=columns)]
