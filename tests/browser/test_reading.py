"""Alice reads long and difficult runs: kinds of steps, JSON that folds, a terminal's colours, the text as it is."""

import json
import re

import pytest
from playwright.sync_api import expect

from reviews.models import Draft
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db(transaction=True)

TOOLS = ({"name": "refund", "changes": "the balance"},)
CITE = """([number, path, words]) => {
    const field = document.querySelector(`#step-${number} [data-field="${path}"]`);
    const nodes = document.createTreeWalker(field, NodeFilter.SHOW_TEXT);
    let text = "", places = [];
    for (let node; (node = nodes.nextNode());) {
        for (let at = 0; at < node.data.length; at++) { places.push([node, at]); text += node.data[at]; }
    }
    const from = text.indexOf(words);
    const [first, start] = places[from], [last, end] = places[from + words.length - 1];
    getSelection().setBaseAndExtent(first, start, last, end + 1);
}"""

# The texts of the first step's field, each with how many citations it stands in.
DEPTHS = """() => {
    const texts = [], field = document.querySelector("#step-1 [data-field=text]");
    const nodes = document.createTreeWalker(field, NodeFilter.SHOW_TEXT);
    for (let node; (node = nodes.nextNode());) {
        let depth = 0;
        for (let up = node.parentElement; up !== field; up = up.parentElement) depth += up.matches("mark");
        if (node.data) texts.push([node.data, depth]);
    }
    return texts;
}"""


@pytest.fixture
def desk(transactional_db):
    return make.project()


@pytest.fixture
def read(desk, context, page, sign_in, live_server):
    """Open a run made of these steps, as Alice."""

    def begin(*steps):
        queue = make.queue(desk, items=[make.item(desk, steps=steps, tools=TOOLS) for _ in range(2)], overlap=1)
        sign_in(context, make.expert(desk, "Alice"))
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")

    return begin


def call(name, result, *, error=False):
    call = ToolCall(id="1", name=name, arguments_text="{}")
    return Step(role="tool", call=call, result=ToolResult(text=result, error=error))


def at(number):
    return re.compile(rf"^Step {number},")


def long_run():
    steps = [Step(role="agent" if number % 2 else "user", text=f"Message {number}.") for number in range(200)]
    steps[9], steps[179] = call("refund", "done"), call("refund", "done")
    steps[99] = call("look", "no such order", error=True)
    return steps


def test_writes_and_errors_are_reached_by_key_wherever_they_are(read, page):
    read(*long_run())
    for key, number in (("w", 10), ("w", 100), ("w", 180), ("W", 100)):
        page.keyboard.press(key)
        expect(page.locator("#announce")).to_have_text(at(number))
        expect(page.locator(f"#step-{number}")).to_have_class(re.compile(r"\bat\b"))
        expect(page.locator(f"#step-{number}")).to_be_in_viewport()
    page.keyboard.press("w")
    expect(page.locator("#announce")).to_have_text(at(180))
    page.keyboard.press("w")
    expect(page.locator("#announce")).to_have_text("No write or error after this step")


