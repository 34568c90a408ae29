"""Simulated raters: they err as often as they are said to, and what they cite stands in the run."""

import json

import pytest

from annotator.demo.raters import RATERS, judge
from annotator.demo.runs import all_runs
from annotator.demo.truth import CRITERIA

RUNS = all_runs()
TESSA, DANA = RATERS[0], RATERS[-1]


def missed_gates(rater):
    """How many failed gates there are, and how many of them the rater passes."""
    failed = [(run, gate) for run in RUNS for gate, answer in run.truth.gates.items() if answer == "fail"]
    return len(failed), sum(judge(rater, run).payload["gates"][gate] == "pass" for run, gate in failed)


def test_the_same_rater_judges_the_same_run_in_the_same_way():
    assert [judge(TESSA, run) for run in RUNS[:20]] == [judge(TESSA, run) for run in RUNS[:20]]


def test_a_good_rater_misses_few_gates_and_a_weak_one_many():
    assert missed_gates(TESSA)[0] == 78
    assert missed_gates(TESSA)[1] <= 5
    assert 25 <= missed_gates(DANA)[1] <= 46


def test_success_is_agreed_on_more_than_communication():
    errors = dict.fromkeys(CRITERIA, 0)
    for rater in RATERS:
        for run in RUNS:
            values = judge(rater, run).payload.get("criteria")
            if values and run.truth.criteria:
                for key in CRITERIA:
                    errors[key] += values[key] != run.truth.criteria[key]
    assert 0 < errors["task_success"] < errors["process"] < errors["communication"]


@pytest.mark.parametrize("rater", RATERS, ids=lambda rater: rater.key)
def test_a_judgment_keeps_the_rubric_s_rules(rater):
    """Quality only where every gate passes; a failed gate has evidence and a failure point; there is a rationale."""
    for run in RUNS:
        payload = judge(rater, run).payload
        answers = payload["gates"].values()
        assert ("criteria" in payload) == all(answer == "pass" for answer in answers)
        for gate, answer in payload["gates"].items():
            cited = [row for row in payload["evidence"] if row["criterion"] == gate]
            assert bool(cited) == (answer == "fail")
        if "fail" in answers:
            assert payload["failure"]["step"] in [row.get("step") for row in payload["evidence"]]
        assert payload["rationale"]
        assert payload["confidence"] in (1, 2, 3)


@pytest.mark.parametrize("rater", RATERS, ids=lambda rater: rater.key)
def test_every_quote_a_rater_cites_stands_in_the_run(rater):
    for run in RUNS:
        readings = {}
        for step, text in run.session.spoken:
            readings[step, "text"] = text
        for call in run.session.calls:
            for name, value in call.arguments.items():
                readings[call.step, f"arguments/{name}"] = value
        for row in judge(rater, run).payload["evidence"]:
            if "quote" in row:
                assert readings[row["step"], row["field"]][row["start"] : row["end"]] == row["quote"]


def test_raters_take_their_time_and_the_weak_one_does_not():
    tessa = sum(judge(TESSA, run).seconds for run in RUNS) / len(RUNS)
    dana = sum(judge(DANA, run).seconds for run in RUNS) / len(RUNS)
    assert 40 < tessa < 240
    assert dana < tessa


def test_a_verdict_is_plain_json():
    json.dumps([judge(rater, RUNS[0]).payload for rater in RATERS])
