"""Alice and Bob judge runs in a real browser: by keyboard alone, in two tabs, off line, without script."""

import json
import re

import pytest
from playwright.sync_api import expect

from reviews.actions.projects import invite
from reviews.enums import SkipReason
from reviews.models import Assignment, Draft, Judgment, Membership
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(transactional_db):
    return make.project()


@pytest.fixture
def alice(desk, context, sign_in):
    person = make.expert(desk, "Alice")
    sign_in(context, person)
    return person


@pytest.fixture
def start(page, live_server):
    def begin(queue):
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").press("Enter")
        page.wait_for_selector("#judgment .criterion.at")

    return begin


def saved(page):
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def submit_and_wait(page):
    """Send by keyboard, and wait for another page in the same place."""
    before = page.url
    press(page, "Control+Enter")
    page.wait_for_url(lambda url: url != before)


def test_what_is_typed_while_an_answer_is_still_coming_in_is_no_conflict(desk, alice, page, start):
    """The head of an answer may be there long before its body."""
    page.add_init_script(
        "const json = Response.prototype.json;"
        "const slow = () => new Promise((done) => setTimeout(done, 1500));"
        "Response.prototype.json = async function () { await slow(); return json.call(this); };"
    )
    start(make.queue(desk, items=1, overlap=1))
    press(page, "r")
    for word in ("Slowly, ", "word ", "by ", "word."):
        page.keyboard.type(word)
        page.wait_for_timeout(700)
    saved(page)
    expect(page.get_by_label("Why", exact=True)).to_have_value("Slowly, word by word.")
    assert Draft.objects.get().data["rationale"] == "Slowly, word by word."


@pytest.mark.parametrize("first", ["the draft", "the judgment"])
def test_a_judgment_sent_back_while_a_save_is_under_way_is_no_conflict(desk, alice, page, start, first):
    """Whichever of the two the server meets first, both are of this tab, and what was typed stays."""
    held = []
    page.route("**/draft/", lambda route: held.append(route) if not held else route.continue_())
    start(make.queue(desk, items=1, overlap=1))
    press(page, "p", "p", "3", "r")
    page.keyboard.type("In haste")
    expect(page.locator("#saved")).to_have_text("Saving")
    page.wait_for_function("() => true")
    while not held:
        page.wait_for_timeout(20)
    answer = held[0].fetch() if first == "the draft" else None
    press(page, "Control+Enter")
    expect(page.locator("#judgment .need").first).to_be_visible()
    held[0].fulfill(response=answer) if answer else held[0].continue_()
    page.locator("#rationale").focus()
    page.keyboard.type(", and more")
    saved(page)
    expect(page.locator("#unsent")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_label("Why", exact=True)).to_have_value("In haste, and more")
    assert Draft.objects.get().data["rationale"] == "In haste, and more"


def test_alice_judges_ten_items_by_keyboard_alone(desk, alice, page, start):
    queue = make.queue(desk, items=10, overlap=1)
    start(queue)
    for number in range(10):
        if number % 3 == 2:
            press(page, "j", "j", "f", "e", "ArrowDown", "p", "x", "1", "1", "2", "r")
        else:
            press(page, "p", "p", "3", "2", "3", "r")
        page.keyboard.type(f"Reason {number}, with j, k and ? in it.")
        submit_and_wait(page)
        page.wait_for_selector("#judgment .criterion.at, .empty")
    expect(page.get_by_role("heading", name="That was the last one for now")).to_be_visible()

    judgments = list(Judgment.objects.filter(rater=alice).order_by("submitted_at"))
    assert [judgment.rationale for judgment in judgments] == [
        f"Reason {number}, with j, k and ? in it." for number in range(10)
    ]
    passed, failed = judgments[0], judgments[2]
    assert {rating.criterion.key: rating.value for rating in passed.ratings.all()} == {
        "authorised": 1,
        "consent": 1,
        "success": 3,
        "process": 2,
    }
    assert passed.confidence == 3
    assert {rating.criterion.key: rating.value for rating in failed.ratings.all()} == {"authorised": 0, "consent": 1}
    assert (failed.failure_step, failed.failure_who, failed.failure_cause) == (3, "agent", "unauthorised_access")
    assert [(cited.step, cited.criterion.key) for cited in failed.evidence.all()] == [(3, "authorised")]
    assert failed.confidence == 2


