"""Short of a decision: an item goes back to its raters, to a second lead or out of the way; and what is undone."""

import json
import re
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from reviews.actions.adjudicating import adjudicate, answer_first, undo
from reviews.actions.correcting import correct
from reviews.actions.queueing import add_items, change_queue
from reviews.actions.referring import answer_referral, refer, take_back
from reviews.actions.settling import settle_marked
from reviews.enums import QueueItemState, Role
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Assignment, DecisionDraft, Event, FirstAnswer, Label
from reviews.queries.disagreements import Filters, inbox, waiting_count
from reviews.queries.referrals import asked_again
from reviews.queries.rubric_versions import open_work
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

DECISION = {name: make.passing(process=1)[name] for name in ("gates", "criteria")}
DECISION |= {"reasons": {"process": "rater_error"}, "note": "The middle."}


@pytest.fixture
def lead():
    return make.person("Lea")


@pytest.fixture
def queue(lead):
    return make.queue(make.project(lead), items=1, overlap=2)


@pytest.fixture
def raters(queue):
    """Alice and Bob, who differ on Process."""
    people = [make.expert(queue.project, name) for name in ("Alice", "Bob")]
    for process, person in zip((0, 2), people, strict=True):
        judge(queue, person, make.passing(process=process))
    return people


@pytest.fixture
def row(queue, raters):
    return queue.queue_items.get()


def ask_raters(lead, row):
    return refer(actor=lead, queue_item=row, kind="raters", text="Did the order of the steps matter?")


# --- Back to the raters -----------------------------------------------------------------------------------------------
def test_raters_are_asked_answer_and_the_item_waits_again(queue, lead, row, raters):
    alice, bob = raters
    referral = ask_raters(lead, row)
    assert inbox(queue, lead).rows == []
    assert waiting_count(queue) == 0
    assert [found.queue_item for found in inbox(queue, lead, filters=Filters(waits_for="raters")).rows] == [row]
    assert [one.referral for one in asked_again(alice)] == [referral]
    answer_referral(actor=alice, uid=referral.uid, text="It did.")
    assert asked_again(alice) == []
    row.refresh_from_db()
    assert row.waits_for == "raters"
    answer_referral(actor=bob, uid=referral.uid, text="It did not.")
    row.refresh_from_db()
    assert (row.state, row.waits_for) == (QueueItemState.WAITING, "disagreement")
    page = enter(lead).get(reverse("reviews:adjudicate", args=[queue.uid, row.uid])).content.decode()
    assert "It did not." in page
    # A token of the page may have these three letters in its middle.
    assert not re.search(r"\bBob\b", page)


def test_a_correction_answers_even_after_the_day_and_settles_where_they_now_agree(lead, row, raters):
    alice, bob = raters
    with time_machine.travel(timezone.now() + timedelta(days=3)):
        referral = ask_raters(lead, row)
        answer_referral(actor=bob, uid=referral.uid, text="I stay with it.")
        mine = Assignment.objects.get(item=row.item, rater=alice)
        payload = make.passing(process=2)
        correct(actor=alice, uid=mine.uid, payload=payload, idempotency_key="again", seen_revision=1)
    row.refresh_from_db()
    assert row.state == QueueItemState.SETTLED
    assert row.label.values.get(criterion__key="process").value == 2


def test_only_those_who_judged_it_are_asked_and_nobody_learns_who_they_are(queue, lead, row, raters):
    referral = ask_raters(lead, row)
    with pytest.raises(NotFound):
        answer_referral(actor=make.expert(queue.project, "Carol"), uid=referral.uid, text="Me too.")
    answer_referral(actor=raters[0], uid=referral.uid, text="It did.")
    listed = by(lead).get(f"/api/v1/events/?project={queue.project.slug}").content.decode()
    assert "referral.answered" not in listed


