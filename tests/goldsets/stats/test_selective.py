"""Thresholds that are certified: the reference tables, the promise itself, and the refusal to accept anything."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from goldsets.stats.selective import certify, upper_bounds
from reviews.stats.result import Reason

REFERENCE = Path(__file__).parents[4] / "shared" / "data" / "agreement" / "reference"
beside = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference tables do not lie beside the project")


@beside
@pytest.mark.parametrize("model", ["gpt-4-turbo", "gpt-35-turbo"])
def test_the_reference_tables_come_out(model):
    table = json.loads((REFERENCE / f"selective_risk_{model}.json").read_text())
    with (REFERENCE / table["file"]).open() as file:
        rows = list(csv.DictReader(file))
    confidence = [float(row["confidence"]) for row in rows]
    wrong = [row["judge_label"] != row["human_label"] for row in rows]
    for expected in table["expected"]:
        found = certify(confidence, wrong, risk=expected["alpha"], delta=expected["delta"])
        assert (found.accepted, found.errors) == (expected["accepted"], expected["errors"])
        assert found.coverage.value == pytest.approx(expected["coverage"])
        assert found.threshold == (None if expected["lambda_hat"] is None else pytest.approx(expected["lambda_hat"]))


def test_zero_errors_of_59_bound_the_rate_at_5_percent_and_58_do_not():
    above, below = upper_bounds(np.array([0, 0]), np.array([58, 59]), 0.05)
    assert above > 0.05 > below == pytest.approx(1 - 0.05 ** (1 / 59))
    assert list(upper_bounds(np.array([3, 0]), np.array([3, 0]), 0.05)) == [1.0, 1.0]


def test_nothing_is_accepted_where_no_threshold_holds_and_the_words_say_so():
    found = certify(np.linspace(1, 0.5, 200), np.arange(200) % 3 == 0)
    assert (found.threshold, found.accepted, found.coverage.value) == (None, 0, 0.0)
    assert found.error.words == "No threshold holds a risk of 10%, so nothing is accepted."
    few = certify([0.9] * 20, [False] * 20)
    assert (few.threshold, few.error.reason) == (None, Reason.BELOW_FLOOR)
    assert few.error.words == "Too few to say: 20 of the 30 items needed."


def test_items_of_the_same_confidence_stand_or_fall_together():
    found = certify([0.9] * 60 + [0.7] * 100, [False] * 60 + [True] * 50 + [False] * 50)
    assert (found.threshold, found.accepted, found.errors) == (0.9, 60, 0)
    assert certify([0.9] * 160, [False] * 110 + [True] * 50).threshold is None


def test_the_promise_is_kept_at_least_as_often_as_it_says():
    """A confidence that means what it says: the true risk above a certified threshold is known without an estimate."""
    rng = np.random.default_rng(7)
    broken = 0
    for _trial in range(400):
        confidence = rng.uniform(0.5, 1, 300)
        found = certify(confidence, rng.uniform(size=300) > confidence, risk=0.15, delta=0.1)
        broken += found.threshold is not None and 1 - (found.threshold + 1) / 2 > 0.15
    assert broken / 400 <= 0.1


def test_a_risk_or_chance_outside_0_to_1_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        certify([0.9], [False], risk=1.0)