def test_the_first_run_coach_has_three_steps_and_comes_once(desk, context, page, sign_in, start):
    bob = make.person("Bob")
    make.member(desk, bob)
    sign_in(context, bob)
    start(make.queue(desk, items=2))
    coach = page.locator("#coach")
    expect(coach).to_contain_text("1. Read the run")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(coach).to_contain_text("2. Answer the gates first")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(coach).to_contain_text("3. Show what you mean")
    with page.expect_response("**/settings/coached/"):
        page.get_by_role("button", name="Begin").click()
    expect(coach).to_be_hidden()
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(coach).to_be_hidden()


def test_a_draft_survives_a_reload(desk, alice, page, start):
    start(make.queue(desk, items=1))
    press(page, "j", "j", "f", "e", "r")
    page.keyboard.type("Half a thought")
    saved(page)
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(page.locator("input[name='gates.authorised'][value=fail]")).to_be_checked()
    expect(page.locator("#rationale")).to_have_value("Half a thought")
    expect(page.locator("#c-authorised .chip")).to_contain_text("1 · step 3")


def test_quality_is_locked_until_every_gate_passes_and_values_come_back(desk, alice, page, start):
    start(make.queue(desk, items=1))
    quality, failure = page.locator("fieldset.quality"), page.locator("#failure")
    expect(quality).to_be_hidden()
    expect(page.locator(".gates-open")).to_be_visible()
    press(page, "p", "p", "3")
    expect(quality).to_be_visible()
    expect(failure).to_be_hidden()
    page.locator("#c-consent").get_by_text("Fail").click()
    expect(quality).to_be_hidden()
    expect(failure).to_be_visible()
    expect(page.locator(".gates-failed")).to_contain_text("A gate failed, so quality is not scored.")
    page.locator("#c-consent").get_by_text("Pass").click()
    expect(page.locator("input[name='criteria.success'][value='3']")).to_be_checked()


def test_what_is_missing_is_named_at_its_field_and_nothing_entered_is_lost(desk, alice, page, start):
    start(make.queue(desk, items=1))
    press(page, "f", "ArrowDown", "p", "r")
    page.keyboard.type("Somebody else's account.")
    press(page, "Control+Enter")
    expect(page.locator("#c-authorised .need")).to_contain_text("asks for evidence")
    expect(page.locator("#failure .need").first).to_contain_text("name the first decisive step")
    expect(page.locator("#of-confidence .need")).to_contain_text("Say how sure you are")
    expect(page.locator("#rationale")).to_have_value("Somebody else's account.")
    expect(page.locator("input[name='gates.authorised'][value=fail]")).to_be_focused()
    assert not Judgment.objects.exists()
    page.locator("#of-confidence label").last.click()
    expect(page.locator("#of-confidence .need")).to_be_hidden()
    expect(page.locator("#wrong")).to_contain_text("What is marked below still needs a look.")
    page.locator("#c-authorised legend").click()
    press(page, "e")
    expect(page.locator("#c-authorised .need")).to_have_count(0)
    page.locator("#failure-step").fill("3")
    page.locator("#failure-step").press("Tab")
    for field in ("of-failure-who", "of-failure-cause"):
        page.locator(f"#{field} label").first.click()
    expect(page.locator("#judgment .need")).to_have_count(0)
    expect(page.locator("#wrong")).to_have_count(0)


