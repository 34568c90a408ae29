"""Leads short of a decision, in a real browser: what they began is kept, passed on, split out, and taken back."""

import re
import time

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from reviews.enums import QueueItemState, Role
from reviews.models import DecisionDraft, Label, Queue
from tests import factories as make
from tests.factories.furnished import desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def made():
    return desk()


@pytest.fixture
def lea(made, context, sign_in):
    """The lead's page; anything a script complains of fails the test."""
    sign_in(context, made.lead)
    page = context.new_page()
    said = []
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert said == []


def item_page(made, server, row):
    return server.url + reverse("reviews:adjudicate", args=[made.queue.uid, row.uid])


def inbox_page(made, server):
    return server.url + reverse("reviews:disagreements", args=[made.queue.uid])


def expect_draft(row):
    """It is sent as the page goes, so nothing on the next page says that it has come."""
    for _try in range(50):
        if DecisionDraft.objects.filter(queue_item=row).exists():
            return
        time.sleep(0.1)
    pytest.fail("The draft has not come.")


def process_of(page):
    return page.get_by_label("Your decision: Process")


def test_a_decision_that_is_begun_saves_itself_and_is_there_again(made, live_server, lea):
    row = made.waiting[0]
    lea.goto(item_page(made, live_server, row))
    process_of(lea).get_by_role("radio", name="Weak").check()
    lea.get_by_role("radio", name="Guideline unclear").check()
    lea.get_by_label("Note", exact=True).fill("Half a thought.")
    expect(lea.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    assert DecisionDraft.objects.get(queue_item=row, lead=made.lead).given["note"] == "Half a thought."
    lea.reload()
    expect(lea.locator("#saved")).to_have_text(re.compile("^Draft of "))
    expect(lea.get_by_label("Note", exact=True)).to_have_value("Half a thought.")
    expect(process_of(lea).get_by_role("radio", name="Weak")).to_be_checked()
    expect(lea.get_by_role("radio", name="Guideline unclear")).to_be_checked()
    lea.get_by_role("button", name="Settle and next").click()
    lea.wait_for_url(lambda url: str(row.uid) not in url)
    assert Label.objects.get(item=row.item).rationale == "Half a thought."
    assert not DecisionDraft.objects.filter(queue_item=row).exists()


def test_whoever_leaves_within_the_second_loses_nothing(made, live_server, lea):
    row = made.waiting[0]
    lea.goto(item_page(made, live_server, row))
    lea.get_by_label("Note", exact=True).fill("Called away.")
    lea.get_by_role("link", name="Later").click()
    lea.wait_for_url(lambda url: str(row.uid) not in url)
    expect_draft(row)
    lea.goto(item_page(made, live_server, row))
    expect(lea.get_by_label("Note", exact=True)).to_have_value("Called away.")


def test_an_item_is_passed_on_to_a_second_lead_who_decides_it(made, live_server, lea, browser, sign_in):
    row, lena = made.waiting[0], make.person("Lena")
    make.member(made.project, lena, Role.LEAD)
    lea.goto(item_page(made, live_server, row))
    lea.get_by_role("button", name="Pass on").click()
    lea.get_by_role("radio", name="To a second lead").check()
    lea.get_by_label("Question or reason").fill("I know the requester.")
    lea.locator("#pass-on").get_by_role("button", name="Pass on").click()
    lea.wait_for_url(inbox_page(made, live_server))
    expect(lea.get_by_text("For 1 you asked a second lead.")).to_be_visible()
    expect(lea.locator(f"a[href*='{row.uid}']")).to_have_count(0)
    context = browser.new_context()
    sign_in(context, lena)
    page = context.new_page()
    page.goto(item_page(made, live_server, row))
    expect(page.get_by_text("I know the requester.")).to_be_visible()
    process_of(page).get_by_role("radio", name="Sound").check()
    page.get_by_role("radio", name="Rater error").check()
    page.get_by_role("button", name="Settle and next").click()
    page.wait_for_url(lambda url: str(row.uid) not in url)
    assert Label.objects.get(item=row.item).adjudication.lead == lena
    context.close()


def test_an_item_is_split_out_into_a_queue_of_its_own(made, live_server, lea, no_barriers):
    row = made.waiting[0]
    lea.goto(item_page(made, live_server, row))
    lea.get_by_role("button", name="Pass on").click()
    expect(lea.locator("#pass-on-queue")).to_be_hidden()
    lea.get_by_role("radio", name="Into a queue of its own").check()
    lea.locator("#pass-on-queue").fill("Loans")
    lea.get_by_label("Question or reason").fill("It is about a loan.")
    no_barriers(lea)
    lea.locator("#pass-on").get_by_role("button", name="Pass on").click()
    lea.wait_for_url(inbox_page(made, live_server))
    expect(lea.get_by_text("Split out into another queue: Loans.")).to_be_visible()
    lea.get_by_role("link", name="split out into another queue").click()
    lea.locator(f"tbody a[href*='{row.uid}']").click()
    expect(lea.get_by_text("It is about a loan.")).to_be_visible()
    expect(lea.get_by_role("button", name="Settle and next")).to_have_count(0)
    lea.get_by_role("link", name="Loans").click()
    assert Queue.objects.get(name="Loans").queue_items.get().item == row.item


def test_what_is_put_first_is_decided_first(made, live_server, lea, no_barriers):
    row = made.waiting[1]
    lea.goto(inbox_page(made, live_server))
    lea.locator("tr", has=lea.locator(f"a[href*='{row.uid}']")).get_by_role("button", name="first").click()
    expect(lea.locator("tbody tr").first.get_by_role("button")).to_have_text("First ✓")
    no_barriers(lea)
    lea.get_by_role("link", name="Decide the first").click()
    lea.wait_for_url(item_page(made, live_server, row))


def test_a_decision_is_undone_by_a_new_one_and_the_history_has_both(made, live_server, lea):
    row = made.waiting[0]
    for level in ("Weak", "Sound"):
        lea.goto(item_page(made, live_server, row))
        process_of(lea).get_by_role("radio", name=level).check()
        lea.get_by_role("radio", name="Rater error").check()
        lea.locator("#decision [type=submit].primary").click()
        lea.wait_for_url(lambda url: str(row.uid) not in url)
    lea.goto(item_page(made, live_server, row))
    lea.get_by_role("button", name="Undo the decision").click()
    expect(lea.get_by_text("Undone. What stood before stands again, as revision 3.")).to_be_visible()
    expect(process_of(lea).get_by_role("radio", name="Weak")).to_be_checked()
    row.refresh_from_db()
    assert row.label.values.get(criterion__key="process").value == 1
    lea.goto(live_server.url + reverse("reviews:label", args=[made.project.slug, row.label.uid]))
    expect(lea.get_by_role("heading", name=re.compile("^Revision"))).to_have_count(3)


def test_where_nothing_stood_before_an_undone_decision_lets_the_item_wait(made, live_server, lea):
    row = made.waiting[0]
    lea.goto(item_page(made, live_server, row))
    process_of(lea).get_by_role("radio", name="Weak").check()
    lea.get_by_role("radio", name="Rater error").check()
    lea.get_by_role("button", name="Settle and next").click()
    lea.wait_for_url(lambda url: str(row.uid) not in url)
    lea.goto(item_page(made, live_server, row))
    lea.get_by_role("button", name="Undo the decision").click()
    expect(lea.get_by_text("Undone. The item waits again.")).to_be_visible()
    row.refresh_from_db()
    assert (row.state, row.label) == (QueueItemState.WAITING, None)
