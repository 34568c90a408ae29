"""Redaction on tricky text: what must go, what must stay, and that a run still reads as one afterwards."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.redaction import KINDS, Rules, problem_with, redact, redact_text
from reviews.trajectories.render import fields, locate
from reviews.trajectories.schema import Attachment, Run, RunOutcome, Step, ToolCall, ToolResult, encode_step

ALL = Rules(kinds=KINDS, region="US")
KEYS = [
    "sk-proj-" + "a1B2" * 8,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a1" * 18,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to alice@example.com.", "Write to ⟦e-mail 1⟧."),
        ("👋🏽 é alice@example.com 👍", "👋🏽 é ⟦e-mail 1⟧ 👍"),
        ("bob@example.com, alice@example.com, BOB@Example.com", "⟦e-mail 1⟧, ⟦e-mail 2⟧, ⟦e-mail 1⟧"),
        ("https://shop.example/?to=alice@example.com&n=1", "https://shop.example/?to=⟦e-mail 1⟧&n=1"),
        ("https://shop.example/?to=alice%40example.com&n=1", "https://shop.example/?to=⟦e-mail 1⟧&n=1"),
        ("mailto:é.müller+x@bücher.example", "mailto:⟦e-mail 1⟧"),
        ("@alice is no address, neither is a@b", "@alice is no address, neither is a@b"),
        ("4111 1111 1111 1111 or 4111-1111-1111-1111", "⟦card 1⟧ or ⟦card 1⟧"),
        ("5555555555554444 2027", "⟦card 1⟧ 2027"),
        ("a check digit that is wrong: 4111 1111 1111 1112", "a check digit that is wrong: 4111 1111 1111 1112"),
        ("order 00004111111111111111999999", "order 00004111111111111111999999"),
        ("at 1717171717171717 us", "at 1717171717171717 us"),
        ("+1 415-555-2671, 001 415 555 2671, (415) 555-2671", "⟦phone 1⟧, ⟦phone 1⟧, ⟦phone 1⟧"),
        ("call +49 30 901820", "call ⟦phone 1⟧"),
        ("2024-05-01 12:30 was the day", "2024-05-01 12:30 was the day"),
        ("Authorization: Bearer abc.def-ghi_jkl/123=", "Authorization: Bearer ⟦key 1⟧"),
        ("task-abcdefghijklmnopqrstuvwxyz", "task-abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_what_goes_and_what_stays(text, expected):
    assert redact_text(text, ALL) == expected


@pytest.mark.parametrize("key", KEYS)
def test_keys_go_wherever_they_stand(key):
    assert redact_text(f'export KEY="{key}"; run', ALL) == 'export KEY="⟦key 1⟧"; run'


def test_without_a_region_only_numbers_with_a_prefix_are_phone_numbers():
    assert redact_text("+1 415-555-2671 or (415) 555-2671", Rules(kinds=("phone",))) == "⟦phone 1⟧ or (415) 555-2671"


def test_a_private_key_goes_as_a_whole():
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nnext"
    assert redact_text(text, ALL) == "⟦key 1⟧\nnext"


def test_nothing_is_replaced_that_nobody_asked_for():
    assert redact_text("alice@example.com", Rules(kinds=("card",))) == "alice@example.com"
    assert not Rules()


def test_json_stays_json_value_by_value():
    text = '{"to": "alice\\u0040example.com", "card":4111111111111111, "n": 1.10, "a": 1, "a": [true, null]}'
    assert redact_text(text, ALL) == '{"to": "⟦e-mail 1⟧", "card":"⟦card 1⟧", "n": 1.10, "a": 1, "a": [true, null]}'


def test_json_inside_of_json_is_read_as_well():
    inner = json.dumps({"to": "alice@example.com"}).replace("@", "\\u0040")
    marked = redact_text(json.dumps({"body": inner}), ALL)
    assert json.loads(json.loads(marked)["body"]) == {"to": "⟦e-mail 1⟧"}


def test_own_expressions_have_their_own_name_and_go_first():
    rules = Rules(kinds=KINDS, own=(("order", r"ORD-\d+"), ("staff", r"\w+@desk\.example")))
    assert (
        redact_text("ORD-12, ORD-7, ORD-12 by al@desk.example", rules) == "⟦order 1⟧, ⟦order 2⟧, ⟦order 1⟧ by ⟦staff 1⟧"
    )


def test_of_two_finds_that_overlap_nothing_is_left_over():
    rules = Rules(kinds=("e-mail",), own=(("word", "mail alice"),))
    assert redact_text("mail alice@example.com now", rules) == "⟦word 1⟧ now"


@pytest.mark.parametrize("pattern", [r"(.)\1", "(?=a)", "(", "x*", "", "a" * 501, "a{1,5000}"])
def test_expressions_that_cannot_be_run_safely_are_refused(pattern):
    assert problem_with(pattern) != ""


def test_a_pattern_that_is_catastrophic_elsewhere_is_linear_here():
    pattern = r"(a+)+$"
    assert problem_with(pattern) == ""
    begun = time.monotonic()
    redact_text("a" * 100_000 + "b", Rules(own=(("a", pattern),)))
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("hostile", ["a" * 200_000, "1" * 200_000, "1 " * 100_000, "a." * 100_000 + "@", '["' * 50_000])
def test_hostile_text_takes_no_longer_than_long_text(hostile):
    begun = time.monotonic()
    redact_text(hostile, ALL)
    assert time.monotonic() - begun < 20


RUN = Run(
    title="alice@example.com wants a refund",
    context={"request": "I am alice@example.com", "requester": {"Phone": "+1 415-555-2671", "Card": 4111111111111111}},
    policy_title="Policy of desk@example.com",
    policy_text="Write to desk@example.com.",
    steps=(
        Step(role="user", text="👋 I am alice@example.com", reasoning="alice@example.com again"),
        Step(
            role="tool",
            call=ToolCall(
                id="c1",
                name="find",
                arguments_text='{"mail": "alice@example.com", "limit": 5}',
                arguments={"mail": "alice@example.com", "limit": 5},
            ),
            result=ToolResult(text='{"card": 4111111111111111}'),
            attachments=(Attachment(kind="file", note="from alice@example.com", raw='{"x": "alice@example.com"}'),),
        ),
    ),
    outcome=RunOutcome(result="success", data={"goal": ["mail alice@example.com"]}),
    original=b'{"alice@example.com": 1}',
    content_hash="abc",
)


def test_a_run_is_replaced_everywhere_that_is_read_and_counted_by_kind():
    run, counts = redact(RUN, ALL)
    assert counts == {"e-mail": 10, "phone": 1, "card": 2}
    assert run.title == "⟦e-mail 1⟧ wants a refund"
    assert run.context == {"request": "I am ⟦e-mail 1⟧", "requester": {"Phone": "⟦phone 1⟧", "Card": "⟦card 1⟧"}}
    assert run.policy_text == "Write to ⟦e-mail 2⟧."
    assert run.steps[1].call.arguments == {"mail": "⟦e-mail 1⟧", "limit": 5}
    assert run.outcome.data == {"goal": ["mail ⟦e-mail 1⟧"]}
    read = [field.text for step in run.steps for field in fields(step)]
    assert read == ["👋 I am ⟦e-mail 1⟧", "⟦e-mail 1⟧ again", "⟦e-mail 1⟧", "5", "⟦card 1⟧"]


def test_original_and_content_hash_stay_so_the_same_run_is_known_again():
    run, _counts = redact(RUN, ALL)
    assert (run.original, run.content_hash) == (RUN.original, "abc")


def test_a_quote_of_the_replaced_text_stands_behind_an_emoji():
    run, _counts = redact(RUN, ALL)
    assert locate(run.steps[0], "text", 7, 17, "⟦e-mail 1⟧") is None


def test_half_surrogates_behind_escapes_break_nothing():
    rules = Rules(kinds=KINDS, own=(("order", r"ORD-\d+"),))
    text = '{"a": "\\ud800 ORD-12", "b": "\\ud800", "c": "\\u0000 alice@example.com"}'
    step = Step(role="tool", call=ToolCall(id="c", name="n", arguments_text=text, arguments={"a": "x"}))
    run, counts = redact(Run(steps=(step,)), rules)
    assert counts == {"order": 1, "e-mail": 1}
    assert run.steps[0].call.arguments == {"a": "\ufffd ⟦order 1⟧", "b": "\ufffd", "c": "␀ ⟦e-mail 1⟧"}
    encode_step(run.steps[0])


@given(st.text(max_size=200))
def test_no_text_breaks_it_and_twice_is_once(text):
    once = redact_text(text, ALL)
    assert redact_text(once, ALL) == once


def test_beginnings_of_keys_that_never_end_are_passed_over_quickly():
    """Each was once read ten thousand characters on, which took hundreds of times as long as prose."""

    def seconds(text):
        began = time.process_time()
        assert redact_text(text, Rules(kinds=("key",))) == text
        return time.process_time() - began

    keys = "-----BEGIN PRIVATE KEY-----" * 40_000
    assert seconds(keys) < 60 * seconds("Please refund it. " * (len(keys) // 18))
