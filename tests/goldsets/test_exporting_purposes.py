"""What leaves for which purpose, of comparisons, corrections and tasks, and of items with labels in several queues."""

import json

import pyarrow.parquet as pq
import pytest

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.queries.datasets import folder_of
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.errors import Conflict, Invalid
from reviews.models import Task
from reviews.trajectories.schema import Attachment, Step
from tests import factories as make
from tests.factories import furnished
from tests.factories.runs import another_run
from tests.factories.tasks import task
from tests.reviews.actions.test_corrections import REWRITE, TOOLS
from tests.reviews.actions.test_kinds import AUTHORISED, FAIL, PASS, preference

pytestmark = pytest.mark.django_db


def judge(queue, payload, name="Alice"):
    mine = claim(actor=make.expert(queue.project, name), queue=queue)
    submit(actor=mine.rater, uid=mine.uid, payload=payload(mine) if callable(payload) else payload, idempotency_key="k")


def exported(project, *formats, **definition):
    lead = make.lead_of(project)
    name = f"{formats} {definition}"[:120]
    dataset = define_dataset(actor=lead, project=project, name=name, formats=formats, **definition)
    return run_export(version_id=start_export(actor=lead, dataset=dataset).pk)


def lines(version, name):
    assert version.state == "finished", version.error
    path = folder_of(version) / name
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def sides(first, second):
    """What is said of the candidates at the item's own positions, in whatever order the rater sees them."""
    return lambda mine: [{1: first, 2: second}[position] for position in mine.candidate_order]


def compared(project, first, second, strength=None):
    """A comparison of two that part in their last answer; with a strength, the second is preferred."""
    runs = [
        make.item(project, steps=(*make.STEPS[:3], Step(role="agent", text=text, pointer="/messages/4")))
        for text in ("It is refunded.", "I cannot refund it.")
    ]
    queue = make.queue(
        project,
        items=[make.comparison(project, runs, shared=3)],
        overlap=1,
        criteria=[AUTHORISED, preference()],
        rubric={"item_kind": "comparison"},
    )

    def payload(mine):
        said = {"candidates": sides(first, second)(mine), "confidence": 3, "rationale": "It says why."}
        if strength:
            said["criteria"] = {"better": {"prefers": mine.candidate_order.index(2) + 1, "strength": strength}}
        return said

    judge(queue, payload)
    return queue


def test_a_comparison_leaves_whole_and_as_a_pair_with_its_strength(project):
    compared(project, PASS, PASS, strength=2)
    version = exported(project, "jsonl", "openrlhf", "helpsteer3")
    (row,) = lines(version, "labels.jsonl")
    assert (row["kind"], len(row["candidates"]), row["candidates"][0]["shared"]) == ("comparison", 2, 3)
    assert next(said for said in row["values"] if said["criterion"] == "better")["name"] == "B, by 2"
    (pair,) = lines(version, "openrlhf.parquet")
    assert [message["role"] for message in pair["prompt"]] == ["user", "assistant", "assistant", "tool"]
    assert (pair["chosen"][0]["content"], pair["margin"]) == ("I cannot refund it.", 2.0)
    (told,) = lines(version, "helpsteer3.parquet")
    assert told["overall_preference"] == 2
    assert told["individual_preference"] == [{"score": 2, "reasoning": "It says why."}]


def test_where_both_fail_no_preference_leaves_and_the_export_says_so(project):
    compared(project, FAIL, FAIL)
    version = exported(project, "openrlhf")
    assert version.state == "failed"
    assert version.error == "No label fits openrlhf. Left out: 1 both fail a gate."
    (row,) = lines(exported(project, "jsonl"), "labels.jsonl")
    assert len(row["judgments"][0]["candidate_failures"]) == 2, "reasons and failure points still leave"


def test_the_gate_decides_without_a_strength(project):
    compared(project, FAIL, PASS)
    (pair,) = lines(exported(project, "openrlhf"), "openrlhf.parquet")
    assert (pair["chosen"][0]["content"], pair["margin"]) == ("I cannot refund it.", 0.0)


def test_what_an_expert_wrote_leaves_to_be_imitated_and_the_failed_run_does_not(project):
    offered = {"correction": "offered"}
    queue = make.queue(project, items=[make.item(project, tools=TOOLS)], overlap=1, rubric=offered)
    judge(queue, make.failing(corrections=[REWRITE]))
    version = exported(project, "jsonl", "openrlhf", "reviewer")
    (pair,) = lines(version, "openrlhf.parquet")
    assert pair["source"] == "correction"
    assert version.manifest["counts"]["labels_by_gates"] == {"fail": 1}
    assert [row["record"] for row in lines(version, "reviewer_records.jsonl")] == ["label", "pair"]
    (row,) = lines(version, "labels.jsonl")
    assert row["judgments"][0]["corrections"][0]["step"] == REWRITE["step"]


def test_a_task_review_leaves_with_its_four_parts(project):
    criteria = [{"key": "fair", "title": "Fair", "kind": "binary"}]
    queue = make.queue(project, items=[task(project)], overlap=1, criteria=criteria, rubric={"item_kind": "task"})
    judge(queue, {"criteria": {"fair": True}, "confidence": 3})
    (row,) = lines(exported(project, "jsonl", "csv"), "labels.jsonl")
    assert row["task_version"]["intent"] == "Asks the owner before a right is given back."
    assert [found["role"] for found in row["candidates"]] == ["solver", "hacker"]


