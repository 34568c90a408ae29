"""Two runs side by side in a browser: from difference to difference by keyboard, and more rows when asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opened(page: Any, live_server: Any, sign_in: Callable[[Any, Any], None]) -> Any:
    """The page of two runs of 150 steps in which every step from the 50th to the 149th differs."""
    project = make.project()
    steps = [Step(role="agent", text=f"This is line {number} of what I have to say.") for number in range(1, 151)]
    changed = [Step(role="agent", text=f"This is line {number} of what I say.") for number in range(50, 150)]
    left = make.item(project, steps=tuple(steps))
    right = another_run(left, (*steps[:49], *changed, steps[149]))
    sign_in(page.context, make.lead_of(project))
    page.goto(f"{live_server.url}/projects/{project.slug}/compare/?left={left.uid}&right={right.uid}")
    return page


def at(page: Any) -> str:
    return page.locator(".row.at").get_attribute("id")


def test_n_goes_to_the_next_difference_and_shift_n_back(opened):
    opened.keyboard.press("n")
    assert at(opened) == "row-50"
    opened.keyboard.press("n")
    opened.keyboard.press("n")
    assert at(opened) == "row-52"
    opened.keyboard.press("Shift+N")
    assert at(opened) == "row-51"
    assert opened.locator("#announce").inner_text().startswith("Difference 2 of ")


def test_n_brings_the_rows_that_are_not_there_yet(opened):
    shown = opened.locator("[data-differs]").count()
    assert shown < 100
    for _ in range(shown):
        opened.keyboard.press("n")
    opened.keyboard.press("n")
    opened.locator(f"#row-{50 + shown}.at").wait_for()
    for _ in range(100):
        opened.keyboard.press("n")
        opened.wait_for_timeout(20)
    opened.locator("#row-149").wait_for()


def test_what_was_folded_opens_in_its_place(opened):
    opened.get_by_role("link", name="43 more, the same in both").click()
    opened.locator("#row-25").wait_for()
    assert opened.locator(".rows > li").evaluate_all(
        "rows => rows.filter(row => row.id.startsWith('row-')).slice(0, 50).map(row => row.id)"
    ) == [f"row-{number}" for number in range(1, 51)]


def test_both_runs_scroll_together_with_their_letters_in_sight(opened):
    opened.locator("#row-60").scroll_into_view_if_needed()
    left, right = (opened.locator(f"#row-60 .side >> nth={side}").bounding_box() for side in (0, 1))
    assert left["y"] == right["y"]
    assert opened.locator(".side-heads").bounding_box()["y"] >= 0
