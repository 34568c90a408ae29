"""After her own answer Alice checks what graders said of the run, by keys alone; the page leaves nobody out."""

import pytest
from playwright.sync_api import expect

from reviews.actions.scoring import post_scores
from reviews.models import Judgment, VerdictAudit, VerdictsShown
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

SAID = "A stranger's account. " + "Nobody had asked for it, and nothing of it was needed to answer. " * 5
CITED = [{"step": 3, "quote": "A-5071"}, {"step": 4, "quote": "A refund of $64.20"}]


@pytest.fixture
def queue(transactional_db):
    desk = make.project()
    made = make.queue(desk, items=2, overlap=1, rubric={"audits": True})
    said = {"grader": "judge", "value": 0, "explanation": SAID, "evidence": CITED}
    scores = [{"item": row.item.uid, **said} for row in made.queue_items.all()]
    post_scores(actor=make.lead_of(desk), project=desk, scores=scores)
    return made


def test_alice_checks_a_verdict_by_keys_alone_and_goes_on(queue, context, page, live_server, sign_in, no_barriers):
    alice = make.expert(queue.project, "Alice")
    sign_in(context, alice)
    page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    for key in ("p", "p", "3", "2", "3", "Control+Enter"):
        assert "stranger" not in page.content()
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Your judgment is saved")).to_be_visible()
    no_barriers(page)
    expect(page.get_by_role("button", name="Show what graders said")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("A stranger's account.")).to_be_visible()
    no_barriers(page)
    assert page.locator(".run").bounding_box()["width"] > 600

    # The first answer has the focus. Arrows choose, Tab goes on; the links to the cited steps lie in between.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    for choice in ("Space", "ArrowDown"):
        page.keyboard.press("Tab")
        expect(page.locator("a:focus")).to_have_text("Step 3" if choice == "Space" else "Step 4")
        page.keyboard.press("Tab")
        page.keyboard.press(choice)
    page.keyboard.press("Tab")
    page.keyboard.type("It was their own account.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    found = VerdictAudit.objects.get()
    assert (found.right, found.evidence, found.note) == (False, [True, False], "It was their own account.")

    page.keyboard.press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    assert "stranger" not in page.content()
    assert Judgment.objects.count() == 1
    assert VerdictsShown.objects.count() == 1


def test_what_is_missing_is_said_where_it_is_missing_and_nothing_is_lost(
    queue, context, page, live_server, sign_in, no_barriers
):
    bob = make.expert(queue.project, "Bob")
    sign_in(context, bob)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    for key in ("p", "p", "3", "2", "3", "Control+Enter"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Show what graders said").click()
    page.get_by_label("Note").fill("Half a thought")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("Not saved yet")
    expect(page.get_by_label("Note")).to_have_value("Half a thought")
    no_barriers(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not VerdictAudit.objects.exists()
