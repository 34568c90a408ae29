"""The worked example of torchmetrics, and scores that are no probabilities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from goldsets.stats.reliability import reliability
from reviews.stats.result import Reason


def test_the_worked_example_in_two_bins():
    found = reliability([0.25, 0.25, 0.55, 0.75, 0.75], [False, False, True, True, True], bins=2)
    said = (found.ece.value, found.root_mean_square, found.largest, found.brier.value)
    assert [round(each, 4) for each in said] == [0.29, 0.2918, 0.3167, 0.0905]


def test_a_score_on_an_edge_belongs_to_the_bin_above_and_an_empty_bin_counts_nothing():
    found = reliability([0.5, 1.0], [True, True], bins=2)
    assert [each.passes.n_units for each in found.bins] == [0, 2]
    assert found.bins[0].mean is None
    assert [each.passes.n_units for each in reliability([0.3, 0.7], [True, False]).bins][3] == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60))
def test_brier_is_that_of_scikit_learn_and_lies_in_its_interval(rows):
    scores, truth = [score for score, _ in rows], [right for _, right in rows]
    found = reliability(scores, truth).brier
    assert found.value == pytest.approx(brier_score_loss(truth, scores, labels=[False, True]), abs=1e-9)
    assert found.low is None or found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_scores_outside_0_to_1_are_refused_in_words():
    found = reliability([3.0, 1.0], [True, False])
    assert (found.ece.reason, found.brier.value) == (Reason.NO_SCALE, None)
    assert reliability([], []).ece.reason == Reason.NO_RATINGS
