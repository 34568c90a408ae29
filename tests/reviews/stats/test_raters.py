"""One rater against the others."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import Alpha, Gwet, disagreement_weights, krippendorff_alpha
from reviews.stats.counts import from_codes, from_matrix
from reviews.stats.raters import against_labels, against_majority, against_rest, leave_one_out
from reviews.stats.result import Reason
from tests.reviews.stats.helpers import by_unit, random_ratings


@given(st.integers(0, 10_000))
def test_leaving_out_is_the_same_as_never_having_had_the_ratings(seed):
    ratings = random_ratings(seed, n_units=15, n_raters=4, n_labels=3)
    everybody = krippendorff_alpha(ratings, level="ordinal").value
    for left in leave_one_out(ratings, Alpha("ordinal", ratings.scores)):
        others = krippendorff_alpha(ratings.keep(ratings.raters != left.rater), level="ordinal")
        assert left.without.value == pytest.approx(others.value)
        numbers = (left.without.n_units, left.without.n_pairs, left.without.n_raters)
        assert numbers == (others.n_units, others.n_pairs, others.n_raters)
        if others.defined:
            assert left.change.value == pytest.approx(others.value - everybody)


def test_leaving_out_works_for_every_coefficient():
    ratings = random_ratings(4)
    gwet = Gwet(disagreement_weights("quadratic", ratings.scores))
    assert len(leave_one_out(ratings, gwet)) == 4


def test_the_careless_rater_stands_out():
    """Alice and Bob agree on 30 runs; Charlie answers at random."""
    rng = np.random.default_rng(7)
    rows = [[run % 2, run % 2, int(rng.integers(0, 2))] for run in range(30)]
    ratings = from_matrix(rows, scale=[0, 1])
    alice, bob, charlie = leave_one_out(ratings, Alpha("nominal", ratings.scores))
    assert charlie.change.value > 0.4
    assert charlie.change.low > 0
    assert charlie.without.value == 1.0
    assert alice.change.value < 0
    assert bob.change.value < 0
    assert alice.n == 30


def test_with_two_raters_nothing_is_left_without_one():
    ratings = from_matrix([[0, 1], [1, 1]], scale=[0, 1])
    for left in leave_one_out(ratings, Alpha("nominal", ratings.scores)):
        assert (left.without.value, left.without.reason) == (None, Reason.NO_PAIRS)
        assert (left.change.value, left.change.reason) == (None, Reason.NO_PAIRS)


def test_no_ratings_no_raters():
    ratings = from_matrix([], scale=[0, 1])
    assert leave_one_out(ratings, Alpha("nominal", ratings.scores)) == []
    assert against_rest(ratings) == []


def test_against_the_majority_of_the_others():
    """Run 3: the others tie against Alice and Charlie; Bob's others both say 1."""
    ratings = from_matrix([[0, 0, 0], [1, 0, 1], [1, 0, 1], [None, 0, 1]], scale=[0, 1])
    alice, bob, charlie = against_rest(ratings)
    assert (alice.share.value, alice.share.n_units, alice.n_tied) == (1.0, 1, 2)
    assert (bob.share.value, bob.share.n_units, bob.n_tied) == (0.25, 4, 0)
    assert (charlie.share.n_units, charlie.n_tied) == (2, 2)
    assert charlie.share.method == "95% Wilson"


@given(st.integers(0, 10_000))
def test_against_the_rest_as_by_hand(seed):
    ratings = random_ratings(seed, n_units=12, n_raters=5, n_labels=3)
    found = {rater.rater: (rater.share.value, rater.share.n_units, rater.n_tied) for rater in against_rest(ratings)}
    right, n, tied = Counter(), Counter(), Counter()
    for given_labels in by_unit(ratings).values():
        for rater, label in given_labels.items():
            others = Counter(said for other, said in given_labels.items() if other != rater).most_common()
            if not others:
                continue
            if len(others) > 1 and others[0][1] == others[1][1]:
                tied[rater] += 1
                continue
            n[rater] += 1
            right[rater] += label == others[0][0]
    for rater in set(n) | set(tied):
        value = right[rater] / n[rater] if n[rater] else None
        assert found[rater] == (value, n[rater], tied[rater])


def test_against_known_labels_with_the_table_of_errors():
    """Alice is right on all three; Bob fails two runs that pass. One label was decided by Bob himself."""
    ratings = from_matrix([[0, 0], [1, 0], [1, 0], [1, 1]], scale=[0, 1])
    labels = np.array([-1, 1, 1, 1])
    alice, bob = against_labels(ratings, labels)
    assert (alice.share.value, alice.share.n_units, alice.bias.test.reason) == (1.0, 3, Reason.NOTHING_DIFFERS)
    assert bob.table.tolist() == [[0, 2], [0, 1]]
    assert bob.share.value == pytest.approx(1 / 3)
    assert bob.bias.test.p == 0.5
    assert bob.bias.shifts[0].value == pytest.approx(2 / 3)
    _, without_own = against_labels(ratings, labels, decided_by=np.array([-1, 1, -1, 0]))
    assert without_own.table.tolist() == [[0, 1], [0, 1]]


def test_no_label_known_no_value():
    (alice,) = against_labels(from_matrix([[0]], scale=[0, 1]), np.array([-1]))
    assert (alice.share.value, alice.share.low, alice.share.high) == (None, 0.0, 1.0)
    assert alice.share.reason == Reason.NO_RATINGS


@given(st.integers(0, 5_000))
def test_the_table_against_the_majority_has_the_same_share(seed):
    ratings = random_ratings(seed, n_units=12, n_raters=5, n_labels=3)
    shares = {entry.rater: entry.share for entry in against_rest(ratings)}
    for entry in against_majority(ratings):
        if entry.rater in shares:
            assert entry.share == shares[entry.rater]


def test_the_interval_of_a_change_covers_as_often_as_it_says():
    """Alice and Bob see the truth in nine of ten runs, Charlie in half; 300 worlds of 80 runs.

    What leaving out Charlie really changes is told by a world of 100,000 runs: about .3.
    """
    rng = np.random.default_rng(21)

    def left_out(n_units):
        truth = rng.integers(0, 2, (n_units, 1))
        sees = rng.random((n_units, 3)) < [0.9, 0.9, 0.5]
        labels = np.where(sees, truth, rng.integers(0, 2, (n_units, 3)))
        units, raters = np.indices(labels.shape)
        ratings = from_codes(units.ravel(), raters.ravel(), labels.ravel(), scores=[0, 1])
        return leave_one_out(ratings, Alpha("nominal", ratings.scores))[2]

    truth = left_out(100_000)
    assert 0.2 < truth.change.value < 0.4
    for name in ("change", "without"):
        covered = 0
        for _ in range(300):
            found = getattr(left_out(80), name)
            covered += found.low is not None and found.low <= getattr(truth, name).value <= found.high
        # Three standard errors, and a normal interval is a little off where it meets the end of the scale.
        assert abs(covered / 300 - 0.95) < 0.05
