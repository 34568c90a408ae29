"""Practice, qualification and norming over HTTP: claimed as any queue, shown only to whom it is for."""

from urllib.parse import unquote

import pytest

from reviews.models import Queue
from tests import factories as make
from tests.factories.training import judge, practice, qualification, settled_queue
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    project = make.project()
    return project, settled_queue(project, items=6), make.expert(project, "Alice")


def submit(client, queue, payload):
    uid = client.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    place = f"/api/v1/assignments/{uid}/"
    said = client.post(f"{place}judgment/", payload, format="json", headers={"Idempotency-Key": "k"})
    assert said.status_code == 201
    return place


def test_practice_over_http(desk):
    project, queue, alice = desk
    made, client = practice(project, queue, items=1), by(alice)
    place = submit(client, made, make.passing(success=1))
    shown = client.get(f"{place}feedback/").json()
    assert (shown["right"], shown["done"], shown["total"]) == (False, 1, 1)
    assert {"title": "Task success", "said": "1 Weak", "stands": "3 Strong", "right": False} in shown["lines"]
    assert shown["guideline_line"] == "Judge what was done, not the tone."
    assert client.post(f"/api/v1/training/{made.uid}/again/").json() == {"items": 1}
    assert client.get(f"{place}feedback/").status_code == 404
    (learner,) = by(make.lead_of(project)).get(f"/api/v1/training/{made.uid}/").json()["learners"]
    assert (learner["name"], learner["done"], learner["right"]) == ("Alice", 1, 0)
    assert learner["differs"] == {"Task success": 1}


def test_work_has_no_feedback_and_sets_are_no_queues(desk):
    project, queue, alice = desk
    made, client = practice(project, queue, items=1), by(alice)
    place = submit(client, make.queue(project, items=1), make.passing())
    assert client.get(f"{place}feedback/").status_code == 404
    assert client.get(f"/api/v1/queues/{made.uid}/").status_code == 404
    assert str(made.uid) not in client.get("/api/v1/queues/").content.decode()
    lead = by(make.lead_of(project))
    for address in ("agreement", "disagreements", "standing", "gold"):
        assert lead.get(f"/api/v1/queues/{made.uid}/{address}/").status_code == 404


def test_a_queue_that_asks_for_a_qualification_says_so(desk):
    project, queue, alice = desk
    exam = qualification(project, queue)
    Queue.every.filter(pk=exam.pk).update(name="Refunds, für Anfänger 🙂")
    lead, work = by(make.lead_of(project)), make.queue(project, items=1)
    asked = lead.put(f"/api/v1/queues/{work.uid}/requires/", {"qualification": str(exam.uid)}, format="json")
    assert asked.json() == {"qualification": str(exam.uid)}
    refused = by(alice).post(f"/api/v1/queues/{work.uid}/claim/")
    assert refused.status_code == 204
    assert refused["X-Assay-Reason"].isascii()
    assert "Refunds, für Anfänger 🙂" in unquote(refused["X-Assay-Reason"])
    waived = lead.post(f"/api/v1/training/{exam.uid}/waive/", {"rater": alice.pk, "why": "Known."}, format="json")
    assert waived.json()["outcome"] == "waived"
    assert by(alice).post(f"/api/v1/queues/{work.uid}/claim/").status_code == 201


def test_votes_are_absent_until_the_reveal(desk):
    project, queue, alice = desk
    bob, lead = make.expert(project, "Bob"), by(make.lead_of(project))
    item = str(queue.queue_items.first().uid)
    asked = {"name": "Consent", "items": [item], "members": [alice.pk, bob.pk]}
    place = f"/api/v1/norming/{lead.post(f'/api/v1/queues/{queue.uid}/norming/', asked, format='json').json()['uid']}/"
    session = Queue.every.get(name="Consent")
    judge(session, alice, make.passing(success=1))
    judge(session, bob, make.passing())
    for reader in (lead, by(alice), by(bob)):
        assert not {"votes", "agreement", "comments"} & set(reader.get(place).json())
    shown = lead.post(f"{place}reveal/").json()
    assert sorted(vote["after"] for vote in shown["votes"] if vote["criterion"] == "Task success") == [
        "1 Weak",
        "3 Strong",
    ]
    assert {vote["member"] for vote in shown["votes"]} == {"A", "B"}
    assert by(make.expert(project, "Charlie")).get(place).status_code == 403
