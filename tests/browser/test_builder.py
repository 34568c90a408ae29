"""The rubric builder in a browser: the preview follows while one writes, and criteria move by key and pointer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(transactional_db: None, browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None]) -> Iterator[Any]:
    """A lead's page with the task review to begin from."""
    project = make.project()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    sign_in(context, make.lead_of(project))
    page = context.new_page()
    page.goto(f"{live_server.url}{reverse('reviews:rubric_new', args=[project.slug])}?start=task")
    yield page
    context.close()


def test_a_lead_sees_what_raters_will_see_and_moves_criteria(page: Any) -> None:
    page.fill("#criteria-0-title", "Typed anew")
    expect(page.locator("#preview legend").first).to_have_text("Typed anew")
    page.locator("#criteria-0-title").press("Alt+ArrowDown")
    expect(page.locator("#criteria-1-title")).to_have_value("Typed anew")
    expect(page.locator("#criteria-1-title")).to_be_focused()

    page.locator("#criterion-1 [data-grip]").hover()
    page.mouse.down()
    box = page.locator("#criterion-0").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 4, steps=4)
    page.mouse.up()
    expect(page.locator("#criteria-0-title")).to_have_value("Typed anew")

    page.locator("#name").press("Enter")
    expect(page.locator("h1")).to_contain_text("Task review 1")


def test_who_saves_too_early_is_led_to_the_first_mistake(page: Any) -> None:
    page.fill("#criteria-1-title", "")
    page.get_by_role("button", name="Save this version").click()
    expect(page.locator("#criteria-1-title")).to_be_focused()
    expect(page.locator("#criteria-1-title-error")).to_be_in_viewport()
