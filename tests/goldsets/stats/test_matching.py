"""Comparing an answer with gold: equal gates, numbers within the tolerance, alternatives, lists and texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.matching import Expected, compare, read_expected

GATE, LEVEL = Expected(1), Expected(2, tolerance=1)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ({"consent": 1, "success": 3}, {"consent": True, "success": True}),
        ({"consent": 1, "success": 0}, {"consent": True, "success": False}),
        ({"consent": 0}, {"consent": False}),
        ({"consent": -1}, {"consent": False}),
        ({}, {}),
        ({"tone": 1}, {}),
    ],
)
def test_only_what_both_have_is_compared(said, right):
    assert compare(said, {"consent": GATE, "success": LEVEL}) == right


@pytest.mark.parametrize(
    ("said", "expected", "right"),
    [
        (3, Expected(0, also=(3,)), True),
        (2, Expected(0, also=(3,)), False),
        (2, Expected(0, also=(3,), tolerance=1), True),
        (0.1 + 0.2, Expected(0.3), True),
        (12.6, Expected(12, tolerance=0.5), False),
        ("refund", Expected("refund"), True),
        ("Refund", Expected("refund"), False),
        ([1, 2], Expected([1, 2]), True),
        ([2, 1], Expected([1, 2]), False),
        ([1], Expected(1), False),
        ("1", Expected(1), False),
    ],
)
def test_every_kind_of_value(said, expected, right):
    assert expected.accepts(said) is right


@given(st.dictionaries(st.text(), st.tuples(st.integers(), st.lists(st.integers()), st.integers(0, 9))))
def test_what_is_stored_comes_back(terms):
    expected = {key: Expected(value, tuple(also), off) for key, (value, also, off) in terms.items()}
    assert read_expected({key: entry.as_json() for key, entry in expected.items()}) == expected


def test_labels_by_step_may_differ_on_so_many_steps():
    right = Expected({"2": 1, "3": 0, "4": -1}, also=({"2": 0, "3": 0, "4": 0},), tolerance=1)
    assert right.accepts({"2": 1, "3": 1, "4": -1})
    assert right.accepts({"2": 0, "3": 0, "4": 0}), "the other right answer"
    assert right.accepts({"2": 1, "3": 0}), "one is missing, which counts as one that differs"
    assert right.accepts({"2": 1, "3": 0, "4": -1, "5": 1}), "a further label is nobody's error"
    assert not right.accepts({"2": -1, "3": 1, "4": -1})
    assert not right.accepts([1, 0, -1])
