"""What a screen reader says on the pages of a rater: every control by name, what is saved, locked and missing."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from reviews.task_review import task_review
from tests import factories as make
from tests.factories import tasks
from tests.reviews.actions.test_corrections import TOOLS

pytestmark = pytest.mark.django_db(transaction=True)

CONTROLS = {"button", "checkbox", "combobox", "link", "listbox", "radio", "searchbox", "spinbutton", "textbox"}
SIDED = [{**gate, "scope": "candidate"} for gate in make.CRITERIA[:2]]
BETTER = {
    "key": "better",
    "title": "Which run is better",
    "question": "Whom would you hire?",
    "kind": "preference",
    "settings": {"form": "pair", "strength": 3, "ties": ["equally_good"]},
}


def unnamed(page: Page) -> list[str]:
    """The controls in the browser's accessibility tree that have no name."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        f"{node['role']['value']} {node['backendDOMNodeId']}"
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in CONTROLS and not node.get("name", {}).get("value")
    ]


@pytest.fixture
def begin(page, live_server, sign_in, transactional_db):
    """Opens the first item of a queue in a project of its own, which is made by the function given."""

    def start(make_queue: Any) -> None:
        project = make.project()
        queue = make_queue(project)
        sign_in(page.context, make.expert(project, "Alice"))
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")

    return start


def a_run(project: Any) -> Any:
    runs = [make.item(project, tools=TOOLS) for _ in range(2)]
    return make.queue(project, items=runs, rubric={"correction": "on_fail"}, unsure_allowed=True, overlap=1)


def a_pair(project: Any) -> Any:
    items = [make.comparison(project, 2)]
    return make.queue(project, items=items, criteria=[*SIDED, BETTER], rubric={"item_kind": "comparison"}, overlap=1)


def a_task(project: Any) -> Any:
    whole = task_review()
    rubric = {"item_kind": "task", "marks": whole["marks"]}
    return make.queue(project, items=[tasks.task(project)], criteria=whole["criteria"], rubric=rubric, overlap=1)


@pytest.mark.parametrize("make_queue", [a_run, a_pair, a_task])
def test_every_control_has_a_name_whatever_is_answered(page, begin, make_queue):
    begin(make_queue)
    assert unnamed(page) == []
    page.keyboard.press("f")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#judgment .need").first).to_be_visible()
    assert unnamed(page) == []
    for key in ("?", "s", "q", "/"):
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        assert unnamed(page) == []


def test_the_dialog_of_a_correction_has_names_too(page, begin):
    begin(a_run)
    for key in ("j", "j", "c"):
        page.keyboard.press(key)
    page.wait_for_selector("#correct[open] form")
    assert unnamed(page) == []


def test_an_answer_by_key_is_said_with_its_question_and_is_checked_in_its_group(page, begin):
    begin(a_run)
    page.keyboard.press("p")
    gate = page.get_by_role("group", name="Only authorised accounts")
    expect(gate.get_by_role("radio", name="Pass")).to_be_checked()
    expect(gate.get_by_role("radio", name="Fail")).not_to_be_checked()
    expect(page.locator("#announce")).to_have_text("Only authorised accounts: Pass")
    expect(page.get_by_role("group", name="Consent before action").get_by_role("radio", name="Pass")).to_be_focused()


def test_saved_is_said_once_for_an_item(page, begin):
    begin(a_run)
    aloud = page.locator("#saved-aloud")
    expect(aloud).to_have_role("status")
    expect(aloud).to_have_text("")
    page.evaluate(
        "new MutationObserver(() => { window.said = (window.said ?? 0) + 1; }).observe("
        "document.getElementById('saved-aloud'), { childList: true, characterData: true, subtree: true })"
    )
    for key in ("p", "p"):
        with page.expect_response("**/draft/"):
            page.keyboard.press(key)
        expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d"))
    expect(aloud).to_have_text("Saved")
    assert page.evaluate("window.said") == 1


def test_that_a_failed_gate_locks_quality_is_said(page, begin):
    begin(a_run)
    said = page.get_by_role("region", name="Quality").get_by_role("status")
    expect(said).to_have_text(re.compile("Answer the gates first"), use_inner_text=True)
    page.keyboard.press("f")
    expect(said).to_have_text(re.compile("^A gate failed, so quality is not scored"), use_inner_text=True)


def test_what_is_missing_is_said_and_belongs_to_its_question(page, begin):
    begin(a_run)
    page.keyboard.press("f")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("p")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("answers below need a look")
    for name, words in {
        "Only authorised accounts": "asks for evidence",
        "First decisive step": "name the first decisive step",
        "How sure are you?": "Say how sure you are",
    }.items():
        expect(page.get_by_role("group", name=name)).to_have_accessible_description(re.compile(words))
    expect(page.get_by_role("group", name="Only authorised accounts").get_by_role("radio", name="Fail")).to_be_focused()
    expect(
        page.get_by_role("button", name="write the current step as it should have been")
    ).to_have_accessible_description(re.compile("Write what the agent should have done"))
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d"))
