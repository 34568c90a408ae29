"""From several ratings to one label: majority with its ties, Dawid and Skene's model, and the one-coin model."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.stats.aggregation import NO_LABEL, State, dawid_skene, majority, one_coin
from reviews.stats.counts import Ratings, from_codes, from_matrix
from reviews.stats.result import Reason
from tests.reviews.stats import published
from tests.reviews.stats.helpers import by_unit, random_ratings


def test_every_way_to_come_to_a_label():
    rows = [[1, 1, 1], [1, 1, 0], [0, 1, None], [None, None, None], [1, 0, 2, 1], [0, None, None]]
    votes = majority(from_matrix(rows, scale=[0, 1, 2]))
    assert votes.labels.tolist() == [1, 1, NO_LABEL, NO_LABEL, 1, 0]
    assert [State(state).name for state in votes.states] == [
        "UNANIMOUS",
        "MAJORITY",
        "TIED",
        "UNRATED",
        "PLURALITY",
        "UNANIMOUS",
    ]
    assert (votes.votes.tolist(), votes.n.tolist(), votes.n_tied) == ([3, 2, 1, 0, 2, 1], [3, 3, 2, 0, 4, 1], 1)


@given(st.integers(0, 10_000))
def test_majority_as_by_hand(seed):
    ratings = random_ratings(seed, n_units=20, n_raters=5, n_labels=3, missing=0.4)
    votes = majority(ratings)
    given_labels = by_unit(ratings)
    for unit in range(20):
        counted = Counter(given_labels.get(unit, {}).values()).most_common()
        tied = not counted or (len(counted) > 1 and counted[0][1] == counted[1][1])
        assert votes.labels[unit] == (NO_LABEL if tied else counted[0][0])


def anaesthesia() -> Ratings:
    """The first observer's three ratings of a patient all count, which other statistics would not allow."""
    labels = np.array([[int(label) - 1 for label in row] for row in published.ANAESTHESIA])
    units = np.repeat(np.arange(len(labels)), 7)
    raters = np.tile([0, 0, 0, 1, 2, 3, 4], len(labels))
    return Ratings(units, raters, labels.ravel(), np.arange(4.0), len(labels), 5)


def test_dawid_and_skenes_own_patients():
    found = dawid_skene(anaesthesia(), smoothing=0, tolerance=1e-12, max_iterations=1000)
    assert found.converged
    assert found.log_likelihood == pytest.approx(-192.8908812142053, abs=1e-9)
    assert found.prior.round(2).tolist() == [0.4, 0.42, 0.11, 0.07]
    first_observer = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
    assert np.abs(found.confusion[0] - first_observer).max() < 0.01
    third_observer = [[1, 0, 0, 0], [0.11, 0.79, 0.11, 0], [0, 0.4, 0.2, 0.4], [0, 0, 0.67, 0.33]]
    assert np.abs(found.confusion[2] - third_observer).max() < 0.01
    assert found.posterior[[6, 34, 37]].round(2).tolist() == [
        [0.98, 0.02, 0, 0],
        [0, 0.95, 0.05, 0],
        [0, 0.02, 0.98, 0],
    ]
    assert (found.n_units, found.n_raters, found.n_undecided) == (45, 5, 0)
    assert found.n_ratings.tolist() == [135, 45, 45, 45, 45]


@pytest.mark.parametrize("model", [dawid_skene, one_coin])
def test_a_thousand_units_alike_say_of_each_what_one_says(model):
    """The model knows shares alone: the same thirty runs forty times over are as probable as they were once."""
    once = random_ratings(3, n_units=30, n_raters=4, n_labels=3)
    copies = np.repeat(np.arange(40), len(once.units))
    many = Ratings(
        np.tile(once.units, 40) * 40 + copies,
        np.tile(once.raters, 40),
        np.tile(once.labels, 40),
        once.scores,
        once.n_units * 40,
        once.n_raters,
    )
    few, all_of_them = model(once, smoothing=1e-12), model(many, smoothing=1e-12)
    assert all_of_them.posterior == pytest.approx(np.repeat(few.posterior, 40, axis=0), abs=1e-6)
    assert all_of_them.labels.tolist() == np.repeat(few.labels, 40).tolist()
    assert all_of_them.confusion == pytest.approx(few.confusion, abs=1e-6)
    assert (all_of_them.n_units, all_of_them.n_ratings.tolist()) == (40 * few.n_units, (40 * few.n_ratings).tolist())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([dawid_skene, one_coin]))
