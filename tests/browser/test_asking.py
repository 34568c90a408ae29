"""Asking in a real browser: by key and by mouse, without leaving the item, and nothing is lost when sending fails."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.actions.dealing import claim
from reviews.actions.questions import ask, publish
from reviews.models import Draft, Judgment, Question
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None]) -> Any:
    """Alice with an item in hand, and her page of it."""
    project = make.project()
    queue = make.queue(project, items=2, overlap=1)
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script("localStorage.setItem('coached', 'yes')")
    sign_in(context, alice)
    page = context.new_page()
    page.goto(f"{live_server.url}/assignments/{mine.uid}/")
    page.wait_for_selector("#judgment .criterion.at")
    yield page, project, alice, mine
    context.close()


def test_alice_asks_by_key_and_goes_on_with_her_answers_in_place(desk: Any) -> None:
    page, _project, alice, mine = desk
    page.keyboard.press("p")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.locator("#run").focus()
    for key in ("j", "j", "Q"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog", name="Ask the lead")).to_be_visible()
    expect(page.get_by_label("Number of the step")).to_have_value("3")
    page.keyboard.type("Is this still hers? p f x")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_have_text("Question sent")
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#asked")).to_contain_text("Is this still hers? p f x")
    expect(page.locator("#announce")).to_contain_text("Question sent")
    assert (Question.objects.get().about, Question.objects.get().place) == ("step", 3)
    assert page.locator("[name='gates.authorised']:checked").get_attribute("value") == "pass"
    assert Draft.objects.get(assignment=mine).data["gates"] == {"authorised": "pass"}
    page.locator("#judgment .criterion.at input").first.focus()
    for key in ("p", "3", "2", "3"):
        page.keyboard.press(key)
    page.locator("#rationale").fill("Done.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda address: str(mine.uid) not in address)
    assert Judgment.objects.get().rater == alice
    expect(page.locator("#asked")).to_be_hidden()


def test_a_line_is_asked_about_where_it_stands(desk: Any) -> None:
    page, *_rest = desk
    page.locator("#policy-2").hover()
    page.get_by_role("button", name="Ask about line 2 of the policy").click()
    expect(page.locator("#ask-about")).to_have_value("policy-2")
    expect(page.get_by_label("Number of the step")).to_be_hidden()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Guideline").first.click()
    page.get_by_role("button", name="Ask about line 1 of the guideline").click()
    expect(page.locator("#guideline")).to_be_hidden()
    expect(page.locator("#ask-about")).to_have_value("guideline-1")
    page.keyboard.type("What is done?")
    page.get_by_role("button", name="Ask and go on").click()
    expect(page.locator("#asked")).to_contain_text("Guideline, line 1")


def test_without_a_connection_the_question_stays_where_it_was_written(desk: Any) -> None:
    page, *_rest = desk
    page.keyboard.press("q")
    page.keyboard.type("Is it hers?")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask-trouble")).to_contain_text("Not sent. Your question stays here")
    expect(page.locator("#ask-text")).to_have_value("Is it hers?")
    page.context.set_offline(False)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#asked")).to_contain_text("Is it hers?")
    assert Question.objects.count() == 1


def test_a_session_that_ended_is_said_and_the_question_stays(desk: Any) -> None:
    page, *_rest = desk
    page.keyboard.press("q")
    page.keyboard.type("Is it hers?")
    page.context.clear_cookies()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask-trouble")).to_contain_text("Not sent")
    expect(page.locator("#ask-text")).to_have_value("Is it hers?")
    assert not Question.objects.exists()


def test_the_answer_is_there_when_the_item_is_opened_again(desk: Any) -> None:
    page, project, alice, mine = desk
    asked = ask(actor=alice, uid=mine.uid, about="policy", place=1, text="Shared?")
    publish(actor=make.lead_of(project), uid=asked.uid, text="Shared accounts count.", about="policy", line=1)
    page.reload()
    expect(page.locator("#asked .answer")).to_contain_text("Shared accounts count.")
    expect(page.locator("#policy-1 .line-note")).to_contain_text("Shared accounts count.")
    expect(page.locator("#policy-2 .line-note")).to_have_count(0)
