"""Data sets over HTTP: define, follow, fetch the files and check them; and gold, agreement and standing for leads."""

import hashlib
import json
import time

import pytest

from goldsets.actions.exporting import run_export
from goldsets.models import DatasetVersion
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.enums import Role
from reviews.models import QueueItem
from tests import factories as make
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer(project):
    user = make.person("Erin")
    make.member(project, user, Role.ENGINEER)
    return user


@pytest.fixture
def queue(project):
    queue = make.queue(project, items=2, overlap=1)
    alice = make.expert(project, "Alice")
    for payload in (make.passing(), make.failing()):
        assignment = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=assignment.uid, payload=payload, idempotency_key="k")
    return queue


def read_through(response):
    return b"".join(response.streaming_content)


def test_erin_defines_a_data_set_and_fetches_files_that_hash_as_the_manifest_says(project, engineer, queue):
    client = by(engineer)
    made = client.post(
        "/api/v1/datasets/", {"project": project.slug, "name": "Réfunds 1", "format": "jsonl"}, format="json"
    )
    assert made.status_code == 202
    (version,) = made.json()["versions"]
    assert (version["number"], version["state"], version["rows_total"]) == (1, "waiting", 2)
    assert "manifest" not in version
    assert "queue" not in made.json()
    run_export(version_id=DatasetVersion.objects.get().pk)
    address = f"{made['Location']}versions/1/"
    finished = client.get(address).json()
    assert finished["state"] == "finished"
    (file,) = finished["files"]
    response = client.get(f"{address}files/{file['name']}")
    data = read_through(response)
    assert hashlib.sha256(data).hexdigest() == file["sha256"] == response["X-Assay-SHA256"]
    assert len(data.splitlines()) == 2
    assert json.loads(read_through(client.get(f"{address}files/manifest.json"))) == finished["manifest"]
    is_problem(client.get(f"{address}files/nothing.txt"), 404)
    is_problem(client.get(f"{made['Location']}versions/2/"), 404)


def test_the_worker_does_the_export(worker, project, engineer, queue):
    client = by(engineer)
    made = client.post(
        "/api/v1/datasets/", {"project": project.slug, "name": "labels", "format": "parquet"}, format="json"
    )
    address = f"{made['Location']}versions/1/"
    for _ in range(100):
        version = client.get(address).json()
        if version["state"] not in ("waiting", "running"):
            break
        time.sleep(0.1)
    assert version["state"] == "finished"
    assert version["files"][0]["rows"] == 2


def test_the_next_version_starts_when_asked_and_files_wait_until_it_is_finished(project, engineer, queue):
    client = by(engineer)
    body = {"project": project.slug, "name": "labels", "format": "jsonl", "queue": str(queue.uid)}
    made = client.post("/api/v1/datasets/", body, format="json")
    assert made.json()["queue"] == str(queue.uid)
    second = client.post(f"{made['Location']}versions/")
    assert second.status_code == 202
    assert second.json()["number"] == 2
    refused = client.get(f"{second['Location']}files/labels.jsonl")
    assert is_problem(refused, 409)["detail"] == "This version has no files: it is waiting."
    again = client.post("/api/v1/datasets/", body, format="json")
    assert is_problem(again, 409)["field"] == "name"


def test_nothing_to_export_is_said_and_nothing_is_started(project, engineer):
    make.queue(project, items=1)
    refused = by(engineer).post(
        "/api/v1/datasets/", {"project": project.slug, "name": "labels", "format": "jsonl"}, format="json"
    )
    assert is_problem(refused, 409)["detail"].startswith("There is nothing to export: no item of this project has")
    assert by(engineer).get("/api/v1/datasets/", {"project": project.slug}).json()["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x", "format": "jsonl"}, "project"),
        ({"project": 7, "name": "x", "format": "jsonl"}, "project"),
        ({"project": "{slug}", "name": ["x"], "format": "jsonl"}, "name"),
        ({"project": "{slug}", "name": "x", "format": "docx"}, "format"),
        ({"project": "{slug}", "name": "x", "format": "jsonl", "queue": "no-uuid"}, "queue"),
        ({"project": "{slug}", "name": "x", "format": "jsonl", "queue": "0" * 32}, "queue"),
    ],
)
def test_a_wrong_definition_is_refused_with_its_field(project, engineer, body, field):
    body = {name: project.slug if value == "{slug}" else value for name, value in body.items()}
    assert is_problem(by(engineer).post("/api/v1/datasets/", body, format="json"), 422)["field"] == field


