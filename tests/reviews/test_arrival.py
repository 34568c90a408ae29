"""Rules on arrival as pure functions: every comparison by a table, shares that only grow, lines that read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.arrival import COMPARISONS, facts_of, fits, in_a_line, in_share, problem_with, read_conditions

FACTS = facts_of(
    family="refunds",
    result="failure",
    reward=0.25,
    slices={"turns": "long", "vip": True},
    versions={"environment": "desk 3.2"},
    scores=[
        {"grader": "helpful", "value": 0.9},
        {"grader": "safe", "value": 0.2},
        {"grader": "tone", "value": "good"},
        {"grader": "words", "value": "bad"},
        {"grader": "user", "value": False},
        "no score",
    ],
    step_count=12,
    source_format="openai_chat",
)

TABLE = [
    ("family = refunds", True),
    ("family = Refunds", True),
    ("family = cards", False),
    ("family != cards", True),
    ("family in cards, refunds", True),
    ("family in cards, accounts", False),
    ("outcome.result = failure", True),
    ("outcome.result in crash, timeout", False),
    ("outcome.reward < 0.5", True),
    ("outcome.reward <= 0.25", True),
    ("outcome.reward < 0.25", False),
    ("outcome.reward >= 0.25", True),
    ("outcome.reward > 0.25", False),
    ("outcome.reward = 0.250", True),
    ("outcome.reward exists", True),
    ("step_count > 10", True),
    ("step_count > 12", False),
    ("source_format = openai_chat", True),
    ("slice.turns = long", True),
    ("slice.vip = true", True),
    ("slice.vip = 1", True),
    ("slice.nothing exists", False),
    ("slice.nothing != x", True),
    ("slice.nothing = x", False),
    ("slice.nothing < 1", False),
    ("slice.turns < 3", False),
    ("versions.environment = desk 3.2", True),
    ("score.user = false", True),
    ("score.helpful >= 0.9", True),
    ("score.helpful parts score.safe 0.5", True),
    ("score.helpful parts score.safe 0.7", False),
    ("score.helpful parts score.nobody 0.1", False),
    ("score.tone parts score.words 0.5", True),
    ("score.tone parts score.tone 0.5", False),
]


@pytest.mark.parametrize(("line", "expected"), TABLE)
def test_a_condition_holds_or_not(line, expected):
    conditions = read_conditions(line)
    assert problem_with(conditions) == ""
    assert fits(conditions, FACTS) is expected


@pytest.mark.parametrize("line", [line for line, _ in TABLE])
def test_a_condition_written_as_a_line_reads_back_as_itself(line):
    conditions = read_conditions(line)
    assert read_conditions(in_a_line(conditions[0])) == conditions


def test_all_conditions_must_hold_and_none_fits_everything():
    assert fits(read_conditions("family = refunds\n\noutcome.reward < 0.5\n"), FACTS)
    assert not fits(read_conditions("family = refunds\noutcome.reward > 0.5"), FACTS)
    assert fits([], FACTS)


def test_what_a_run_does_not_say_is_not_known():
    assert facts_of() == {"outcome.result": "unknown", "step_count": 0}
    assert not fits(read_conditions("family exists"), facts_of())


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({}, "a list"),
        (["family"], "an object"),
        ([{"field": "gender", "op": "=", "value": 1}], "no field “gender”"),
        ([{"field": "slice.", "op": "=", "value": 1}], "no field “slice.”"),
        ([{"field": 3, "op": "=", "value": 1}], "no field “3”"),
        ([{"field": "family", "op": "like", "value": "x"}], "no way to compare"),
        ([{"field": "family", "op": ["="], "value": "x"}], "no way to compare"),
        ([{"field": "family", "op": "="}], "The value is a text"),
        ([{"field": "family", "op": "=", "value": "x" * 201}], "at most 200"),
        ([{"field": "family", "op": "=", "value": {}}], "The value is a text"),
        ([{"field": "family", "op": "<", "value": "many"}], "compares with a number"),
        ([{"field": "family", "op": "in", "value": "refunds"}], "takes a list"),
        ([{"field": "family", "op": "in", "value": []}], "takes a list"),
        ([{"field": "family", "op": "exists", "value": 1}], "knows no “value”"),
        ([{"field": "family", "op": "=", "value": 1, "other": "score.a"}], "knows no “other”"),
        ([{"field": "family", "op": "parts", "other": "score.b", "value": 1}], "score.NAME"),
        ([{"field": "score.a", "op": "parts", "value": 1}], "score.NAME"),
        ([{"field": "score.a", "op": "parts", "other": "score.b", "value": -1}], "how far apart"),
        ([{"field": "score.a", "op": "parts", "other": "score.b", "value": "much"}], "how far apart"),
        ([{"field": "family", "op": "exists"}] * 21, "at most 20"),
    ],
)
def test_what_is_no_condition_is_said_in_words(conditions, words):
    assert words in problem_with(conditions)


@pytest.mark.parametrize("line", ["family", "family like x", "= 3", "family =", "score.a parts score.b", "family in"])
def test_a_line_that_is_none_is_named_by_its_number(line):
    with pytest.raises(ValueError, match="Line 2"):
        read_conditions(f"family = x\n{line}")


HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
SHARES = st.floats(min_value=0.0001, max_value=1)


@given(HASHES, SHARES, SHARES, st.text(max_size=10))
def test_what_is_in_at_a_small_share_is_in_at_a_larger_one(content_hash, one, other, salt):
    small, large = sorted((one, other))
    assert not in_share(content_hash, small, salt) or in_share(content_hash, large, salt)
    assert in_share(content_hash, 1, salt)


def test_a_share_takes_about_its_part_and_two_rules_take_different_items():
    hashes = [f"{number:064x}" for number in range(4000)]
    one = {each for each in hashes if in_share(each, 0.05, "one")}
    other = {each for each in hashes if in_share(each, 0.05, "other")}
    assert 150 < len(one) < 250
    assert one == {each for each in hashes if in_share(each, 0.05, "one")}
    assert len(one & other) < 40


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.lists(st.integers())


@given(VALUES, VALUES, st.sampled_from([*COMPARISONS, "in", "exists", "parts"]))
def test_whatever_stands_in_a_run_no_rule_fails_on_it(known, value, op):
    condition = {"field": "score.a", "op": op}
    condition |= {} if op == "exists" else {"value": value}
    condition |= {"other": "score.b"} if op == "parts" else {}
    if problem_with([condition]) == "":
        scores = [{"grader": "a", "value": known}, {"grader": "b", "value": value}]
        assert fits([condition], facts_of(scores=scores)) in (True, False)
