"""Two raters at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import disagreement_weights
from reviews.stats.counts import from_matrix
from reviews.stats.pairs import co_ratings, cohen_kappa, pairwise, shared_units
from reviews.stats.result import Reason
from tests.reviews.stats import published
from tests.reviews.stats.helpers import by_unit, random_ratings


def half_width(estimate):
    return (estimate.high - estimate.low) / 2


def test_cohens_two_tables():
    assert cohen_kappa(published.COHEN_P37).value == pytest.approx(-0.0923076923)
    assert round(cohen_kappa(published.COHEN_P45).value, 3) == 0.492
    assert round(cohen_kappa(published.COHEN_P45, v=published.COHEN_1968_WEIGHTS).value, 3) == 0.348


def test_the_printout_of_sas_with_its_interval():
    plain = cohen_kappa(published.SAS)
    assert round(plain.value, 4) == 0.4842
    assert (round(plain.low, 4), round(plain.high, 4)) == (0.2137, 0.7547)
    linear = cohen_kappa(published.SAS, v=disagreement_weights("linear", np.arange(3)))
    assert round(linear.value, 4) == 0.4701
    assert (round(linear.low, 4), round(linear.high, 4)) == (0.1845, 0.7558)


def test_two_pathologists():
    kappa = cohen_kappa(published.PATHOLOGISTS)
    assert round(kappa.value, 3) == 0.493
    assert half_width(kappa) / 1.959964 == pytest.approx(0.057, abs=5e-4)


def test_both_always_say_the_same_label():
    kappa = cohen_kappa([[5, 0], [0, 0]])
    assert (kappa.value, kappa.reason) == (None, Reason.NO_VARIATION)


def test_an_empty_table():
    kappa = cohen_kappa([[0, 0], [0, 0]])
    assert (kappa.value, kappa.reason, kappa.n_units) == (None, Reason.NO_PAIRS, 0)


def test_one_unit_that_disagrees():
    kappa = cohen_kappa([[0, 1], [0, 0]])
    assert (kappa.value, kappa.low, kappa.reason) == (0.0, None, Reason.ONE_UNIT)


def test_a_constant_rater_beside_a_varied_one():
    assert cohen_kappa([[2, 2], [0, 0]]).value == 0.0


def test_full_agreement_does_not_claim_certainty():
    kappa = cohen_kappa([[10, 0], [0, 10]])
    assert (kappa.value, kappa.high) == (1.0, 1.0)
    assert kappa.low == pytest.approx(1 - 0.16843 / 0.5, abs=1e-4)


def test_the_matrix_of_pairs_hides_small_ones_and_keeps_their_number():
    rows = [[0, 0, None]] * 6 + [[1, 1, None]] * 5 + [[0, 1, 1]] * 4 + [[1, None, 1]] * 2
    alice_bob, alice_charlie, bob_charlie = pairwise(from_matrix(rows, scale=[0, 1]))
    assert (alice_bob.first, alice_bob.second, alice_bob.n) == (0, 1, 15)
    assert alice_bob.percent.value == pytest.approx(11 / 15)
    assert alice_bob.kappa.value == pytest.approx(cohen_kappa([[6, 4], [0, 5]]).value)
    assert (alice_charlie.n, alice_charlie.kappa.value, alice_charlie.kappa.reason) == (6, None, Reason.BELOW_FLOOR)
    assert bob_charlie.n == 4
    assert bob_charlie.kappa.words == (
        "Every compared rating is the same, so agreement beyond chance is not defined. Percent agreement still counts."
    )


def test_two_who_never_meet_are_no_pair():
    ratings = from_matrix([[0, None, 0], [None, 1, 1]], scale=[0, 1])
    assert [(pair.first, pair.second) for pair in pairwise(ratings)] == [(0, 2), (1, 2)]


@given(st.integers(0, 10_000))
def test_co_ratings_are_counted_as_by_hand(seed):
    ratings = random_ratings(seed, n_units=12, n_raters=5, n_labels=3)
    by_hand = np.zeros((5, 5, 3, 3), dtype=int)
    for given_labels in by_unit(ratings).values():
        for a, said_a in given_labels.items():
            for b, said_b in given_labels.items():
                if a != b:
                    by_hand[a, b, said_a, said_b] += 1
    assert np.array_equal(co_ratings(ratings), by_hand)
    assert np.array_equal(shared_units(ratings), by_hand.sum(axis=(2, 3)))
