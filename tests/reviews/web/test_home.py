"""The first page and the way in: what is open to whom, and what an invitation link says when it no longer works."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from reviews.actions.correcting import correct
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.projects import invite
from reviews.actions.queueing import change_queue
from reviews.models import Invitation, Membership
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(project):
    _invitation, token = invite(actor=make.lead_of(project), project=project, role="expert")
    return f"/join/{token}/"


def test_alice_sees_her_queues_and_how_many_she_judged_today(project):
    queue, alice = make.queue(project), make.expert(project, "Alice")
    assert "Judged today" not in enter(alice).get("/").content.decode()
    mine = claim(actor=alice, queue=queue)
    text = enter(alice).get("/").content.decode()
    assert queue.name in text
    assert f"Go on judging {queue.name}" in text
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="1")
    correct(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="2", seen_revision=1)
    text = enter(alice).get("/").content.decode()
    assert "Judged today 1" in text
    assert f"Start judging {queue.name}" in text


def test_queues_stand_in_the_order_of_their_making_and_say_what_was_judged_in_them(project):
    first, second = make.queue(project, items=1, overlap=1), make.queue(project, items=0)
    change_queue(actor=make.lead_of(project), queue=second, name="Asides")
    alice = make.expert(project, "Alice")
    text = enter(alice).get("/").content.decode()
    assert text.index(f"Start judging {first.name}") < text.index("Start judging Asides")
    submit(actor=alice, uid=claim(actor=alice, queue=first).uid, payload=make.passing(), idempotency_key="1")
    nothing = {queue: enter(alice).post(f"/queues/{queue.uid}/judge/").content.decode() for queue in (first, second)}
    assert "Judged here today: 1" in nothing[first]
    assert "Nothing is waiting for you here" in nothing[second]


def test_a_paused_queue_and_another_projects_queue_are_not_there(project):
    alice = make.expert(project, "Alice")
    paused, foreign = make.queue(project), make.queue(make.project())
    paused.state = "paused"
    paused.save()
    text = enter(alice).get("/").content.decode()
    assert "No queue is open for you" in text
    assert paused.name not in text
    assert foreign.name not in text


def test_a_lead_sees_projects_before_queues_to_judge(project):
    queue = make.queue(project)
    text = enter(make.lead_of(project)).get("/").content.decode()
    assert 0 < text.index(f">{project.name}</a>") < text.index("To judge") < text.index(f"Start judging {queue.name}")
    assert "All, and a new one" in text


def test_somebody_in_no_project_is_told_how_people_come_in():
    assert "You are in no project yet" in enter(make.person("Bob")).get("/").content.decode()


def test_the_signed_out_are_sent_to_sign_in():
    answer = Client().get("/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


def test_an_invited_stranger_becomes_a_member_and_is_signed_in(project, link):
    client = Client()
    assert project.name in client.get(link).content.decode()
    answer = client.post(link, {"name": "Charlie", "email": "charlie@example.com"}, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    member = Membership.objects.get(user__email="charlie@example.com")
    assert (member.project, member.role) == (project, "expert")
    assert "Set a password" in answer.content.decode()


def test_a_signed_in_person_joins_with_one_click(project, link):
    bob = make.person("Bob")
    client = enter(bob)
    assert "You are signed in as Bob" in client.get(link).content.decode()
    client.post(link)
    assert Membership.objects.filter(project=project, user=bob).exists()


def test_mistakes_are_named_and_the_link_stays_good(link):
    answer = Client().post(link, {"name": "", "email": "nonsense"})
    assert answer.status_code == 422
    assert "Give your name" in answer.content.decode()
    assert "This is not an email address." in answer.content.decode()
    assert Invitation.objects.get().used_at is None


def test_a_link_never_opens_an_account_that_exists(project, link):
    bob = make.person("Bob")
    answer = Client().post(link, {"name": "Mallory", "email": bob.email})
    assert answer.status_code == 422
    assert "Sign in, then open the link again." in answer.content.decode()


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"used_at": timezone.now()}, 409, "This invitation has been used."),
        ({"expires_at": timezone.now() - timedelta(days=1)}, 409, "This invitation has run out."),
        ({"token_hash": "0" * 64}, 400, "This invitation link is not valid."),
    ],
)
def test_a_link_that_does_not_work_says_why_in_one_sentence(link, change, status, sentence):
    Invitation.objects.update(**change)
    answer = Client().get(link)
    assert answer.status_code == status
    assert sentence in answer.content.decode()
    assert "<h1>This invitation cannot be used</h1>" in answer.content.decode()


@pytest.mark.parametrize("address", ["a@" + f"{'b' * 60}." * 4 + "example.org", "a@b", "", "@", "x" * 400])
def test_an_address_that_cannot_be_one_is_refused_in_words(link, address):
    answer = Client().post(link, {"email": address, "name": "Bob"})
    assert answer.status_code == 422
    assert "This is not an email address." in answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_one_address_with_two_links_at_one_moment_is_one_person(project, link):
    """Both forms have passed the first look when the other's person is written."""
    _invitation, token = invite(actor=make.lead_of(project), project=project, role="expert")
    start = threading.Barrier(2)

    def join(address):
        start.wait()
        try:
            return Client().post(address, {"email": "bob@example.org", "name": "Bob"}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(join, [link, f"/join/{token}/"]))
    assert answers == [302, 422]
    assert get_user_model().objects.filter(email="bob@example.org").count() == 1
