"""Preferences: agreement with ties, the bias of places, and cycles."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.counts import from_codes
from reviews.stats.preference import cyclic_triads, position_bias, preference_agreement
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason


def test_a_tie_is_a_third_answer():
    """Alice and Bob on four pairs: the same side by different strength, both tied, tied and not, opposite."""
    units, raters = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    found = preference_agreement(units, raters, [2, 1, 0, 0, 0, -1, 1, -1])
    assert found.same.value == pytest.approx(0.5)
    # Four pairs, eight answers: three first, three ties, two second. By hand 1 - 7 * 4 / (64 - 9 - 9 - 4).
    assert found.direction.value == pytest.approx(1 - 7 * 4 / 42)
    assert (found.direction.n_units, found.direction.n_raters) == (4, 2)


@given(st.integers(0, 5_000))
def test_strength_is_ordinal_alpha_from_minus_two_to_two(seed):
    rng = np.random.default_rng(seed)
    units, raters = np.repeat(np.arange(15), 3), np.tile([0, 1, 2], 15)
    said = rng.integers(-2, 3, 45).astype(float)
    said[rng.random(45) < 0.2] = np.nan
    labels = np.where(np.isnan(said), -1, np.nan_to_num(said) + 2).astype(int)
    plain = krippendorff_alpha(from_codes(units, raters, labels, scores=range(5)), level="ordinal")
    found = preference_agreement(units, raters, said)
    assert found.strength.value == pytest.approx(plain.value)
    # Turning every pair round changes nothing.
    turned = preference_agreement(units, raters, -said)
    assert turned.strength.value == pytest.approx(found.strength.value)
    assert turned.direction.value == pytest.approx(found.direction.value)


def test_a_preference_off_the_scale_is_refused():
    for wrong in (3, 0.5):
        with pytest.raises(ValueError, match="whole number"):
            preference_agreement([0, 0], [0, 1], [1, wrong])


def test_answers_in_both_orders():
    """Seven pairs: twice the same one wins, thrice the first place, once the second, once a tie in one order only."""
    once = [1, -1, 1, 1, 1, -1, 0]
    swapped = [-1, 1, 1, 1, 1, -1, 1]
    found = position_bias(once, swapped)
    assert (found.always_first, found.always_second, found.once_tied) == (3, 1, 1)
    assert found.consistent.value == pytest.approx(2 / 7)
    assert found.test.p == pytest.approx(binomtest(3, 4).pvalue)
    # Wins of the first place: four of six and four of seven.
    assert (found.first_shown.value, found.first_shown.n_units) == (pytest.approx(9 / 13), 13)


def test_both_tied_is_consistent_and_no_pairs_are_no_evidence():
    assert position_bias([0, 0], [0, 0]).consistent.value == 1.0
    nothing = position_bias([], [])
    assert (nothing.consistent.value, nothing.test.reason) == (None, Reason.NOTHING_DIFFERS)
    with pytest.raises(ValueError, match="both orders"):
        position_bias([1, 1], [1])


def test_a_judge_of_places_is_found_out():
    """A judge who takes the first place in three of ten cases and else the better one."""
    rng = np.random.default_rng(1)
    better = rng.choice([-1, 1], 300)
    once = np.where(rng.random(300) < 0.3, 1, better)
    swapped = np.where(rng.random(300) < 0.3, 1, -better)
    found = position_bias(once, swapped)
    assert found.test.p < 1e-6
    assert found.first_shown.low > 0.5


def test_one_cycle_and_one_order():
    cycle = cyclic_triads([0, 0, 0], [0, 1, 2], [1, 2, 0], [1, 2, 1])
    order = cyclic_triads([0, 0, 0], [0, 1, 0], [1, 2, 2], [1, 1, 1])
    assert (cycle.cyclic.value, cycle.n_cyclic, cycle.n_triads) == (1.0, 1, 1)
    assert (order.cyclic.value, order.n_cyclic, order.n_triads) == (0.0, 0, 1)


@given(st.integers(0, 5_000))
def test_triads_as_by_hand(seed):
    """Any comparisons among six items, some missing, some tied, some twice."""
    rng = np.random.default_rng(seed)
    rows = [
        (0, *rng.permutation(pair).tolist(), int(rng.integers(-1, 2)))
        for pair in combinations(range(6), 2)
        for _ in range(rng.integers(0, 3))
    ]
    net = np.zeros((6, 6))
    for _, first, second, preference in rows:
        net[first, second] += preference
        net[second, first] -= preference
    decided = [t for t in combinations(range(6), 3) if all(net[a, b] for a, b in combinations(t, 2))]
    # In a cycle each of the three beats exactly one of the other two.
    cyclic = [t for t in decided if {sum(net[a, b] > 0 for b in t if b != a) for a in t} == {1}]
    found = cyclic_triads(*np.array(rows, dtype=int).reshape(-1, 4).T)
    assert (found.n_cyclic, found.n_triads) == (len(cyclic), len(decided))
    assert found.cyclic.reason == (None if decided else Reason.NO_PAIRS)


def test_chance_makes_a_quarter_of_triads_cyclic():
    rng = np.random.default_rng(3)
    rows = [(group, a, b, rng.choice([-1, 1])) for group in range(150) for a, b in combinations(range(5), 2)]
    found = cyclic_triads(*np.array(rows).T, bootstrap=Bootstrap())
    assert found.n_triads == 1500
    assert found.cyclic.low < 0.25 < found.cyclic.high
    assert found.cyclic.n_units == 150


def test_items_of_different_groups_make_no_triad():
    found = cyclic_triads([0, 0, 1], [0, 1, 2], [1, 2, 0], [1, 1, 1])
    assert (found.cyclic.value, found.cyclic.reason, found.n_triads) == (None, Reason.NO_PAIRS, 0)
