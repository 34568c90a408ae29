"""What a rater is told of their answers on gold, when, and by whom a challenge is answered; all others stay blind."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from goldsets.actions.challenging import challenge, decide_challenge
from goldsets.actions.gold import approve_gold, propose_change, set_feedback
from goldsets.enums import ChallengeState
from goldsets.models import GoldChallenge, GoldItem
from goldsets.queries.feedback import told_answers
from goldsets.queries.gold import gold_pool
from goldsets.queries.overview import hints, overview
from goldsets.queries.standing import rater_page
from reviews.enums import Role
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event
from tests import factories as make
from tests.factories.golden import on_gold, on_plain, queue_with_gold
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


def enter(person):
    client = Client()
    client.force_login(person)
    return client


GOOD, LOW = make.passing(), make.passing(success=1)


@pytest.fixture
def lea(project):
    return make.lead_of(project)


def test_nobody_is_told_anything_unless_the_queue_says_so(project, alice):
    queue = queue_with_gold(project, gold=1, plain=5)
    on_gold(queue, alice, LOW)
    on_plain(queue, alice, GOOD, GOOD)
    assert told_answers(alice) == []


def test_after_so_many_further_judgments_a_rater_is_told(project, alice, lea):
    queue = queue_with_gold(project, gold=1, plain=5)
    set_feedback(actor=lea, queue=queue, items=2, days=None)
    on_gold(queue, alice, LOW)
    on_plain(queue, alice, GOOD)
    assert told_answers(alice) == []
    on_plain(queue, alice, GOOD)
    (told,) = told_answers(alice)
    assert not told.right
    lines = {line.key: (line.said, line.expected, line.right) for line in told.lines}
    assert lines["success"] == ("1 Weak", "3 Strong ±1", False)
    assert lines["consent"] == ("pass", "pass", True)
    assert told_answers(make.expert(project, "Bob")) == [], "everybody else stays blind"


def test_or_after_so_many_days(project, alice, lea):
    queue = queue_with_gold(project, gold=1, plain=2)
    set_feedback(actor=lea, queue=queue, items=None, days=7)
    on_gold(queue, alice, LOW)
    assert told_answers(alice) == []
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert len(told_answers(alice)) == 1


@pytest.fixture
def told(project, alice, lea):
    queue = queue_with_gold(project, gold=1, plain=4)
    set_feedback(actor=lea, queue=queue, items=1, days=None)
    (judgment,) = on_gold(queue, alice, LOW)
    on_plain(queue, alice, GOOD)
    return queue, judgment.assignment


def test_a_rater_challenges_once_and_a_lead_answers(told, alice, lea):
    queue, assignment = told
    made = challenge(actor=alice, uid=assignment.uid, reason="The refund never went through.")
    queue = assignment.queue
    words = "1 gold item that raters challenged waits for an answer."
    assert words in [hint.words for hint in hints(queue, overview(queue), None)]
    with pytest.raises(Conflict, match="challenged this already"):
        challenge(actor=alice, uid=assignment.uid, reason="Again.")
    (row,) = gold_pool(queue).doubtful
    assert [doubt.kind for doubt in row.doubts] == ["disputed"]
    decide_challenge(actor=lea, challenge=made, uphold=False, answer="Step 4 says that it did.")
    with pytest.raises(Conflict, match="answered this challenge before"):
        decide_challenge(actor=lea, challenge=made, uphold=True, answer="On second thoughts.")
    (seen,) = told_answers(alice)
    assert (seen.challenge.state, seen.challenge.answer) == (ChallengeState.REJECTED, "Step 4 says that it did.")
    assert gold_pool(queue).doubtful == []
    verbs = Event.objects.filter(target_type="goldchallenge").values_list("verb", flat=True)
    assert sorted(verbs) == ["challenge.decided", "gold.challenged"]


def test_an_upheld_challenge_corrects_the_gold_and_the_standing_follows(told, project, alice, lea):
    queue, assignment = told
    assert rater_page(queue, alice.pk).standing.gold_right == 0
    made = challenge(actor=alice, uid=assignment.uid, reason="It failed.")
    decide_challenge(actor=lea, challenge=made, uphold=True, answer="You are right.")
    gold = GoldItem.objects.get(queue=queue)
    key = propose_change(actor=lea, gold_item=gold, values={"success": 1}, note="Alice is right.")
    approve_gold(actor=make.second_of(project), key=key)
    assert rater_page(queue, alice.pk).standing.gold_right == 1
    (seen,) = told_answers(alice)
    assert (seen.right, seen.challenge) == (True, None), "what is expected now can be challenged anew"
    assert GoldChallenge.objects.get().key.number == 1


def test_what_cannot_be_challenged(told, project, alice, lea):
    queue, assignment = told
    bob = make.expert(project, "Bob")
    plain = on_plain(queue, alice, GOOD)[0].assignment
    for person, uid in ((bob, assignment.uid), (alice, plain.uid), (alice, None)):
        with pytest.raises(NotFound, match="no checked answer of yours"):
            challenge(actor=person, uid=uid, reason="x")
    for reason in (" ", "x" * 4001, "\x00"):
        with pytest.raises(Invalid):
            challenge(actor=alice, uid=assignment.uid, reason=reason)


def test_who_may_answer(told, project, alice, lea):
    _queue, assignment = told
    made = challenge(actor=alice, uid=assignment.uid, reason="x")
    for person in (alice, make.second_of(project)):
        with pytest.raises(Forbidden):
            decide_challenge(actor=person, challenge=made, uphold=True, answer="Yes.")
    project.memberships.filter(user=alice).update(role=Role.LEAD)
    with pytest.raises(Invalid, match="your own challenge"):
        decide_challenge(actor=alice, challenge=made, uphold=True, answer="Yes.")
    with pytest.raises(Invalid):
        decide_challenge(actor=lea, challenge=made, uphold=True, answer=" ")


# --- The doors --------------------------------------------------------------------------------------------------------
def test_the_page_tells_and_takes_a_challenge(told, alice, lea):
    queue, assignment = told
    client = enter(alice)
    text = client.get("/checked/").content.decode()
    assert "3 Strong ±1" in text
    assert "gold" not in text.lower()
    refused = client.post("/checked/", {"assignment": str(assignment.uid), "reason": " "})
    assert refused.status_code == 422
    assert "Say in 1 to 4,000 characters" in refused.content.decode()
    client.post("/checked/", {"assignment": str(assignment.uid), "reason": "It failed."})
    made = GoldChallenge.objects.get()
    assert "You challenged this: waits for a lead." in client.get("/checked/").content.decode()
    assert client.post("/checked/", {"assignment": "nonsense", "reason": "x"}).status_code == 404
    lead = enter(lea)
    assert "It failed." in lead.get(f"/queues/{queue.uid}/gold/").content.decode()
    item = f"/queues/{queue.uid}/gold/{made.placement.gold_item_id}/"
    assert "It failed." in lead.get(item).content.decode()
    lead.post(f"/queues/{queue.uid}/gold/challenges/{made.uid}/", {"decision": "reject", "answer": "It did not."})
    assert "It did not." in client.get("/checked/").content.decode()
    assert client.post(f"/queues/{queue.uid}/gold/challenges/{made.uid}/", {"answer": "x"}).status_code == 403


def test_the_api_tells_and_takes_a_challenge(told, project, alice):
    _queue, assignment = told
    (seen,) = by(alice).get("/api/v1/checked/").json()["answers"]
    assert (seen["assignment"], seen["right"], seen["challenge"]) == (str(assignment.uid), False, None)
    address = f"/api/v1/checked/{assignment.uid}/challenge/"
    assert by(make.expert(project, "Bob")).post(address, {"reason": "x"}, format="json").status_code == 404
    assert by(alice).post(address, {"reason": "It failed."}, format="json").status_code == 201
    assert by(alice).post(address, {"reason": "It failed."}, format="json").status_code == 409
    assert by(alice).post(address, {}, format="json").status_code == 422
