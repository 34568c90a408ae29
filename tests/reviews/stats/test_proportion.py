"""Wilson's interval against Newcombe (1998) and R's package binom."""

import pytest

from reviews.stats.proportion import wilson
from reviews.stats.result import Reason


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (18, 20, 0.698966, 0.972134),
        (5, 5, 0.565518, 1.0),
    ],
)
def test_published_intervals(right, n, low, high):
    estimate = wilson(right, n)
    assert estimate.value == right / n
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5e-5)


def test_nothing_counted_gives_the_whole_range_and_says_so():
    estimate = wilson(0, 0)
    assert (estimate.value, estimate.low, estimate.high, estimate.reason) == (None, 0.0, 1.0, Reason.NO_RATINGS)


def test_the_ends_are_exact():
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@pytest.mark.parametrize(("right", "n"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(right, n):
    with pytest.raises(ValueError, match="0 <= right <= n"):
        wilson(right, n)