def test_a_version_that_waits_is_cancelled_once_by_who_may_export(project, engineer, queue):
    body = {"project": project.slug, "name": "labels", "format": "jsonl"}
    made = by(engineer).post("/api/v1/datasets/", body, format="json")
    address = f"{made['Location']}versions/1/cancel/"
    expert = project.memberships.filter(role=Role.EXPERT).first().user
    is_problem(by(expert).post(address), 403)
    is_problem(by(make.person("Mallory")).post(address), 404)
    assert by(engineer).post(address).json()["state"] == "cancelled"
    assert is_problem(by(engineer).post(address), 409)["detail"] == "This version cannot be stopped: it is cancelled."


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"purpose": "fun"}, "purpose"),
        ({"formats": []}, "formats"),
        ({"filter": {"colour": ["red"]}}, "filter"),
        ({"filter": {"kinds": ["car"]}}, "filter"),
        ({"filter": {"slices": [1]}}, "filter"),
        ({"filter": {"pass_rate": {"model": "m", "low": 0.9, "high": 0.1}}}, "filter"),
        ({"policies": {"ties": "maybe"}}, "policies"),
        ({"policies": {"naps": "keep"}}, "policies"),
    ],
)
def test_a_wrong_purpose_filter_or_policy_is_refused_with_its_field(project, engineer, more, field):
    body = {"project": project.slug, "name": "x", "formats": ["jsonl"], **more}
    assert is_problem(by(engineer).post("/api/v1/datasets/", body, format="json"), 422)["field"] == field


# --- For leads --------------------------------------------------------------------------------------------------------
def test_a_lead_sets_the_rate_and_makes_items_gold_with_a_second_person_and_retires_them(project, queue):
    client, second = by(make.lead_of(project)), by(make.second_of(project))
    rate = f"/api/v1/queues/{queue.uid}/gold/"
    before = client.get(rate).json()
    assert (before["rate"], before["forecast"]["words"]) == (0.0, "No gold is mixed in: the rate is 0.")
    policy = {"rate": 0.25, "feedback_items": 20, "feedback_days": None}
    assert client.put(rate, {"rate": 0.25, "feedback_items": 20}, format="json").json() == policy
    for wrong in (0.6, -1, "0.1", True, None, 1e300):
        assert is_problem(client.put(rate, {"rate": wrong}, format="json"), 422)["field"] == "rate"
    queue_item = QueueItem.objects.filter(queue=queue).first()
    made = client.post("/api/v1/gold/", {"queue_item": str(queue_item.uid), "tolerance": 0}, format="json")
    assert made.status_code == 201
    assert (made.json()["item"], made.json()["state"], made.json()["key"]) == (
        str(queue_item.item.uid),
        "proposed",
        None,
    )
    assert client.get("/api/v1/gold/", {"queue": str(queue.uid)}).json()["results"] == [made.json()]
    is_problem(client.post(f"/api/v1/gold/{queue_item.uid}/approve/"), 403)
    approved = second.post(f"/api/v1/gold/{queue_item.uid}/approve/").json()
    assert (approved["state"], approved["key"]["number"]) == ("active", 1)
    assert approved["key"]["expected"]["success"] == {"value": 3, "also": [], "tolerance": 0}
    is_problem(second.post(f"/api/v1/gold/{queue_item.uid}/approve/"), 409)
    retired = client.post(f"/api/v1/gold/{queue_item.uid}/retire/").json()
    assert retired["state"] == "retired"
    assert client.get("/api/v1/gold/", {"queue": str(queue.uid), "state": "active"}).json()["results"] == []


def test_only_a_settled_item_can_be_gold(project):
    queue = make.queue(project, items=1)
    queue_item = QueueItem.objects.get(queue=queue)
    client = by(make.lead_of(project))
    is_problem(client.post("/api/v1/gold/", {"queue_item": str(queue_item.uid)}, format="json"), 409)
    is_problem(client.post(f"/api/v1/gold/{queue_item.uid}/retire/"), 404)


def test_agreement_says_why_there_is_no_number_yet(project, queue):
    client = by(make.lead_of(project))
    agreement = client.get(f"/api/v1/queues/{queue.uid}/agreement/").json()
    assert agreement["n_items"] == 2
    assert [criterion["key"] for criterion in agreement["criteria"]][:2] == ["authorised", "consent"]
    alpha = agreement["criteria"][0]["alpha"]
    assert alpha["value"] is None
    assert alpha["reason"]
    assert alpha["words"]
    standing = client.get(f"/api/v1/queues/{queue.uid}/standing/").json()["raters"]
    assert [rater["rater"] for rater in standing] == ["Alice"]
    assert standing[0]["n_judgments"] == 2
    assert standing[0]["accuracy"]["value"] is None


def test_a_pairs_disagreement_names_no_item_before_it_is_settled(project):
    queue = make.queue(project, items=2, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for rater, level in ((alice, 3), (bob, 1)):
        assignment = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=assignment.uid, payload=make.passing(success=level), idempotency_key="k")
    agreement = by(make.lead_of(project)).get(f"/api/v1/queues/{queue.uid}/agreement/").json()
    success = agreement["criteria"][2]
    assert len(success["disagreed"]) == 1
    assert [pair["items"] for pair in success["pairs"]] == [[]]
