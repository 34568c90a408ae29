"""Exact limits against Newcombe (1998), R's package binom and SciPy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from goldsets.stats.proportion import Clusters, clopper_pearson, wilson, wilson_of_clusters
from reviews.stats.result import Reason


@pytest.mark.parametrize(
    ("right", "n", "low", "high", "decimals"),
    [
        (81, 263, 0.2527, 0.3676, 4),
        (15, 148, 0.0578, 0.1617, 4),
        (0, 20, 0.0, 0.1684, 4),
        (1, 29, 0.0009, 0.1776, 4),
        (18, 20, 0.683017, 0.987651, 6),
        (4, 20, 0.057334, 0.436614, 6),
        (4, 200, 0.005476, 0.050414, 6),
        (190, 200, 0.909972, 0.975766, 6),
        (1, 30, 0.000844, 0.172169, 6),
        (5, 5, 0.478176, 1.0, 6),
        (0, 5, 0.0, 0.521824, 6),
    ],
)
def test_published_exact_intervals(right, n, low, high, decimals):
    estimate = clopper_pearson(right, n)
    assert (round(estimate.low, decimals), round(estimate.high, decimals)) == (low, high)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_nothing_counted_gives_the_whole_range_and_says_so(interval):
    estimate = interval(0, 0)
    assert (estimate.value, estimate.low, estimate.high, estimate.reason) == (None, 0.0, 1.0, Reason.NO_RATINGS)
    assert estimate.words == "Nothing to count yet."


@given(st.integers(1, 300), st.data())
def test_exact_limits_are_those_of_scipy_and_hold_wilsons_value(n, data):
    right = data.draw(st.integers(0, n))
    theirs = binomtest(right, n).proportion_ci(method="exact")
    estimate = clopper_pearson(right, n)
    assert (estimate.low, estimate.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert estimate.low <= wilson(right, n).value <= estimate.high


@pytest.mark.parametrize(("right", "n"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(right, n):
    with pytest.raises(ValueError, match="0 <= right <= n"):
        clopper_pearson(right, n)


def test_pairs_of_one_item_that_hang_together_count_as_one():
    """Ten items of three pairs each, in five all alike and in five none: they say as much as nine pairs alone."""
    together = Clusters(clusters=10, right=15, n=30, squares=45, products=45, squares_n=90)
    assert together.effective == pytest.approx(9)
    found = wilson_of_clusters(together)
    assert (found.value, found.n_units, found.n_pairs) == (0.5, 10, 30)
    # 1.96 * sqrt(.25 / 9 + 3.84 / 324) / (1 + 3.84 / 9) = .2735 on either side.
    assert (found.low, found.high) == pytest.approx((0.2265, 0.7735), abs=1e-4)


def test_where_all_are_alike_the_items_are_what_counts():
    alike = wilson_of_clusters(Clusters(clusters=20, right=60, n=60, squares=180, products=180, squares_n=180))
    plain = wilson(20, 20)
    assert (alike.value, alike.low, alike.high) == (1.0, plain.low, 1.0)


def test_one_item_gives_no_interval_and_none_no_value():
    one = wilson_of_clusters(Clusters(clusters=1, right=2, n=3, squares=4, products=6, squares_n=9))
    assert (one.value, one.low, one.reason) == (2 / 3, None, Reason.ONE_UNIT)
    assert wilson_of_clusters(Clusters(0, 0, 0, 0, 0, 0)).reason == Reason.NO_RATINGS
