"""Rationales that speak for the other verdict: flagged in the worker, looked at by leads, never seen by raters."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from goldsets.actions.rationales import hear, look
from goldsets.models import RationaleFlag, RationaleWatch
from goldsets.queries.rationales import queues_to_hear, rationales_page
from goldsets.tasks import hear_rationales
from reviews.actions.dealing import claim
from reviews.errors import Conflict, Forbidden, NotFound
from reviews.models import Event, Label, QueueItem
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

GOOD = ("Looked, asked, did it.", "Clean from start to end.", "Nothing to add, all of it holds.")
BAD = ("Opens a record that is not theirs.", "Nobody was asked before.", "Made up, no call behind it.")


def judged(count=35):
    """So many judgments of each verdict in seven families, and one that fails what its words call clean."""
    project = make.project()
    alice = make.expert(project, "Alice")
    items = [make.item(project, family=f"family-{n % 7}") for n in range(2 * count + 1)]
    queue = make.queue(project, items=items, overlap=1)
    for n in range(count):
        judge(queue, alice, make.passing(rationale=GOOD[n % 3]))
        judge(queue, alice, make.failing(rationale=BAD[n % 3]))
    odd = judge(queue, alice, make.failing(rationale="Clean from start to end, nothing to add."))
    return queue, alice, odd


def test_what_parts_from_its_words_is_flagged_once_and_changes_nothing():
    queue, _alice, odd = judged()
    before = (Label.objects.count(), list(QueueItem.objects.values_list("state", "label")))
    hear_rationales()
    hear(queue=queue)
    flag = RationaleFlag.objects.get()
    assert (flag.judgment, flag.fitted, flag.families) == (odd, 71, 7)
    assert flag.probability >= 0.8
    assert Event.objects.filter(verb="rationale.flagged", actor=None).count() == 1
    assert (Label.objects.count(), list(QueueItem.objects.values_list("state", "label"))) == before
    assert list(queues_to_hear()) == []


def test_a_lead_looks_and_how_often_it_was_right_is_counted():
    queue, _alice, odd = judged()
    hear(queue=queue)
    lead = make.lead_of(queue.project)
    browser = enter(lead)
    assert (
        "1 rationale speaks for the other verdict."
        in browser.get(reverse("reviews:disagreements", args=[queue.uid])).content.decode()
    )
    place = reverse("goldsets:rationales", args=[queue.uid])
    page = browser.get(place).content.decode()
    assert "decided <b>fail</b>" in page
    assert "Alice" in page
    flag = RationaleFlag.objects.get()
    browser.post(reverse("goldsets:rationale_looked", args=[flag.uid]), {"parts": "yes"})
    found = rationales_page(queue, lead)
    assert (found.rows, found.precision.value, found.precision.n_units) == ([], 1.0, 1)
    with pytest.raises(Conflict):
        look(actor=lead, flag=flag, parts=False)
    assert odd.ratings.count() == 2


def test_no_rater_sees_it_anywhere():
    queue, alice, _odd = judged()
    own = [reverse("reviews:own_judgments"), reverse("reviews:home")]
    before = [enter(alice).get(place).content for place in own]
    hear(queue=queue)
    flag = RationaleFlag.objects.get()
    browser = enter(alice)
    for place in (reverse("goldsets:rationales", args=[queue.uid]), f"/api/v1/queues/{queue.uid}/rationales/"):
        assert browser.get(place).status_code == 403
    for place in (
        reverse("goldsets:rationale_looked", args=[flag.uid]),
        f"/api/v1/rationales/{flag.uid}/look/",
    ):
        assert browser.post(place, {"parts": "yes"}).status_code == 403
    with pytest.raises(Forbidden):
        look(actor=alice, flag=flag, parts=True)
    assert [len(enter(alice).get(place).content) for place in own] == [len(page) for page in before]


def test_while_raters_are_still_at_it_or_the_lead_is_one_it_is_only_counted():
    queue, _alice, odd = judged()
    lead = make.lead_of(queue.project)
    hear(queue=queue)
    flag = RationaleFlag.objects.get()
    QueueItem.objects.filter(queue=queue, item=odd.item).update(state="collecting", label=None)
    found = rationales_page(queue, lead)
    assert (found.rows, found.kept_back) == ([], 1)
    with pytest.raises(NotFound):
        look(actor=lead, flag=flag, parts=True)
    QueueItem.objects.filter(queue=queue, item=odd.item).update(state="waiting")
    assert [row.rater for row in rationales_page(queue, lead).rows] == [""]


def test_the_api_and_the_command_say_the_same():
    queue, _alice, odd = judged()
    out = StringIO()
    call_command("rationales", queue.slug, "--hear", stdout=out)
    assert out.getvalue().splitlines()[-1].startswith("1 wait to be looked at")
    browser = enter(make.lead_of(queue.project))
    found = browser.get(f"/api/v1/queues/{queue.uid}/rationales/").json()
    assert [(row["verdict"], row["item"]) for row in found["rows"]] == [("fail", str(odd.item.uid))]
    assert (found["fitted"], found["precision"]["reason"]) == (71, "no_ratings")
    place = f"/api/v1/rationales/{found['rows'][0]['uid']}/look/"
    assert browser.post(place, json.dumps({"parts": "yes"}), content_type="application/json").status_code == 422
    assert browser.post(place, json.dumps({"parts": False}), content_type="application/json").status_code == 201
    assert browser.post(place, json.dumps({"parts": False}), content_type="application/json").status_code == 409


def test_a_queue_with_little_says_why_it_cannot_be_heard():
    project = make.project()
    queue = make.queue(project, items=2, overlap=1)
    judge(queue, make.expert(project), make.passing())
    hear(queue=queue)
    assert RationaleWatch.objects.get().words.startswith("Too few to learn from")
    page = enter(make.lead_of(project)).get(reverse("goldsets:rationales", args=[queue.uid])).content.decode()
    assert "Too few to learn from" in page
    assert claim(actor=make.expert(project, "Bob"), queue=queue)
