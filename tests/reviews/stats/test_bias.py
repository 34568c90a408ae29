"""Whether one rater leans to other labels than another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from reviews.stats.bias import bias, mcnemar, stuart_maxwell
from reviews.stats.result import Reason


def test_mcnemar_by_hand():
    """Three one way and none the other: 2 * (1/2)^3."""
    test = mcnemar(3, 0)
    assert (test.p, test.n, test.statistic) == (0.25, 3, 0.0)
    assert mcnemar(5, 5).p == 1.0


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(first, second):
    test = mcnemar(first, second)
    if first + second == 0:
        assert (test.p, test.reason, test.defined) == (None, Reason.NOTHING_DIFFERS, False)
        return
    assert test.p == pytest.approx(binomtest(first, first + second).pvalue)
    assert test.p == pytest.approx(mcnemar_of_statsmodels([[9, first], [second, 9]], exact=True).pvalue)


@given(hnp.arrays(np.int64, (4, 4), elements=st.integers(1, 40)))
def test_stuart_maxwell_is_that_of_statsmodels(table):
    theirs, ours = SquareTable(table).homogeneity(method="stuart_maxwell"), stuart_maxwell(table)
    assert (ours.statistic, ours.df) == (pytest.approx(theirs.statistic, abs=1e-8), theirs.df)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_labels_that_nobody_mixes_up_do_not_count():
    """The third label is used alike and the fourth never, so this is a question of two labels."""
    two = stuart_maxwell([[30, 12], [4, 50]])
    four = stuart_maxwell([[30, 12, 0, 0], [4, 50, 0, 0], [0, 0, 9, 0], [0, 0, 0, 0]])
    assert (four.statistic, four.df, four.n) == (pytest.approx(two.statistic), 1, 16)
    assert two.statistic == pytest.approx((12 - 4) ** 2 / (12 + 4))


def test_alice_passes_more_than_bob():
    """Labels fail and pass: Bob fails 20 runs that Alice passes, and passes 4 that she fails."""
    found = bias([[30, 4], [20, 46]])
    assert found.test.name == "McNemar's test"
    assert found.test.p == pytest.approx(binomtest(4, 24).pvalue)
    fail, pass_ = found.shifts
    assert (fail.value, pass_.value) == (pytest.approx(-0.16), pytest.approx(0.16))
    assert 0 < pass_.low < pass_.value < pass_.high
    assert fail.n_units == 100


def test_no_difference_no_test():
    found = bias([[5, 0], [0, 5]])
    assert (found.test.p, found.test.reason) == (None, Reason.NOTHING_DIFFERS)
    assert (found.shifts[0].value, found.shifts[0].low, found.shifts[0].reason) == (0.0, None, Reason.UNSTABLE)
    nothing = bias(np.zeros((3, 3), dtype=int))
    assert (nothing.test.reason, nothing.shifts[2].reason) == (Reason.NOTHING_DIFFERS, Reason.NO_PAIRS)
    assert bias([[0, 1], [0, 0]]).shifts[0].reason == Reason.ONE_UNIT


def test_the_test_rejects_as_seldom_as_it_says():
    """Two raters with equal habits on 200 runs and three labels: p below .05 in about one world in twenty."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(1000):
        table = np.zeros((3, 3), dtype=int)
        truth = rng.integers(0, 3, 200)
        first, second = (np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200)) for _ in range(2))
        np.add.at(table, (first, second), 1)
        rejected += stuart_maxwell(table).p < 0.05
    assert abs(rejected / 1000 - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_test_as_plain_types():
    plain = mcnemar(0, 0).as_dict()
    assert (plain["p"], plain["reason"]) == (None, "nothing_differs")
    assert plain["words"]
