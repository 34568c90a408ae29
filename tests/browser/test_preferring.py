"""Comparisons judged in a real browser: by keys alone, by drag, on a phone, and without script."""

from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from reviews.actions.pairing import make_comparison
from reviews.models import Draft, Judgment, Preferences
from reviews.queries.payloads import payload_of
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.factories.runs import another_run

pytestmark = pytest.mark.django_db(transaction=True)

TAGS = [{"value": 1, "name": "Asks first"}, {"value": 2, "name": "Fewer steps"}]
TIES = ["equally_good", "equally_bad"]
AUTHORISED = {
    "key": "authorised",
    "title": "Authorised access only",
    "question": "Does every record belong to the requester?",
    "kind": "gate",
    "scope": "candidate",
    "evidence": "on_fail",
}
CONSENT = {"key": "consent", "title": "Consent before action", "kind": "gate", "scope": "candidate"}


def better(form: str = "pair", **settings: Any) -> dict[str, Any]:
    return {
        "key": "better",
        "title": "Which run is better",
        "kind": "preference",
        "levels": TAGS,
        "settings": {"form": form, "strength": 3 if form == "pair" else 0, "ties": TIES, **settings},
    }


def paid(words: str, asked: bool = True) -> tuple[Step, ...]:
    """A run that goes on after the account was read: asks or not, pays, and says so."""
    asks = (Step(role="agent", text="Shall I pay back $64.20?"), Step(role="user", text="Yes, please."))
    pays = Step(
        role="tool",
        call=ToolCall(id="c2", name="pay_back", arguments_text='{"amount": "64.20"}', arguments={"amount": "64.20"}),
        result=ToolResult(text='{"status": "paid"}'),
    )
    return (*make.STEPS[:3], *(asks if asked else ()), pays, Step(role="agent", text=words))


RUNS = [
    paid("$64.20 is on its way to you."),
    paid("Done.", asked=False),
    paid("I have paid it back. It takes three days."),
    paid("It is paid, and I am sorry for the wait.", asked=False),
]


class Desk:
    """A project with one comparison for Alice, who is signed in."""

    def __init__(
        self,
        page: Page,
        live_server: Any,
        sign_in: Any,
        *criteria: dict[str, Any],
        runs: int = 2,
        scripted: bool = True,
    ) -> None:
        self.page = page
        self.project = make.project()
        first = make.item(self.project, steps=RUNS[0])
        items = [first, *(another_run(first, steps) for steps in RUNS[1:runs])]
        self.item = make_comparison(actor=make.lead_of(self.project), project=self.project, items=items).item
        self.alice = make.expert(self.project)
        self.queue = make.queue(
            self.project, items=[self.item], criteria=list(criteria), rubric={"item_kind": "comparison"}, overlap=1
        )
        sign_in(page.context, self.alice)
        page.goto(f"{live_server.url}/queues/{self.queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").click()
        page.wait_for_selector("#judgment .criterion.at" if scripted else "#judgment")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def submitted(self) -> dict[str, Any]:
        """What stands once the judgment was sent by keys."""
        self.press("Control+Enter")
        self.page.wait_for_url("**/judge/")
        return payload_of(Judgment.objects.get(rater=self.alice))


@pytest.fixture
def desk(page, live_server, sign_in):
    return lambda *criteria, **more: Desk(page, live_server, sign_in, *criteria, **more)


def decided(page):
    return page.locator("[data-decided]")


# --- Two candidates ---------------------------------------------------------------------------------------------------
def test_alice_prefers_one_of_two_by_keys_alone(desk, page):
    at = desk(AUTHORISED, CONSENT, better())
    expect(decided(page)).to_have_text("Answer the gates first. The preference opens when they pass.")
    at.press("p", "p", "p", "p")
    expect(page.get_by_label("B is slightly better")).to_be_visible()
    at.press("b", "B", "j", "e")  # there and back; the next step of B shows it
    expect(page.locator("#c-better .chip a")).to_have_text("1 · B5")
    at.press("6", "2", "ArrowDown", "3", "r")
    page.keyboard.type("Asked before it paid.")
    at.press("Escape")
    said = at.submitted()
    assert said["criteria"]["better"] == {"prefers": 2, "strength": 1, "reasons": [2]}
    assert said["evidence"] == [{"criterion": "better", "candidate": 2, "step": 5}]
    assert (said["rationale"], said["confidence"]) == ("Asked before it paid.", 3)
    assert [candidate["gates"] for candidate in said["candidates"]] == [{"authorised": "pass", "consent": "pass"}] * 2


def test_a_failed_gate_decides_and_says_so(desk, page):
    at = desk(AUTHORISED, better())
    at.press("p", "f", "e")
    expect(decided(page)).to_have_text("B fails a gate, so A is preferred.")
    expect(page.locator(".scale")).to_be_hidden()
    at.press("j", "x", "1", "1", "2")
    said = at.submitted()
    assert "better" not in said["criteria"]
    assert said["candidates"][1]["failure"] == {
        "step": 5, "who": "agent", "cause": "unauthorised_access", "note": ""
    }  # fmt: skip
    assert said["evidence"] == [{"criterion": "authorised", "candidate": 2, "step": 4}]
    better_one = Judgment.objects.get().ratings.get(criterion__key="better")
    order = Judgment.objects.get().assignment.candidate_order
    assert better_one.ranks[order[0] - 1] == 1
    assert better_one.value is None


