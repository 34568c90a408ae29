"""Charlie decides between Alice and Bob on every kind of question and on labels of steps, by keys and by a press."""

import re

import pytest
from playwright.sync_api import expect

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Label
from reviews.queries.payloads import values_given
from tests import factories as make
from tests.browser.test_kinds import press
from tests.reviews.actions.test_kinds import KINDS, STEP_WORDS

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {
    "Alice": ({"polite": True, "harm": 2, "what": "It burnt.", "seen": [1], "minutes": 4}, {"2": 1, "3": -1, "4": 1}),
    "Bob": ({"polite": False, "harm": 1, "what": "A scratch.", "seen": [1], "minutes": 9}, {"2": 1, "3": 0, "4": 0}),
    "Dana": ({"polite": False, "harm": 1, "what": "A dent.", "seen": [1], "minutes": 9}, {"2": 1, "3": 0, "4": -1}),
}


@pytest.fixture
def deciding(transactional_db, context, page, live_server, sign_in):
    """Charlie before an item on which the three differ."""
    lead = make.person("Charlie")
    project = make.project(lead)
    rubric = {"step_labels": {"words": STEP_WORDS}}
    queue = make.queue(project, items=1, criteria=KINDS, rubric=rubric, overlap=3)
    for name, (criteria, steps) in SAID.items():
        person = make.expert(project, name)
        payload = {"gates": {"safe": "pass"}, "criteria": criteria, "steps": steps, "confidence": 3}
        submit(actor=person, uid=claim(actor=person, queue=queue).uid, payload=payload, idempotency_key=name)
    sign_in(context, lead)
    page.goto(f"{live_server.url}/queues/{queue.uid}/disagreements/{queue.queue_items.get().uid}/")
    page.wait_for_selector("#decision .at")
    return page


def test_a_lead_takes_labels_and_answers_by_keys(deciding):
    page = deciding
    expect(page.locator("[data-labelled]")).to_have_text("1 of 3 labelled")
    page.get_by_role("button", name="Take the majority").click()
    expect(page.locator("[data-labelled]")).to_have_text("2 of 3 labelled")
    expect(page.locator("[data-strip='3'] [data-yours]")).to_have_text("Neutral")
    page.locator("#run").focus()
    press(page, "l", "3", "Escape")
    expect(page.locator("[data-labelled]")).to_have_text("3 of 3 labelled")
    expect(page.locator("[data-strip='4'] [data-yours]")).to_have_text("Incorrect")
    press(page, "n")
    page.wait_for_selector("#c-harm.at")
    press(page, "2")
    page.locator("#c-minutes [data-writes]").fill("9")
    page.get_by_label("Rater error").check()
    press(page, "Control+Enter")
    expect(page.get_by_text(re.compile(r"^Settled\."))).to_be_visible()
    label = Label.objects.get()
    values = values_given(list(label.values.select_related("criterion")))
    assert values["criteria"] == {"polite": False, "harm": 1, "seen": [1], "minutes": 9}
    assert [(step.step, step.value) for step in label.steps.all()] == [(2, 1), (3, 0), (4, -1)]


def test_each_rater_is_read_at_each_step_and_nobody_is_kept_out(deciding, no_barriers):
    page = deciding
    said = page.locator("#step-3 .said-of-step .word")
    expect(said).to_have_count(3)
    expect(said.filter(has_text="Incorrect")).to_have_count(1)
    expect(page.locator("#c-what")).to_contain_text("A scratch.")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        no_barriers(page)
