"""Intervals: reproducible, honest at the edges, and covering what they should."""

import numpy as np
import pytest

from reviews.stats.agreement import Alpha, gwet_ac, krippendorff_alpha, percent_agreement, values
from reviews.stats.analytic import analytic_estimate
from reviews.stats.counts import from_codes, from_matrix
from reviews.stats.pairs import cohen_kappa
from reviews.stats.resampling import (
    GROUPS,
    Bootstrap,
    in_groups,
    jackknife_error,
    most_that_could_differ,
    percentile_interval,
)
from reviews.stats.result import Reason
from tests.reviews.stats import published
from tests.reviews.stats.helpers import random_ratings


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    ratings = random_ratings(1, n_units=60)
    first, again, other = (
        krippendorff_alpha(ratings, level="ordinal", bootstrap=Bootstrap(seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert (first.low, first.high) == pytest.approx((other.low, other.high), abs=0.05)


def test_the_interval_holds_the_value_and_names_its_method():
    alpha = krippendorff_alpha(random_ratings(1, n_units=60), level="ordinal", bootstrap=Bootstrap())
    assert alpha.low < alpha.value < alpha.high
    assert alpha.method == "95% percentile bootstrap over items, 1,000 resamples"


def test_the_interval_of_krippendorffs_example_is_near_the_published_bootstrap():
    """R's krippendorffsalpha and irrCAC print (.464, 1) and (.423, 1) for eleven units."""
    ratings = from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5])
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(replicates=4000))
    assert 0.39 < alpha.low < 0.49
    assert alpha.high == 1.0


def test_a_plain_bootstrap_over_rows_gives_the_same_spread():
    ratings = random_ratings(3, n_units=80)
    rng = np.random.default_rng(9)
    drawn = []
    for _ in range(400):
        units = rng.integers(0, ratings.n_units, ratings.n_units)
        counts = ratings.counts[units]
        where, labels = np.nonzero(counts)
        times = counts[where, labels]
        again = from_codes(
            np.repeat(where, times), np.arange(times.sum()), np.repeat(labels, times), scores=ratings.scores
        )
        drawn.append(krippendorff_alpha(again, level="ordinal").value)
    alpha = krippendorff_alpha(ratings, level="ordinal", bootstrap=Bootstrap(replicates=4000))
    assert (alpha.low, alpha.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.05)


@pytest.mark.parametrize("measure", ["percent", "alpha", "ac1"])
def test_intervals_cover_the_true_value_as_often_as_they_say(measure):
    """Two raters who each see the truth in 80% of 100 runs and guess otherwise; 300 such worlds."""
    estimate = {
        "percent": lambda ratings: percent_agreement(ratings, bootstrap=Bootstrap(400)),
        "alpha": lambda ratings: krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(400)),
        "ac1": lambda ratings: gwet_ac(ratings, bootstrap=Bootstrap(400)),
    }[measure]
    # Truth is "pass" in 60%: a pair agrees when both see (.64), or else by luck (half of .36).
    agree = 0.64 + 0.36 / 2
    share = 0.8 * 0.6 + 0.2 * 0.5
    by_chance = {"percent": 0.0, "alpha": share**2 + (1 - share) ** 2, "ac1": 2 * share * (1 - share)}[measure]
    true_value = (agree - by_chance) / (1 - by_chance)
    rng = np.random.default_rng(2026)
    covered = 0
    for _ in range(300):
        truth = (rng.random(100) < 0.6).astype(int)
        sees = rng.random((100, 2)) < 0.8
        labels = np.where(sees, truth[:, None], rng.integers(0, 2, (100, 2)))
        ratings = from_codes(np.repeat(np.arange(100), 2), np.tile([0, 1], 100), labels.ravel(), scores=[0, 1])
        found = estimate(ratings)
        covered += found.low <= true_value <= found.high
    # Three standard errors of a share of .95 in 300 worlds, and a percentile interval is a little narrow at n = 100.
    assert 0.95 - 0.05 <= covered / 300 <= 0.95 + 0.038


