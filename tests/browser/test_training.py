"""Practice, qualification and norming in a browser: what stands comes after each item, votes are blind."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from reviews.actions.norming import open_session, reveal
from reviews.actions.qualifying import require_qualification
from tests import factories as make
from tests.factories.training import judge, practice, qualification, settled_queue

pytestmark = pytest.mark.django_db(transaction=True)


def answer(page: Any, success: str) -> None:
    """Fill the judgment in by its radios and submit it."""
    for name, value in (("gates.authorised", "pass"), ("gates.consent", "pass")):
        page.locator(f"input[name='{name}'][value='{value}']").check(force=True)
    page.locator(f"input[name='criteria.success'][value='{success}']").check(force=True)
    page.locator("input[name='criteria.process'][value='2']").check(force=True)
    page.locator("[name='rationale']").fill("Done.")
    page.locator("input[name='confidence'][value='3']").check(force=True)
    page.locator("#judgment .primary[type=submit]").click()


def test_practice_shows_what_stands_and_enter_goes_on(
    page: Any, live_server: Any, sign_in: Callable[[Any, Any], None], no_barriers: Callable[[Any], None]
) -> None:
    project = make.project()
    queue, alice = settled_queue(project, items=2), make.expert(project)
    practice(project, queue, items=2)
    sign_in(page.context, alice)
    page.goto(live_server.url)
    expect(page.get_by_text("Practice: 2 items")).to_be_visible()
    page.get_by_role("button", name="Start First steps").click()
    answer(page, "1")
    expect(page.get_by_role("heading", name="One answer differs from what stands.")).to_be_visible()
    row = page.get_by_role("row", name="Task success")
    expect(row).to_contain_text("1 Weak")
    expect(row).to_contain_text("3 Strong")
    no_barriers(page)
    page.keyboard.press("Enter")
    answer(page, "3")
    expect(page.get_by_role("heading", name="You see it exactly as it stands.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You have been through the whole practice set.")).to_be_visible()
    no_barriers(page)
    page.get_by_role("button", name="Practise again").click()
    page.get_by_role("button", name="Start practice").click()
    expect(page.locator("#judgment")).to_be_visible()


def test_a_qualification_opens_its_queue(
    page: Any, live_server: Any, sign_in: Callable[[Any, Any], None], no_barriers: Callable[[Any], None]
) -> None:
    project = make.project()
    exam, alice = qualification(project, settled_queue(project, items=5)), make.expert(project)
    work = make.queue(project, items=1)
    require_qualification(actor=make.lead_of(project), queue=work, qualification=exam)
    for _ in range(4):
        judge(exam, alice, make.passing())
    sign_in(page.context, alice)
    page.goto(live_server.url)
    no_barriers(page)
    page.get_by_role("link", name=f"Qualify for {work.name}").click()
    page.get_by_role("button", name="Begin").click()
    answer(page, "3")
    expect(page.get_by_text("5 of 5 were right")).to_be_visible()
    no_barriers(page)
    page.goto(live_server.url + reverse("reviews:judge", args=[work.uid]))
    page.get_by_role("button", name="Start judging").click()
    expect(page.locator("#judgment")).to_be_visible()


def test_a_session_from_blind_votes_to_votes_given_again(
    page: Any, live_server: Any, sign_in: Callable[[Any, Any], None], no_barriers: Callable[[Any], None]
) -> None:
    project = make.project()
    queue, alice, bob = settled_queue(project, items=1), make.expert(project), make.expert(project, "Bob")
    session = open_session(
        actor=make.lead_of(project),
        queue=queue,
        name="Consent",
        items=[queue.queue_items.get().uid],
        members=[alice.pk, bob.pk],
    )
    judge(session.queue, bob, make.passing())
    sign_in(page.context, alice)
    place = live_server.url + reverse("reviews:norming_session", args=[session.queue.uid])
    page.goto(place)
    expect(page.get_by_text("1 of 2 votes are in")).to_be_visible()
    page.get_by_role("button", name="Vote on 1 item").click()
    answer(page, "1")
    expect(page.get_by_text("You have voted on every item.")).to_be_visible()
    reveal(actor=make.lead_of(project), session=session)
    page.goto(place)
    expect(page.get_by_role("row", name="Task success").last).to_contain_text("3 Strong")
    no_barriers(page)
    page.get_by_label("What you want to say").fill("All of it was done.")
    page.get_by_role("button", name="Say it").click()
    expect(page.get_by_role("listitem").filter(has_text="All of it was done.")).to_be_visible()
    page.get_by_role("link", name="Vote again").click()
    page.locator("input[name='criteria.success'][value='3']").check(force=True)
    page.locator("#judgment .primary[type=submit]").click()
    expect(page.get_by_role("heading", name="Agreement before and after")).to_be_visible()
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
