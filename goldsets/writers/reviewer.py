"""The reviewer bundle: what a cheaper reviewer is compiled from, with rubric and guideline as the experts had them.

Lines are labels with rationales and evidence, and contrastive pairs. `docs/schemas/reviewer-bundle.json` describes it.
"""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import bare, messages_of
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import evidence_of, failure, gates_of_item, said


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label, words = document.label, reading.words
    rationales = [judged.rationale for judged in document.judgments if judged.rationale]
    evidence = [cited for judged in document.judgments for cited in evidence_of(judged, words)]
    yield {
        "record": "label",
        "id": label.uid,
        "item": document.item,
        "kind": document.kind,
        "family": document.task.family,
        "split": document.task.split,
        "runs": [[bare(message) for message in messages_of(run.steps)] for run in document.runs],
        "gates_pass": gates_of_item(document, words),
        "values": [said(value, words) for value in label.values],
        "failure": failure(label.failure),
        "rationales": [label.rationale] if label.rationale else rationales,
        "evidence": evidence,
        "basis": label.basis,
        # Settled by a lead or by everybody, with words and places to learn from.
        "few_shot": label.basis != "aggregated" and bool(evidence) and bool(label.rationale or rationales),
        "rubric": f"{words.rubrics[label.rubric].name} {words.rubrics[label.rubric].version}",
        "guideline": f"{words.guidelines[label.guideline].name} {words.guidelines[label.guideline].version}",
    }
    # A label that compares nothing has its record all the same, so it is not counted as left out.
    for pair in reading.pairs(document) if reading.compares(document) else ():
        yield {
            "record": "pair",
            "id": pair.about.id,
            "item": document.item,
            "family": pair.about.family,
            "differs_in": document.differs_in,
            "decided_by": pair.decided_by,
            "prompt": [bare(message) for message in pair.prompt],
            "better": [bare(message) for message in pair.chosen],
            "worse": [bare(message) for message in pair.rejected],
        }


def beside(reading: Reading, files: list[str]) -> dict[str, Any]:
    words = reading.words
    return {
        "reviewer_bundle.json": {
            "bundle": "reviewer",
            "version": 1,
            "records": files,
            "rubrics": [
                {"name": rubric.name, "version": rubric.version, "criteria": rubric.criteria}
                for rubric in words.rubrics.values()
            ],
            "guidelines": [
                {"name": guideline.name, "version": guideline.version, "text": guideline.text}
                for guideline in words.guidelines.values()
            ],
        }
    }


FORMATS = [Format(name="reviewer", stem="reviewer_records", rows=rows, training=True, beside=beside)]