def test_two_tabs_show_both_texts_and_alice_chooses(desk, alice, page, context, start):
    start(make.queue(desk, items=1))
    other = context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#judgment .criterion.at")
    press(page, "r")
    page.keyboard.type("Written in the first tab")
    saved(page)
    press(other, "r")
    other.keyboard.type("Written in the second tab")
    dialog = other.get_by_role("dialog")
    expect(dialog).to_contain_text("Written in the first tab")
    expect(dialog).to_contain_text("Written in the second tab")
    other.get_by_role("button", name="Keep all of this tab").click()
    saved(other)
    assert Draft.objects.get().data["rationale"] == "Written in the second tab"
    other.keyboard.type(", and more")
    expect(other.locator("#rationale")).to_have_value("Written in the second tab, and more")


def test_on_a_phone_the_next_item_begins_at_its_top(desk, alice, page, start):
    page.set_viewport_size({"width": 390, "height": 844})
    start(make.queue(desk, items=2))
    press(page, "p", "p", "3", "2", "3")
    submit_and_wait(page)
    expect(page.get_by_role("heading", name="Request")).to_be_in_viewport()
    expect(page.locator("#step-1")).to_be_in_viewport()


def test_sending_twice_gives_one_judgment(desk, alice, page, context, start):
    start(make.queue(desk, items=3))
    old_tab = context.new_page()
    old_tab.goto(page.url)
    old_tab.wait_for_selector("#judgment .criterion.at")
    press(page, "p", "p", "3", "2", "3")
    for tab in (page, old_tab):
        press(tab, "Control+Enter", "Control+Enter")
        expect(tab.locator("#announce")).to_have_text("Submitted. The next item is here.")
    assert Judgment.objects.filter(rater=alice).count() == 1
    assert page.url == old_tab.url


def test_a_tab_left_behind_says_that_the_item_is_submitted(desk, alice, page, context, start):
    start(make.queue(desk, items=3))
    old_tab = context.new_page()
    old_tab.goto(page.url)
    old_tab.wait_for_selector("#judgment .criterion.at")
    press(page, "p", "p", "3", "2", "3")
    submit_and_wait(page)
    press(old_tab, "f")
    expect(old_tab.get_by_role("dialog")).to_contain_text("You have submitted this item already.")
    old_tab.get_by_role("button", name="Show how it stands").click()
    expect(old_tab.get_by_role("heading", name=re.compile("^You judged this"))).to_be_visible()


def test_the_back_button_shows_the_receipt(desk, alice, page, start):
    start(make.queue(desk, items=2))
    press(page, "p", "p", "3", "2", "3")
    submit_and_wait(page)
    page.wait_for_selector("#judgment .criterion.at")
    page.go_back()
    expect(page.get_by_role("heading", name=re.compile("^You judged this"))).to_be_visible()
    expect(page.locator("dl")).to_contain_text("Strong")
    page.get_by_role("button", name="Next item").click()
    page.wait_for_selector("#judgment .criterion.at")


def test_without_a_connection_nothing_is_lost(desk, alice, page, context, start):
    start(make.queue(desk, items=1))
    context.set_offline(True)
    press(page, "p", "r")
    page.keyboard.type("Typed in a tunnel")
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Not saved since \d\d:\d\d:\d\d$"))
    expect(page.locator("#unsent")).to_contain_text("kept in this browser")
    context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    saved(page)
    assert Draft.objects.get().data["rationale"] == "Typed in a tunnel"


def test_after_signing_in_again_in_another_tab_the_judgment_goes_through(
    desk, alice, page, context, start, sign_in, live_server
):
    start(make.queue(desk, items=2))
    context.clear_cookies(name="sessionid")
    press(page, "p", "p", "3", "2", "3", "Control+Enter")
    expect(page.locator("#unsent")).to_contain_text("You are signed out")
    assert not Judgment.objects.exists()
    sign_in(context, alice)
    context.add_cookies([{"name": "csrftoken", "value": "b" * 32, "url": live_server.url}])
    expect(page.locator("#unsent")).to_contain_text("not submitted yet", timeout=20_000)
    submit_and_wait(page)
    assert Judgment.objects.get().rater == alice


