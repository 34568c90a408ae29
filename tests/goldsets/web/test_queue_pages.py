"""A queue's pages for its leads: overview, agreement with the items behind it, raters, gold; and who may not."""

from decimal import Decimal

import pytest
from django.urls import reverse

from goldsets.actions.gold import approve_gold, retire_gold, set_gold_rate
from goldsets.enums import GoldState
from goldsets.models import GoldItem, GoldPolicy
from goldsets.queries.overview import overview
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.rubrics import write_guideline
from reviews.enums import QueueItemState
from reviews.models import Queue
from tests import factories as make
from tests.factories.furnished import desk, judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

PAGES = ["overview", "agreement", "raters", "gold"]


@pytest.fixture
def made():
    return desk()


def place(queue, name):
    return reverse(f"goldsets:{name}", args=[queue.uid])


def page(made, name, **asked):
    return enter(made.lead).get(place(made.queue, name), asked).content.decode()


# --- Who may ----------------------------------------------------------------------------------------------------------
def test_only_leads_see_agreement_standing_and_gold(made):
    for person, status in ((made.engineer, 403), (made.experts[0], 403), (make.person("Mallory"), 404)):
        assert {enter(person).get(place(made.queue, name)).status_code for name in PAGES} == {status}


# --- A new queue ------------------------------------------------------------------------------------------------------
def new_queue(made, **changes):
    asked = {
        "name": "Late orders",
        "rubric": made.queue.rubric_id,
        "guideline": made.queue.guideline_id,
        "overlap": "3",
        "settle_rule": "majority",
        "lease_minutes": "20",
        "order": "shuffled",
        "gold_rate": "0.15",
    }
    return enter(made.lead).post(reverse("goldsets:queue_new", args=[made.project.slug]), asked | changes)


def test_a_queue_and_its_gold_rate_are_made_together(made):
    answer = new_queue(made)
    queue = Queue.objects.get(name="Late orders")
    assert answer.url == place(queue, "overview")
    assert (queue.overlap, queue.order, queue.settle_rule) == (3, "shuffled", "majority")
    assert GoldPolicy.objects.get(queue=queue).rate == Decimal("0.150")


def test_a_rate_that_is_too_high_makes_no_queue(made):
    answer = new_queue(made, gold_rate="0.9")
    assert answer.status_code == 422
    assert answer.context["form"].errors["gold_rate"]
    assert "Late orders" in answer.content.decode()
    assert Queue.objects.count() == 1


def test_no_guideline_is_chosen_for_whoever_opens_a_queue_unless_there_is_one_alone(made):
    place = reverse("goldsets:queue_new", args=[made.project.slug])
    alone = enter(made.lead).get(place).context["form"]["guideline"].field.choices
    assert [words for _value, words in alone] == [str(made.queue.guideline)]
    write_guideline(actor=made.lead, project=made.project, name="Another desk", text="Be kind.")
    form = enter(made.lead).get(place).context["form"]
    assert next(words for _value, words in form["guideline"].field.choices) == "choose one"
    assert form["guideline"].value() is None


def test_what_does_well_as_it_is_stands_folded_until_it_is_wrong(made):
    place = reverse("goldsets:queue_new", args=[made.project.slug])
    assert '<details class="more-fields">' in enter(made.lead).get(place).content.decode()
    assert '<details class="more-fields" open>' in new_queue(made, lease_minutes="0").content.decode()


def test_a_rubric_of_another_project_cannot_be_chosen(made):
    other = make.queue(make.project(), items=0)
    answer = new_queue(made, rubric=other.rubric_id)
    assert answer.context["form"].errors["rubric"]


def test_without_rubric_or_guideline_the_page_says_what_comes_first():
    project = make.project()
    lead = make.lead_of(project)
    answer = enter(lead).get(reverse("goldsets:queue_new", args=[project.slug]))
    assert "A rubric and a guideline come first" in answer.content.decode()


# --- Overview ---------------------------------------------------------------------------------------------------------
def test_the_overview_counts_items_by_state(made):
    progress = overview(made.queue).progress
    assert (progress.items, progress.settled, progress.waiting, progress.collecting) == (9, 5, 3, 1)
    assert (progress.judged, progress.wanted) == (25, 27)
    text = page(made, "overview")
    assert "3 items wait for a lead." in text