def test_without_one_disagreement_the_interval_does_not_claim_certainty():
    """Twenty runs, all agreed, both answers used: up to 1 - .025^(1/20) = 16.8% of runs could still differ."""
    ratings = from_matrix([[0, 0]] * 10 + [[1, 1]] * 10, scale=[0, 1])
    percent = percent_agreement(ratings, bootstrap=Bootstrap())
    assert (percent.value, percent.high) == (1.0, 1.0)
    assert percent.low == pytest.approx(1 - 0.16843, abs=1e-5)
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap())
    assert (alpha.value, alpha.high) == (1.0, 1.0)
    # Expected disagreement is 20 * 20 / (40 * 39 / 2) = .5128.
    assert alpha.low == pytest.approx(1 - 0.16843 / 0.51282, abs=1e-4)
    assert alpha.method == "no pair differs: 95% exact binomial limit on items that could"


def test_a_value_that_most_resamples_cannot_have_gets_no_interval():
    """One disagreement in ten: a third of the resamples lose it and show no variation."""
    ratings = from_matrix([[0, 0]] * 9 + [[0, 1]], scale=[0, 1])
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap())
    assert alpha.value == 0.0
    assert (alpha.low, alpha.reason) == (None, Reason.UNSTABLE)
    assert percent_agreement(ratings, bootstrap=Bootstrap()).low is not None


def test_clusters_that_repeat_each_other_widen_the_interval():
    ratings = random_ratings(5, n_units=40)
    fivefold = from_codes(
        np.concatenate([ratings.units + 40 * copy for copy in range(5)]),
        np.tile(ratings.raters, 5),
        np.tile(ratings.labels, 5),
        scores=ratings.scores,
        n_units=200,
    )
    family = np.tile(np.arange(40), 5)
    plain = krippendorff_alpha(fivefold, level="nominal", bootstrap=Bootstrap())
    clustered = krippendorff_alpha(fivefold, level="nominal", bootstrap=Bootstrap(over="families"), clusters=family)
    once = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap())
    assert clustered.value == plain.value
    assert clustered.high - clustered.low == pytest.approx(once.high - once.low, rel=0.15)
    assert clustered.high - clustered.low > 1.8 * (plain.high - plain.low)
    assert clustered.method == "95% percentile bootstrap over families, 1,000 resamples"


def test_one_cluster_gives_no_interval():
    ratings = random_ratings(5, n_units=40)
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(), clusters=np.zeros(40, dtype=int))
    assert (alpha.low, alpha.reason) == (None, Reason.ONE_UNIT)


def test_percentiles_of_what_is_defined():
    values = np.concatenate([np.linspace(0, 1, 1001), [np.nan] * 10])
    assert percentile_interval(values, Bootstrap()) == pytest.approx((0.025, 0.975))
    assert percentile_interval(np.concatenate([values, [np.nan] * 100]), Bootstrap()) is None


def test_the_jackknife_error_of_a_mean_is_its_standard_error():
    rows = np.array([[2.0, 1.0], [4.0, 1.0], [9.0, 1.0]])
    times = np.array([3, 2, 1])
    values = np.repeat(rows[:, 0], times)
    error = jackknife_error(lambda sums: sums[:, 0] / sums[:, 1], rows, times)
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(6))


def test_the_most_that_could_differ_is_the_exact_binomial_limit():
    assert most_that_could_differ(5, 0.95) == pytest.approx(0.521824, abs=1e-6)


def test_of_many_units_the_slope_tells_what_leaving_out_does():
    """The same error by either way, on either side of the number from which the slope is used."""
    ratings = random_ratings(2, n_units=400)
    alpha = Alpha("ordinal", ratings.scores)
    rows, times = alpha.rows(ratings.patterns.counts), ratings.patterns.times
    exact = jackknife_error(lambda sums: values(alpha, sums), rows, times)
    many = jackknife_error(lambda sums: values(alpha, sums), rows, times * 100)
    assert many == pytest.approx(exact / 10, rel=0.01)


