"""A lead sets up a project over HTTP: people, guideline, rubric, queue, items; each mistake is named at its field."""

import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.actions.projects import accept_invitation
from reviews.enums import Role
from reviews.models import ImportJob, Item, Membership
from tests import factories as make
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

RUN = (
    b'{"task_id": "late-1", "family": "late_refund", "title": "Refund for a late order", "messages": ['
    b'{"role": "user", "content": "My order is late."}, {"role": "assistant", "content": "I am sorry."}]}'
)


def test_lea_creates_a_project_and_leads_it():
    founder = make.person("Lea", is_staff=True)
    client = by(founder)
    made = client.post("/api/v1/projects/", {"name": "Support desk", "description": "Refunds"}, format="json")
    assert made.status_code == 201
    expected = {"slug": "support-desk", "name": "Support desk", "description": "Refunds", "role": "lead"}
    assert made.json() == expected
    assert client.get("/api/v1/projects/support-desk/").json() == expected
    assert client.get("/api/v1/projects/").json()["results"] == [expected]
    again = client.post("/api/v1/projects/", {"name": "Support desk"}, format="json")
    assert is_problem(again, 409)["field"] == "slug"


def test_an_invitation_shows_its_link_once_and_works_once(project, lead):
    client = by(lead)
    address = f"/api/v1/projects/{project.slug}/invitations/"
    made = client.post(address, {"role": "expert", "note": "for Alice", "days": 3}, format="json")
    assert made.status_code == 201
    link = made.json()["link"]
    (listed,) = client.get(address).json()["results"]
    assert listed["note"] == "for Alice"
    assert "link" not in listed
    token = link.rstrip("/").rsplit("/", 1)[1]
    accept_invitation(token=token, email="alice@example.com", name="Alice")
    assert client.get(address).json()["results"] == []
    names = [row["name"] for row in client.get(f"/api/v1/projects/{project.slug}/members/").json()["results"]]
    assert "Alice" in names


def test_a_member_is_switched_off_and_changed(project, lead):
    make.expert(project, "Bob")
    membership = Membership.objects.get(project=project, user__name="Bob")
    address = f"/api/v1/projects/{project.slug}/members/{membership.pk}/"
    client = by(lead)
    assert client.patch(address, {"active": False, "tier": "skilled"}, format="json").json()["active"] is False
    membership.refresh_from_db()
    assert (membership.active, membership.tier) == (False, "skilled")
    assert is_problem(client.patch(address, {"role": "king"}, format="json"), 422)["field"] == "role"
    own = Membership.objects.get(project=project, user=lead)
    is_problem(
        client.patch(f"/api/v1/projects/{project.slug}/members/{own.pk}/", {"active": False}, format="json"), 403
    )
    is_problem(client.patch(f"/api/v1/projects/{project.slug}/members/999999/", {}, format="json"), 404)


def test_guidelines_and_rubrics_come_in_versions(project, lead):
    client = by(lead)
    guidelines = f"/api/v1/projects/{project.slug}/guidelines/"
    client.post(guidelines, {"name": "Refunds", "text": "First."}, format="json")
    second = client.post(guidelines, {"name": "Refunds", "text": "  Second.\n"}, format="json").json()
    assert (second["version"], second["text"]) == (2, "  Second.\n")
    rubrics = f"/api/v1/projects/{project.slug}/rubrics/"
    made = client.post(rubrics, {"name": "Refunds", "criteria": make.CRITERIA}, format="json")
    assert made.status_code == 201
    assert [criterion["key"] for criterion in made.json()["criteria"]] == [c["key"] for c in make.CRITERIA]
    assert client.get(rubrics).json()["results"] == [made.json()]


@pytest.mark.parametrize(
    ("criterion", "field"),
    [
        ({"key": "Bad Key", "title": "x", "kind": "gate"}, "criteria.0.key"),
        ({"key": "ok", "title": "x", "kind": "colour"}, "criteria.0.kind"),
        ({"key": "ok", "title": "x", "kind": "gate", "weight": 2}, "criteria.0.weight"),
        ({"key": "ok", "title": "x", "kind": "ordinal", "block": "process", "levels": []}, "criteria.0.levels"),
        (
            {"key": "ok", "title": "x", "kind": "ordinal", "block": "process", "levels": [{"value": "1", "name": "a"}]},
            "criteria.0.levels.0.value",
        ),
        ({"key": "ok", "title": 7, "kind": "gate"}, "criteria.0.title"),
        ("gate", "criteria.0"),
    ],
)
def test_a_rubric_with_a_mistake_is_refused_at_its_place(project, lead, criterion, field):
    refused = by(lead).post(
        f"/api/v1/projects/{project.slug}/rubrics/", {"name": "R", "criteria": [criterion]}, format="json"
    )
    assert is_problem(refused, 422)["field"] == field


