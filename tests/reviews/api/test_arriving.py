"""What arrives over HTTP: previews, posted runs with their receipts, rules on arrival, and redaction."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.actions.importing import run_import
from reviews.actions.routing import create_rule
from reviews.arrival import read_conditions
from reviews.enums import Role
from reviews.models import ImportJob, Item
from tests import factories as make
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

RUN = {
    "messages": [{"role": "user", "content": "Where is my order?"}, {"role": "assistant", "content": "On its way."}],
    "outcome": {"result": "failure", "reward": 0.0, "model": "secret-model-7"},
}


@pytest.fixture
def engineer(project):
    user = make.person("Enno")
    make.member(project, user, Role.ENGINEER)
    return user


def address(project, place):
    return f"/api/v1/projects/{project.slug}/{place}"


def post(client, project, body, query="", content_type="application/json"):
    return client.generic("POST", address(project, f"runs/{query}"), body, content_type=content_type)


# --- Runs -------------------------------------------------------------------------------------------------------------
def test_a_run_is_posted_and_again_and_is_there_once(project, engineer):
    client = by(engineer)
    first = post(client, project, json.dumps(RUN)).json()
    assert {name: first[name] for name in ("created", "already_there", "refused")} == {
        "created": 1,
        "already_there": 0,
        "refused": 0,
    }
    again = post(client, project, json.dumps([RUN])).json()
    assert again["runs"] == [
        {"place": "index 0", "status": "already_there", "item": first["runs"][0]["item"], "queues": []}
    ]
    assert Item.objects.count() == 1


def test_receipts_stand_in_the_order_of_the_rows(project, engineer):
    body = f"{json.dumps(RUN)}\n{{broken\n"
    runs = post(by(engineer), project, body, content_type="application/x-ndjson").json()["runs"]
    assert [(run["place"], run["status"]) for run in runs] == [("line 1", "created"), ("line 2", "refused")]
    assert runs[1]["reason"].startswith("It is not valid JSON")


def test_the_queue_and_the_rule_that_took_it_are_named(project, lead, engineer):
    queue, watched = make.queue(project, items=0), make.queue(project, items=0)
    create_rule(actor=lead, project=project, name="Everything", queue=watched)
    run = post(by(engineer), project, json.dumps(RUN), f"?queue={queue.uid}&environment=desk%204").json()["runs"][0]
    assert run["queues"] == [{"queue": str(watched.uid), "rule": "Everything"}, {"queue": str(queue.uid)}]
    assert Item.objects.get().trajectory.versions == {"environment": "desk 4"}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?source_format=csv", "source_format"),
        ("?queue=x", "queue"),
        (f"?queue={'0' * 32}", "queue"),
        (f"?family={'x' * 101}", "family"),
    ],
)
def test_what_is_wrong_with_the_request_is_refused_at_its_field(project, engineer, query, field):
    assert is_problem(post(by(engineer), project, json.dumps(RUN), query), 422)["field"] == field


def test_a_body_that_is_none_is_refused(project, engineer):
    client = by(engineer)
    assert post(client, project, "").json()["refused"] == 1
    assert is_problem(post(client, project, json.dumps([RUN] * 501)), 422)["field"] == "body"
    assert is_problem(post(client, project, b" " * (17 * 1024 * 1024)), 422)["field"] == "body"
    is_problem(post(client, project, "x", content_type="text/plain"), 415)
    assert not Item.objects.exists()


# --- Previews ---------------------------------------------------------------------------------------------------------
def preview(client, project, data=None, **fields):
    file = SimpleUploadedFile("runs.jsonl", data or json.dumps(RUN).encode() + b"\n{broken\n")
    return client.post(address(project, "imports/preview/"), {"file": file, **fields}, format="multipart")


def test_a_preview_tells_what_would_come_in_and_is_confirmed_once(project, engineer):
    client = by(engineer)
    seen = preview(client, project)
    assert seen.status_code == 201
    seen = seen.json()
    assert (seen["format"], seen["rows"], seen["runs"], seen["refused"]) == ("openai_chat", 2, 1, 1)
    assert seen["reason"].startswith("OpenAI chat")
    assert seen["refusals"][0]["place"] == "line 2"
    assert seen["run"]["steps"]["count"] == 2
    assert seen["run"]["steps"]["rows"][0]["fields"][0]["text"] == "Where is my order?"
    assert seen["run"]["outcome"]["result"] == "failure"
    assert not Item.objects.exists()
    place = address(project, f"imports/{seen['uid']}/")
    assert client.get(place).json()["state"] == "preview"
    confirmed = client.post(f"{place}confirm/")
    assert (confirmed.status_code, confirmed["Location"]) == (202, place)
    is_problem(client.post(f"{place}confirm/"), 409)
    run_import(job_id=ImportJob.objects.get().pk)
    assert Item.objects.count() == 1


def test_a_lead_previews_without_how_the_run_ended(project, lead):
    answer = preview(by(lead), project)
    assert {"outcome", "model"}.isdisjoint(answer.json()["run"])
    assert b"secret-model-7" not in answer.content


def test_a_preview_is_cancelled(project, lead):
    client = by(lead)
    place = address(project, f"imports/{preview(client, project).json()['uid']}/")
    assert client.post(f"{place}cancel/").json()["state"] == "cancelled"
    is_problem(client.post(f"{place}confirm/"), 409)


def test_a_preview_of_nothing_says_so_without_a_run(project, lead):
    seen = preview(by(lead), project, b"nothing here").json()
    assert "run" not in seen
    assert seen["format"] == ""
    assert seen["refusals"][0]["reason"]


@pytest.mark.parametrize("role", [Role.EXPERT, Role.ADMIN])
def test_others_neither_preview_nor_confirm(project, lead, role):
    user = make.person("Eve")
    make.member(project, user, role)
    uid = preview(by(lead), project).json()["uid"]
    is_problem(preview(by(user), project), 403)
    is_problem(by(user).post(address(project, f"imports/{uid}/confirm/")), 403)
    is_problem(by(make.person("Sam")).post(address(project, f"imports/{uid}/confirm/")), 404)


# --- Rules and redaction ----------------------------------------------------------------------------------------------
def test_a_rule_is_made_tried_changed_and_removed(project, lead):
    client, queue = by(lead), make.queue(project, items=2)
    conditions = [{"field": "outcome.result", "op": "in", "value": ["failure", "crash"]}]
    body = {"name": "Failures", "queue": str(queue.uid), "conditions": conditions, "share": 0.5, "priority": 7}
    made = client.post(address(project, "arrival-rules/"), body, format="json")
    assert made.status_code == 201
    assert {name: made.json()[name] for name in body} == body
    assert client.get(address(project, "arrival-rules/")).json()["results"] == [made.json()]
    trial = client.post(address(project, "arrival-rules/try/"), {"queue": str(queue.uid)}, format="json")
    assert trial.json() == {"fits": 2, "looked_at": 2}
    one = address(project, f"arrival-rules/{made.json()['uid']}/")
    assert client.patch(one, {"priority": 2}, format="json").json()["priority"] == 2
    assert client.delete(one).status_code == 204
    is_problem(client.delete(one), 404)
    assert client.get(address(project, "arrival-rules/")).json()["results"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"conditions": "x"}, "conditions"),
        ({"conditions": [{"field": "gender", "op": "=", "value": "x"}]}, "conditions"),
        ({"share": 0}, "share"),
        ({"share": 2}, "share"),
        ({"priority": 10}, "priority"),
        ({"queue": "0" * 32}, "queue"),
        ({"name": ""}, "name"),
    ],
)
def test_what_is_no_rule_is_refused_at_its_field(project, lead, change, field):
    body = {"name": "Rule", "queue": str(make.queue(project, items=0).uid), **change}
    answer = by(lead).post(address(project, "arrival-rules/"), body, format="json")
    assert is_problem(answer, 422)["field"] == field


def test_a_trial_without_a_queue_is_one_of_conditions_alone(project, lead):
    make.queue(project, items=3)
    asked = {"conditions": [{"field": "family", "op": "=", "value": "refunds"}]}
    answer = by(lead).post(address(project, "arrival-rules/try/"), asked, format="json")
    assert answer.json() == {"fits": 3, "looked_at": 3}


def test_the_rule_that_brought_an_item_is_named_to_engineers_and_not_to_leads_who_decide(project, lead, engineer):
    queue = make.queue(project, items=0)
    rule = create_rule(
        actor=lead,
        project=project,
        name="Failures",
        queue=queue,
        priority=4,
        conditions=read_conditions("outcome.result = failure"),
    )
    post(by(engineer), project, json.dumps(RUN))
    ask = {"project": project.slug}
    (row,) = by(engineer).get("/api/v1/items/", ask).json()["results"]
    assert (row["queues"][0]["rule"], row["queues"][0]["priority"]) == (rule.name, 4)
    (row,) = by(lead).get("/api/v1/items/", ask).json()["results"]
    assert {"rule", "priority"}.isdisjoint(row["queues"][0])


def test_a_rater_is_told_nothing_of_rule_and_priority(project, lead, engineer):
    queue = make.queue(project, items=0)
    create_rule(actor=lead, project=project, name="Failures-xyz", queue=queue, priority=4)
    post(by(engineer), project, json.dumps(RUN))
    answer = by(make.expert(project, "Alice")).post(f"/api/v1/queues/{queue.uid}/claim/")
    assert answer.status_code == 201
    assert b"Failures-xyz" not in answer.content
    assert b"priority" not in answer.content


def test_redaction_is_said_and_takes_effect(project, lead, engineer):
    place = address(project, "redaction/")
    client = by(lead)
    assert client.get(place).json() == {"kinds": [], "own": [], "region": ""}
    said = {"kinds": ["e-mail"], "own": [{"name": "order", "pattern": "ORD-[0-9]+"}], "region": ""}
    assert client.put(place, said, format="json").json() == said
    assert client.get(place).json() == said
    run = {"messages": [{"role": "user", "content": "I am alice@example.com, ORD-12, ORD-13"}]}
    receipt = post(by(engineer), project, json.dumps(run)).json()["runs"][0]
    assert receipt["redactions"]["order"] >= 2
    steps = by(engineer).get(f"/api/v1/items/{receipt['item']}/steps/").content.decode()
    assert "alice@" not in steps
    assert "⟦e-mail 1⟧" in steps
    is_problem(by(engineer).get(f"/api/v1/items/{receipt['item']}/original/"), 403)


def test_an_expression_that_cannot_be_run_safely_is_refused(project, lead):
    said = {"kinds": [], "own": [{"name": "twice", "pattern": r"(.)\1"}]}
    problem = is_problem(by(lead).put(address(project, "redaction/"), said, format="json"), 422)
    assert "linear time" in problem["errors"]["own"]