def test_a_quote_is_cited_in_code_points_past_emoji_and_right_to_left_text(desk, alice, page, start):
    text = "👍🏽 شكرا **so** much, A-5071 is mine"
    start(make.queue(desk, items=[make.item(desk, steps=(Step(role="user", text=text),))], overlap=1))
    page.evaluate(
        """() => {
            const field = document.querySelector('#step-1 [data-field=text]');
            const walker = document.createTreeWalker(field, NodeFilter.SHOW_TEXT);
            let node;
            while ((node = walker.nextNode())) if (node.data.includes('A-5071')) break;
            const at = node.data.indexOf('A-5071');
            getSelection().setBaseAndExtent(node, at, node, at + 6);
        }"""
    )
    press(page, "f", "e")
    expect(page.locator("#step-1 mark").last).to_have_text("A-5071")
    saved(page)
    (cited,) = Draft.objects.get().data["evidence"]
    start_at = text.index("A-5071")
    assert cited == {
        "criterion": "authorised",
        "step": 1,
        "field": "text",
        "start": start_at,
        "end": start_at + 6,
        "quote": "A-5071",
    }


def test_a_line_of_the_policy_is_cited_with_its_number(desk, alice, page, start):
    start(make.queue(desk, items=1))
    press(page, "f")
    page.get_by_role("button", name="Cite line 1 of the policy").focus()
    press(page, "Enter")
    expect(page.locator("#c-authorised .chip")).to_contain_text("policy 1")
    expect(page.locator("#policy-1")).to_have_class(re.compile("cited"))
    saved(page)
    assert Draft.objects.get().data["evidence"] == [{"criterion": "authorised", "policy_line": 1}]


def test_markup_in_a_run_is_shown_and_never_run(desk, alice, page, start):
    attack = "<img src=x onerror=alert(1)><script>document.title='owned'</script>"
    result = ToolResult(text=json.dumps({"note": attack}))
    steps = (
        Step(role="user", text=attack),
        Step(role="tool", call=ToolCall(id="1", name=attack, arguments_text=attack), result=result),
    )
    page.on("dialog", lambda dialog: pytest.fail("a script from a run was executed"))
    start(make.queue(desk, items=[make.item(desk, steps=steps)], overlap=1))
    expect(page.locator("#step-1 [data-field=text]")).to_have_text(attack)
    expect(page.locator("#step-2 .name")).to_have_text(attack)
    expect(page.locator("#step-2 [data-field='result/note']")).to_have_text(attack)
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "owned"


def long_run(desk):
    steps = [Step(role="agent", text=f"This is message number {number}.") for number in range(1, 301)]
    listing = "\n".join(f"row {number}" for number in range(200))
    steps[4] = Step(
        role="tool",
        call=ToolCall(id="1", name="list_rows", arguments_text="{}"),
        result=ToolResult(text=listing),
    )
    return make.item(desk, steps=tuple(steps))


def test_a_long_run_comes_in_windows_and_is_searched_as_a_whole(desk, alice, page, start):
    start(make.queue(desk, items=[long_run(desk)], overlap=1))
    assert page.locator(".step").count() == 40
    press(page, "/")
    page.keyboard.type("number 250.")
    hit = page.locator("#hits [data-hit='250']")
    expect(hit).to_be_visible()
    hit.press("Enter")
    expect(page.locator("#step-250")).to_have_class(re.compile(r"\bat\b"))
    expect(page.locator("#step-250")).to_be_in_viewport()
    assert page.locator("#step-200").count() == 0
    press(page, "Escape", "k")
    expect(page.locator("#step-249")).to_have_class(re.compile(r"\bat\b"))


