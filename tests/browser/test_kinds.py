"""Alice answers every kind of question and labels steps by keys alone, on short runs and on long ones."""

import re

import pytest
from playwright.sync_api import expect

from reviews.models import Assignment, Criterion, Judgment
from reviews.queries.payloads import payload_of
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.reviews.actions.test_kinds import KINDS, STEP_WORDS

pytestmark = pytest.mark.django_db(transaction=True)

MANY = [{"value": n, "name": f"{name} {n}"} for n, name in enumerate(["Refund", "Access", "Delay", "Billing"] * 3)]


@pytest.fixture
def desk(transactional_db):
    return make.project()


@pytest.fixture
def alice(desk, context, sign_in):
    person = make.expert(desk, "Alice")
    sign_in(context, person)
    return person


@pytest.fixture
def start(page, live_server, alice):
    def begin(queue):
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")

    return begin


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def submit(page):
    press(page, "Control+Enter")
    expect(page.get_by_role("heading", name="That was the last one for now")).to_be_visible()
    return payload_of(Judgment.objects.get())


def long_run(count):
    """The requester and the agent in turns, the agent with a tool."""
    call = ToolCall(id="c", name="read_account", arguments_text="{}", arguments={})
    return tuple(
        (
            Step(role="user", text=f"Question {number}"),
            Step(role="agent", text=f"Answer {number}"),
            Step(role="tool", call=call, result=ToolResult(text="done")),
        )[number % 3]
        for number in range(count)
    )


def labelling(desk, *, run=None, until_first=False):
    rubric = {"step_labels": {"words": STEP_WORDS, "until_first": until_first}}
    items = [make.item(desk, steps=run)] if run else 1
    return make.queue(desk, items=items, criteria=KINDS[:1], rubric=rubric, overlap=1)


# --- Questions --------------------------------------------------------------------------------------------------------
def test_every_kind_of_question_is_answered_by_keys_alone(desk, page, start):
    item = make.item(desk)
    Criterion.objects.create(item=item, key="refund_64", title="Refunds $64.20", kind="binary", position=1)
    start(make.queue(desk, items=[item], criteria=KINDS, overlap=1))
    what = page.locator("#c-what")
    press(page, "p", "n")
    expect(what).to_be_hidden()
    press(page, "3")  # the third option of harm
    expect(what).to_be_visible()
    expect(what).to_be_focused()
    press(page, "j", "Enter")
    page.keyboard.type("It burnt: y, n, 3 and m.")
    press(page, "Escape", "ArrowDown", "1", "2", "1", "ArrowDown", "4")
    page.keyboard.type(".5")
    press(page, "Enter", "y", "ArrowUp", "ArrowUp", "m")
    page.keyboard.type("About so long.")
    press(page, "Escape", "ArrowDown", "ArrowDown", "2", "r")
    page.keyboard.type("As said.")
    payload = submit(page)
    assert payload["criteria"] == {
        "polite": False,
        "harm": 2,
        "what": "It burnt: y, n, 3 and m.",
        "seen": [2],
        "minutes": 4.5,
        "refund_64": True,
    }
    assert payload["notes"] == {"minutes": "About so long."}
    assert (payload["confidence"], payload["rationale"]) == (2, "As said.")


def test_an_answer_that_is_no_longer_asked_for_is_not_sent_and_comes_back(desk, page, start):
    start(make.queue(desk, items=1, criteria=KINDS[:4], overlap=1))
    press(page, "p", "y", "2", "Enter")
    page.keyboard.type("A scratch.")
    press(page, "Escape", "ArrowUp", "1")
    expect(page.locator("#c-what")).to_be_hidden()
    press(page, "ArrowUp", "ArrowDown")
    page.locator("#c-harm").get_by_text("Minor").click()
    expect(page.locator("[name='criteria.what']")).to_have_value("A scratch.")
    page.locator("#c-harm").get_by_text("None").click()
    press(page, "ArrowDown", "3")
    expect(page.locator("#of-confidence").get_by_label("High")).to_be_checked()
    assert submit(page)["criteria"] == {"polite": True, "harm": 0}


