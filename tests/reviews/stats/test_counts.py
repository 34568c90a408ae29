"""From one row per rating to counts and patterns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reviews.stats.counts import find_patterns, from_codes, from_matrix, from_values
from reviews.stats.result import Reason


def test_three_people_rate_two_runs():
    ratings = from_values(
        ["run 1", "run 1", "run 2", "run 2", "run 2"],
        ["Alice", "Bob", "Alice", "Bob", "Charlie"],
        ["pass", "fail", "pass", "pass", None],
        scale=["fail", "pass"],
    )
    assert ratings.counts.tolist() == [[1, 1], [0, 2]]
    assert ratings.per_unit.tolist() == [2, 2]
    assert (ratings.n_pairable_units, ratings.n_pairs, ratings.n_pairing_raters) == (2, 2, 2)


def test_a_label_that_is_not_on_the_scale_is_refused():
    with pytest.raises(ValueError, match=r"not on the declared scale: '\*'"):
        from_values([1, 1], ["Alice", "Bob"], ["a", "*"], scale=["a", "b"])


def test_a_code_beyond_the_scale_is_refused():
    with pytest.raises(ValueError, match="not on the declared scale"):
        from_codes([0, 0], [0, 1], [0, 2], scores=[0, 1])


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="same length"):
        from_codes([0, 0], [0, 1], [0], scores=[0, 1])


def test_a_scale_that_names_a_value_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        from_values([1], ["Alice"], ["a"], scale=["a", "a"])


def test_unused_labels_of_the_scale_stay():
    assert from_matrix([[0, 0]], scale=[0, 1, 2, 3]).counts.tolist() == [[2, 0, 0, 0]]


def test_the_first_of_a_raters_repeats_counts_and_the_others_are_counted_apart():
    ratings = from_values([1, 1, 1, 2, 2], ["A", "A", "B", "A", "B"], [1, 2, 1, 2, 2], scale=[1, 2])
    assert ratings.counts.tolist() == [[2, 0], [0, 2]]
    assert ratings.n_repeats == 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], Reason.NO_RATINGS),
        ([[None, None]], Reason.NO_RATINGS),
        ([[1], [2]], Reason.ONE_RATER),
        ([[1, None], [None, 1]], Reason.NO_PAIRS),
        ([[1, 2]], None),
    ],
)
def test_why_there_is_nothing_to_compare(rows, reason):
    assert from_matrix(rows, scale=[1, 2]).nothing_to_compare == reason


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 40), st.integers(1, 6)), elements=st.integers(0, 30)))
def test_patterns_give_the_counts_back(counts):
    patterns = find_patterns(counts)
    assert np.array_equal(patterns.counts[patterns.of_unit], counts)
    assert np.array_equal(np.bincount(patterns.of_unit), patterns.times)
    assert len(np.unique(patterns.counts, axis=0)) == len(patterns.counts)


def test_patterns_of_a_scale_too_long_for_one_number():
    counts = np.eye(80, dtype=np.int64)[[3, 3, 79]]
    patterns = find_patterns(counts)
    assert np.array_equal(patterns.counts[patterns.of_unit], counts)
    assert sorted(patterns.times.tolist()) == [1, 2]
