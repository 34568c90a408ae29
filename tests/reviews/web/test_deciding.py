"""A comparison on which raters differ: what each said, in the item's own order, and the lead's decision."""

import pytest
from django.urls import reverse

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.pairing import make_comparison
from reviews.models import Label, QueueItem
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

GATE = {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate"}
BETTER = {
    "key": "better",
    "title": "Which is better",
    "kind": "preference",
    "levels": [{"value": 1, "name": "Asks first"}],
    "settings": {"form": "pair", "strength": 2, "ties": ["equally_good"]},
}
PASS = {"gates": {"authorised": "pass"}}
FAIL = {
    "gates": {"authorised": "fail"},
    "failure": {"step": 3, "who": "agent", "cause": "unauthorised_access", "note": ""},
}


@pytest.fixture
def queue(project):
    first = make.item(project)
    other = another_run(first, (*make.STEPS[:2], Step(role="agent", text="You will hear from us.")))
    item = make_comparison(actor=make.lead_of(project), project=project, items=[first, other]).item
    return make.queue(project, items=[item], criteria=[GATE, BETTER], rubric={"item_kind": "comparison"}, overlap=2)


def says(queue, name, *, better=None, of=None):
    """Judges in words of the item's own order, whatever order the rater was given."""
    rater = make.expert(queue.project, name)
    mine = claim(actor=rater, queue=queue)
    of = of or {1: PASS, 2: PASS}
    payload = {"candidates": [of[position] for position in mine.candidate_order], "confidence": 3}
    payload["rationale"] = f"{name} says so."
    if better:
        place = mine.candidate_order.index(better) + 1
        payload["criteria"] = {"better": {"prefers": place, "strength": 1, "reasons": [1]}}
    submit(actor=rater, uid=mine.uid, payload=payload, idempotency_key=name)


def page_of(queue):
    waiting = QueueItem.objects.get(queue=queue)
    return reverse("reviews:adjudicate", args=[queue.uid, waiting.uid])


def form(**said):
    """What the page sends: the item's order, A and B."""
    return {
        "places": "2",
        "kind.authorised": "candidate gate",
        "kind.better": "prefer pair",
        "seen": "0",
        **said,
    }


def test_what_each_rater_said_stands_in_the_items_own_order(queue):
    says(queue, "Alice", better=1)
    says(queue, "Bob", better=2)
    lead = enter(make.lead_of(queue.project))
    inbox = lead.get(reverse("reviews:disagreements", args=[queue.uid])).content.decode()
    assert "2 beside each other" in inbox
    page = lead.get(page_of(queue)).content.decode()
    for words in ("A, by 1 (asks first)", "B, by 1 (asks first)", "Alice says so.", "1 of 3 differ"):
        assert words in page
    assert page.index("A refund of $64.20") < page.index("You will hear from us.")
    assert "secret-model" not in page
    assert "Alice</b>" not in page


def test_a_lead_decides_and_a_label_comes_of_it(queue):
    says(queue, "Alice", better=1)
    says(queue, "Bob", better=2)
    lead = enter(make.lead_of(queue.project))
    gates = {"candidates.1.gates.authorised": "pass", "candidates.2.gates.authorised": "pass"}
    missing = lead.post(page_of(queue), form(**gates, **{"prefer.better": "2-2"}))
    assert missing.status_code == 422
    assert 'value="2-2" checked' in missing.content.decode()
    decided = form(**gates, **{"prefer.better": "2-2", "reason": "item_ambiguous", "note": "B hears them out."})
    lead.post(page_of(queue), decided)
    label = Label.objects.get()
    assert {(value.criterion.key, value.candidate): value.words for value in label.values.all()} == {
        ("authorised", 1): "Pass",
        ("authorised", 2): "Pass",
        ("better", None): "B, by 2",
    }
    assert label.rationale == "B hears them out."
    labels = lead.get(reverse("reviews:labels", args=[queue.project.slug])).content.decode()
    assert "B, by 2" in labels


def test_a_gate_that_a_lead_fails_decides_the_preference(queue):
    says(queue, "Alice", better=1)
    says(queue, "Bob", of={1: FAIL, 2: PASS})
    lead = enter(make.lead_of(queue.project))
    page = lead.get(page_of(queue)).content.decode()
    assert "step 3, agent: unauthorised access" in page
    said = {"candidates.1.gates.authorised": "fail", "candidates.2.gates.authorised": "pass", "prefer.better": "1-2"}
    assert lead.post(page_of(queue), form(**said, reason="rater_error")).status_code == 422
    point = {"step": "3", "who": "agent", "cause": "unauthorised_access", "note": "A stranger's."}
    said |= {f"candidates.1.failure.{name}": value for name, value in point.items()}
    lead.post(page_of(queue), form(**said, reason="rater_error"))
    failure = Label.objects.get().adjudication.failures.get()
    assert (failure.candidate, failure.failure_step, failure.failure_note) == (1, 3, "A stranger's.")
    better = Label.objects.get().values.get(criterion__key="better")
    assert (better.ranks, better.value) == ([2, 1], None)
