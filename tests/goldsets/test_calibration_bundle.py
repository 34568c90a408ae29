"""The calibration bundle: what each label weighs, and what every grader said of its item."""

import json
from pathlib import Path

import jsonschema
import pytest

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.models import JudgeSetup
from goldsets.queries.datasets import folder_of
from reviews.actions.scoring import post_scores
from reviews.models import Item, Outcome
from tests import factories as make
from tests.factories import graders
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db


def settled(project, items):
    """A queue whose items Alice has passed, one after the other."""
    queue = make.queue(project, items=items, overlap=1)
    alice = make.expert(project, "Alice")
    for _ in items:
        judge(queue, alice, make.passing())
    return queue


def bundle(project, **definition):
    """What stands beside the lines, and the lines by item; both as their schema says."""
    lead = make.lead_of(project)
    name = f"bundle {project.datasets.count() + 1}"
    dataset = define_dataset(actor=lead, project=project, name=name, formats=["calibration"], **definition)
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    assert version.state == "finished", version.error
    about = json.loads((folder_of(version) / "calibration_bundle.json").read_text())
    lines = [json.loads(line) for line in (folder_of(version) / "calibration_items.jsonl").read_text().splitlines()]
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/calibration-bundle.json").read_text())
    jsonschema.validate(about, schema)
    for line in lines:
        jsonschema.validate(line, {"$defs": schema["$defs"], "$ref": "#/$defs/line"})
    return about, {line["item"]: line for line in lines}


def test_without_quotas_every_label_stands_for_itself(project):
    settled(project, [make.item(project) for _ in range(2)])
    about, lines = bundle(project)
    assert [line["weight"] for line in lines.values()] == [1, 1]
    assert about["sampling"]["sources"] == []
    assert "Every label that fits" in about["sampling"]["how"]


def test_a_label_weighs_as_much_as_the_quota_let_through_of_its_source(project):
    """Nine of ten labels are synthetic, and half of what leaves may be: one of the nine does, and stands for nine."""
    items = [make.item(project) for _ in range(10)]
    Item.objects.filter(pk__in=[item.pk for item in items[1:]]).update(provenance="synthetic")
    settled(project, items)
    about, lines = bundle(project, filter={"quotas": {"synthetic": 0.5}})
    assert sorted(line["weight"] for line in lines.values()) == [1, 9]
    assert lines[str(items[0].uid)]["weight"] == 1
    assert about["sampling"]["sources"] == [
        {"source": "model", "fit": 1, "drawn": 1},
        {"source": "synthetic", "fit": 9, "drawn": 1},
    ]
    assert "its quotas draw" in about["sampling"]["how"]


def test_what_registered_graders_and_sources_said_stands_beside_the_label(project):
    item = make.item(project, data={"scores": [{"grader": "verifier", "value": 0, "explanation": "Two of three."}]})
    settled(project, [item])
    lead = make.lead_of(project)
    post_scores(actor=lead, project=project, scores=[{"item": item.uid, "grader": "thumbs", "value": "up"}])
    first = graders.version(project, criterion="authorised")
    graders.scored(first, (item, 1.0), criterion="authorised", explanation="The customer asked for it.")
    graders.scored(first, (item, 0.0), criterion="authorised", attempt=2)
    _about, lines = bundle(project)
    columns = ("grader", "version", "criterion", "attempt", "value", "explanation", "run")
    said = [tuple(score[name] for name in columns) for score in lines[str(item.uid)]["grader_scores"]]
    assert said == [
        (first.grader.name, 1, "authorised", 1, 1.0, "The customer asked for it.", 1),
        (first.grader.name, 1, "authorised", 2, 0.0, "", 1),
        ("verifier", None, "", 1, 0, "Two of three.", 1),
        ("thumbs", None, "", 1, "up", "", 1),
    ]


def test_a_score_of_the_source_that_a_registered_grader_has_for_its_own_leaves_once(project):
    item = make.item(project, data={"scores": [{"grader": "verifier", "value": 1}]})
    settled(project, [item])
    mine = graders.version(project, kind="deterministic", source="verifier")
    graders.scored(mine, (item, 1.0))
    _about, lines = bundle(project)
    (score,) = lines[str(item.uid)]["grader_scores"]
    assert (score["grader"], score["version"]) == (mine.grader.name, 1)


def test_what_a_source_said_of_a_crash_says_nothing_of_the_agent(project):
    item = make.item(project, result="crash", reward=0.0, data={"scores": [{"grader": "verifier", "value": 0}]})
    settled(project, [item])
    assert Outcome.objects.get(trajectory=item.trajectory).result == "crash"
    _about, lines = bundle(project)
    assert lines[str(item.uid)]["grader_scores"] == []


def test_a_judge_says_nothing_of_families_that_stand_in_its_examples(project):
    shown, other = make.item(project, family="refunds"), make.item(project, family="orders")
    queue = settled(project, [shown, other])
    version = graders.version(project)
    example = {"item": "1", "label": "1", "family": "refunds", "passes": True}
    by = {"rubric": queue.rubric, "guideline": queue.guideline, "price_in": 3, "price_out": 15}
    JudgeSetup.objects.create(version=version, examples=[example], **by)
    graders.scored(version, (shown, 1.0), (other, 1.0))
    _about, lines = bundle(project)
    said = {line["family"]: len(line["grader_scores"]) for line in lines.values()}
    assert said == {"refunds": 0, "orders": 1}
