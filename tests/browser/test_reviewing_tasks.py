"""Tasks reviewed in a real browser: with text that means harm."""

from typing import Any

import pytest
from playwright.sync_api import Page

from reviews.task_review import task_review
from tests import factories as make
from tests.factories import tasks

pytestmark = pytest.mark.django_db(transaction=True)

ATTACKS = (
    "<script>document.title='x'</script><img src=x onerror=alert(1)>{{7*7}}\"'><svg onload=alert(2)> &lt;b&gt; \u202e"
)


def desk(page: Page, live_server: Any, sign_in: Any, **changes: Any) -> Any:
    """Alice, signed in, with one task in her queue."""
    project, whole = make.project(), task_review()
    rubric = {"item_kind": "task", "marks": whole["marks"]}
    items = [tasks.task(project, **changes)]
    queue = make.queue(project, items=items, criteria=whole["criteria"], rubric=rubric, overlap=1)
    alice = make.expert(project)
    sign_in(page.context, alice)
    page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").click()
    page.wait_for_selector("#judgment .criterion.at")
    return alice


def test_text_that_means_harm_is_text(page: Page, live_server: Any, sign_in: Any):
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    harm = dict.fromkeys(("prompt", "world", "verifier", "intent", "axis"), ATTACKS)
    desk(page, live_server, sign_in, **harm, production_prompts=[ATTACKS])
    for part in ("prompt", "world", "verifier", "intent"):
        shown = page.evaluate("(part) => document.querySelector(`[data-part='${part}']`).textContent", part)
        assert shown == ATTACKS
    assert page.locator(".parts script, .parts img, .parts svg, .verifier img, .verifier svg").count() == 0
    assert not dialogs
    assert page.title() != "x"
