"""Tasks reviewed in a real browser: by keys, and with text that means harm."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from reviews.models import Judgment, Preferences
from reviews.queries.payloads import payload_of
from reviews.task_review import TO_VERIFIER, task_review
from tests import factories as make
from tests.factories import tasks

pytestmark = pytest.mark.django_db(transaction=True)

ATTACKS = (
    "<script>document.title='x'</script><img src=x onerror=alert(1)>{{7*7}}\"'><svg onload=alert(2)> &lt;b&gt; \u202e"
)
# Selects words of a part of the task, as a reader would with the keys of their browser.
SELECT = """([part, words]) => {
  const walker = document.createTreeWalker(document.querySelector(`[data-part="${part}"]`), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(words);
    if (at < 0) continue;
    getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + words.length);
    return;
  }
  throw new Error(`${words} is not in one piece in the ${part}`);
}"""


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


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def span(part: str, words: str) -> dict[str, Any]:
    """Where words stand in a part of the task, in code points."""
    start = tasks.TASK[part].index(words)
    return {"part": part, "start": start, "end": start + len(words), "quote": words}


def test_alice_reviews_a_task_by_keys_alone(page: Page, live_server: Any, sign_in: Any):
    """The emoji before the hint counts as one character."""
    desk(page, live_server, sign_in)
    page.evaluate(SELECT, ["prompt", "with restore_right"])
    press(page, "h", "1")
    expect(page.locator("[data-part=prompt] mark")).to_have_text("with restore_right")
    expect(page.locator("[data-marked] .chip")).to_contain_text("Hint")
    press(page, "2")
    page.evaluate(SELECT, ["verifier", "return"])
    press(page, "e", "0", "1", "2")
    expect(page.locator("#c-verifier_intent .chip a")).to_contain_text("verifier")
    for _run in ("solver", "hacker"):
        press(page, "5", "n", "n")
    press(page, "4")
    expect(page.locator("#c-reason")).to_be_visible()
    press(page, "Enter")
    page.keyboard.type("Check that the owner said yes: 1, h and e.")
    press(page, "Escape", "ArrowDown", "n", "y", "n", "3", "r")
    page.keyboard.type("Any admin passes.")
    press(page, "Control+Enter")
    page.wait_for_url("**/judge/")
    said = payload_of(Judgment.objects.get())
    assert said["criteria"] == {
        "prompt_verifier": 2,
        "verifier_intent": 0,
        "prompt_intent": 1,
        "decision": TO_VERIFIER,
        "reason": "Check that the owner said yes: 1, h and e.",
        "world_realism": 2,
        "artificial": False,
        "meaningful_failures": True,
        "meaningful_successes": False,
    }
    of_run = {"why_failed": 5, "hack": False, "skipped_step": False}
    assert [candidate["criteria"] for candidate in said["candidates"]] == [of_run, of_run]
    assert said["evidence"] == [
        {"criterion": None, "mark": "hint", **span("prompt", "with restore_right")},
        {"criterion": "verifier_intent", **span("verifier", "return")},
    ]
    assert (said["rationale"], said["confidence"]) == ("Any admin passes.", 3)


def test_the_first_steps_are_those_of_a_task_and_come_once(page: Page, live_server: Any, sign_in: Any):
    desk(page, live_server, sign_in)
    Preferences.objects.all().delete()
    page.reload()
    for words in ("1. Read the task", "2. Say how its parts fit"):
        expect(page.get_by_role("dialog", name=words)).to_be_visible()
        press(page, "Enter")
    expect(page.get_by_role("dialog", name="3. Show what you mean")).to_contain_text("h and a digit to say what it is")
    with page.expect_response("**/settings/coached/"):
        page.get_by_role("button", name="Begin").click()
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(page.locator("#coach")).to_be_hidden()


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