def test_a_rater_answers_on_the_page_of_their_judgment(lead, row, raters):
    ask_raters(lead, row)
    client, mine = enter(raters[0]), Assignment.objects.get(item=row.item, rater=raters[0])
    assert "look again at 1 item" in client.get("/").content.decode()
    assert "Did the order" in client.get(reverse("reviews:own_judgments")).content.decode()
    page = reverse("reviews:again", args=[mine.uid])
    assert "Did the order of the steps matter?" in client.get(page).content.decode()
    client.post(reverse("reviews:answer_referral", args=[mine.uid]), {"text": "It did."})
    assert "Did the order of the steps matter?" not in client.get(page).content.decode()


# --- To a second lead, or apart ---------------------------------------------------------------------------------------
def test_a_second_lead_decides_alone(queue, lead, row):
    with pytest.raises(Conflict):
        refer(actor=lead, queue_item=row, kind="second_lead", text="I know the requester.")
    lena = make.person("Lena")
    make.member(queue.project, lena, Role.LEAD)
    refer(actor=lead, queue_item=row, kind="second_lead", text="I know the requester.")
    assert inbox(queue, lead).rows == []
    assert [found.queue_item for found in inbox(queue, lena).rows] == [row]
    page = reverse("reviews:adjudicate", args=[queue.uid, row.uid])
    told = [enter(who).get(page).content.decode().count("Take it back to decide it.") for who in (lead, lena)]
    assert told == [1, 0]
    with pytest.raises(Forbidden):
        adjudicate(actor=lead, queue_item=row, payload=DECISION)
    assert adjudicate(actor=lena, queue_item=row, payload=DECISION).adjudication.lead == lena
    assert row.referrals.get().closed_at


def test_what_is_set_apart_waits_for_nobody_until_it_is_taken_back(queue, lead, row):
    refer(actor=lead, queue_item=row, kind="apart", text="The run is broken.")
    assert inbox(queue, lead).rows == []
    with pytest.raises(Conflict):
        adjudicate(actor=lead, queue_item=row, payload=DECISION)
    with pytest.raises(Conflict):
        refer(actor=lead, queue_item=row, kind="apart", text="Again.")
    assert take_back(actor=lead, queue_item=row).waits_for == "disagreement"
    assert len(inbox(queue, lead).rows) == 1


# --- Into a queue of its own ------------------------------------------------------------------------------------------
def split_out(lead, row, name="Odd ones", **changes):
    return refer(actor=lead, queue_item=row, kind="own_queue", text="It is about a loan.", queue=name, **changes)


def test_an_item_is_split_out_into_a_new_queue_set_up_as_its_own(queue, lead, row):
    change_queue(actor=lead, queue=queue, lead_answers_first=True, lease_minutes=7)
    into = split_out(lead, row).queue
    assert (into.name, into.rubric, into.guideline, into.overlap) == ("Odd ones", queue.rubric, queue.guideline, 2)
    assert (into.lease_minutes, into.lead_answers_first) == (7, True)
    there = into.queue_items.get()
    assert (there.item, there.state) == (row.item, QueueItemState.COLLECTING)
    assert there.slots.count() == 2
    assert inbox(queue, lead).rows == []
    assert waiting_count(queue) == 0
    assert [found.queue_item for found in inbox(queue, lead, filters=Filters(waits_for="own_queue")).rows] == [row]
    with pytest.raises(Conflict):
        adjudicate(actor=lead, queue_item=row, payload=DECISION)
    assert take_back(actor=lead, queue_item=row).waits_for == "disagreement"


def test_what_is_like_it_goes_into_the_same_queue_and_nothing_goes_in_twice(queue, lead, row):
    other = make.queue(queue.project, items=0, rubric=None, overlap=1)
    assert split_out(lead, row, other.name).queue == other
    take_back(actor=lead, queue_item=row)
    with pytest.raises(Conflict, match="has this item already") as refused:
        split_out(lead, row, other.name)
    assert refused.value.field == "queue"
    fair = {"key": "fair", "title": "Fair", "kind": "binary"}
    tasks = make.queue(queue.project, items=0, rubric={"item_kind": "task"}, criteria=[fair])
    with pytest.raises(Conflict, match="its rubric is not for it"):
        split_out(lead, row, tasks.name)
    for name in ("", " ", "x" * 121, "a\x00b", None):
        with pytest.raises(Invalid) as refused:
            split_out(lead, row, name)
        assert list(refused.value.errors) == ["queue"]
    row.refresh_from_db()
    assert row.waits_for == "disagreement"


