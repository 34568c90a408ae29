"""Charlie decides between Alice and Bob on every kind of question, and on labels of steps, by page and by API."""

import pytest
from django.test import Client
from django.urls import reverse

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Criterion, Label
from reviews.queries.disagreements import Filters, inbox
from reviews.queries.payloads import values_given
from tests import factories as make
from tests.reviews.actions.test_kinds import KINDS, STEP_WORDS

pytestmark = pytest.mark.django_db

ALICE = {"polite": True, "harm": 2, "what": "It burnt.", "seen": [1, 2], "minutes": 4, "refund_64": True}
BOB = {"polite": False, "harm": 1, "what": "A scratch.", "seen": [2], "minutes": 9, "refund_64": True}
REASONS = dict.fromkeys(("polite", "harm", "seen", "minutes"), "rater_error")


@pytest.fixture
def lead():
    return make.person("Charlie")


@pytest.fixture
def waiting(lead):
    """An item on which Alice and Bob differ in all but the item's own question, and at the third step."""
    project = make.project(lead)
    item = make.item(project)
    Criterion.objects.create(item=item, key="refund_64", title="Refunds exactly $64.20", kind="binary", position=1)
    rubric = {"step_labels": {"words": STEP_WORDS, "until_first": True}}
    queue = make.queue(project, items=[item], criteria=KINDS, rubric=rubric, overlap=2)
    for name, criteria, steps in (("Alice", ALICE, {"2": 1, "3": -1}), ("Bob", BOB, {"2": 1, "3": 0, "4": 1})):
        person = make.expert(project, name)
        payload = {"gates": {"safe": "pass"}, "criteria": criteria, "steps": steps, "confidence": 3}
        payload["notes"] = {"harm": f"So says {name}."}
        submit(actor=person, uid=claim(actor=person, queue=queue).uid, payload=payload, idempotency_key=name)
    return queue.queue_items.get()


@pytest.fixture
def client(lead):
    browser = Client()
    browser.force_login(lead, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


def address(waiting):
    return reverse("reviews:adjudicate", kwargs={"uid": waiting.queue.uid, "item_uid": waiting.uid})


def form_of(**fields):
    kinds = {f"kind.{row['key']}": row["kind"] for row in KINDS if row["kind"] != "text"}
    return {
        **kinds,
        "kind.refund_64": "binary",
        "gates.safe": "pass",
        "criteria.polite": "yes",
        "criteria.harm": "1",
        "criteria.seen": ["2"],
        "criteria.minutes": "9",
        "criteria.refund_64": "yes",
        "steps": '{"2": 1}',
        "step.3": "-1",
        "reason": "rater_error",
        "note": "It was a scratch.",
        **fields,
    }


DECIDED = {"polite": True, "harm": 1, "seen": [2], "minutes": 9, "refund_64": True}


def test_the_inbox_says_on_what_they_differ_whatever_its_kind(waiting, lead):
    (row,) = inbox(waiting.queue, lead).rows
    assert [criterion.key for criterion in row.differing] == ["polite", "harm", "seen", "minutes"]
    assert (row.labels_differ, row.steps_differ) == (True, False)
    assert len(inbox(waiting.queue, lead, filters=Filters(criterion="step_labels")).rows) == 1
    assert inbox(waiting.queue, lead, filters=Filters(criterion="refund_64")).rows == []


def test_every_kind_stands_side_by_side_and_what_nobody_contradicts_is_chosen(client, waiting):
    page = client.get(address(waiting)).content.decode()
    for words in (
        "4 of 7 differ",
        "Shorter, Better grounded",
        "It burnt.",
        "A scratch.",
        "So says Alice.",
        "4 min",
        'name="criteria.refund_64" value="yes" checked',
        'name="step.2" value="1" checked',
        "Take the majority",
        "Answered in words, which are not compared and not decided.",
    ):
        assert words in page
    assert 'name="criteria.polite" value="yes" checked' not in page
    assert 'name="step.3" value="-1" checked' not in page
    assert 'name="criteria.what"' not in page


def test_a_decision_on_every_kind_and_step_makes_the_label(client, waiting):
    answer = client.post(address(waiting), form_of())
    assert answer.status_code == 302, answer.content.decode()
    label = Label.objects.get()
    assert values_given(list(label.values.select_related("criterion")))["criteria"] == DECIDED
    assert [(step.step, step.value, step.basis) for step in label.steps.all()] == [
        (2, 1, "adjudicated"),
        (3, -1, "adjudicated"),
    ]


def test_the_api_takes_the_same_decision(client, waiting):
    listed = client.get(f"/api/v1/queues/{waiting.queue.uid}/disagreements/").json()["results"]
    assert [(row["differing"], row["differing_steps"]) for row in listed] == [
        (["polite", "harm", "seen", "minutes"], [3])
    ]
    payload = {
        "queue_item": str(waiting.uid),
        "gates": {"safe": "pass"},
        "criteria": DECIDED,
        "steps": {"2": 1, "3": -1},
        "reasons": REASONS,
    }
    answer = client.post("/api/v1/adjudications/", payload, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    values = {value["criterion"]: value["value"] for value in answer.json()["values"] if value["criterion"] != "safe"}
    assert values == DECIDED
    assert answer.json()["steps"] == [
        {"step": 2, "value": 1, "name": "Correct", "basis": "adjudicated"},
        {"step": 3, "value": -1, "name": "Incorrect", "basis": "adjudicated"},
    ]


def test_a_step_that_is_left_open_is_named_and_nothing_is_lost(client, waiting):
    fields = {name: value for name, value in form_of().items() if name != "step.3"}
    answer = client.post(address(waiting), fields)
    page = answer.content.decode()
    assert (answer.status_code, "Label every step: 3, 4 are missing." in page) == (422, True)
    assert 'name="criteria.minutes" value="9"' in page


def test_no_quality_of_any_kind_stands_beside_a_gate_that_the_lead_fails(client, waiting):
    fields = form_of(**{"gates.safe": "fail", "failure.step": "3", "failure.who": "agent"})
    fields["failure.cause"] = "unauthorised_access"
    assert client.post(address(waiting), fields).status_code == 302
    label = Label.objects.get()
    assert [value.criterion.key for value in label.values.all()] == ["safe"]
    assert label.steps.count() == 2


def test_the_label_is_told_with_its_steps_wherever_it_is_read(client, waiting):
    client.post(address(waiting), form_of())
    project = waiting.queue.project
    item = reverse("reviews:item", kwargs={"slug": project.slug, "uid": waiting.item.uid})
    for page in (item, reverse("reviews:labels", kwargs={"slug": project.slug})):
        words = client.get(page).content.decode()
        assert "Correct 2; Incorrect 3" in words
        assert "9 min" in words
