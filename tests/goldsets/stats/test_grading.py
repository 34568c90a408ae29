"""How wrong a grader is: DevAI's judge against people, the rule of three, and what more labels would show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from goldsets.stats.grading import (
    Errors,
    at_most,
    clustered_share,
    compared,
    errors,
    more_to_bound,
    runs_without_error,
)
from reviews.stats.result import Reason
from tests.goldsets.stats.reference import beside, rows

DEVAI = Errors(true_passes=351, false_passes=64, false_fails=50, true_fails=633)


def test_devais_judge_passes_9_percent_of_what_people_fail():
    rate = DEVAI.false_positive_rate
    assert (round(rate.value, 3), round(rate.low, 3), round(rate.high, 3), rate.n_units) == (0.092, 0.073, 0.116, 697)
    missed = DEVAI.false_negative_rate
    assert [round(each, 6) for each in (missed.value, missed.low, missed.high)] == [0.124688, 0.095872, 0.160627]


@beside
def test_devais_table_counted_from_its_rows():
    found = rows("agreement/realdata/devai_judge_vs_human.csv")
    assert errors([row["ai_judge"] == "1" for row in found], [row["human_consensus"] == "1" for row in found]) == DEVAI


def test_nothing_scored_is_said_in_words():
    rate = Errors(5, 0, 0, 0).false_positive_rate
    assert (rate.value, rate.low, rate.high, rate.reason) == (None, None, None, Reason.NO_RATINGS)
    assert rate.words == "No run that experts fail is scored yet."
    assert Errors(5, 0, 0, 0).bound().high == 1.0


@given(st.integers(0, 200), st.integers(1, 200))
def test_the_bound_is_the_exact_one_sided_limit(count, extra):
    n = count + extra
    ours = at_most(count, n).high
    assert ours == pytest.approx(binomtest(count, n, alternative="less").proportion_ci(0.95).high, abs=1e-9)


def test_none_of_n_is_the_rule_of_three():
    assert at_most(0, 30).high == pytest.approx(1 - 0.05 ** (1 / 30))
    assert (runs_without_error(0.05), runs_without_error(0.01), runs_without_error(0.10)) == (59, 299, 29)


@given(st.integers(0, 12), st.integers(0, 150), st.sampled_from([0.02, 0.05, 0.1]))
def test_the_number_said_ahead_is_enough_and_one_less_is_not(count, caught, limit):
    more = more_to_bound(count, count + caught, limit).caught
    assert at_most(count, count + caught + more).high <= limit
    assert not more or at_most(count, count + caught + more - 1).high > limit


def test_how_many_more_labels_are_needed_is_said_in_a_sentence():
    assert more_to_bound(1, 6, 0.05).words == (
        "87 more labelled failures to bound false positives at 5%, if the grader fails every one of them; "
        "at the 16.7% seen so far no number is enough."
    )
    assert more_to_bound(0, 59, 0.05).words == "The bound on false positives is at or below 5% already."
    few = more_to_bound(1, 50, 0.05)
    assert few.caught == 43
    assert few.at_rate > few.caught


def test_two_versions_on_the_same_runs():
    truth = [True] * 10
    first = [True] * 8 + [False] * 2
    second = [True, *[False] * 7, True, False]
    found = compared(first, second, truth)
    assert (found.both, found.first_only, found.second_only, found.neither) == (1, 7, 1, 1)
    assert found.test.p == pytest.approx(binomtest(1, 8).pvalue)


def test_judgments_of_one_item_are_drawn_together():
    rng = np.random.default_rng(7)
    together = [(3, 3) if right else (0, 3) for right in rng.random(60) < 0.8]
    apart = [(1, 1) if hit else (0, 1) for hits, n in together for hit in [True] * hits + [False] * (n - hits)]
    wide = clustered_share(*zip(*together, strict=True), statistic="Share")
    narrow = clustered_share(*zip(*apart, strict=True), statistic="Share")
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert clustered_share([], [], statistic="Share").reason == Reason.NO_RATINGS