def test_a_long_run_scrolls_beside_the_rubric_and_the_submit_row(desk, alice, page, start):
    """All that is asked stays where it is, whichever of the two is scrolled."""
    page.set_viewport_size({"width": 1280, "height": 800})
    start(make.queue(desk, items=[long_run(desk)], overlap=1))
    rubric, send = page.locator("#judgment"), page.get_by_role("button", name="Submit and next")
    first = page.locator("#c-authorised")
    at_first = [each.bounding_box() for each in (rubric, send, first)]
    press(page, *["j"] * 24)
    expect(page.locator("#step-25")).to_be_in_viewport(ratio=1)
    expect(page.locator("#step-1")).not_to_be_in_viewport()
    assert [each.bounding_box() for each in (rubric, send, first)] == at_first
    run = page.locator("#run").bounding_box()
    page.mouse.move(run["x"] + 40, run["y"] + 300)
    page.mouse.wheel(0, 2_000)
    expect(page.locator("#step-25")).not_to_be_in_viewport()
    assert [each.bounding_box() for each in (rubric, send, first)] == at_first
    for each in (rubric, send):
        expect(each).to_be_in_viewport(ratio=1)
    page.locator("#rationale").scroll_into_view_if_needed()
    expect(page.locator("#rationale")).to_be_in_viewport(ratio=1)
    assert send.bounding_box() == at_first[1]
    page.evaluate("scrollTo(0, 9999)")
    assert page.evaluate("scrollY") == 0


def test_a_folded_result_is_fetched_on_demand_and_can_be_cited_whole(desk, alice, page, start):
    start(make.queue(desk, items=[long_run(desk)], overlap=1))
    result = page.locator("#step-5 [data-field=result]")
    expect(result).not_to_contain_text("row 199")
    result.get_by_role("link", name="Show more of Result, step 5").press("Enter")
    expect(result).to_contain_text("row 199")
    page.evaluate(
        """() => {
            const field = document.querySelector('#step-5 [data-field=result]');
            getSelection().selectAllChildren(field);
        }"""
    )
    press(page, "e")
    saved(page)
    (cited,) = Draft.objects.get().data["evidence"]
    assert cited["quote"] == "\n".join(f"row {number}" for number in range(200))
    assert (cited["start"], cited["end"]) == (0, len(cited["quote"]))


def test_folds_stay_as_they_were(desk, alice, page, start):
    start(make.queue(desk, items=[long_run(desk)], overlap=1))
    press(page, "j", "j", "j", "j", "o")
    fold = page.locator("#step-5 details.result")
    expect(fold).not_to_have_attribute("open", "")
    page.reload()
    page.wait_for_selector("#judgment .criterion.at")
    expect(fold).not_to_have_attribute("open", "")


def test_a_skip_asks_why_and_brings_the_next_item(desk, alice, page, start):
    start(make.queue(desk, items=2, overlap=1))
    before = page.url
    press(page, "s")
    expect(page.get_by_label("Outside my field")).to_be_focused()
    press(page, " ", "Enter")
    page.wait_for_url(lambda url: url != before)
    skipped = Assignment.objects.get(rater=alice, state="skipped")
    assert skipped.skip_reason == "not_my_field"
    assert str(skipped.uid) in before


def test_why_is_chosen_by_its_digit(desk, alice, page, start):
    start(make.queue(desk, items=2, overlap=1))
    before = page.url
    press(page, "s", "3")
    expect(page.locator("#skip input:checked")).to_have_value(SkipReason.values[2])
    page.get_by_label("In your words").fill("1 of 2")
    expect(page.locator("#skip input:checked")).to_have_value(SkipReason.values[2])
    press(page, "Control+Enter")
    page.wait_for_url(lambda url: url != before)
    assert Assignment.objects.get(rater=alice, state="skipped").skip_reason == SkipReason.values[2]


def test_a_skip_for_another_reason_needs_words(desk, alice, page, start):
    start(make.queue(desk, items=2, overlap=1))
    press(page, "s")
    page.get_by_role("radio", name="Another reason").check()
    page.get_by_role("button", name="Skip and next").click()
    expect(page.get_by_role("alert")).to_contain_text("Say in a few words")
    page.get_by_label("In your words").fill("It is my own ticket")
    before = page.url
    press(page, "Control+Enter")
    page.wait_for_url(lambda url: url != before)