def test_what_is_settled_where_it_was_split_out_to_is_settled(queue, lead, row):
    """Its outcome and its model are shown, as those of an item that is in one queue alone."""
    into = split_out(lead, row).queue
    places = [f"/api/v1/items/{row.item.uid}/", f"/api/v1/labels/?project={queue.project.slug}"]
    assert "outcome" not in by(lead).get(places[0]).json()
    for name in ("Dora", "Ed"):
        judge(into, make.expert(queue.project, name), make.passing())
    settle_marked()
    item, labels = (by(lead).get(place).json() for place in places)
    assert "outcome" in item
    assert ["model" in label["versions"] for label in labels["results"]] == [True]
    take_back(actor=lead, queue_item=row)
    assert "outcome" not in by(lead).get(places[0]).json()


def test_what_is_passed_on_waits_for_no_lead_where_it_lies(queue, lead, row):
    """Counted so by the project's page, the queue's, the API, and what a next version would take over."""
    pages = [reverse("reviews:project", args=[queue.project.slug]), reverse("goldsets:overview", args=[queue.uid])]

    def told():
        counts = by(lead).get(f"/api/v1/queues/{queue.uid}/").json()["items"]
        told = ["1 item waits for a lead." in enter(lead).get(page).content.decode() for page in pages]
        return [counts["waiting"], counts["passed_on"], *told]

    assert told() == [1, 0, True, True]
    into = split_out(lead, row).queue
    assert told() == [0, 1, False, False]
    assert "1 more is passed on" in enter(lead).get(pages[1]).content.decode()
    (work,) = [one for one in open_work(queue.project, queue.rubric.name) if one.queue == queue]
    assert work.unfinished == 0
    item = reverse("reviews:item", args=[queue.project.slug, row.item.uid])
    assert "split out into another queue" in enter(lead).get(item).content.decode()
    for name in ("Dora", "Ed"):
        judge(into, make.expert(queue.project, name), make.passing())
    settle_marked()
    label = Label.objects.get(queue=into)
    page = enter(lead).get(reverse("reviews:adjudicate", args=[queue.uid, row.uid])).content.decode()
    assert reverse("reviews:label", args=[queue.project.slug, label.uid]) in page
    (referral,) = by(lead).get(f"/api/v1/queue-items/{row.uid}/referrals/").json()
    assert referral["label"] == str(label.uid)
    row.refresh_from_db()
    assert (row.state, row.label) == (QueueItemState.WAITING, None)


def test_a_lead_splits_an_item_out_by_page_api_and_command(queue, lead, row):
    client, pages = enter(lead), {"args": [queue.uid, row.uid]}
    client.post(reverse("reviews:pass_on", **pages), {"kind": "own_queue", "text": "A loan.", "queue": "Loans"})
    assert "Loans" in client.get(reverse("reviews:adjudicate", **pages)).content.decode()
    assert "split out" in client.get(reverse("reviews:disagreements", args=[queue.uid])).content.decode()
    take_back(actor=lead, queue_item=row)
    address = f"/api/v1/queue-items/{row.uid}/referrals/"
    told = by(lead).post(address, {"kind": "own_queue", "text": "A loan.", "queue": "Credit"}, format="json")
    assert (told.status_code, told.json()["queue"]) == (201, str(row.referrals.last().queue.uid))
    wrong = by(lead).post(address, {"kind": "own_queue", "text": "A loan."}, format="json")
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["queue"])
    take_back(actor=lead, queue_item=row)
    options = {"into": "By command", "because": "A loan.", "email": lead.email}
    call_command("split_out", queue.slug, str(row.uid), **options)
    assert row.referrals.last().queue.name == "By command"
    for items, sentence in (([str(queue.uid)], "There is no item"), ([str(row.uid)], "does not wait for a lead")):
        with pytest.raises(CommandError, match=sentence):
            call_command("split_out", queue.slug, *items, **options)