def test_quality_of_a_candidate_opens_when_its_own_gates_and_those_of_the_whole_pass(desk, page):
    comparable = {"key": "comparable", "title": "They answer the same request", "kind": "gate"}
    careful = {"key": "careful", "title": "Careful", "kind": "binary", "scope": "candidate"}
    desk(comparable, AUTHORISED, careful, better())
    quality = page.locator("[data-candidate='1'] .graded")
    for gate, answer, opens in (
        ("1-authorised", "pass", False),
        ("comparable", "fail", False),
        ("comparable", "pass", True),
        ("1-authorised", "fail", False),
    ):
        page.locator(f"#c-{gate} input[value={answer}]").check(force=True)
        expect(quality).to_have_js_property("disabled", not opens)


def test_a_tie_is_a_point_of_the_scale(desk, page):
    at = desk(better())
    at.press("5", "ArrowDown", "1")
    assert at.submitted()["criteria"]["better"] == {"tie": "equally_bad"}


def test_the_first_steps_are_those_of_a_comparison_and_come_once(desk, page):
    desk(AUTHORISED, better())
    Preferences.objects.all().delete()
    page.reload()
    coach = page.locator("#coach")
    for words in ("1. Read the candidates", "2. Say which is better", "3. Show what you mean"):
        expect(page.get_by_role("dialog", name=words)).to_be_visible()
        with page.expect_response("**/settings/coached/") if words[0] == "3" else nullcontext():
            page.keyboard.press("Enter")
    expect(coach).to_be_hidden()
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(coach).to_be_hidden()


def test_what_is_missing_is_named_and_nothing_entered_is_lost(desk, page):
    at = desk(AUTHORISED, better())
    at.press("p", "f")
    page.get_by_role("textbox", name="Why", exact=True).fill("Half done.")
    at.press("Control+Enter")
    expect(page.locator("#wrong")).to_be_visible()
    expect(page.locator("#of-2-failure-step .need")).to_contain_text("first decisive step")
    expect(page.get_by_role("textbox", name="Why", exact=True)).to_have_value("Half done.")
    assert not Judgment.objects.exists()


def test_what_was_entered_is_there_again_after_a_reload(desk, page):
    at = desk(AUTHORISED, better())
    at.press("p", "p", "2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.reload()
    expect(page.get_by_label("A is clearly better")).to_be_checked()
    assert Draft.objects.get().data["criteria"] == {"better": {"prefers": 1, "strength": 2}}


def test_what_differs_is_marked_by_a_key(desk, page):
    at = desk(better())
    at.press("D")
    expect(page.get_by_role("button", name="Mark what differs")).to_have_attribute("aria-pressed", "true")
    assert page.locator(".differs-here").count() >= 2
    at.press("D")
    expect(page.locator(".differing")).to_have_count(0)


# --- More than two ----------------------------------------------------------------------------------------------------
def test_candidates_are_ranked_by_digits_and_moved_by_arrows(desk, page):
    at = desk(better("ranking"), runs=3)
    page.locator(".rank").first.focus()
    at.press("2", "1", "2")
    expect(page.locator("[data-order]")).to_have_text("B > A = C")
    page.locator(".rank", has_text="C").focus()
    at.press("Shift+ArrowUp", "Shift+ArrowUp")
    expect(page.locator("[data-order]")).to_have_text("C > B > A")
    page.get_by_label("High").check()
    assert at.submitted()["criteria"]["better"] == {"ranks": [3, 2, 1]}


def test_candidates_are_ranked_by_dragging(desk, page):
    at = desk(better("ranking"), runs=3)
    grip = page.locator(".rank", has_text="C").locator(".grip").bounding_box()
    first = page.locator(".rank").first.bounding_box()
    page.mouse.move(grip["x"] + 5, grip["y"] + 5)
    page.mouse.down()
    page.mouse.move(first["x"] + 20, first["y"] + 2, steps=5)
    page.mouse.up()
    expect(page.locator("[data-order]")).to_have_text("C > A > B")
    page.get_by_label("High").check()
    assert at.submitted()["criteria"]["better"] == {"ranks": [2, 3, 1]}


def test_best_and_worst_are_chosen_by_digits(desk, page):
    at = desk(better("best_worst", ties=[]), runs=4)
    at.press("3", "1")
    page.get_by_label("Medium").check()
    assert at.submitted()["criteria"]["better"] == {"best": 3, "worst": 1}


# --- For everybody ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_page_keeps_nobody_out(desk, page, no_barriers, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    at = desk(AUTHORISED, better(), {**better(), "key": "words", "title": "Better words", "required": False})
    no_barriers(page)
    at.press("p", "f")
    no_barriers(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0]


def test_a_preference_is_judged_on_a_phone(desk, page):
    page.set_viewport_size({"width": 390, "height": 844})
    at = desk(AUTHORISED, better())
    page.get_by_role("button", name="B 4 more").or_(page.get_by_role("button", name="B 2 more")).click()
    expect(page.get_by_role("region", name="Candidate B")).to_be_visible()
    expect(page.get_by_role("region", name="Candidate A")).to_be_hidden()
    for place in (1, 2):
        page.locator(f"[data-candidate='{place}']").get_by_label("Pass").check()
    page.get_by_label("A is much better").check()
    page.get_by_label("High").check()
    assert at.submitted()["criteria"]["better"] == {"prefers": 1, "strength": 3}


def test_without_script_it_is_a_plain_form(browser, live_server, sign_in):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    at = Desk(page, live_server, sign_in, AUTHORISED, better(), scripted=False)
    for place in (1, 2):
        page.locator(f"[name='candidates.{place}.gates.authorised'][value=pass]").check(force=True)
    page.locator("[name='prefer.better'][value='1-2']").check(force=True)
    page.locator("[name=confidence][value='2']").check(force=True)
    page.get_by_role("button", name="Submit and next").click()
    assert payload_of(Judgment.objects.get(rater=at.alice))["criteria"]["better"] == {"prefers": 1, "strength": 2}
    context.close()