def test_a_queue_is_opened_paused_and_filled(project, lead):
    other = make.queue(project, items=2)
    client = by(lead)
    address = f"/api/v1/projects/{project.slug}/queues/"
    body = {"name": "Second look", "rubric": str(other.rubric.uid), "guideline": str(other.guideline.uid)}
    made = client.post(address, {**body, "overlap": 3, "settle_rule": "lead"}, format="json")
    assert made.status_code == 201
    queue = made.json()
    assert (queue["overlap"], queue["settle_rule"], queue["state"]) == (3, "lead", "open")
    assert queue["items"] == {"collecting": 0, "waiting": 0, "passed_on": 0, "settled": 0}
    detail = f"/api/v1/queues/{queue['uid']}/"
    item = str(Item.objects.filter(project=project).first().uid)
    assert client.post(f"{detail}items/", {"items": [item, item]}, format="json").json() == {"added": 1}
    assert client.post(f"{detail}items/", {"all": True}, format="json").json() == {"added": 1}
    assert client.post(f"{detail}items/", {"all": True}, format="json").json() == {"added": 0}
    assert client.get(detail).json()["items"]["collecting"] == 2
    assert client.patch(detail, {"state": "paused"}, format="json").json()["state"] == "paused"
    assert is_problem(client.patch(detail, {"overlap": 1}, format="json"), 422)["field"] == "overlap"
    assert [row["name"] for row in client.get(address).json()["results"]] == ["Second look", other.name]


def test_a_queue_with_a_strange_rubric_or_strange_items_is_refused(project, lead):
    queue, elsewhere = make.queue(project, items=1), make.queue(make.project(), items=1)
    client = by(lead)
    body = {"name": "x", "rubric": str(elsewhere.rubric.uid), "guideline": str(queue.guideline.uid)}
    refused = client.post(f"/api/v1/projects/{project.slug}/queues/", body, format="json")
    assert is_problem(refused, 422)["errors"] == {"rubric": "This project has no such rubric."}
    strange = [str(queue.queue_items.get().item.uid), str(elsewhere.queue_items.get().item.uid)]
    refused = client.post(f"/api/v1/queues/{queue.uid}/items/", {"items": strange}, format="json")
    assert is_problem(refused, 422)["errors"] == {"items.1": "There is no such item."}
    assert is_problem(client.post(f"/api/v1/queues/{queue.uid}/items/", {}, format="json"), 422)["field"] == "items"


def test_an_expert_sees_queues_without_how_they_are_set_up(project):
    queue = make.queue(project, items=1)
    alice = make.expert(project, "Alice")
    (row,) = by(alice).get("/api/v1/queues/").json()["results"]
    assert set(row) == {"uid", "project", "slug", "name", "state", "rubric", "guideline", "lease_minutes"}
    assert row == by(alice).get(f"/api/v1/queues/{queue.uid}/").json()


# --- Imports ----------------------------------------------------------------------------------------------------------
def send(client, project, data=RUN, name="runs.jsonl", **fields):
    file = SimpleUploadedFile(name, data)
    return client.post(f"/api/v1/projects/{project.slug}/imports/", {"file": file, **fields}, format="multipart")


def test_a_file_comes_in_and_gives_a_receipt(worker, project, lead):
    queue = make.queue(project, items=0)
    client = by(lead)
    broken = RUN + b'\n{"messages": 7}\nnot json\n'
    sent = send(client, project, broken, queue=str(queue.uid), settings='{"environment": "desk 3.2"}')
    assert sent.status_code == 202
    for _ in range(100):
        receipt = client.get(sent["Location"]).json()
        if receipt["state"] == "finished":
            break
        time.sleep(0.1)
    counts = {name: receipt[name] for name in ("created", "already_there", "refused", "percent")}
    assert counts == {"created": 1, "already_there": 0, "refused": 2, "percent": 100}
    assert [refusal["place"] for refusal in receipt["refusals"]] == ["line 2", "line 3"]
    (item,) = client.get("/api/v1/items/", {"project": project.slug, "queue": str(queue.uid)}).json()["results"]
    assert item["task"]["family"] == "late_refund"
    assert item["versions"] == {"environment": "desk 3.2"}
    assert client.get(f"/api/v1/projects/{project.slug}/imports/").json()["results"][0]["uid"] == receipt["uid"]


def test_an_import_is_cancelled_once(project, lead):
    client = by(lead)
    address = send(client, project)["Location"]
    assert client.get(address).json()["state"] == "waiting"
    assert client.post(f"{address}cancel/").json()["state"] == "cancelled"
    is_problem(client.post(f"{address}cancel/"), 409)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"format": "csv"}, "format"),
        ({"queue": "x"}, "queue"),
        ({"queue": "0" * 32}, "queue"),
        ({"settings": "[1]"}, "settings"),
        ({"settings": "{"}, "settings"),
        ({"settings": '{"colour": "red"}'}, "settings"),
        ({"family": "x" * 101}, "family"),
        ({"domain": "a\x00b"}, "domain"),
    ],
)
def test_an_import_with_a_mistake_is_refused_at_its_field(project, lead, fields, field):
    assert is_problem(send(by(lead), project, **fields), 422)["field"] == field
    assert not ImportJob.objects.exists()