def test_gold_is_counted_apart_from_what_is_wanted():
    project = make.project()
    lead, alice = make.lead_of(project), make.expert(project, "Alice")
    queue = make.queue(project, items=12, overlap=1)
    for name in ("Bob", "Bob"):
        judge(queue, make.expert(project, name), make.passing())
    for row in queue.queue_items.filter(state=QueueItemState.SETTLED):
        make.gold(row)
    set_gold_rate(actor=lead, queue=queue, rate="0.5")
    for _ in range(9):
        judge(queue, alice, make.passing())
    seen = overview(queue)
    own = next(row for row in seen.raters if row.rater_id == alice.pk)
    assert own.total == 9
    assert own.gold == 2
    assert own.gold_used_up is not None
    assert seen.progress.wanted == 12
    assert seen.progress.judged == 2 + 7
    text = enter(lead).get(place(queue, "overview")).content.decode()
    assert "Alice has seen all gold: nothing checks them until there is more." in text


def test_a_pool_that_is_too_small_is_said(made):
    assert overview(made.queue).pool.needed == 3
    assert "each rater will meet about 3 gold items, and there are 2" in page(made, "overview")


# --- Agreement --------------------------------------------------------------------------------------------------------
def test_a_number_that_is_not_defined_says_why(made):
    text = page(made, "agreement")
    assert "Too few to say" in text
    assert "nan" not in text.lower().replace("finance", "")


def test_the_items_behind_a_number_are_a_click_away(made):
    text = page(made, "behind", criterion="process")
    assert all(str(row.uid) in text for row in made.waiting[:2])
    assert enter(made.lead).get(place(made.queue, "behind"), {"criterion": "nonsense"}).status_code == 404


def test_a_pair_does_not_give_away_who_said_what_before_the_item_is_settled(made):
    alice, bob, _charlie = made.experts
    text = page(made, "behind", criterion="process", first=alice.pk, second=bob.pk)
    assert "2 more wait for a decision." in text
    assert not any(str(row.uid) in text for row in made.waiting)


