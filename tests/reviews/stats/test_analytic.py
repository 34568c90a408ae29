"""Gwet's analytic errors: as printed, as other formulas have them, and as often right as they say."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import Alpha, Fleiss, Gwet, Percent, disagreement_weights
from reviews.stats.analytic import analytic_error, analytic_estimate
from reviews.stats.counts import from_codes, from_matrix
from reviews.stats.pairs import scott_pi
from reviews.stats.resampling import Bootstrap, resampled_sums
from reviews.stats.result import Reason
from tests.reviews.stats import published
from tests.reviews.stats.helpers import from_counts, from_table, random_ratings


def coefficients(scores, weights="identity"):
    v = disagreement_weights(weights, np.asarray(scores, dtype=float))
    return {"percent": Percent(), "ac": Gwet(v), "fleiss": Fleiss(v), "alpha": Alpha("nominal", np.asarray(scores))}


@pytest.mark.parametrize(
    ("name", "error"), [("percent", 0.12561), ("ac", 0.14295), ("fleiss", 0.15302), ("alpha", 0.14548)]
)
def test_errors_of_four_raters_with_labels_missing(name, error):
    ratings = from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5])
    assert round(analytic_error(ratings, coefficients(ratings.scores)[name]), 5) == error


def test_the_printed_interval_of_gwets_coefficient():
    ratings = from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5])
    ac = analytic_estimate(ratings, coefficients(ratings.scores)["ac"])
    assert (round(ac.low, 3), ac.high) == (0.461, 1.0)
    assert (ac.n_units, ac.n_raters, ac.method) == (11, 4, "95% t, Gwet's analytic error")


@pytest.mark.parametrize(("name", "error"), [("ac", 0.08418757), ("fleiss", 0.08119291)])
def test_errors_of_six_raters(name, error):
    ratings = from_counts(published.FLEISS_COUNTS[:15])
    assert analytic_error(ratings, coefficients(ratings.scores)[name]) == pytest.approx(error, abs=5e-9)


@pytest.mark.parametrize(
    ("name", "error"), [("percent", 0.03128898), ("ac", 0.04321747), ("fleiss", 0.05905473), ("alpha", 0.05905473)]
)
def test_errors_of_two_raters_which_are_printed_with_n_below_the_line(name, error):
    """For tables the README divides by n, for raw ratings by n - 1; here it is always n - 1."""
    ratings = from_table(published.ABSTRACTORS)
    found = analytic_error(ratings, coefficients(ratings.scores)[name])
    assert found * sqrt(99 / 100) == pytest.approx(error, abs=5e-9)


def test_scotts_pi_of_artstein_and_poesio():
    assert round(scott_pi(published.ARTSTEIN_P558).value, 3) == 0.341
    assert round(scott_pi(published.ARTSTEIN_P568).value, 4) == 0.7995
    pi = scott_pi(published.ABSTRACTORS)
    assert (round(pi.value, 7), pi.statistic, pi.n_units, pi.n_raters) == (0.7962397, "Scott's pi", 100, 2)
    assert (round(pi.low, 2), round(pi.high, 2)) == (0.68, 0.91)


@given(st.integers(0, 5_000), st.sampled_from(["identity", "quadratic"]))
def test_errors_are_near_those_of_the_bootstrap(seed, weights):
    ratings = random_ratings(seed, n_units=250, n_raters=4, n_labels=3)
    found = coefficients(ratings.scores, weights) | {"interval": Alpha("interval", ratings.scores)}
    for coefficient in found.values():
        rows, times = coefficient.rows(ratings.patterns.counts), ratings.patterns.times
        sums = np.concatenate(list(resampled_sums(rows, times, Bootstrap(replicates=400))))
        observed, expected, _ = coefficient.parts(sums)
        assert analytic_error(ratings, coefficient) == pytest.approx((1 - observed / expected).std(), rel=0.25)


@pytest.mark.parametrize("name", ["ac", "alpha"])
def test_intervals_hold_the_true_value_about_as_often_as_they_say(name):
    """Two raters who see a truth (60% pass) in four of five and guess otherwise, 400 worlds of 60 runs."""
    share = 0.8 * 0.6 + 0.2 * 0.5
    by_chance = {"ac": 2 * share * (1 - share), "alpha": share**2 + (1 - share) ** 2}[name]
    true_value = (0.64 + 0.36 / 2 - by_chance) / (1 - by_chance)
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        truth = (rng.random(60) < 0.6).astype(int)
        labels = np.where(rng.random((60, 2)) < 0.8, truth[:, None], rng.integers(0, 2, (60, 2)))
        ratings = from_codes(np.repeat(np.arange(60), 2), np.tile([0, 1], 60), labels.ravel(), scores=[0, 1])
        found = analytic_estimate(ratings, coefficients([0, 1])[name])
        covered += found.low <= true_value <= found.high
    # Three standard errors of a share of .95 in 400 worlds.
    assert abs(covered / 400 - 0.95) < 0.033


def test_what_is_not_defined_has_no_error():
    nothing = from_matrix([], scale=[1, 2])
    same = from_matrix([[1, 1]] * 4, scale=[1, 2])
    one = from_matrix([[1, 2]], scale=[1, 2])
    alpha = coefficients([1, 2])["alpha"]
    assert [analytic_error(ratings, alpha) for ratings in (nothing, same, one)] == [None, None, None]
    reasons = [analytic_estimate(ratings, alpha).reason for ratings in (nothing, same, one)]
    assert reasons == [Reason.NO_RATINGS, Reason.NO_VARIATION, Reason.ONE_UNIT]


def test_full_agreement_does_not_claim_certainty():
    ratings = from_matrix([[0, 0]] * 10 + [[1, 1]] * 10, scale=[0, 1])
    percent = analytic_estimate(ratings, Percent())
    assert (percent.value, percent.high) == (1.0, 1.0)
    assert percent.low == pytest.approx(1 - 0.16843, abs=1e-5)