def test_an_import_needs_a_form_with_a_file(project, lead):
    client = by(lead)
    address = f"/api/v1/projects/{project.slug}/imports/"
    assert is_problem(client.post(address, {"family": "x"}, format="multipart"), 422)["field"] == "file"
    is_problem(client.post(address, {"file": "x"}, format="json"), 415)
    broken = client.generic("POST", address, b"no form", content_type="multipart/form-data; boundary=x")
    assert broken.status_code in (400, 422)


# --- Items ------------------------------------------------------------------------------------------------------------
def test_outcome_is_there_for_engineers_and_for_leads_once_settled(project, lead):
    engineer = make.person("Erin")
    make.member(project, engineer, Role.ENGINEER)
    queue = make.queue(project, items=1, overlap=1)
    ask = {"project": project.slug}
    (seen,) = by(engineer).get("/api/v1/items/", ask).json()["results"]
    assert seen["outcome"] == {"result": "success", "reward": 1.0, "data": {}}
    assert seen["model"] == "secret-model-9"
    (blind,) = by(lead).get("/api/v1/items/", ask).json()["results"]
    assert not {"outcome", "model", "source"} & set(blind)
    assert blind == by(lead).get(f"/api/v1/items/{blind['uid']}/").json()
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    alice.post(f"/api/v1/assignments/{uid}/judgment/", make.passing(), format="json", headers={"Idempotency-Key": "k"})
    (settled,) = by(lead).get("/api/v1/items/", ask).json()["results"]
    assert settled["outcome"]["result"] == "success"
    assert settled["source"]["name"] == "runs.jsonl"


def test_an_item_open_in_another_queue_stays_closed_for_leads(project, lead):
    item = make.queue(project, items=1, overlap=1).queue_items.get().item
    settled = make.queue(project, items=[item], overlap=1)
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{settled.uid}/claim/").json()["uid"]
    alice.post(f"/api/v1/assignments/{uid}/judgment/", make.passing(), format="json", headers={"Idempotency-Key": "k"})
    assert "outcome" not in by(lead).get(f"/api/v1/items/{item.uid}/").json()


def test_a_lead_who_judges_an_item_is_a_rater_for_as_long(project, lead):
    queue = make.queue(project, items=1, overlap=1)
    engineer_view = by(lead).get("/api/v1/items/", {"project": project.slug}).json()["results"][0]
    by(lead).post(f"/api/v1/queues/{queue.uid}/claim/")
    assert "outcome" not in by(lead).get(f"/api/v1/items/{engineer_view['uid']}/").json()


def test_items_are_filtered(project, lead):
    queue = make.queue(project, items=2)
    make.item(project, family="fraud")
    client = by(lead)

    def count(**asked):
        return len(client.get("/api/v1/items/", {"project": project.slug, **asked}).json()["results"])

    assert (count(), count(family="fraud"), count(queue=str(queue.uid)), count(state="settled")) == (3, 1, 2, 0)
    assert is_problem(client.get("/api/v1/items/"), 422)["field"] == "project"
    assert is_problem(client.get("/api/v1/items/", {"project": project.slug, "queue": "x"}), 422)["field"] == "queue"


def test_a_lead_reads_the_run_of_an_item(project, lead):
    item = make.item(project)
    window = by(lead).get(f"/api/v1/items/{item.uid}/steps/", {"from": 4}).json()
    assert [row["fields"][0]["text"] for row in window["rows"]] == ["A refund of $64.20 is on its way."]


# --- Pages ------------------------------------------------------------------------------------------------------------
def test_cursor_pages_give_every_row_once(project, lead):
    uids = [str(make.item(project).uid) for _ in range(7)]
    client = by(lead)
    page = client.get("/api/v1/items/", {"project": project.slug, "page_size": 3}).json()
    seen = [row["uid"] for row in page["results"]]
    make.item(project)
    while page["next"]:
        page = client.get(page["next"]).json()
        seen += [row["uid"] for row in page["results"]]
    assert seen == uids[::-1]


@pytest.mark.parametrize(
    "cursor", ["x", "cD1hYmM=", "cD0wJTAw", "bz0tMQ==", "cD0lRjA=", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk="]
)
def test_a_cursor_that_was_never_given_out_is_refused(project, lead, cursor):
    response = by(lead).get("/api/v1/items/", {"project": project.slug, "cursor": cursor})
    is_problem(response, 404)
