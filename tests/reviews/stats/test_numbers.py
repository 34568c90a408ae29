"""Numbers that raters type in: alpha as krippendorff's package has it, and how many lie within a tolerance."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.numbers import number_agreement
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason


def of(matrix, **more):
    """A row per unit, a column per rater, None where there is no answer."""
    rows = [(u, r, x) for u, row in enumerate(matrix) for r, x in enumerate(row) if x is not None]
    units, raters, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return number_agreement(np.array(units, int), np.array(raters, int), np.array(numbers, float), **more)


@given(
    st.lists(
        st.lists(st.none() | st.floats(-1e3, 1e3).map(lambda x: round(x, 2)), min_size=3, max_size=3),
        min_size=2,
        max_size=12,
    )
)
def test_alpha_is_krippendorffs_at_interval_level(matrix):
    found = of(matrix).alpha
    if found.value is None:
        assert found.reason in {Reason.NO_RATINGS, Reason.ONE_RATER, Reason.NO_PAIRS, Reason.NO_VARIATION}
        return
    data = np.array([[np.nan if x is None else x for x in row] for row in matrix]).T
    assert found.value == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement="interval"))


def test_within_the_tolerance():
    found = of([[1.0, 1.1, 1.3], [2.0, 2.0, None]], tolerance=0.2, bootstrap=Bootstrap())
    # Of the first unit's pairs .1, .3 and .2 apart, two are near; the mean of 2/3 and 1.
    assert found.within.value == pytest.approx(5 / 6)
    assert (found.within.statistic, found.within.n_units, found.within.n_pairs) == ("At most 0.2 apart", 2, 4)


def test_many_different_numbers_need_no_table():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=5_000)
    units, raters = np.repeat(np.arange(5_000), 2), np.tile([0, 1], 5_000)
    found = number_agreement(units, raters, truth[units] + rng.normal(size=10_000) / 2, bootstrap=Bootstrap())
    # The variance of the truth is 1 and of the noise 1/4: alpha is 1 / (1 + 1/4).
    assert found.alpha.low < 0.8 < found.alpha.high
    assert found.within.value == 0.0