def test_many_options_are_narrowed_down_by_typing(desk, page, start):
    many = {"key": "about", "title": "About", "kind": "choice", "levels": MANY}
    start(
        make.queue(desk, items=1, criteria=[KINDS[0], many, {**many, "key": "also", "kind": "multi_choice"}], overlap=1)
    )
    press(page, "p", "Enter")
    page.keyboard.type("access")
    expect(page.locator("#c-about .choice:visible")).to_have_count(3)
    press(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    page.keyboard.type("delay 2")
    press(page, "Enter")
    page.keyboard.type("billing 3")
    press(page, "Enter", "Escape", "ArrowDown", "3")
    assert submit(page)["criteria"] == {"about": 9, "also": [2, 3]}


def test_evidence_is_asked_for_with_a_no(desk, page, start):
    start(make.queue(desk, items=1, criteria=[KINDS[0], {**KINDS[1], "evidence": "on_fail"}], overlap=1))
    press(page, "p", "n")
    expect(page.locator("#c-polite")).to_contain_text("evidence is asked for with “No”")
    expect(page.locator("#c-polite.at")).to_be_visible()
    press(page, "j", "e", "ArrowDown", "3")
    assert submit(page)["evidence"] == [{"criterion": "polite", "step": 2}]


def test_y_and_n_keep_their_other_meaning_where_no_yes_is_asked_for(desk, page, start):
    start(make.queue(desk, items=1, criteria=KINDS[:2], overlap=1))
    press(page, "/")
    page.keyboard.type("refund")
    expect(page.locator("#hits a")).to_have_count(1)
    press(page, "Escape", "n")
    expect(page.locator("#c-polite :checked")).to_have_count(0)
    press(page, "p", "n")
    expect(page.locator("#c-polite [value=no]")).to_be_checked()


# --- Steps ------------------------------------------------------------------------------------------------------------
def test_steps_are_labelled_by_digits_from_one_to_the_next(desk, page, start):
    start(labelling(desk))
    press(page, "l", "1", "2", "3")
    expect(page.locator("[data-labelled]")).to_have_text("3 of 3 labelled")
    expect(page.get_by_role("link", name=re.compile("^Step 4 .*Incorrect$"))).to_have_attribute("data-label", "bad")
    press(page, "k", "1", "Escape", "p", "3")
    assert submit(page)["steps"] == {"2": 1, "3": 1, "4": -1}


def test_a_label_is_taken_back_and_the_first_error_is_a_key_away(desk, page, start):
    start(labelling(desk))
    press(page, "l", "1", "3", "1")
    press(page, "j", "j", "0")
    expect(page.locator("[data-labelled]")).to_have_text("2 of 3 labelled")
    press(page, "L")
    expect(page.locator("#step-3.at")).to_be_visible()
    press(page, "l")
    expect(page.locator("#step-4.at")).to_be_visible()
    expect(page.locator("#step-4 .labels input").first).to_be_focused()


def test_behind_the_first_error_nothing_more_is_asked(desk, page, start):
    start(labelling(desk, until_first=True))
    press(page, "l", "1", "3")
    expect(page.locator("[data-labelled]")).to_have_text("2 of 2 labelled")
    expect(page.locator("#step-3.at")).to_be_visible()
    press(page, "ArrowDown", "p", "3")
    assert submit(page)["steps"] == {"2": 1, "3": -1}


def test_the_word_that_was_just_given_is_that_of_the_rest(desk, page, start):
    """A digit leads on to the next step, which has no word of its own yet."""
    start(labelling(desk))
    press(page, "l", "1")
    expect(page.locator("#step-3.at")).to_be_visible()
    press(page, "=")
    expect(page.locator("[data-labelled]")).to_have_text("3 of 3 labelled")
    press(page, "=")
    expect(page.locator("[data-labelled]")).to_have_text("1 of 3 labelled")


def test_the_rest_is_the_same_over_steps_that_are_not_on_the_page(desk, page, start):
    """Two hundred steps come in windows; labels of steps that are not there are kept, through a reload too."""
    start(labelling(desk, run=long_run(200)))
    press(page, "l", "1", "k", "=")
    expect(page.locator("[data-labelled]")).to_have_text("133 of 133 labelled")
    assert page.locator(".step").count() < 200
    press(page, "=")
    expect(page.locator("[data-labelled]")).to_have_text("1 of 133 labelled")
    press(page, "=")
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(page.locator("[data-labelled]")).to_have_text("133 of 133 labelled")
    page.evaluate("location.hash = '#step-198'")
    page.locator("#map a").nth(197).dispatch_event("click")
    expect(page.locator("#step-198 .labels").get_by_role("radio", name="Correct", exact=True)).to_be_checked()
    press(page, "p", "3")
    steps = submit(page)["steps"]
    assert (len(steps), set(steps.values())) == (133, {1})


def test_what_is_missing_is_named_with_the_steps(desk, page, start):
    start(labelling(desk))
    press(page, "l", "1", "Escape", "p", "3", "Control+Enter")
    expect(page.locator("#of-steps .need")).to_have_text("Label every step: 3, 4 are missing.")
    expect(page.locator("#step-2 .labels").get_by_role("radio", name="Correct", exact=True)).to_be_checked()
    assert not Judgment.objects.exists()


def test_without_script_a_short_run_is_judged_and_labelled_with_every_kind(desk, browser, live_server, sign_in):
    bob = make.expert(desk, "Bob")
    queue = make.queue(desk, items=1, criteria=KINDS, rubric={"step_labels": {"words": STEP_WORDS}}, overlap=1)
    with browser.new_context(java_script_enabled=False) as context:
        sign_in(context, bob)
        page = context.new_page()
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").click()
        for step, word in ((2, "Correct"), (3, "Neutral"), (4, "Incorrect")):
            page.locator(f"#step-{step} .labels").get_by_role("radio", name=word, exact=True).check()
        page.locator("#c-safe").get_by_text("Pass").click()
        page.locator("#c-polite").get_by_text("Yes").click()
        page.locator("#c-harm").get_by_text("None").click()
        expect(page.locator("#c-what")).to_contain_text("Asked where “Harm” is “Minor” or “Serious”.")
        page.locator("[name='criteria.what']").fill("Not asked.")
        page.get_by_label("Minutes", exact=True).fill("7")
        page.get_by_label("Note on Polite").fill("Very.")
        page.locator("#of-confidence").get_by_text("High").click()
        page.get_by_role("button", name="Submit and next").click()
        expect(page.get_by_role("heading", name="That was the last one for now")).to_be_visible()
    payload = payload_of(Judgment.objects.get())
    assert payload["criteria"] == {"polite": True, "harm": 0, "minutes": 7}
    assert (payload["notes"], payload["steps"]) == ({"polite": "Very."}, {"2": 1, "3": 0, "4": -1})


def test_nobody_is_kept_out_by_any_kind(desk, page, start, no_barriers):
    many = {"key": "about", "title": "About", "kind": "choice", "levels": MANY}
    start(make.queue(desk, items=1, criteria=[*KINDS, many], rubric={"step_labels": {"words": STEP_WORDS}}))
    press(page, "p", "y", "2", "l", "1", "3")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        no_barriers(page)
    assert Assignment.objects.get().state == "leased"