def test_with_nearly_as_many_kinds_as_units_the_interval_is_the_same():
    """Twenty raters on every run: hardly two runs show the same counts, and runs are drawn one by one."""
    ratings = random_ratings(4, n_units=300, n_raters=20, missing=0.0)
    assert len(ratings.patterns.times) > 200
    alpha = Alpha("nominal", ratings.scores)
    found = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(4000))
    by_formula = analytic_estimate(ratings, alpha)
    assert (found.low, found.high) == pytest.approx((by_formula.low, by_formula.high), abs=0.01)


def test_of_very_many_units_hardly_two_alike_random_groups_are_drawn():
    """Five thousand runs that twenty raters saw: the interval is that of the formula, to a twentieth of its width."""
    ratings = random_ratings(6, n_units=5_000, n_raters=20, missing=0.0)
    assert len(ratings.patterns.times) > 500
    found = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(4000))
    by_formula = analytic_estimate(ratings, Alpha("nominal", ratings.scores))
    width = by_formula.high - by_formula.low
    assert (found.low, found.high) == pytest.approx((by_formula.low, by_formula.high), abs=width / 20)


def test_groups_of_units_add_up_to_all_of_them_and_differ_by_one_at_most():
    rows = np.random.default_rng(1).random((500, 3))
    times = np.full(500, 5)
    groups, of_groups = in_groups(np.hstack([rows, np.ones((500, 1))]), times, Bootstrap())
    assert (len(groups), of_groups.sum()) == (GROUPS, GROUPS)
    assert groups[:, :3].sum(axis=0) == pytest.approx(times @ rows)
    assert set(groups[:, 3]) == {2.0, 3.0}


def test_few_units_and_few_kinds_stay_as_they_are():
    rows = np.random.default_rng(1).random((125, 2))
    for kinds, times in ((rows, np.full(125, 5)), (rows, np.full(125, 800)), (rows[:20], np.full(20, 10_000))):
        kept, as_often = in_groups(kinds, times, Bootstrap())
        assert (kept is kinds, as_often is times) == (True, True)


def test_whole_tasks_cover_what_single_runs_do_not():
    """Forty tasks of five runs; raters agree on some tasks and not on others. 200 such worlds of 200 runs."""
    rng = np.random.default_rng(8)
    covered = {"runs": 0, "tasks": 0}
    task = np.repeat(np.arange(40), 5)
    # A clear task (four in five): both see the truth. A murky one: both guess.
    agree = 0.8 + 0.2 / 2
    for _ in range(200):
        clear = (rng.random(40) < 0.8)[task]
        truth = rng.integers(0, 2, 200)
        labels = np.where(clear[:, None], truth[:, None], rng.integers(0, 2, (200, 2)))
        ratings = from_codes(np.repeat(np.arange(200), 2), np.tile([0, 1], 200), labels.ravel(), scores=[0, 1])
        for name, clusters in (("runs", None), ("tasks", task)):
            found = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap(300), clusters=clusters)
            covered[name] += found.low <= 2 * agree - 1 <= found.high
    assert covered["runs"] < 0.93 * 200
    assert covered["tasks"] > covered["runs"]
    assert covered["tasks"] / 200 >= 0.95 - 0.06


def test_the_interval_of_kappa_covers_as_often_as_it_says():
    """Two raters who see the truth (60% pass) in four of five of 100 runs and guess otherwise; 1,000 worlds."""
    rng = np.random.default_rng(12)
    share = 0.8 * 0.6 + 0.2 * 0.5
    by_chance = share**2 + (1 - share) ** 2
    true_value = (0.64 + 0.36 / 2 - by_chance) / (1 - by_chance)
    covered = 0
    for _ in range(1000):
        truth = (rng.random(100) < 0.6).astype(int)
        first, second = (np.where(rng.random(100) < 0.8, truth, rng.integers(0, 2, 100)) for _ in range(2))
        kappa = cohen_kappa(np.bincount(2 * first + second, minlength=4).reshape(2, 2))
        covered += kappa.low <= true_value <= kappa.high
    assert abs(covered / 1000 - 0.95) < 3 * np.sqrt(0.05 * 0.95 / 1000)