def test_bob_reads_and_judges_without_script(desk, browser, live_server, sign_in):
    queue = make.queue(desk, items=2, overlap=1)
    bob = make.expert(desk, "Bob")
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, bob)
    page = context.new_page()
    page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").click()
    expect(page.locator("fieldset.quality")).to_be_hidden()
    page.get_by_role("group", name="Only authorised accounts").get_by_label("Fail").check(force=True)
    page.get_by_role("group", name="Only authorised accounts").get_by_label("Steps that show it").fill("3")
    page.get_by_role("group", name="Consent before action").get_by_label("Pass").check(force=True)
    page.get_by_label("Step", exact=True).fill("3")
    page.get_by_role("group", name="Who caused it").get_by_label("Agent").check(force=True)
    page.get_by_role("group", name="How", exact=True).get_by_label("Unauthorised access").check(force=True)
    page.get_by_role("group", name="How sure are you?").get_by_label("High").check(force=True)
    page.get_by_role("button", name="Submit and next").click()
    judgment = Judgment.objects.get(rater=bob)
    assert (judgment.failure_step, judgment.confidence) == (3, 3)
    assert [cited.step for cited in judgment.evidence.all()] == [3]
    expect(page.get_by_role("button", name="Submit and next")).to_be_visible()
    context.close()


def test_an_invited_person_judges_within_a_few_clicks(desk, page, live_server):
    make.queue(desk, items=1, overlap=1)
    _invitation, token = invite(actor=make.lead_of(desk), project=desk, role="expert")
    page.goto(f"{live_server.url}/join/{token}/")
    page.get_by_label("Your name").fill("Charlie")
    page.get_by_label("Email").fill("charlie@example.com")
    page.get_by_role("button", name="Join").click()
    page.get_by_role("button", name=re.compile("^Start judging")).click()
    page.wait_for_selector("#judgment .criterion.at")
    assert Membership.objects.get(user__email="charlie@example.com").role == "expert"
    page.goto(f"{live_server.url}/join/{token}/")
    expect(page.get_by_role("main")).to_contain_text("This invitation has been used")


def test_the_theme_is_chosen_and_kept(desk, alice, page, live_server):
    page.goto(live_server.url)
    page.get_by_role("button", name="Alice").click()
    page.get_by_label("Dark").check(force=True)
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_the_last_submission_is_taken_back_by_a_key_and_corrected(desk, alice, page, start):
    start(make.queue(desk, items=3, overlap=1))
    press(page, "p", "p", "3", "2", "3")
    submit_and_wait(page)
    page.wait_for_selector("#judgment .criterion.at")
    second = page.url
    expect(page.get_by_role("link", name="Change last")).to_be_visible()
    press(page, "z")
    page.wait_for_url("**correct")
    expect(page.locator("input[name='criteria.success'][value='3']")).to_be_checked()
    page.locator("#c-success label").filter(has_text="Weak").click()
    press(page, "r")
    page.keyboard.type("I had misread it.")
    saved(page)
    page.reload()
    expect(page.locator("#rationale")).to_have_value("I had misread it.")
    page.get_by_role("button", name="Submit the correction").click()
    page.wait_for_url(second)
    first, corrected = Judgment.objects.filter(rater=alice).order_by("revision")
    assert (first.revision, corrected.revision, corrected.rationale) == (1, 2, "I had misread it.")
    assert corrected.ratings.get(criterion__key="success").value == 1


def test_an_earlier_judgment_is_corrected_from_its_receipt_without_script(desk, alice, browser, live_server, sign_in):
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, alice)
    page = context.new_page()
    judge(make.queue(desk, items=1, overlap=1), alice, make.passing())
    mine = Assignment.objects.get(rater=alice)
    page.goto(f"{live_server.url}/assignments/{mine.uid}/")
    page.get_by_role("link", name="Correct it").click()
    page.locator("input[name='criteria.process'][value='0']").check()
    page.get_by_role("button", name="Submit the correction").click()
    page.goto(f"{live_server.url}/assignments/{mine.uid}/")
    expect(page.get_by_text("as you corrected it: revision 2")).to_be_visible()
    context.close()