def test_held_out_labels_leave_for_evaluation_alone(project):
    runs = [make.item(project, steps=make.saying(words)) for words in ("My parcel is lost.", "Close my old account.")]
    queue = make.queue(project, items=runs, overlap=1)
    judge(queue, make.passing())
    judge(queue, make.passing(), "Bob")
    sealed = queue.queue_items.order_by("pk").first().item.trajectory.task
    Task.objects.filter(pk=sealed.pk).update(split="held_out", family="secret")
    (row,) = lines(exported(project, "jsonl", purpose="held_out"), "labels.jsonl")
    assert (row["task_key"], row["split"]) == (sealed.key, "held_out")
    for purpose in ("train", "calibration", "online"):
        (row,) = lines(exported(project, "jsonl", purpose=purpose), "labels.jsonl")
        assert row["split"] == "open"
    card = (folder_of(exported(project, "csv", purpose="held_out")) / "README.md").read_text()
    assert "split: held_out" in card
    for purpose in ("held_out", "calibration", "online"):
        with pytest.raises(Invalid, match="Formats to train with leave for the purpose “train” alone"):
            exported(project, "trl_sft", purpose=purpose)


def test_an_item_with_labels_in_two_queues_leaves_as_the_policy_says(project):
    item = make.item(project)
    first = make.queue(project, items=[item], overlap=1)
    second = make.queue(project, items=[item], overlap=1)
    judge(first, make.passing())
    judge(second, make.failing(), "Bob")
    both = lines(exported(project, "jsonl"), "labels.jsonl")
    assert [row["gates_pass"] for row in both] == [True, False]
    version = exported(project, "jsonl", policies={"duplicates": "latest"})
    assert [row["gates_pass"] for row in lines(version, "labels.jsonl")] == [False]
    assert (version.manifest["left_out"]["duplicate_rows"], version.manifest["left_out"]["conflicting_items"]) == (1, 1)
    agreeing = exported(project, "jsonl", policies={"duplicates": "agreeing"})
    assert (agreeing.state, agreeing.error.split(":")[0]) == ("failed", "There is nothing to export")


def test_one_class_is_said_before_kto_refuses_it(project):
    judge(make.queue(project, items=1, overlap=1), make.passing())
    version = exported(project, "trl_kto")
    assert version.state == "failed"
    assert "KTO needs runs that pass and runs that fail" in version.error


def test_the_filter_narrows_and_says_how_much(project):
    queue = make.queue(project, items=2, overlap=1)
    judge(queue, make.passing())
    judge(queue, make.passing(), "Bob")
    kept, other = (row.item.trajectory for row in queue.queue_items.order_by("pk"))
    Task.objects.filter(pk=other.task_id).update(family="orders", slices={"depth": "deep"})
    asked = {"families": ["orders"], "slices": {"depth": ["deep"]}, "kinds": ["trajectory"], "basis": ["unanimous"]}
    asked |= {"pass_rate": {"model": "secret-model-9", "low": 0.5, "high": 1}, "provenance": ["model"]}
    version = exported(project, "jsonl", filter=asked)
    assert [row["family"] for row in lines(version, "labels.jsonl")] == ["orders"]
    assert version.manifest["left_out"]["filtered_rows"] == 1
    with pytest.raises(Conflict, match="no label of this project that may leave fits the filter"):
        exported(project, "jsonl", filter={"pass_rate": {"model": "secret-model-9", "low": 0, "high": 0.5}})
    assert kept.task.family == "refunds"


def test_a_crash_is_no_failure_of_the_model_in_its_pass_rate(project):
    """Of its task's four runs one succeeded, one failed, one crashed and one did not say how it ended: half."""
    queue = make.queue(project, items=1, overlap=1)
    judge(queue, make.passing())
    item = queue.queue_items.get().item
    for result in ("failure", "crash", "unknown"):
        another_run(item, make.saying(f"It ended: {result}."), result=result, model="secret-model-9")
    half = {"pass_rate": {"model": "secret-model-9", "low": 0.5, "high": 0.5}}
    assert len(lines(exported(project, "jsonl", filter=half), "labels.jsonl")) == 1


def test_runs_of_a_task_are_a_group_and_one_without_variance_is_marked(project):
    """Of the first task one run passes and one fails, of the second both pass; a run with a picture is of no group."""
    mixed, alike = make.item(project), make.item(project)
    with_picture = (*make.STEPS, Step(role="user", text="Here.", attachments=(Attachment(kind="image"),)))
    more = [another_run(item, make.STEPS) for item in (mixed, alike)]
    pictured = another_run(alike, with_picture)
    queue = make.queue(project, items=[mixed, alike, *more, pictured], overlap=1)
    alice = make.expert(project, "Alice")
    payloads = [make.passing(), make.passing(), make.failing(), make.passing(), make.failing()]
    for payload in payloads:
        furnished.judge(queue, alice, payload)
    version = exported(project, "verl", "verifiers")
    said = {
        (row["extra_info"]["group"], row["extra_info"]["group_size"], row["extra_info"]["no_variance"])
        for row in lines(version, "verl.parquet")
    }
    tasks = [item.trajectory.task.key for item in (mixed, alike)]
    assert said == {(tasks[0], 2, False), (tasks[1], 2, True)}
    rows = lines(version, "verifiers.jsonl")
    assert [(row["group"], row["group_size"], row["no_variance"]) for row in rows] == [
        (tasks[0], 2, False),
        (tasks[1], 2, True),
        (tasks[0], 2, False),
        (tasks[1], 2, True),
    ]
    assert [row["example_id"] for row in rows] == [1, 2, 1, 2]
    assert version.manifest["groups"] == {"by": "task", "groups": 2, "no_variance": 1}
    assert version.manifest["formats"]["verl"]["left_out"] == {"holds more than text": 1}
