"""What graders said is shown to raters of the queues that say so, and noted; to nobody else."""

import pytest
from django.test import Client

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.masking import set_masking
from reviews.actions.scoring import post_scores
from reviews.models import Judgment, Queue
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

SAID = [{"grader": "judge", "value": 0.25, "explanation": "<b>Zorblax</b> is late"}]


def queue_with(project, **settings):
    return make.queue(project, items=[make.item(project, data={"scores": SAID})], overlap=1, **settings)


def page_of(user, assignment):
    client = Client()
    client.force_login(user)
    return client.get(f"/assignments/{assignment.uid}/").content.decode()


def test_a_queue_that_shows_what_graders_said_notes_it_on_the_judgment():
    project = make.project()
    queue, alice = queue_with(project, shows_prelabel=True), make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    page = page_of(alice, mine)
    assert "What a machine said" in page
    assert "&lt;b&gt;Zorblax&lt;/b&gt; is late" in page
    assert by(alice).get(f"/api/v1/assignments/{mine.uid}/").json()["item"]["prelabel"] == SAID
    lead = make.lead_of(project)
    later = {"item": mine.item.uid, "grader": "judge", "value": 1, "explanation": ""}
    assert post_scores(actor=lead, project=project, scores=[later])[0].status == "created"
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    # What came while Alice worked was not shown, and is not noted as shown.
    assert Judgment.objects.get().prelabel == SAID


def test_elsewhere_nothing_is_shown_and_nothing_noted():
    project = make.project()
    queue, alice = queue_with(project), make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    page = page_of(alice, mine)
    assert "machine" not in page
    assert "Zorblax" not in page
    assert "prelabel" not in by(alice).get(f"/api/v1/assignments/{mine.uid}/").json()["item"]
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert Judgment.objects.get().prelabel is None


def test_masks_lie_on_what_graders_said_too():
    project = make.project()
    queue, alice = queue_with(project, shows_prelabel=True), make.expert(project, "Alice")
    set_masking(actor=make.lead_of(project), project=project, words=["Zorblax"])
    assert "Zorblax" not in page_of(alice, claim(actor=alice, queue=queue))


def test_it_stays_as_the_queue_was_opened_and_raters_are_not_told_in_lists():
    project = make.project()
    queue, alice = queue_with(project, shows_prelabel=True), make.expert(project, "Alice")
    lead = make.lead_of(project)
    answer = by(lead).patch(f"/api/v1/queues/{queue.uid}/", {"shows_prelabel": False}, format="json")
    assert answer.status_code == 422
    assert Queue.objects.get(pk=queue.pk).shows_prelabel
    assert "shows_prelabel" not in by(alice).get(f"/api/v1/queues/{queue.uid}/").json()
    assert by(lead).get(f"/api/v1/queues/{queue.uid}/").json()["shows_prelabel"] is True
    client = Client()
    client.force_login(lead)
    assert "saw what graders said" in client.get(f"/queues/{queue.uid}/agreement/").content.decode()
