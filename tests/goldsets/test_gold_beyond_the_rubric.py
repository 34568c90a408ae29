"""Gold on the labels of steps and on questions that an item brought along: what it expects, who is right, in words."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from goldsets.actions.challenging import challenge
from goldsets.actions.gold import approve_gold, propose_change, propose_gold, set_feedback, set_gold_rate
from goldsets.actions.importing_gold import import_gold
from goldsets.models import GoldItem, GoldKey
from goldsets.queries.feedback import told_answers
from goldsets.queries.gold import gold_page, gold_pool
from goldsets.queries.questions import OWN_KEY, STEPS_KEY
from goldsets.queries.standing import queue_standing
from reviews.actions.own_criteria import keep_own
from reviews.actions.queueing import add_items
from reviews.errors import Invalid
from reviews.models import QueueItem
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.golden import on_gold, on_plain

pytestmark = pytest.mark.django_db

WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]
TONES = [{"value": 1, "name": "Rude"}, {"value": 2, "name": "Plain"}, {"value": 3, "name": "Kind"}]
TONE = {"key": "tone", "title": "Tone", "kind": "ordinal", "block": "communication", "levels": TONES}


def said(two=1, three=0, four=-1, tone=3):
    """Success and process as ever, a word for each step of the agent's, and the tone where it is asked."""
    own = {} if tone is None else {"tone": tone}
    payload = make.passing(steps={"2": two, "3": three, "4": four})
    return payload | {"criteria": {**payload["criteria"], **own}}


@pytest.fixture
def queue():
    """Two settled items that bring a question along, and plain ones that do not."""
    project = make.project()
    items = [make.item(project) for _ in range(2)]
    keep_own({item.pk: [TONE] for item in items})
    queue = make.queue(project, items=items, rubric={"step_labels": {"words": WORDS}}, overlap=1)
    gwen = make.expert(project, "Gwen")
    for _ in items:
        judge(queue, gwen, said())
    add_items(actor=make.lead_of(project), queue=queue, items=[make.item(project) for _ in range(4)])
    set_gold_rate(actor=make.lead_of(project), queue=queue, rate="0.2")
    return queue


def made_gold(queue, **terms):
    return [make.gold(row, **terms) for row in QueueItem.objects.filter(queue=queue, state="settled").order_by("pk")]


def test_gold_expects_the_words_for_steps_and_the_item_s_own_answers(queue):
    made_gold(queue, tolerance={"tone": 0, "success": 1, "process": 1})
    expected = GoldKey.objects.first().expected
    assert expected[STEPS_KEY] == {"value": {"2": 1, "3": 0, "4": -1}, "also": [], "tolerance": 1}
    assert expected["tone"] == {"value": 3, "also": [], "tolerance": 0}
    row = gold_pool(queue).rows[0]
    words = {line.title: line.expected for line in row.expects}
    assert words["Words for steps"] == "Correct 2; Neutral 3; Incorrect 4 (1 may differ)"
    assert words["Tone"] == "3 Kind"


def test_a_rater_is_right_within_the_tolerance_and_wrong_beyond_it(queue):
    """On the first item one word of three differs, which may; on the second two do, and the tone is off."""
    made_gold(queue, tolerance={"tone": 0, STEPS_KEY: 1})
    alice = make.expert(queue.project, "Alice")
    on_gold(queue, alice, said(three=1), said(two=0, three=1, tone=2))
    (standing,) = [row for row in queue_standing(queue) if row.rater == "Alice"]
    assert (standing.gold_right, standing.gold_n) == (1, 2)
    on = {entry.key: entry for entry in standing.criteria}
    assert (on[STEPS_KEY].right, on[STEPS_KEY].n, on[OWN_KEY].right, on[OWN_KEY].n) == (1, 2, 1, 2)
    assert {(one.expected, one.said) for one in on[STEPS_KEY].confused} == {
        ("Correct", "Neutral"),
        ("Neutral", "Correct"),
    }
    assert on[STEPS_KEY].accuracy.method == "95% Wilson"


def test_pages_say_what_was_said_and_what_was_expected(queue):
    gold = made_gold(queue)
    alice = make.expert(queue.project, "Alice")
    on_gold(queue, alice, said(three=1, tone=1), said())
    client = Client()
    client.force_login(make.lead_of(queue.project))
    raters = client.get(reverse("goldsets:raters", args=[queue.uid])).content.decode()
    assert "Words for steps" in raters
    assert "Questions of single items" in raters
    assert client.get(reverse("goldsets:rater", args=[queue.uid, alice.pk])).status_code == 200
    answered = next(one for one in gold if any(not entry.answer.all_right for entry in gold_page(queue, one).given))
    lines = {line.title: line for line in gold_page(queue, answered).given[0].lines}
    assert (lines["Tone"].said, lines["Tone"].right) == ("1 Rude", False)
    assert (lines["Words for steps"].said, lines["Words for steps"].right) == ("Correct 2, 3; Incorrect 4", True)


def test_a_rater_is_told_and_may_challenge(queue):
    made_gold(queue)
    alice, lead = make.expert(queue.project, "Alice"), make.lead_of(queue.project)
    on_gold(queue, alice, said(tone=1))
    on_plain(queue, alice, said(tone=None))
    set_feedback(actor=lead, queue=queue, items=1, days=None)
    (told,) = told_answers(alice)
    assert {line.title: line.right for line in told.lines}["Tone"] is False
    made = challenge(actor=alice, uid=told.placement.assignment.uid, reason="It is brisk, not rude.")
    assert made.key == told.key


def test_alternatives_and_corrections_of_steps(queue):
    rows = list(QueueItem.objects.filter(queue=queue, state="settled").order_by("pk"))
    other = {"2": 1, "3": -1, "4": -1}
    gold = make.gold(rows[0], also={STEPS_KEY: [other], "tone": [2]}, tolerance=0)
    lead, second = make.lead_of(queue.project), make.second_of(queue.project)
    key = propose_change(actor=lead, gold_item=gold, values={STEPS_KEY: other, "tone": 1}, note="Step 3 misleads.")
    approve_gold(actor=second, key=key)
    gold.refresh_from_db()
    assert (gold.key.expected[STEPS_KEY]["value"], gold.key.expected["tone"]["value"]) == (other, 1)
    for nonsense in ({"2": 7}, {"two": 1}, [1, 0], 1):
        with pytest.raises(Invalid):
            propose_gold(actor=lead, queue_item=rows[1], also={STEPS_KEY: [nonsense]})


def test_a_file_may_bring_labels_of_steps(queue):
    project = queue.project
    plain = QueueItem.objects.filter(queue=queue, state="collecting").first()
    payload = said(tone=None)
    row = {"item": str(plain.uid), **{name: payload[name] for name in ("gates", "criteria", "steps")}}
    receipt = import_gold(actor=make.lead_of(project), queue=queue, content=json.dumps(row).encode())
    assert (receipt.proposed, receipt.refused) == (1, [])
    gold = approve_gold(actor=make.second_of(project), key=GoldItem.objects.get(queue_item=plain).keys.get())
    assert gold.key.expected[STEPS_KEY]["value"] == {"2": 1, "3": 0, "4": -1}
    assert {step.step: step.value for step in gold.key.label.steps.all()} == {2: 1, 3: 0, 4: -1}
