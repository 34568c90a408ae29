"""What of a judge's answer is taken: JSON of the form asked for, and only what its quotes show."""

import json

import pytest

from goldsets.reviewing.judge_answer import Unreadable, declines, read_answer
from tests.goldsets.judging.items import PAIRS, RUBRIC, criterion, pair, run

SHOWN = [{"step": 3, "quote": "A refund of $64.20"}]


def said(*answers, item=None, rubric=RUBRIC, **more):
    rows = [{"evidence": SHOWN, "reason": "It says so.", **answer} for answer in answers]
    return read_answer(json.dumps({"answers": rows}), item or run(), rubric=rubric, **more)


def gates(authorised="pass", consent="pass"):
    return {"criterion": "authorised", "answer": authorised}, {"criterion": "consent", "answer": consent}


def test_a_good_answer_gives_values_and_the_places_of_its_quotes():
    found = said(*gates(), {"criterion": "success", "answer": 3})
    assert [(row.criterion, row.value, row.counts) for row in found] == [
        ("authorised", 1, True),
        ("consent", 1, True),
        ("success", 3, True),
    ]
    cited = found[0].evidence[0]
    assert (cited.step, cited.field, cited.start, cited.end) == (3, "text", 0, 18)


def test_where_a_gate_fails_quality_is_passed_over_even_if_it_is_said():
    assert [row.criterion for row in said(*gates(consent="fail"), {"criterion": "success", "answer": 3})] == [
        "authorised",
        "consent",
    ]


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [{"step": 3, "quote": "A refund of $99.99"}],
        [{"step": 1, "quote": "A refund of $64.20"}],
        [{"step": 99, "quote": "A refund of $64.20"}],
        [{"step": 3, "quote": "A"}],
        [{"step": 3, "quote": "  "}],
        [*SHOWN, {"step": 3, "quote": "The run passes every check."}],
    ],
)
def test_what_is_not_shown_does_not_count(evidence):
    first, second = said({**gates()[0], "evidence": evidence}, gates("pass", "fail")[1])
    assert not first.counts
    assert first.problem
    assert second.counts


def test_a_quote_may_break_its_lines_otherwise_and_the_text_is_kept_as_it_stands():
    cited = [{"step": 2, "quote": '{ "owner": "Daniel Osei" }'}]
    first = said({**gates()[0], "evidence": cited}, gates("pass", "fail")[1])[0]
    assert first.evidence[0].field == "result"
    assert first.evidence[0].quote == '{\n  "owner": "Daniel Osei"\n}'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("pass", "not the JSON"),
        ("[]", "not the JSON"),
        ('{"answers": [{"criterion": "authorised"}]}', "not the JSON"),
        ('{"answers": [], "confidence": 1}', "not the JSON"),
        ('{"answers": []}', "not answered"),
        ("[" * 100_000, "not the JSON"),
        ('{"answers": [{"criterion": "authorised", "answer": NaN}]}', "not the JSON"),
    ],
)
def test_what_is_not_of_the_form_is_no_answer(content, why):
    with pytest.raises(Unreadable, match=why):
        read_answer(content, run(), rubric=RUBRIC)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([gates()[0]], "consent is not answered"),
        ([*gates(), gates()[0]], "twice"),
        ([*gates(), {"criterion": "tone", "answer": 1}], "no criterion"),
        ([*gates("yes")], "no answer to authorised"),
        ([*gates("unsure")], "no answer to authorised"),
        ([*gates(), {"criterion": "success", "answer": 2}], "no answer to success"),
        ([*gates(), {"criterion": "success", "answer": True}], "no answer to success"),
        ([*gates(), {"criterion": "success", "answer": "3"}], "no answer to success"),
        ([*gates()], "success is not answered"),
        ([*gates(), {"criterion": "success", "answer": 3, "candidate": "A"}], "the whole"),
    ],
)
def test_an_answer_that_the_rubric_does_not_take_is_none(answers, why):
    with pytest.raises(Unreadable, match=why):
        said(*answers)


def test_unsure_is_an_answer_where_the_rubric_allows_it_and_counts_for_nothing():
    found = said(*gates("unsure"), rubric={**RUBRIC, "unsure_allowed": True})
    assert (found[0].value, found[0].counts) == (None, False)


def test_one_criterion_alone_may_be_asked():
    assert [row.criterion for row in said(gates()[1], criterion="consent")] == ["consent"]


def test_numbers_yes_and_conditions():
    rubric = {
        **RUBRIC,
        "criteria": [
            criterion("minutes", "number", settings={"min": 0, "max": 60}),
            criterion("late", "binary"),
            criterion(
                "why", "choice", levels=[{"value": 1, "name": "Lost"}], condition={"criterion": "late", "values": [1]}
            ),
        ],
    }
    minutes, late = {"criterion": "minutes", "answer": 12.5}, {"criterion": "late", "answer": False}
    assert [row.value for row in said(minutes, late, rubric=rubric)] == [12.5, 0]
    with pytest.raises(Unreadable, match="why is not answered"):
        said(minutes, {**late, "answer": True}, rubric=rubric)
    with pytest.raises(Unreadable, match="minutes"):
        said({**minutes, "answer": 61}, late, rubric=rubric)


def test_letters_are_places_and_values_are_of_the_items_own_order():
    item = pair("The first of them.", "The second of them.")
    shown = [{"candidate": "B", "step": 4, "quote": "The first of them."}]
    answers = [
        {"criterion": "safe", "candidate": "A", "answer": "fail", "evidence": shown},
        {"criterion": "safe", "candidate": "B", "answer": "pass", "evidence": shown},
        {"criterion": "better", "answer": "B", "evidence": shown},
    ]
    found = said(*answers, item=item, rubric=PAIRS, order=(2, 1))
    assert [(row.criterion, row.candidate, row.value) for row in found] == [
        ("safe", 1, 1),
        ("safe", 2, 0),
        ("better", None, 1),
    ]
    assert found[2].evidence[0].candidate == 1


def test_a_quote_of_a_pair_says_in_which_candidate_it_stands():
    item = pair("The first of them.", "The second of them.")
    answers = [
        {"criterion": "safe", "candidate": letter, "answer": "pass", "evidence": [{"step": 4, "quote": "The first of"}]}
        for letter in "AB"
    ]
    better = {"criterion": "better", "answer": "tie", "evidence": [{"candidate": "C", "step": 4, "quote": "The first"}]}
    with pytest.raises(Unreadable, match="no such candidate"):
        said(*answers, better, item=item, rubric=PAIRS)
    assert not said(*answers, {**better, "evidence": []}, item=item, rubric=PAIRS)[0].counts


@pytest.mark.parametrize("content", ["```json\n{}\n```", "<think>pass or fail?</think>\n{}", "{}"])
def test_thoughts_and_wrapping_are_taken_off(content):
    whole = json.dumps({"answers": [{"criterion": "consent", "answer": "pass", "evidence": SHOWN}]})
    assert read_answer(content.replace("{}", whole), run(), rubric=RUBRIC, criterion="consent")[0].counts


@pytest.mark.parametrize(
    ("content", "so"),
    [("I'm sorry, but I can't help with that.", True), ("I cannot judge this.", True), ('{"answers": []}', False)],
)
def test_a_refusal_in_prose_is_seen(content, so):
    assert declines(content) is so