def test_a_kind_of_steps_is_shown_alone_and_a_jump_out_of_it_shows_all_again(read, page):
    read(*long_run())
    page.keyboard.press("a")
    expect(page.locator("#announce")).to_have_text("Shown: Writes 2")
    expect(page.locator(".step")).to_have_count(2)
    page.keyboard.press("j")
    expect(page.locator("#step-180")).to_have_class(re.compile(r"\bat\b"))
    expect(page.locator("#map .at")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("Message 150.")
    page.locator("#hits [data-hit='151']").press("Enter")
    expect(page.locator("#step-151")).to_have_class(re.compile(r"\bat\b"))
    expect(page.get_by_role("link", name="All 200")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Errors 1").click()
    expect(page.locator(".step")).to_have_count(1)


def test_the_text_as_it_is_comes_on_a_key(read, page):
    text = "\x1b[31mred\x1b[0m"
    read(call("run", text), Step(role="agent", text="**Bold** `code`"))
    escape = page.locator("#step-1 .esc").first
    expect(escape).to_be_hidden()
    page.keyboard.press("v")
    expect(escape).to_be_visible()
    page.keyboard.press("v")
    expect(escape).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("v")
    assert page.evaluate("getComputedStyle(document.querySelector('#step-2 b')).fontWeight") == "400"


def test_a_quote_from_json_that_folds_stands_at_its_place(read, page):
    value = {"👩🏽‍🚀": {"note": "شكرا", "paid": [{"amount": "64.20"}]}}
    read(call("look", json.dumps([value])))
    page.evaluate(CITE, [1, "result", '"amount": "64.20"'])
    page.keyboard.press("e")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved"))
    (cited,) = Draft.objects.get().data["evidence"]
    text = json.dumps([value], indent=2, ensure_ascii=False)
    assert text[cited["start"] : cited["end"]] == cited["quote"] == '"amount": "64.20"'
    fold = page.get_by_role("button", name="8 lines")
    fold.click()
    expect(page.locator("#step-1 mark").first).to_be_hidden()
    fold.press("Enter")
    expect(page.locator("#step-1 mark").first).to_be_visible()


def cited_on(page, count):
    """Where each citation begins and ends and what it says, once so many are in the draft."""
    expect(page.locator("#c-authorised .chip")).to_have_count(count)
    for _tenth in range(100):
        saved = [row for draft in Draft.objects.all() for row in draft.data["evidence"]]
        if len(saved) == count:
            break
        page.wait_for_timeout(100)
    return [(row["start"], row["end"], row["quote"]) for row in saved]


def test_two_quotes_that_overlap_stand_each_at_its_place(read, page):
    """Behind emoji, which are one character to the reader and several to the script."""
    text = "👩🏽‍🚀 paid 🙈 twice over"
    read(Step(role="agent", text=text))
    for words in ("paid 🙈 twice", "twice over", "🙈"):
        page.evaluate(CITE, [1, "text", words])
        page.keyboard.press("e")
        expect(page.locator("#announce")).to_contain_text(words)
    wanted = [
        (text.index(words), text.index(words) + len(words), words) for words in ("paid 🙈 twice", "twice over", "🙈")
    ]
    assert cited_on(page, 3) == wanted
    depths = [["👩🏽‍🚀 ", 0], ["paid ", 1], ["🙈", 2], [" ", 1], ["twice", 2], [" over", 1]]
    assert page.evaluate(DEPTHS) == depths
    page.reload()
    page.wait_for_selector("#c-authorised .chip")
    assert page.evaluate(DEPTHS) == depths
    page.locator("#c-authorised .chip button").first.click()
    expect(page.locator("#c-authorised .chip")).to_have_count(2)
    assert page.evaluate(DEPTHS) == [["👩🏽‍🚀 paid ", 0], ["🙈", 1], [" ", 0], ["twice over", 1]]


def test_a_quote_from_before_a_closed_fold_to_behind_it_has_all_that_is_between(read, page):
    value = [{"👩🏽‍🚀": "first"}, {"note": ["شكرا", 1]}, {"last": 2}]
    text = json.dumps(value, indent=2, ensure_ascii=False)
    words = text[text.index("first") : text.index("last") + 4]
    read(call("look", json.dumps(value)))
    page.locator("#step-1 .fold").nth(2).click()
    between = page.locator("#step-1 [data-field=result]").get_by_text("شكرا").last
    expect(between).to_be_hidden()
    page.evaluate(CITE, [1, "result", words])
    page.keyboard.press("e")
    assert cited_on(page, 1) == [(text.index("first"), text.index("first") + len(words), words)]
    # What is cited is shown.
    expect(between).to_be_visible()
    marked = page.evaluate("[...document.querySelectorAll('#step-1 mark')].map((mark) => mark.textContent).join('')")
    assert marked == words


def test_a_search_opens_the_json_it_finds_something_in(read, page):
    read(call("look", json.dumps([{"order": {"state": "late"}}])))
    inner = page.locator("#step-1 .kids .kids").first
    page.get_by_role("button", name="3 lines").click()
    expect(inner).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("late")
    expect(inner).to_be_visible()


def test_a_quote_past_a_terminals_colours_counts_what_is_not_seen(read, page):
    text = "\x1b[1;31m👍🏽 FAILED\x1b[0m and A-5071 \x1b[32mok\x1b[0m"
    read(call("run", text))
    page.evaluate(CITE, [1, "result", "A-5071 \x1b[32mok"])
    page.keyboard.press("e")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved"))
    (cited,) = Draft.objects.get().data["evidence"]
    assert text[cited["start"] : cited["end"]] == cited["quote"] == "A-5071 \x1b[32mok"
    expect(page.locator(".chip q").first).to_have_text("A-5071 ok")


def test_ten_thousand_steps_have_a_map_of_a_few_hundred_marks(read, page):
    steps = [Step(role="agent", text=f"Message {number}.") for number in range(1, 10_001)]
    steps[7_776] = call("refund", "done")
    read(*steps)
    assert page.locator("#map a").count() == 400
    page.locator("#map a.write").evaluate("(mark) => mark.click()")
    expect(page.locator("#step-7777")).to_have_class(re.compile(r"\bat\b"))
    expect(page.locator("#step-7777")).to_be_in_viewport()


MARKDOWN = (
    "# Plan\n\n1. I **refund** `A-5071` 👩🏽‍🚀\n2. شكرا **جزيلا** and *thanks*\n\n"
    "| id | state |\n|----|-------|\n| 7 | `late` |\n\n```py\nx = 1\n```\n"
)
QUOTES = ["refund", "I **refund** `A-5071` 👩🏽‍🚀", "جزيلا", "late", "state |\n|----|-------|\n| 7", "x = 1", "Plan"]


@pytest.mark.parametrize("words", QUOTES)
def test_a_quote_from_rendered_markdown_stands_at_its_place_in_the_source(read, page, words):
    read(Step(role="agent", text=MARKDOWN))
    expect(page.locator("#step-1 table")).to_be_visible()
    page.evaluate(CITE, [1, "text", words])
    page.keyboard.press("e")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved"))
    (cited,) = Draft.objects.get().data["evidence"]
    assert MARKDOWN[cited["start"] : cited["end"]] == cited["quote"] == words
    expect(page.locator("#step-1 mark[data-n='1']")).to_be_visible()


FOUND = "[...CSS.highlights.get('found')].map((range) => range.toString())"


def test_a_search_finds_what_is_read_and_what_is_written(read, page):
    read(Step(role="agent", text="I will **refund** it `now`."))
    page.keyboard.press("/")
    page.keyboard.type("refund it now")
    expect(page.locator("#hits [data-hit]")).to_have_count(1)
    assert page.evaluate(FOUND) == ["refund** it `now"]
    marks = page.locator("#step-1 .text i")
    expect(marks.first).to_be_hidden()
    page.locator("#find-text").fill("**refund")
    expect(marks.first).to_be_visible()
    assert page.evaluate(FOUND) == ["**refund"]
    page.keyboard.press("Escape")
    expect(marks.first).to_be_hidden()


def test_raw_markdown_shows_every_character(read, page):
    read(Step(role="agent", text=MARKDOWN))
    page.keyboard.press("v")
    assert page.locator("#step-1 [data-field=text]").inner_text().strip() == MARKDOWN.strip()
    page.keyboard.press("v")
    page.keyboard.press("V")
    assert page.locator("#step-1 [data-field=text]").inner_text().strip() == MARKDOWN.strip()


OLD, NEW = "def f():\n    return 1\n", "def f():\n    return 2\n"


def edit():
    arguments = json.dumps({"path": "desk.py", "old_str": OLD, "new_str": NEW})
    call = ToolCall(id="1", name="edit", arguments_text=arguments)
    return Step(role="tool", call=call, result=ToolResult(text="@@ -1,2 +1,2 @@\n same\n-a = 1\n+a = 2\n"))


def left_of(page, selector):
    return page.locator(selector).first.bounding_box()["x"]


def test_changes_side_by_side_are_remembered_on_the_next_item(read, page):
    read(edit())
    pairs = ("#step-1 .pair .add", "#step-1 .pair .del"), ("#step-1 .change .add", "#step-1 .change .del")
    for added, gone in pairs:
        assert left_of(page, added) == left_of(page, gone)
    page.keyboard.press("d")
    for added, gone in pairs:
        assert left_of(page, added) > left_of(page, gone) + 100
    page.evaluate(CITE, [1, "arguments/new_str", "return 2"])
    page.keyboard.press("e")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved"))
    (cited,) = Draft.objects.get().data["evidence"]
    assert NEW[cited["start"] : cited["end"]] == "return 2"
    for key in ("p", "p", "3", "2", "3"):
        page.keyboard.press(key)
    page.locator("#rationale").fill("It was asked for.")
    before = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(before)
    page.wait_for_selector("#judgment .criterion.at")
    assert left_of(page, pairs[0][0]) > left_of(page, pairs[0][1]) + 100
    expect(page.get_by_role("button", name="Changes side by side")).to_have_attribute("aria-pressed", "true")


def test_json_folds_as_a_whole_and_part_by_part(read, page):
    read(call("look", json.dumps({"order": {"lines": [1, 2]}, "ok": True})))
    kids = page.locator("#step-1 .kids")
    page.keyboard.press("O")
    expect(kids.nth(0)).to_be_visible()
    expect(kids.nth(1)).to_be_hidden()
    page.keyboard.press("O")
    expect(kids.nth(2)).to_be_visible()
    page.get_by_role("button", name="7 lines").click()
    expect(kids.nth(0)).to_be_hidden()


def test_how_a_run_was_read_survives_a_reload(read, page):
    read(*long_run(), call("look", json.dumps({"order": {"lines": [1, 2]}})))
    page.keyboard.press("g")
    page.keyboard.type("201")
    page.keyboard.press("Enter")
    expect(page.locator("#announce")).to_have_text(at(201))
    page.keyboard.press("O")
    expect(page.locator("#step-201 .kids").nth(1)).to_be_hidden()
    page.keyboard.press("k")
    page.keyboard.press("v")
    page.keyboard.press("/")
    page.keyboard.type("Message 198")
    expect(page.locator("#hits [data-hit]")).to_have_count(1)
    top = page.locator("#step-200").bounding_box()["y"]
    page.reload()
    expect(page.locator("#find-text")).to_have_value("Message 198")
    expect(page.locator("#step-200")).to_have_class(re.compile(r"\bat\b"))
    expect(page.locator("#step-200")).to_have_class(re.compile(r"\braw\b"))
    expect(page.locator("#step-201 .kids").nth(1)).to_be_hidden()
    assert abs(page.locator("#step-200").bounding_box()["y"] - top) < 40


def test_a_kind_of_steps_stays_chosen_over_a_reload(read, page):
    read(*long_run())
    page.keyboard.press("a")
    expect(page.locator(".step")).to_have_count(2)
    page.keyboard.press("j")
    page.reload()
    expect(page.locator(".step")).to_have_count(2)
    expect(page.get_by_role("link", name="Writes 2")).to_have_attribute("aria-current", "true")
    expect(page.locator("#step-180")).to_have_class(re.compile(r"\bat\b"))


def test_a_lead_reads_an_item_by_the_same_keys(desk, context, page, sign_in, live_server):
    item = make.item(desk, steps=(*long_run(), call("look", json.dumps({"a": {"b": 1}}))), tools=TOOLS)
    sign_in(context, make.lead_of(desk))
    page.goto(f"{live_server.url}/projects/{desk.slug}/items/{item.uid}/")
    expect(page.locator("#step-1")).to_have_class(re.compile(r"\bat\b"))
    for key, number in (("j", 2), ("w", 10), ("w", 100), ("W", 10)):
        page.keyboard.press(key)
        expect(page.locator("#announce")).to_have_text(at(number))
        expect(page.locator(f"#step-{number}")).to_be_in_viewport()
    page.keyboard.press("g")
    page.keyboard.type("201")
    page.keyboard.press("Enter")
    expect(page.locator("#step-201")).to_be_in_viewport()
    page.keyboard.press("O")
    expect(page.locator("#step-201 .kids").nth(1)).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("no such order")
    page.locator("#hits [data-hit='100']").press("Enter")
    expect(page.locator("#step-100")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator(".step")).to_have_count(2)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_a_lead_reads_a_disagreement_by_the_same_keys(desk, context, page, sign_in, live_server):
    item = make.item(desk, steps=(*long_run(), call("look", json.dumps({"a": {"b": 1}}))), tools=TOOLS)
    queue = make.queue(desk, items=[item], overlap=2)
    judge(queue, make.expert(desk, "Alice"), make.passing())
    judge(queue, make.expert(desk, "Bob"), make.passing(process=0))
    sign_in(context, make.lead_of(desk))
    page.goto(f"{live_server.url}/queues/{queue.uid}/disagreements/{queue.queue_items.get().uid}/")
    expect(page.locator("#step-1")).to_have_class(re.compile(r"\bat\b"))
    for key, number in (("j", 2), ("w", 10), ("w", 100)):
        page.keyboard.press(key)
        expect(page.locator("#announce")).to_have_text(at(number))
        expect(page.locator(f"#step-{number}")).to_be_in_viewport()
    page.keyboard.press("/")
    page.keyboard.type("Message 150.")
    page.locator("#hits [data-hit='151']").press("Enter")
    expect(page.locator("#step-151")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("go to a step by its number")
