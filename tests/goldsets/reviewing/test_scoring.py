"""The scoring rule by hand, what it defers, and the command that runs without Assay."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from goldsets.reviewing import scoring
from goldsets.reviewing.classifier import fit, pass_probability
from goldsets.reviewing.scoring import score, structure_of, text_of
from tests.goldsets.reviewing.made import labelled

BY_HAND = {
    "kind": "classifier",
    "most_terms": 100,
    "terms": {"refund": [2.0, 1.0], "sorry": [1.0, -3.0]},
    "structure": {"errors": [0.0, 1.0, -1.0, 0.0, math.log(3)]},
    "intercept": 0.5,
    "slope": 2.0,
    "offset": -1.0,
    "least_known": 0.1,
    "thresholds": {"pass": 0.6, "fail": 0.9},
}


def test_a_verdict_comes_out_by_hand():
    """Refund stands twice and sorry once: weights 2 (1 + ln 2) and 1, divided by their length."""
    refund, sorry = 2 * (1 + math.log(2)), 1.0
    z = 0.5 + (refund * 1.0 + sorry * -3.0) / math.hypot(refund, sorry) - math.log(2)
    found = score(BY_HAND, "Refund, refund, sorry it took long", {"errors": 1})
    p = 1 / (1 + math.exp(-(2 * z - 1)))
    assert found.confidence == pytest.approx(max(p, 1 - p))
    assert (found.verdict, found.deferred, found.reasons) == (0, True, ("sorry", "errors"))


def test_a_measure_beyond_what_was_trained_on_counts_as_the_most_that_was():
    assert score(BY_HAND, "refund", {"errors": 2}) == score(BY_HAND, "refund", {"errors": 1_000_000})


@pytest.mark.parametrize("text", ["", "a text in which no word at all is known"])
def test_a_text_of_another_kind_is_deferred_however_sure_the_reviewer_is(text):
    sure = {**BY_HAND, "intercept": 50.0}
    assert score(sure, "refund", {}).deferred is False
    assert (score(sure, text, {}).verdict, score(sure, text, {}).deferred) == (1, True)


def test_a_cascade_keeps_what_its_rules_are_sure_of_and_hands_on_the_rest():
    rules = [
        {"name": "many errors", "at_least": {"errors": 3}, "verdict": 0, "confidence": 0.95},
        {"name": "receipt", "contains": "receipt", "verdict": 1, "confidence": 0.6},
    ]
    thresholds = {"pass": 0.6, "fail": 0.96}
    cascade = {
        "kind": "cascade",
        "rules": rules,
        "keeps_from": 0.9,
        "classifier": BY_HAND,
        "thresholds": thresholds,
    }
    assert score(cascade, "a receipt", {"errors": 3}) == scoring.Verdict(0, 0.95, True, ("many errors",))
    alone = score({**BY_HAND, "thresholds": thresholds}, "a refund with receipt", {})
    assert score(cascade, "a refund with receipt", {}) == alone
    assert scoring.known_share(cascade, {"text": "refund receipt"}) == 0.5
    assert scoring.read_reviewer(json.dumps(cascade).encode()) == cascade
    with pytest.raises(scoring.Unreadable, match="parts are missing"):
        scoring.read_reviewer(json.dumps({**cascade, "classifier": None}).encode())


def test_rules_are_gone_through_in_order_and_what_none_fits_is_deferred():
    rules = [
        {"name": "many errors", "at_least": {"errors": 3}, "verdict": 0},
        {"name": "receipt", "contains": "Receipt", "verdict": 1},
    ]
    reviewer = {"kind": "rules", "rules": rules, "thresholds": {"pass": 1.0, "fail": None}}
    assert score(reviewer, "the receipt is here", {"errors": 0}) == scoring.Verdict(1, 1.0, False, ("receipt",))
    assert score(reviewer, "the receipt is here", {"errors": 3}) == scoring.Verdict(0, 1.0, True, ("many errors",))
    assert score(reviewer, "nothing", {}) == scoring.Verdict(None, 0.0, True)


RUN = {
    "id": "r-1",
    "tools": [{"function": {"name": "lookup_order", "access": "write"}}],
    "steps": [
        {"role": "user", "text": "Refund me"},
        {
            "role": "agent",
            "call": {"name": "lookup_order", "arguments": "{}"},
            "result": {"text": "ok", "error": False},
        },
        {"role": "agent", "call": {"name": "get_user", "arguments": "{}"}, "result": {"text": "gone", "error": True}},
        {"role": "agent", "call": {"name": "get_user", "arguments": "{}"}, "result": {"text": "gone", "error": True}},
        {"role": "agent", "text": "Sorry"},
    ],
}


def test_the_measures_of_a_run_by_hand():
    measures = structure_of(RUN)
    assert measures.pop("characters") == len(text_of(RUN))
    assert measures == {
        "steps": 5, "messages": 1, "calls": 3, "writes": 1, "errors": 2, "repeats": 1, "requests": 1,
    }  # fmt: skip


def test_what_the_command_says_is_what_assay_says_with_the_steps_it_rests_on(tmp_path):
    path = tmp_path / "reviewer.json"
    path.write_text(json.dumps(BY_HAND))
    lines = json.dumps(RUN) + "\n\n" + json.dumps({"id": 7, "text": "refund"}) + "\n"
    run = subprocess.run(
        [sys.executable, scoring.__file__, path], input=lines, capture_output=True, text=True, check=True
    )
    first, second = (json.loads(line) for line in run.stdout.splitlines())
    assert first["id"] == "r-1"
    assert first["evidence"] == [{"step": 5, "terms": ["sorry"]}]
    assert second["verdict"] == score(BY_HAND, "refund", structure_of({"text": "refund"})).verdict


def test_weights_say_what_the_library_says_that_fitted_them():
    """The plain rule against scikit-learn's own matrix product."""
    examples = labelled(300, told=0.8)
    reviewer = fit(examples[:200], examples[200:])
    said = np.array([pass_probability(reviewer, example) for example in examples])
    labels = np.array([example.label for example in examples])
    assert said[labels == 1].mean() > said[labels == 0].mean() + 0.2
    assert json.loads(json.dumps(reviewer)) == reviewer


def test_a_measure_that_is_always_the_same_divides_nothing():
    examples = [replace(example, structure={**example.structure, "messages": 1}) for example in labelled(75)]
    reviewer = fit(examples[:50], examples[50:])
    assert reviewer["structure"]["messages"][1] == 1.0
    assert 0 < pass_probability(reviewer, examples[0]) < 1


def test_a_part_without_fails_cannot_be_fitted():
    passes = [example for example in labelled(50) if example.label]
    with pytest.raises(ValueError, match="passes and fails"):
        fit(passes, labelled(50))
