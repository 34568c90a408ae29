"""Alice writes what the agent should have done: by keys, held to its tools, kept in the draft, read back marked."""

import re

import pytest
from playwright.sync_api import expect

from reviews.models import Correction, Draft
from tests import factories as make
from tests.reviews.actions.test_corrections import TOOLS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def begun(page, context, live_server, sign_in, transactional_db):
    """The page of a run whose rubric asks for a correction when a gate fails."""
    project = make.project()
    alice = make.expert(project, "Alice")
    sign_in(context, alice)
    run = make.item(project, tools=TOOLS)
    queue = make.queue(project, items=[run], rubric={"correction": "on_fail"}, overlap=1)
    page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    return page


def correct_the_call(page, arguments):
    page.locator("#correct").get_by_label("Arguments, as JSON").fill(arguments)
    page.get_by_label("Why", exact=True).last.fill("The requester owns A-5017.")
    page.keyboard.press("Control+Enter")


def test_a_call_is_rewritten_by_keys_and_held_to_what_the_tool_takes(begun):
    page = begun
    for key in ("j", "j", "f", "e", "ArrowDown", "p", "x", "1", "1", "2"):
        page.keyboard.press(key)
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#corrections .need")).to_contain_text("Write what the agent should have done")

    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#correct")).to_be_visible()
    expect(page.locator("#correct").get_by_label("Arguments, as JSON")).to_have_value(re.compile("A-5071"))
    correct_the_call(page, '{"account_id": "5017"}')
    expect(page.locator("#correct .need")).to_contain_text("does not take this at account_id")
    correct_the_call(page, "{account_id}")
    expect(page.locator("#correct .need")).to_contain_text("a JSON object")
    correct_the_call(page, '{"account_id": "A-5017"}')
    expect(page.locator("#correct")).to_be_hidden()
    card = page.locator(".correction")
    expect(card).to_contain_text("A-5017")
    expect(card.locator(".del")).to_contain_text("A-5071")
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    assert Draft.objects.get().data["corrections"][0]["steps"][0]["arguments"] == {"account_id": "A-5017"}

    page.reload()
    expect(page.locator(".correction")).to_contain_text("The requester owns A-5017.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="That was the last one for now")).to_be_visible()
    kept = Correction.objects.get()
    assert (kept.step, kept.kind, kept.steps[0]["call"]["arguments"]) == (3, "rewrite", {"account_id": "A-5017"})


def test_another_way_on_has_several_steps_and_can_be_removed_again(begun):
    page = begun
    page.keyboard.press("j")
    page.keyboard.press("c")
    dialog = page.locator("#correct")
    expect(dialog.get_by_label("What the agent should have said")).to_have_value(re.compile("^I am sorry"))
    dialog.get_by_role("button", name="And then another step").click()
    expect(dialog.get_by_label("Another way on from here")).to_be_checked()
    dialog.locator("[name='part.1.what']").select_option("close_ticket")
    dialog.locator("[name='part.1.result']").fill("closed")
    page.get_by_label("Why", exact=True).last.fill("Nothing is owed.")
    dialog.get_by_role("button", name="Keep the correction").click()
    expect(page.locator(".correction")).to_contain_text("close_ticket")
    page.get_by_role("button", name="Remove the correction of step 2").click()
    expect(page.locator(".correction")).to_have_count(0)


def test_what_the_requester_said_cannot_be_corrected(begun):
    page = begun
    page.keyboard.press("c")  # step 1 is the requester's
    expect(page.locator("#announce")).to_contain_text("Only what the agent said or did can be corrected")
    expect(page.locator("#correct")).to_be_hidden()
