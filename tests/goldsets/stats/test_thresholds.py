"""Curves against scikit-learn, and a threshold that has to hold where it was not chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from goldsets.stats.thresholds import certify, curve
from reviews.stats.result import Reason

judged = st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=2, max_size=80).filter(
    lambda rows: len({right for _, right in rows}) == 2
)


@given(judged)
def test_the_curves_are_those_of_scikit_learn(rows):
    scores, truth = [score / 10 for score, _ in rows], [right for _, right in rows]
    found = curve(scores, truth)
    assert found.roc_area.value == pytest.approx(roc_auc_score(truth, scores))
    assert found.average_precision.value == pytest.approx(average_precision_score(truth, scores))
    rates, hits, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert [point.false_positive_rate for point in found.points] == pytest.approx(list(rates[1:]))
    assert [point.true_positive_rate for point in found.points] == pytest.approx(list(hits[1:]))
    assert found.roc_area.low <= found.roc_area.value <= found.roc_area.high


def test_one_kind_of_label_has_no_curve():
    found = curve([0.1, 0.9], [True, True])
    assert (found.points, found.roc_area.reason) == ((), Reason.NO_VARIATION)


def test_a_good_score_is_certified_on_the_half_it_was_not_chosen_on():
    rng = np.random.default_rng(3)
    truth = rng.random(1200) < 0.5
    scores = np.where(truth, rng.normal(0.8, 0.1, 1200), rng.normal(0.2, 0.1, 1200))
    found = certify(scores, truth, np.arange(1200) % 2 == 0, 0.05)
    assert found.holds
    assert found.chosen_on.false_positive_rate.value <= 0.05
    assert found.certified_on.n == 600
    assert found.certified_on.bound().high <= 0.05


def test_a_score_of_noise_is_refused_or_not_shown():
    truth = np.arange(40) % 4 < 2
    found = certify(np.zeros(40), truth, np.arange(40) % 2 == 0, 0.05)
    assert (found.threshold, found.holds) == (None, False)
    assert "passes more than 5%" in found.words
    few = certify([0.1, 0.9] * 4, [False, True] * 4, [True] * 4 + [False] * 4, 0.05)
    assert not few.holds
    assert few.words.endswith("which does not show 5%.")


def test_a_half_without_failures_certifies_nothing():
    found = certify([1.0, 1.0], [True, False], [True, False], 0.05)
    assert found.words.startswith("Each half needs runs that experts fail")