def test_each_iteration_makes_the_ratings_more_likely(seed, model):
    ratings = random_ratings(seed, n_units=25, n_raters=5, n_labels=3)
    likelihoods = [
        model(ratings, smoothing=1e-12, max_iterations=n, tolerance=0).log_likelihood for n in (1, 2, 3, 5, 9, 17)
    ]
    assert np.all(np.diff(likelihoods) > -1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([dawid_skene, one_coin]))
def test_probabilities_add_up(seed, model):
    found = model(random_ratings(seed, n_units=15, n_raters=4, n_labels=3, missing=0.5))
    assert np.allclose(found.posterior.sum(axis=1), 1)
    assert np.allclose(found.confusion.sum(axis=2), 1)
    assert found.prior.sum() == pytest.approx(1)
    assert ((found.accuracy >= 0) & (found.accuracy <= 1)).all()


def careless_world(seed=1):
    """Alice and Bob are right in 95%, three careless raters in 40% of 400 runs with three answers."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 400)
    labels = np.stack(
        [
            np.where(rng.random(400) < right, truth, (truth + rng.integers(1, 3, 400)) % 3)
            for right in (0.95, 0.95, 0.4, 0.4, 0.4)
        ],
        axis=1,
    )
    units, raters = np.indices(labels.shape)
    return truth, from_codes(units.ravel(), raters.ravel(), labels.ravel(), scores=range(3))


@pytest.mark.parametrize("model", [dawid_skene, one_coin])
def test_who_is_careless_is_found_out_and_counts_less(model):
    truth, ratings = careless_world()
    found = model(ratings)
    assert np.abs(found.accuracy - [0.95, 0.95, 0.4, 0.4, 0.4]).max() < 0.08
    by_votes = (majority(ratings).labels == truth).mean()
    assert (found.labels == truth).mean() > max(0.93, by_votes + 0.05)


def test_a_rater_who_mixes_up_two_labels_is_seen_in_the_table():
    """Charlie says 2 for half of what is 1; the others are careful."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 600)
    careful = [np.where(rng.random(600) < 0.95, truth, rng.integers(0, 3, 600)) for _ in range(3)]
    charlie = np.where((truth == 1) & (rng.random(600) < 0.5), 2, truth)
    labels = np.stack([*careful, charlie], axis=1)
    units, raters = np.indices(labels.shape)
    found = dawid_skene(from_codes(units.ravel(), raters.ravel(), labels.ravel(), scores=range(3)))
    assert found.confusion[3, 1] == pytest.approx([0, 0.5, 0.5], abs=0.08)


def test_two_equally_good_raters_who_differ_leave_a_unit_undecided():
    found = one_coin(from_matrix([[0, 0], [1, 1], [0, 1], [1, 0]], scale=[0, 1]))
    assert found.labels.tolist() == [0, 1, NO_LABEL, NO_LABEL]
    assert found.n_undecided == 2


@pytest.mark.parametrize("model", [dawid_skene, one_coin])
def test_a_unit_nobody_rated_has_no_label(model):
    found = model(from_codes([0, 0, 2, 2], [0, 1, 0, 1], [0, 0, 1, 1], scores=[0, 1], n_units=4))
    assert found.labels.tolist() == [0, NO_LABEL, 1, NO_LABEL]
    assert found.n_units == 2


@pytest.mark.parametrize("model", [dawid_skene, one_coin])
def test_what_cannot_be_estimated_says_why(model):
    nothing = model(from_matrix([], scale=[0, 1]))
    alone = model(from_matrix([[0], [1]], scale=[0, 1]))
    no_scale = model(from_matrix([[0, 0]], scale=[0]))
    no_pairs = model(from_matrix([[0, None], [None, 1]], scale=[0, 1]))
    reasons = [found.reason for found in (nothing, alone, no_scale, no_pairs)]
    assert reasons == [Reason.NO_RATINGS, Reason.ONE_RATER, Reason.NO_SCALE, Reason.NO_PAIRS]
    assert alone.words
    assert alone.labels.size == 0


@pytest.mark.parametrize("model", [dawid_skene, one_coin])
def test_everybody_always_says_the_same(model):
    """Nothing is learnt of how the other label is mistaken; no number breaks."""
    for smoothing in (0, 0.01):
        found = model(from_matrix([[1, 1, 1]] * 5, scale=[0, 1]), smoothing=smoothing)
        assert found.labels.tolist() == [1] * 5
        assert np.isfinite(found.posterior).all()
        assert np.isfinite(found.confusion).all()
        assert np.isfinite(found.log_likelihood)
