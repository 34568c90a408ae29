"""Every kind of answer and the labels of steps leave in both formats, and come back as they went in."""

import json

import pyarrow.parquet as pq
import pytest

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.queries import label_documents
from goldsets.queries.datasets import folder_of
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Criterion
from tests import factories as make
from tests.reviews.actions.test_kinds import KINDS, STEP_WORDS

pytestmark = pytest.mark.django_db


@pytest.fixture
def settled():
    """One item that Alice judged alone, with a question of its own."""
    project = make.project()
    item = make.item(project)
    Criterion.objects.create(item=item, key="refund_64", title="Refunds exactly $64.20", kind="binary", position=1)
    rubric = {"step_labels": {"words": STEP_WORDS}}
    queue = make.queue(project, items=[item], criteria=KINDS, rubric=rubric, overlap=1)
    alice = make.expert(project, "Alice")
    payload = {
        "gates": {"safe": "pass"},
        "criteria": {
            "polite": False,
            "harm": 2,
            "what": "It burnt.",
            "seen": [1, 2],
            "minutes": 4.5,
            "refund_64": True,
        },
        "notes": {"harm": "At once."},
        "steps": {"2": 1, "3": -1, "4": 0},
        "confidence": 3,
    }
    submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=payload, idempotency_key="one")
    return project


def exported(project, *formats):
    lead = make.lead_of(project)
    name = f"data set {project.datasets.count() + 1}"
    dataset = define_dataset(actor=lead, project=project, name=name, formats=formats)
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    assert version.state == "finished", version.error
    return folder_of(version)


def rows_of(project):
    lines = (exported(project, "jsonl") / "labels.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_each_kind_stands_in_its_column_and_in_words(settled):
    (row,) = rows_of(settled)
    columns = ("criterion", "value", "number", "text", "choices", "name")
    assert [tuple(value[name] for name in columns) for value in row["judgments"][0]["values"]] == [
        ("safe", 1, None, "", [], "pass"),
        ("polite", 0, None, "", [], "No"),
        ("harm", 2, None, "", [], "Serious"),
        ("what", None, None, "It burnt.", [], "It burnt."),
        ("seen", None, None, "", [1, 2], "Shorter, Better grounded"),
        ("minutes", None, 4.5, "", [], "4.5 min"),
        ("refund_64", 1, None, "", [], "Yes"),
    ]
    assert [value["criterion"] for value in row["values"]] == ["safe", "polite", "harm", "seen", "minutes", "refund_64"]
    assert {value["criterion"]: value["note"] for value in row["judgments"][0]["values"]}["harm"] == "At once."


def test_labels_of_steps_leave_with_their_words(settled):
    (row,) = rows_of(settled)
    said = [{"step": 2, "value": 1, "name": "Correct"}, {"step": 3, "value": -1, "name": "Incorrect"}]
    said.append({"step": 4, "value": 0, "name": "Neutral"})
    assert row["judgments"][0]["step_labels"] == said
    assert row["step_labels"] == [one | {"basis": "unanimous"} for one in said]


def test_both_formats_give_the_same_back(settled):
    folder = exported(settled, "jsonl", "parquet")
    line = json.loads((folder / "labels.jsonl").read_text())
    (back,) = pq.read_table(folder / "labels.parquet").to_pylist()
    for name in ("values", "step_labels"):
        assert back[name] == line[name]
    assert back["judgments"][0]["values"] == line["judgments"][0]["values"]


def test_questions_of_single_items_are_known_in_whichever_batch_the_item_comes(monkeypatch):
    project = make.project()
    own = {"pays_in_full": True, "asks_first": False}
    items = [make.item(project) for _ in own]
    for item, key in zip(items, own, strict=True):
        Criterion.objects.create(item=item, key=key, title=key, kind="binary", position=1)
    queue = make.queue(project, items=items, overlap=1)
    alice = make.expert(project, "Alice")
    for key, said in own.items():
        payload = make.passing()
        payload["criteria"][key] = said
        submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=payload, idempotency_key=key)
    together = rows_of(project)
    assert [row["values"][-1]["criterion"] for row in together] == list(own)
    monkeypatch.setattr(label_documents, "BATCH_LABELS", 1)
    assert rows_of(project) == together
