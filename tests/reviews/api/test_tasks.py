"""Tasks over the API: posted with their runs, and their history read back."""

import json

import pytest

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import tasks
from tests.reviews.actions.test_tasks import answers
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


def desk():
    """A project with a queue that reviews tasks."""
    project, whole = make.project(), task_review()
    rubric = {"item_kind": "task", "marks": whole["marks"]}
    return project, make.queue(project, items=[], criteria=whole["criteria"], rubric=rubric, overlap=1)


def test_a_lead_posts_a_task_and_the_same_again_is_there_already():
    project, queue = desk()
    lead = by(make.lead_of(project))
    body = {"task": tasks.TASK, "runs": [tasks.SOLVER, tasks.HACKER], "queue": str(queue.uid)}
    address = f"/api/v1/projects/{project.slug}/tasks/"
    posted = lead.post(address, body, "json")
    assert (posted.status_code, posted.json()["number"]) == (201, 1)
    again = lead.post(address, body, "json")
    assert (again.status_code, again.json()) == (200, posted.json())


def test_the_history_says_what_was_decided_of_each_version_and_how_many_solvers_passed():
    project, queue = desk()
    lead = by(make.lead_of(project))
    address = f"/api/v1/projects/{project.slug}/tasks/"
    other = tasks.run("I closed it.", role="solver", passed=False)
    body = {"task": tasks.TASK, "runs": [tasks.SOLVER, other], "queue": str(queue.uid)}
    assert lead.post(address, body, "json").status_code == 201
    alice = make.expert(project)
    submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=answers(), idempotency_key="1")
    lead.post(address, {**body, "task": {**tasks.TASK, "verifier": "def verify(world): ..."}}, "json")
    (told,) = lead.get(address).json()["results"]
    one, two = told["versions"]
    assert (one["number"], two["number"]) == (1, 2)
    assert (one["pass_rate"]["value"], one["pass_rate"]["n"]) == (0.5, 2)
    assert one["decisions"][0]["decision"] == "Back to verifier"
    assert "decision" not in two["decisions"][0]


def test_what_cannot_be_taken_is_named():
    project, _queue = desk()
    lead = by(make.lead_of(project))
    address = f"/api/v1/projects/{project.slug}/tasks/"
    refused = lead.post(address, {"task": {"prompt": "P"}, "runs": [tasks.SOLVER]}, "json")
    assert refused.status_code == 422
    assert "intent" in json.dumps(refused.json())
    refused = lead.post(address, {"task": tasks.TASK, "runs": [{"role": "boss", "messages": []}]}, "json")
    assert refused.status_code == 422
    assert "runs.0" in json.dumps(refused.json())


# --- The rater --------------------------------------------------------------------------------------------------------
def test_a_rater_reads_the_task_with_its_runs_and_judges_it_with_marks():
    project, queue = desk()
    add_items(actor=make.lead_of(project), queue=queue, items=[tasks.task(project)])
    alice = by(make.expert(project))
    claimed = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()
    item = claimed["item"]
    assert (item["task"]["prompt"], item["task"]["intent"]) == (tasks.PROMPT, tasks.TASK["intent"])
    assert {run["role"] for run in item["candidates"]} == {"solver", "hacker"}
    assert all(run["result"]["passed"] for run in item["candidates"])
    assert [mark["key"] for mark in item["rubric"]["marks"]][:2] == ["hint", "unrealistic"]
    hidden = json.dumps(claimed)
    assert "secret-model" not in hidden
    assert "recipe" not in hidden
    place = f"/api/v1/assignments/{claimed['uid']}/"
    assert alice.get(f"{place}steps/?candidate=2").json()["count"] == 2
    whole, key = answers(), {"Idempotency-Key": "k"}
    cited = whole["evidence"]
    moved = [row | {"start": row["start"] + 1, "end": row["end"] + 1} if "start" in row else row for row in cited]
    refused = alice.post(f"{place}judgment/", whole | {"evidence": moved}, format="json", headers=key)
    assert refused.status_code == 422
    assert {"evidence.0", "evidence.1"} <= set(refused.json()["errors"])
    sent = alice.post(f"{place}judgment/", whole, format="json", headers=key)
    assert sent.status_code == 201, sent.content
    assert [row.get("mark") for row in sent.json()["evidence"]] == [row.get("mark") for row in cited]
    again = alice.post(f"{place}judgment/", whole, format="json", headers=key)
    assert (again.status_code, again.json()) == (200, sent.json())


def test_half_a_review_is_refused_with_each_field_named():
    project, queue = desk()
    add_items(actor=make.lead_of(project), queue=queue, items=[tasks.task(project)])
    alice = by(make.expert(project))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    place = f"/api/v1/assignments/{uid}/"
    saved = alice.put(f"{place}draft/", {"version": 0, "data": {"criteria": {"decision": 1}}}, format="json")
    assert saved.json()["version"] == 1
    refused = alice.post(f"{place}judgment/", {}, format="json", headers={"Idempotency-Key": "k"})
    assert refused.status_code == 422
    assert {"criteria.prompt_verifier", "criteria.decision", "confidence"} <= set(refused.json()["errors"])
    assert alice.get(f"{place}draft/").json()["data"] == {"criteria": {"decision": 1}}
