"""Keys as people have them: their own, on any layout, silent while they write; and the first steps, once per person."""

import re

import pytest
from playwright.sync_api import expect

from reviews.actions.preferences import choose_keys
from reviews.models import Preferences
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

PASSED = "input[name='gates.authorised'][value=pass]"
SECOND_PASSED = "input[name='gates.consent'][value=pass]"


@pytest.fixture
def desk(transactional_db):
    return make.project()


@pytest.fixture
def alice(desk, context, sign_in):
    person = make.expert(desk, "Alice")
    sign_in(context, person)
    return person


@pytest.fixture
def start(page, live_server):
    def begin(queue):
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")

    return begin


def press(page, key, code="", **more):
    """A key as some layout, system or input method reports it. Says whether the page took it."""
    return page.evaluate(
        """(init) => !document.activeElement.dispatchEvent(
            new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))""",
        {"key": key, "code": code, **more},
    )


def test_alice_presses_the_key_she_wants_and_is_told_when_it_is_taken(desk, alice, page, live_server):
    page.goto(f"{live_server.url}/settings/keys/")
    field = page.get_by_label("pass the gate")
    field.focus()
    page.keyboard.press("j")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing is changed yet")
    expect(page.locator("#wrong-pass")).to_contain_text("j is taken: it is for “next step”")
    expect(field).to_have_value("j")
    field.focus()
    page.keyboard.press("Y")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your keys are saved.")).to_be_visible()
    assert Preferences.objects.get(user=alice).keys == {"pass": "Y"}


def test_a_key_of_her_own_does_what_the_old_one_did(desk, alice, page, start):
    choose_keys(actor=alice, keys={"pass": "i", "sheet": "t"})
    start(make.queue(desk))
    page.keyboard.press("p")
    expect(page.locator(PASSED)).not_to_be_checked()
    page.keyboard.press("i")
    expect(page.locator(PASSED)).to_be_checked()
    page.keyboard.press("t")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    expect(sheet.locator("dt", has_text=re.compile(r"^i")).locator("+ dd")).to_have_text("pass the gate")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_on_a_keyboard_without_latin_letters_the_place_of_the_key_counts(desk, alice, page, start):
    start(make.queue(desk))
    assert press(page, "з", "KeyP")
    expect(page.locator(PASSED)).to_be_checked()
    assert press(page, "\N{CYRILLIC SMALL LETTER O}", "KeyJ")
    expect(page.locator("#step-2")).to_have_class(re.compile(r"\bat\b"))


def test_on_a_french_keyboard_digits_need_no_shift_and_on_another_layout_letters_are_what_they_write(
    desk, alice, page, start
):
    start(make.queue(desk))
    page.keyboard.press("p")
    page.keyboard.press("p")
    assert press(page, '"', "Digit3")
    expect(page.locator("input[name='criteria.success'][value='3']")).to_be_checked()
    assert press(page, "j", "KeyC")
    expect(page.locator("#step-2")).to_have_class(re.compile(r"\bat\b"))
    assert not press(page, "t", "KeyX")


def test_caps_lock_changes_no_key(desk, alice, page, start):
    start(make.queue(desk))
    assert press(page, "P", "KeyP", modifierCapsLock=True)
    expect(page.locator(PASSED)).to_be_checked()


def test_a_key_that_is_held_down_answers_one_question(desk, alice, page, start):
    start(make.queue(desk))
    page.keyboard.press("p")
    assert press(page, "p", "KeyP", repeat=True)
    expect(page.locator(PASSED)).to_be_checked()
    expect(page.locator(SECOND_PASSED)).not_to_be_checked()


@pytest.mark.parametrize(
    "event",
    [
        {"key": "p", "code": "KeyP", "ctrlKey": True},
        {"key": "p", "code": "KeyP", "metaKey": True},
        {"key": "p", "code": "KeyP", "altKey": True},
        {"key": "π", "code": "KeyP", "altKey": True},
        {"key": "þ", "code": "KeyP", "ctrlKey": True, "altKey": True, "modifierAltGraph": True},
        {"key": "p", "code": "KeyP", "isComposing": True},
        {"key": "Process", "code": "KeyP"},
        {"key": "Dead", "code": "KeyP"},
    ],
)
def test_what_belongs_to_the_browser_or_to_a_composed_character_is_left_alone(desk, alice, page, start, event):
    start(make.queue(desk))
    assert not press(page, **event)
    expect(page.locator(PASSED)).not_to_be_checked()


def test_altgr_writes_a_key_where_a_layout_needs_it(desk, alice, page, start):
    choose_keys(actor=alice, keys={"find": "@"})
    start(make.queue(desk))
    assert press(page, "@", "KeyQ", ctrlKey=True, altKey=True, modifierAltGraph=True)
    expect(page.get_by_label("Find in the run and the policy")).to_be_focused()


def test_keys_are_silent_while_somebody_writes(desk, alice, page, start):
    start(make.queue(desk))
    page.keyboard.press("r")
    page.keyboard.type("pf?s/jx3")
    expect(page.get_by_label("Why", exact=True)).to_have_value("pf?s/jx3")
    expect(page.locator(PASSED)).not_to_be_checked()
    expect(page.locator("#keys")).to_be_hidden()


def test_the_first_steps_come_once_per_person_and_again_on_demand(
    desk, context, page, browser, sign_in, live_server, start
):
    bob = make.person("Bob")
    make.member(desk, bob)
    sign_in(context, bob)
    queue = make.queue(desk)
    start(queue)
    coach = page.get_by_role("dialog", name="1. Read the run")
    expect(coach).to_be_visible()
    expect(coach.locator("[data-card]:not([hidden])")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="2. Answer the gates first")).to_be_visible()
    with page.expect_response("**/settings/coached/"):
        page.keyboard.press("Escape")
    expect(page.locator("#coach")).to_be_hidden()
    expect(page.locator("#run")).to_be_focused()
    assert Preferences.objects.get(user=bob).coached_at

    other = browser.new_context()
    sign_in(other, bob)
    elsewhere = other.new_page()
    elsewhere.goto(page.url)
    elsewhere.wait_for_selector("#judgment .criterion.at")
    expect(elsewhere.locator("#coach")).to_be_hidden()
    elsewhere.keyboard.press("?")
    elsewhere.get_by_role("button", name="Show the first steps again").click()
    expect(elsewhere.get_by_role("dialog", name="1. Read the run")).to_be_visible()
    other.close()
