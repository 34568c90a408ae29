"""A lead at work in a real browser: decides by keyboard, builds a rubric, invites, imports; and without script."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from reviews.enums import QueueItemState
from reviews.models import Label, Rubric
from tests import factories as make
from tests.factories.furnished import RUN, Desk, desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def made() -> Desk:
    return desk()


@pytest.fixture
def lead_page(made: Desk, context: Any, sign_in: Callable[[Any, Any], None]) -> Any:
    """A page on which the lead is signed in; anything a script complains of fails the test."""
    sign_in(context, made.lead)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert said == []


def inbox(made: Desk, server: Any) -> str:
    return server.url + reverse("reviews:disagreements", args=[made.queue.uid])


def test_three_disagreements_are_settled_by_keyboard_alone(made: Desk, live_server: Any, lead_page: Any) -> None:
    page = lead_page
    page.goto(inbox(made, live_server))
    page.get_by_role("link", name="Decide the first").press("Enter")
    page.wait_for_url("**/disagreements/*/")
    for left in (2, 1, 0):
        item = page.locator("#decision").get_attribute("data-item")
        gate = page.locator(".differs.gate")
        page.keyboard.press("p" if gate.count() else "1")
        page.get_by_role("radio", name="Guideline unclear").press("Space")
        page.locator("#run").focus()
        page.keyboard.press("r")
        page.keyboard.type("The policy says so.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("item => document.querySelector('#decision')?.dataset.item !== item", arg=item)
        assert made.queue.queue_items.filter(state=QueueItemState.WAITING).count() == left
    assert page.url == inbox(made, live_server)
    notes = Label.objects.filter(queue=made.queue, basis="adjudicated").values_list("rationale", flat=True)
    assert list(notes) == ["The policy says so."] * 3


def test_a_failed_gate_locks_quality_and_takes_a_raters_failure_point(
    made: Desk, live_server: Any, lead_page: Any
) -> None:
    page, row = lead_page, made.waiting[2]
    page.goto(live_server.url + reverse("reviews:adjudicate", args=[made.queue.uid, row.uid]))
    page.keyboard.press("f")
    assert page.get_by_label("Step", exact=True).is_visible()
    page.get_by_role("button", name=re.compile("Take the failure point")).click()
    assert page.get_by_label("Step", exact=True).input_value() == "3"
    page.get_by_role("radio", name="Rater error").check()
    page.get_by_role("button", name="Settle and next").click()
    page.wait_for_url(lambda url: str(row.uid) not in url)
    label = Label.objects.get(item=row.item)
    assert (label.failure_step, label.failure_cause) == (3, "unauthorised_access")


def test_what_is_missing_is_said_beside_the_run_that_stays(made: Desk, live_server: Any, lead_page: Any) -> None:
    page = lead_page
    page.goto(live_server.url + reverse("reviews:adjudicate", args=[made.queue.uid, made.waiting[0].uid]))
    page.evaluate("document.getElementById('run').dataset.kept = 'yes'")
    page.get_by_label("Note", exact=True).fill("Half a thought.")
    page.keyboard.press("Control+Enter")
    page.locator("#wrong").wait_for()
    assert "Choose a level for “Process”." in page.locator("#wrong").inner_text()
    assert page.get_by_label("Note", exact=True).input_value() == "Half a thought."
    assert page.locator("#run").get_attribute("data-kept") == "yes"


def test_a_chip_leads_to_the_words_it_cites(made: Desk, live_server: Any, lead_page: Any) -> None:
    page = lead_page
    page.goto(live_server.url + reverse("reviews:adjudicate", args=[made.queue.uid, made.waiting[2].uid]))
    page.locator("a.chip[id]").first.click()
    assert page.locator(":target + mark").inner_text() == "A-5071"


def test_a_rubric_is_built_step_by_step(made: Desk, live_server: Any, lead_page: Any) -> None:
    page = lead_page
    page.goto(live_server.url + reverse("reviews:rubric_new", args=[made.project.slug]))
    page.get_by_label("Name", exact=True).fill("Late orders")
    page.locator("#criteria-0-title").fill("Consent before action")
    page.locator("#criteria-1-title").fill("Task success")
    page.get_by_role("button", name="Gate", exact=True).click()
    page.locator("#criteria-2-title:focus").wait_for()
    page.keyboard.type("Nothing made up")
    page.get_by_role("button", name="Save this version").click()
    page.wait_for_url(re.compile("/rubrics/[0-9a-f-]{36}/"))
    keys = [criterion.key for criterion in Rubric.objects.get(name="Late orders").criteria.all()]
    assert keys == ["consent_before_action", "nothing_made_up", "task_success"]


def test_a_link_is_copied(made: Desk, live_server: Any, lead_page: Any) -> None:
    page = lead_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(live_server.url + reverse("reviews:people", args=[made.project.slug]))
    page.get_by_role("button", name="Make a link").click()
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "/join/" in page.evaluate("navigator.clipboard.readText()")


def test_an_import_shows_how_far_it_is_and_its_receipt(
    made: Desk, live_server: Any, lead_page: Any, worker: None
) -> None:
    page = lead_page
    page.goto(live_server.url + reverse("reviews:imports", args=[made.project.slug]))
    other = RUN.replace(b"Where is it", b"Where is mine")
    page.locator("input[type=file]").set_input_files(
        {"name": "r.jsonl", "mimeType": "text/plain", "buffer": other + b"{\n"}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("finished").wait_for(timeout=20_000)
    assert "line 2" in page.locator("#job").inner_text()


def test_everything_works_without_script(
    made: Desk, browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, made.lead)
    page = context.new_page()
    row = made.waiting[0]
    page.goto(live_server.url + reverse("reviews:adjudicate", args=[made.queue.uid, row.uid]))
    page.get_by_label("Your decision: Process").get_by_role("radio", name="Weak").check()
    page.get_by_role("radio", name="Guideline unclear").check()
    page.get_by_role("button", name="Settle and next").click()
    assert str(row.uid) not in page.url
    assert Label.objects.get(item=row.item).values.get(criterion__key="process").value == 1
    page.goto(live_server.url + reverse("reviews:rubric_new", args=[made.project.slug]))
    page.locator("#criteria-0-title").fill("Consent")
    page.get_by_role("button", name="Gate", exact=True).click()
    assert page.locator("#criteria-0-title").input_value() == "Consent"
    assert page.locator("#criteria-2-title").count() == 1
    context.close()


def test_engineers_and_admins_find_their_pages_only(
    made: Desk, browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None], no_barriers: Callable[[Any], None]
) -> None:
    ada = make.person("Ada")
    make.member(made.project, ada, "admin")
    tabs = {
        made.engineer: [
            *("Queues", "Imports", "Items", "Rubrics", "Guidelines", "Labels"),
            *("Graders", "Data sets", "Ledger", "Reviewers", "Webhooks"),
        ],
        ada: ["Queues", "Redaction", "Originals", "Ledger", "Reviewers", "People", "Events"],
    }
    for person, expected in tabs.items():
        context = browser.new_context()
        sign_in(context, person)
        page = context.new_page()
        page.goto(live_server.url + reverse("reviews:project", args=[made.project.slug]))
        assert page.get_by_role("navigation", name="Project").get_by_role("link").all_inner_texts() == expected
        for name in expected:
            page.get_by_role("navigation", name="Project").get_by_role("link", name=name).click()
            expect(page.get_by_role("heading", level=1)).to_have_count(1)
            no_barriers(page)
        context.close()