# --- First ------------------------------------------------------------------------------------------------------------
def test_what_a_lead_puts_first_comes_before_an_older_one_until_it_no_longer_does(queue, lead, row, raters):
    add_items(actor=lead, queue=queue, items=[make.item(queue.project)])
    for process, person in zip((0, 2), raters, strict=True):
        judge(queue, person, make.passing(process=process))
    newer = queue.queue_items.exclude(pk=row.pk).get()
    assert [found.queue_item for found in inbox(queue, lead).rows] == [row, newer]
    address = reverse("reviews:put_first", args=[queue.uid, newer.uid])
    enter(lead).post(address, {"first": "yes"})
    assert [found.queue_item for found in inbox(queue, lead).rows] == [newer, row]
    assert "First" in enter(lead).get(reverse("reviews:disagreements", args=[queue.uid])).content.decode()
    enter(lead).post(address)
    assert [found.queue_item for found in inbox(queue, lead).rows] == [row, newer]
    by_api = f"/api/v1/queue-items/{newer.uid}/first/"
    assert by(lead).put(by_api, {"first": True}, format="json").status_code == 204
    assert by(lead).put(by_api, {"first": "maybe"}, format="json").status_code == 422
    assert by(raters[0]).put(by_api, {"first": True}, format="json").status_code == 403
    assert Event.objects.filter(verb="item.put_first").count() == 3
    assert [found.queue_item for found in inbox(queue, lead).rows] == [newer, row]
    call_command("put_first", queue.slug, str(newer.uid), email=lead.email, no_longer=True)
    assert [found.queue_item for found in inbox(queue, lead).rows] == [row, newer]
    told = StringIO()
    call_command("put_first", queue.slug, str(newer.item.uid), email=lead.email, json=True, stdout=told)
    assert json.loads(told.getvalue()) == {"queue": queue.slug, "items": 1, "first": True}
    assert [found.queue_item for found in inbox(queue, lead).rows] == [newer, row]
    with pytest.raises(CommandError, match="Only leads"):
        call_command("put_first", queue.slug, str(newer.uid), email=raters[0].email)


@pytest.mark.parametrize("changes", [{"kind": "nobody"}, {"text": " "}, {"text": "x" * 2001}, {"text": None}])
def test_what_is_not_said_rightly_is_refused(lead, row, changes):
    with pytest.raises(Invalid):
        refer(**{"actor": lead, "queue_item": row, "kind": "apart", "text": "Broken."} | changes)


def test_only_leads_pass_on(row, raters):
    with pytest.raises(Forbidden):
        refer(actor=raters[0], queue_item=row, kind="apart", text="Broken.")


# --- The lead's own answer first --------------------------------------------------------------------------------------
def test_a_lead_answers_before_the_raters_are_shown_and_the_answer_stays(queue, lead, row):
    change_queue(actor=lead, queue=queue, lead_answers_first=True)
    row.refresh_from_db()
    client, address = enter(lead), reverse("reviews:adjudicate", args=[queue.uid, row.uid])
    page = client.get(address)
    assert page.context["page"].raters == ()
    assert "Done as asked." not in page.content.decode()
    listed = by(lead).get(f"/api/v1/queues/{queue.uid}/disagreements/").json()["results"]
    assert listed[0]["judgments"] == []
    with pytest.raises(Conflict):
        adjudicate(actor=lead, queue_item=row, payload=DECISION)
    form = {f"gates.{key}": value for key, value in DECISION["gates"].items()}
    form |= {f"criteria.{key}": str(value) for key, value in DECISION["criteria"].items()}
    client.post(address, form)
    answer = FirstAnswer.objects.get()
    assert (answer.lead, answer.payload["criteria"]) == (lead, DECISION["criteria"])
    page = client.get(address)
    assert len(page.context["page"].raters) == 2
    assert page.context["page"].form.qualities[1].words == "Weak"
    with pytest.raises(Conflict):
        answer_first(actor=lead, queue_item=row, payload=DECISION)
    with pytest.raises(DatabaseError), transaction.atomic():
        FirstAnswer.objects.update(payload={})
    adjudicate(actor=lead, queue_item=row, payload=DECISION)


