"""Pages of a rater at 200 % zoom and on a phone: what has the focus is in sight, and nothing stands in its way."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from reviews.enums import Role
from tests import factories as make
from tests.factories.training import judge, practice, settled_queue

pytestmark = pytest.mark.django_db(transaction=True)

# 1280 by 800 at 200 %.
ZOOMED = {"width": 640, "height": 400}
PHONE = {"width": 390, "height": 844}
FOCUS_IN_SIGHT = """() => {
    const control = document.activeElement.closest("label") ?? document.activeElement;
    const { x, y, width, height } = control.getBoundingClientRect();
    const seen = (place) => control.contains(document.elementFromPoint(x + width / 2, place));
    return seen(y + 3) && seen(y + height - 3);
}"""


def in_sight(page: Page) -> bool:
    """Whether what has the focus can be seen from its upper to its lower edge: no bar, no row of buttons hides it."""
    return page.evaluate(FOCUS_IN_SIGHT)


@pytest.fixture
def start(page, live_server, sign_in, transactional_db):
    project = make.project()
    alice = make.expert(project, "Alice")
    sign_in(page.context, alice)

    def begin(size):
        page.set_viewport_size(size)
        page.goto(f"{live_server.url}/queues/{make.queue(project, items=2, overlap=1).uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")
        return project, alice

    return begin


@pytest.mark.parametrize("size", [ZOOMED, PHONE], ids=["zoomed", "phone"])
def test_the_question_at_hand_is_never_behind_the_buttons(page, start, size):
    start(size)
    for key in ("p", "p", "3", "2", "ArrowUp", "ArrowUp", "ArrowUp", "f", "ArrowDown", "r"):
        page.keyboard.press(key)
        assert in_sight(page), f"what has the focus after {key} is hidden"
    page.keyboard.press("Control+Enter")
    expect(page.locator("#judgment .need").first).to_be_in_viewport()
    assert in_sight(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d"))


def test_from_the_run_to_the_judgment_is_one_tap(page, start):
    start(PHONE)
    judge_link = page.get_by_role("link", name="Judge", exact=True)
    judge_link.click()
    expect(page.get_by_role("group", name="Only authorised accounts")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(judge_link).to_be_hidden()


def test_what_stands_is_read_from_its_beginning_and_enter_goes_on(page, live_server, sign_in, transactional_db):
    project = make.project()
    practised = practice(project, settled_queue(project, items=2), items=2)
    alice = make.expert(project, "Alice")
    first = judge(practised, alice, make.passing(success=1)).assignment
    sign_in(page.context, alice)
    page.set_viewport_size(ZOOMED)
    page.goto(f"{live_server.url}/assignments/{first.uid}/")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Next item")).to_be_focused()
    expect(page.get_by_role("button", name="Next item")).to_be_in_viewport(ratio=1)


def test_a_sentence_with_a_link_in_a_notice_is_one_sentence(page, start, live_server):
    project, alice = start(PHONE)
    mine = judge(make.queue(project, items=1, overlap=1), alice, make.passing()).assignment
    page.goto(f"{live_server.url}/assignments/{mine.uid}/")
    link = page.get_by_role("link", name="Correct it")
    assert link.bounding_box()["height"] < 30, "the link is squeezed into a column of its own"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out_at_200_percent(browser, live_server, sign_in, no_barriers, transactional_db, theme):
    project = make.project()
    alice = make.expert(project, "Alice")
    context = browser.new_context(viewport=ZOOMED, color_scheme=theme, reduced_motion="reduce")
    sign_in(context, alice)
    page = context.new_page()
    page.goto(f"{live_server.url}/queues/{make.queue(project, items=1, overlap=1).uid}/judge/")
    page.get_by_role("button", name="Start judging").press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    no_barriers(page)
    assert page.evaluate("document.getAnimations().length") == 0
    page.keyboard.press("f")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#judgment .need").first).to_be_visible()
    no_barriers(page)
    context.close()


@pytest.mark.parametrize("place", ["labels", "events", "project"])
def test_the_tab_one_is_on_can_be_seen(page, live_server, sign_in, transactional_db, place):
    project, lead = make.project(), make.person("Lea")
    make.member(project, lead, Role.LEAD)
    sign_in(page.context, lead)
    page.set_viewport_size(PHONE)
    page.goto(live_server.url + reverse(f"reviews:{place}", args=[project.slug]))
    expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollX + scrollY") == 0


def test_every_point_of_a_long_scale_has_room_for_its_word(page, live_server, sign_in, transactional_db):
    project = make.project()
    sign_in(page.context, make.expert(project, "Alice"))
    settings = {"form": "pair", "strength": 3, "ties": ["equally_good", "equally_bad"], "reasons": []}
    asked = [{"key": "better", "title": "Better", "kind": "preference", "settings": settings}]
    queue = make.queue(project, items=[make.comparison(project)], criteria=asked, rubric={"item_kind": "comparison"})
    for width in (1280, 950, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        if page.get_by_role("button", name="Start judging").count():
            page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .point")
        room = "points => points.map(one => one.clientWidth - one.querySelector('span').getBoundingClientRect().width)"
        left = page.locator("#judgment .point").evaluate_all(room)
        assert len(left) == 8
        assert min(left) > 16