def test_models_are_compared_and_whose_run_it_is_stays_hidden_until_the_item_is_settled():
    project = make.project()
    pairs = [make.comparison(project, [make.item(project, model=name) for name in ("m 1", "m 2")]) for _ in range(10)]
    better = {"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair", "strength": 0}}
    queue = make.queue(project, items=pairs, criteria=[better], rubric={"item_kind": "comparison"}, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for rater, prefers_first in ((alice, 8), (bob, 6)):
        for number in range(10):
            mine = claim(actor=rater, queue=queue)
            at = mine.candidate_order.index(1 if number < prefers_first else 2) + 1
            payload = {"criteria": {"better": {"prefers": at}}, "confidence": 3}
            submit(actor=rater, uid=mine.uid, payload=payload, idempotency_key="k")
    client = enter(make.lead_of(project))
    text = client.get(place(queue, "agreement")).content.decode()
    assert "Which model is preferred on Better" in text
    assert "model=m%201" in text
    behind = client.get(place(queue, "behind"), {"criterion": "better", "model": "m 1"}).content.decode()
    assert "2 more wait for a decision." in behind
    report = client.get(place(queue, "agreement_report"), {"format": "markdown"}).content.decode()
    assert "| m 1 against m 2 | 0.70 [" in report
    assert "## Better: what is mixed up" in report
    told = client.get(f"/api/v1/queues/{queue.uid}/agreement/").json()["criteria"][0]["models"]["models"]
    assert [(one["model"], one["n_items"], len(one["items"])) for one in told] == [("m 1", 10, 8), ("m 2", 10, 8)]


def test_agreement_of_an_empty_queue_is_a_page(made):
    queue = make.queue(made.project, items=0)
    for name in PAGES:
        assert enter(made.lead).get(place(queue, name)).status_code == 200


# --- Gold -------------------------------------------------------------------------------------------------------------
def test_settled_items_are_made_gold_and_retired(made):
    client = enter(made.lead)
    chosen = made.settled[3]
    client.post(place(made.queue, "gold_candidates"), {"item": [str(chosen.uid), "nonsense"], "tolerance": "0"})
    gold = GoldItem.objects.get(queue_item=chosen)
    assert (gold.state, gold.key, gold.added_by) == (GoldState.PROPOSED, None, made.lead)
    key = gold.keys.get()
    decide = reverse("goldsets:gold_proposal", args=[made.queue.uid, key.uid])
    assert "You proposed this yourself" in client.post(decide, {"decision": "approve"}, follow=True).content.decode()
    enter(make.second_of(made.project)).post(decide, {"decision": "approve"})
    gold.refresh_from_db()
    assert (gold.state, gold.key) == (GoldState.ACTIVE, key)
    assert {entry["tolerance"] for entry in gold.key.expected.values()} == {0}
    client.post(reverse("goldsets:gold_retire", args=[made.queue.uid, gold.pk]))
    gold.refresh_from_db()
    assert gold.state == GoldState.RETIRED


def test_an_item_that_is_not_settled_is_refused(made):
    answer = enter(made.lead).post(
        place(made.queue, "gold_candidates"), {"item": [str(made.waiting[0].uid)], "tolerance": "1"}, follow=True
    )
    assert "Only a settled item can be gold" in answer.content.decode()
    assert not GoldItem.objects.filter(queue_item=made.waiting[0]).exists()


def test_choosing_nothing_is_said(made):
    answer = enter(made.lead).post(place(made.queue, "gold_candidates"), {"tolerance": "1"}, follow=True)
    assert "Choose the items that are to be gold." in answer.content.decode()


def test_the_rate_is_set_and_a_wrong_one_refused(made):
    client = enter(made.lead)
    client.post(place(made.queue, "gold"), {"gold_rate": "0.25"})
    assert GoldPolicy.objects.get(queue=made.queue).rate == Decimal("0.250")
    answer = client.post(place(made.queue, "gold"), {"gold_rate": "2"})
    assert answer.status_code == 422
    assert answer.context["form"].errors["gold_rate"]


def test_retired_gold_can_come_back(made):
    gold = GoldItem.objects.filter(queue=made.queue).first()
    retire_gold(actor=made.lead, gold_item=gold)
    assert str(gold.queue_item.uid) in page(made, "gold_candidates")
    enter(made.lead).post(place(made.queue, "gold_candidates"), {"item": [str(gold.queue_item.uid)], "tolerance": "1"})
    approve_gold(actor=make.second_of(made.project), key=gold.keys.get(number=2))
    gold.refresh_from_db()
    assert (gold.state, gold.key.number) == (GoldState.ACTIVE, 2)


def test_nobody_else_touches_gold(made):
    gold = GoldItem.objects.filter(queue=made.queue).first()
    for person in (made.engineer, made.experts[0]):
        client = enter(person)
        assert client.post(place(made.queue, "gold"), {"gold_rate": "0"}).status_code == 403
        assert (
            client.post(place(made.queue, "gold_candidates"), {"item": [str(made.settled[3].uid)]}).status_code == 403
        )
        assert client.post(reverse("goldsets:gold_retire", args=[made.queue.uid, gold.pk])).status_code == 403
    gold.refresh_from_db()
    assert gold.state == GoldState.ACTIVE


def test_what_a_rater_got_wrong_on_gold_is_a_click_away():
    project = make.project()
    lead, alice, bob = make.lead_of(project), make.expert(project, "Alice"), make.expert(project, "Bob")
    queue = make.queue(project, items=12, overlap=1)
    judge(queue, bob, make.passing(success=3))
    row = queue.queue_items.get(state=QueueItemState.SETTLED)
    make.gold(row, tolerance=1)
    set_gold_rate(actor=lead, queue=queue, rate="0.5")
    for _ in range(6):
        judge(queue, alice, make.passing(success=0))
    missed = reverse("goldsets:missed", args=[queue.uid, alice.pk])
    client = enter(lead)
    assert missed in client.get(place(queue, "raters")).content.decode()
    page = client.get(missed).content.decode()
    assert "wrong on 1 of 1 gold items" in page
    assert str(row.uid) in page
    assert client.get(reverse("goldsets:missed", args=[queue.uid, lead.pk])).status_code == 404
    assert enter(alice).get(missed).status_code == 403
