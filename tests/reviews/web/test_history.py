"""Looking back: a rater's own judgments, the run of one, and where a lead decided otherwise."""

from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.core.cache import cache
from django.utils import timezone

from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim, release, skip
from reviews.actions.judging import submit
from reviews.models import Project, QueueItem
from reviews.queries.digest import digest_of
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db
DECISION = {
    "gates": {"authorised": "pass", "consent": "pass"},
    "criteria": {"success": 2, "process": 1},
    "reasons": {"authorised": "rater_error"},
    "notes": {"authorised": "Sign-in names the owner."},
    "note": "The account is the requester's own.",
}


@pytest.fixture
def bob(project):
    return make.expert(project, "Bob")


def judge(rater, queue, payload):
    mine = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=mine.uid, payload=payload, idempotency_key="k")
    return mine


def read(client, address):
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


def differing(project, *raters, items=10, decide=10):
    """Items on which all but the last rater fail a gate that the last passes; the lead sides with the last."""
    queue = make.queue(project, items=items, overlap=len(raters))
    for _ in range(items):
        for rater in raters[:-1]:
            judge(rater, queue, make.failing())
        judge(raters[-1], queue, make.passing(2, 1))
    for waiting in QueueItem.objects.filter(queue=queue, state="waiting").order_by("pk")[:decide]:
        adjudicate(actor=make.lead_of(project), queue_item=waiting, payload=DECISION)
    return queue


def later(days):
    return time_machine.travel(timezone.now() + timedelta(days=days), tick=False)


# --- Own judgments ----------------------------------------------------------------------------------------------------
def test_alice_finds_what_she_said_and_nothing_she_did_not_submit(project, alice, bob):
    queue = make.queue(project, items=4, overlap=2)
    failed, passed = judge(alice, queue, make.failing()), judge(alice, queue, make.passing())
    skip(actor=alice, uid=claim(actor=alice, queue=queue).uid, reason="conflict")
    release(actor=alice, uid=claim(actor=alice, queue=queue).uid)
    judge(bob, queue, make.passing())
    client = enter(alice)
    page = read(client, "/judgments/")
    assert page.index(f"/assignments/{passed.uid}/run/") < page.index(f"/assignments/{failed.uid}/run/")
    assert page.count("/run/") == 2
    assert "Only authorised accounts <b>fail</b>" in page
    assert "Task success <b>3 Strong</b>" in page


@pytest.mark.parametrize(
    ("query", "count"),
    [("said=fail", 1), ("said=pass", 1), ("said=unsure", 0), ("q=refund", 2), ("q=weather", 0), ("queue=nowhere", 0)],
)
def test_the_list_is_filtered(project, alice, query, count):
    queue = make.queue(project, items=2)
    judge(alice, queue, make.failing())
    judge(alice, queue, make.passing())
    assert read(enter(alice), f"/judgments/?{query}").count("/run/") == count


def test_one_judgment_is_read_again_with_its_run_and_cannot_be_changed(project, alice, bob):
    queue = make.queue(project, items=1, overlap=2)
    mine = judge(alice, queue, make.failing())
    client = enter(alice)
    assert f"/assignments/{mine.uid}/run/" in read(client, f"/assignments/{mine.uid}/")
    page = read(client, f"/assignments/{mine.uid}/run/")
    assert "My order came a week late." in page
    assert "It opened an account it had no right to." in page
    assert "<textarea" not in page
    assert "secret-model-9" not in page
    assert "My order" in read(client, f"/assignments/{mine.uid}/steps/")
    assert enter(bob).get(f"/assignments/{mine.uid}/run/").status_code == 404


def test_an_item_in_hand_or_skipped_has_no_judgment_to_read(project, alice):
    queue = make.queue(project)
    mine = claim(actor=alice, queue=queue)
    assert enter(alice).get(f"/assignments/{mine.uid}/run/")["Location"] == f"/assignments/{mine.uid}/"
    skip(actor=alice, uid=mine.uid, reason="conflict")
    assert enter(alice).get(f"/assignments/{mine.uid}/steps/").status_code == 409


# --- What leads decided differently -----------------------------------------------------------------------------------
def test_alice_reads_what_she_said_what_was_decided_and_why(project, alice, bob):
    queue = differing(project, alice, bob, items=30, decide=30)
    with later(days=5):
        page = read(enter(alice), "/decisions/")
        shown = len(digest_of(alice, [project]))
        assert digest_of(bob, [project]) == []
    assert 0 < shown < 30
    assert page.count("Read the run again") == shown
    for words in ("Only authorised accounts", "Easy to overlook or misread.", "Sign-in names the owner."):
        assert page.count(words) == shown
    assert str(queue.guideline) in page
    for word in ("Bob", "Lea", "Rater error"):
        assert word not in page


def test_nothing_is_read_the_same_day_nor_while_one_of_the_ten_waits(project, alice, bob):
    differing(project, alice, bob)
    assert digest_of(alice, [project]) == []
    differing(project, alice, bob, decide=9)
    with later(days=400):
        queues = {decided.judgment.queue_id for decided in digest_of(alice, [project])}
    assert len(queues) <= 1


def test_what_is_shown_is_drawn_by_a_key_of_the_project(project, alice, bob):
    differing(project, alice, bob, items=20, decide=20)

    def shown(key):
        Project.objects.filter(pk=project.pk).update(digest_key=key)
        project.refresh_from_db()
        with later(days=5):
            return [decided.judgment.pk for decided in digest_of(alice, [project])]

    first, second = "0" * 31 + "1", "0" * 31 + "2"
    assert shown(first) == shown(first)
    assert shown(first) != shown(second)
    assert shown(first) == sorted(shown(first), reverse=True)


def test_a_note_about_those_who_judged_is_not_shown(project, alice, bob):
    queue = make.queue(project, items=10, overlap=2)
    for _ in range(10):
        judge(alice, queue, make.failing())
        judge(bob, queue, make.passing(2, 1))
    for waiting in QueueItem.objects.filter(queue=queue):
        decision = DECISION | {"note": "B is right.", "notes": {"authorised": "Bob saw it."}}
        adjudicate(actor=make.lead_of(project), queue_item=waiting, payload=decision)
    Project.objects.filter(pk=project.pk).update(digest_key="0" * 31 + "1")
    with later(days=5):
        page = read(enter(alice), "/decisions/")
    assert "note is about those who judged and is not shown." in page
    assert "B is right" not in page
    assert "Bob saw" not in page


def test_the_first_page_tells_what_opened_since_alice_last_looked(project, alice, bob):
    differing(project, alice, bob, items=20, decide=20)
    with later(days=5):
        first = len(digest_of(alice, [project]))
        assert f"On {first} items you judged, a lead came to another answer." in read(enter(alice), "/")
        assert "another answer" not in read(enter(bob), "/")
        read(enter(alice), "/decisions/")
        assert "another answer" not in read(enter(alice), "/")
    with later(days=6):
        differing(project, alice, bob, items=20, decide=20)
    cache.clear()  # ten minutes are over
    with later(days=11):
        more = len(digest_of(alice, [project])) - first
        assert f"On {more} items you judged, a lead came to another answer." in read(enter(alice), "/")


def test_a_project_that_turned_it_off_shows_nothing(project, alice, bob):
    differing(project, alice, bob)
    Project.objects.filter(pk=project.pk).update(digest=False)
    with later(days=5):
        assert "This page is turned off" in read(enter(alice), "/decisions/")