def test_a_draft_that_comes_after_the_decision_is_not_kept(queue, lead, row):
    draft = reverse("reviews:decision_draft", args=[queue.uid, row.uid])
    adjudicate(actor=lead, queue_item=row, payload=DECISION)
    assert enter(lead).post(draft, {"note": "Half a thought", "seen": "0"}).status_code == 409
    assert not DecisionDraft.objects.exists()
    assert enter(lead).post(draft, {"note": "Second thoughts", "seen": "1"}).status_code == 204


def test_a_draft_of_a_decision_is_there_again_and_goes_with_it(queue, lead, row):
    client, address = enter(lead), reverse("reviews:adjudicate", args=[queue.uid, row.uid])
    draft = reverse("reviews:decision_draft", args=[queue.uid, row.uid])
    assert client.post(draft, {"note": "Half a thought", "gates.authorised": "fail"}).status_code == 204
    assert "Half a thought" in client.get(address).content.decode()
    adjudicate(actor=lead, queue_item=row, payload=DECISION)
    assert not DecisionDraft.objects.exists()


# --- Ambiguous, and undone --------------------------------------------------------------------------------------------
def test_ambiguous_is_a_label_without_values_that_passes_nothing(queue, lead, row):
    with pytest.raises(Invalid):
        adjudicate(actor=lead, queue_item=row, payload={"ambiguous": True})
    label = adjudicate(actor=lead, queue_item=row, payload={"ambiguous": True, "note": "Late can be two things."})
    assert (label.basis, label.values.count(), label.rationale) == ("ambiguous", 0, "Late can be two things.")
    (listed,) = by(lead).get(f"/api/v1/labels/?project={queue.project.slug}").json()["results"]
    assert (listed["basis"], listed["gates_pass"]) == ("ambiguous", False)
    page = enter(lead).get(reverse("reviews:labels", args=[queue.project.slug])).content.decode()
    assert "no value is right" in page
    assert "Gates <b>pass" not in page


def test_an_undone_decision_gives_way_to_what_stood_before(lead, row):
    first = adjudicate(actor=lead, queue_item=row, payload=DECISION)
    row.refresh_from_db()
    adjudicate(actor=lead, queue_item=row, payload={"ambiguous": True, "note": "Hm."})
    row.refresh_from_db()
    again = undo(actor=lead, queue_item=row, seen_revision=2)
    assert again.revision == 3
    assert {value.criterion.key: value.value for value in again.values.all()} == {
        value.criterion.key: value.value for value in first.values.all()
    }
    assert again.adjudication.undoes.number == 2
    row.refresh_from_db()
    with pytest.raises(Conflict):
        undo(actor=lead, queue_item=row)


def test_where_nothing_stood_before_an_undone_item_waits_again(queue, lead, row):
    adjudicate(actor=lead, queue_item=row, payload=DECISION)
    row.refresh_from_db()
    with pytest.raises(Conflict):
        undo(actor=lead, queue_item=row, seen_revision=7)
    assert undo(actor=lead, queue_item=row, seen_revision=1) is None
    row.refresh_from_db()
    assert (row.state, row.label) == (QueueItemState.WAITING, None)
    assert Label.objects.filter(item=row.item).count() == 1
    assert Event.objects.filter(verb="decision.undone").count() == 1
    assert adjudicate(actor=lead, queue_item=row, payload=DECISION).judgment_count == 2
