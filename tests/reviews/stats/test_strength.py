"""Bradley and Terry's model with ties and order."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import t
from statsmodels.api import Logit

from reviews.stats.result import Reason
from reviews.stats.strength import bradley_terry, order_effect

# Citations among Biometrika, Communications in Statistics, JASA and JRSS-B (Stigler 1994; Agresti 2002, p. 448): how
# often the row was cited by the column.
CITATIONS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])


def half_width(estimate):
    return (estimate.high - estimate.low) / 2 / 1.959964


def test_four_journals():
    winners, losers = np.nonzero(CITATIONS)
    found = bradley_terry(winners, losers, np.ones(12), times=CITATIONS[winners, losers])
    against_biometrika = [found.difference(journal, 0) for journal in (1, 2, 3)]
    assert [round(journal.value, 4) for journal in against_biometrika] == [-2.9491, -0.4796, 0.269]
    assert [round(half_width(journal), 4) for journal in against_biometrika] == [0.1025, 0.0606, 0.0708]
    assert found.n_comparisons == CITATIONS.sum()
    assert found.strength.sum() == pytest.approx(0)


def test_a_cycle_makes_all_equal_and_one_game_more_does_not():
    cycle = bradley_terry([0, 1, 2], [1, 2, 0], [1, 1, 1])
    assert cycle.strength == pytest.approx([0, 0, 0])
    more = bradley_terry([0, 0, 1, 2], [1, 1, 2, 0], [1, 1, 1, 1])
    assert more.strength == pytest.approx([0.419617624, -0.419617624, 0], abs=1e-8)


def random_games(seed, *, n_items=4, n=120, order=0.0, tie=0.0):
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.7, n_items)
    first = rng.integers(0, n_items, n)
    second = (first + rng.integers(1, n_items, n)) % n_items
    d = strength[first] - strength[second] + order
    p = np.stack([np.exp(d / 2), np.full(n, tie), np.exp(-d / 2)], axis=1)
    drawn = (rng.random(n)[:, None] > np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    return strength, first, second, 1 - drawn


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_without_ties_it_is_logistic_regression(seed):
    _, first, second, outcome = random_games(seed, order=0.4)
    ours = bradley_terry(first, second, outcome, n_items=4, order=True)
    assume(ours.reason is None)
    design = np.zeros((len(first), 4))
    rows = np.arange(len(first))
    np.add.at(design, (rows, first), 1)
    np.add.at(design, (rows, second), -1)
    # The last item is the one to compare with; its column makes room for the order.
    design[:, 3] = 1
    theirs = Logit(outcome > 0, design).fit(disp=0)
    assert [ours.difference(item, 3).value for item in range(3)] == pytest.approx(theirs.params[:3], abs=1e-5)
    assert [half_width(ours.difference(item, 3)) for item in range(3)] == pytest.approx(theirs.bse[:3], rel=1e-4)
    assert (ours.order.value, half_width(ours.order)) == pytest.approx((theirs.params[3], theirs.bse[3]), rel=1e-4)
    assert ours.log_likelihood == pytest.approx(theirs.llf)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_ties_and_order_are_at_the_top_of_the_likelihood(seed):
    """A general optimiser that is told only the definition of the model finds nothing better."""
    _, first, second, outcome = random_games(seed, n_items=3, order=0.5, tie=0.8)
    ours = bradley_terry(first, second, outcome, n_items=3, order=True)
    assume(ours.reason is None and ours.n_tied)

    def cost(at):
        strength = np.array([*at[:2], -at[0] - at[1]])
        d = strength[first] - strength[second] + at[2]
        logs = np.stack([d / 2, np.full(len(d), at[3]), -d / 2])
        return -(np.choose(1 - outcome, logs) - np.logaddexp.reduce(logs)).sum()

    best = minimize(cost, np.zeros(4), method="BFGS")
    assert ours.log_likelihood == pytest.approx(-best.fun, abs=1e-5)
    found = (*ours.strength[:2], ours.order.value, ours.ties.value)
    assert found == pytest.approx(best.x, abs=1e-3)


def test_intervals_hold_the_true_difference_about_as_often_as_they_say():
    covered = drawn = 0
    for seed in range(300):
        strength, first, second, outcome = random_games(seed, n=200, tie=0.5)
        found = bradley_terry(first, second, outcome, n_items=4)
        difference = found.difference(0, 1)
        if difference.defined:
            drawn += 1
            covered += difference.low <= strength[0] - strength[1] <= difference.high
    assert drawn > 290
    assert abs(covered / drawn - 0.95) < 3 * np.sqrt(0.95 * 0.05 / drawn)


def test_when_comparisons_hang_together_whole_groups_give_the_interval():
    """What a task happens to favour, all its ten comparisons favour: taken one by one they would boast."""
    covered = {"grouped": 0, "one by one": 0}
    worlds = 200
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        task = np.repeat(np.arange(40), 10)
        favours = rng.normal(0, 1.2, 40)[task]
        first, second = np.zeros(400, dtype=int), np.ones(400, dtype=int)
        outcome = np.where(rng.random(400) < 1 / (1 + np.exp(-favours)), 1, -1)
        for name, clusters in (("grouped", task), ("one by one", None)):
            found = bradley_terry(first, second, outcome, clusters=clusters).difference(0, 1)
            covered[name] += found.low <= 0 <= found.high
    assert abs(covered["grouped"] / worlds - 0.95) < 3 * np.sqrt(0.95 * 0.05 / worlds)
    assert covered["one by one"] / worlds < 0.8


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_groups_give_the_error_of_logistic_regression_by_groups(seed):
    _, first, second, outcome = random_games(seed)
    groups = np.random.default_rng(seed).integers(0, 12, len(first))
    ours = bradley_terry(first, second, outcome, n_items=4, clusters=groups)
    assume(ours.reason is None)
    design = np.zeros((len(first), 4))
    rows = np.arange(len(first))
    np.add.at(design, (rows, first), 1)
    np.add.at(design, (rows, second), -1)
    options = {"groups": groups, "use_correction": False}
    theirs = Logit(outcome > 0, design[:, :3]).fit(disp=0, cov_type="cluster", cov_kwds=options)
    error = (ours.difference(0, 3).high - ours.difference(0, 3).low) / 2 / t.ppf(0.975, 11)
    assert error == pytest.approx(theirs.bse[0] * np.sqrt(12 / 11), rel=1e-3)


def test_one_group_gives_no_interval():
    found = bradley_terry([0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1], clusters=[5, 5, 5, 5])
    assert (found.wins(0, 1).value, found.wins(0, 1).reason) == (pytest.approx(0.75), Reason.ONE_UNIT)


def test_the_first_place_helps():
    _, first, second, outcome = random_games(1, n=600, order=0.6, tie=0.5)
    found = bradley_terry(first, second, outcome, order=True)
    assert found.order.low < 0.6 < found.order.high
    assert found.order.low > 0
    assert order_effect(first, second, outcome).p < 0.001
    _, first, second, outcome = random_games(2, n=600, tie=0.5)
    assert order_effect(first, second, outcome).p > 0.05


def test_chances_follow_from_strengths():
    found = bradley_terry([0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1])
    # Three wins to one.
    assert found.wins(0, 1).value == pytest.approx(0.75)
    assert found.wins(0, 1).low < 0.75 < found.wins(0, 1).high
    assert found.of(0).value == pytest.approx(np.log(3) / 2)
    # Against one in the middle between the two.
    assert found.wins_against_all(0).value == pytest.approx(np.sqrt(3) / (1 + np.sqrt(3)))


def test_what_no_finite_strengths_explain_is_refused():
    nothing = bradley_terry([], [], [])
    apart = bradley_terry([0, 1, 2, 3], [1, 0, 3, 2], [1, 1, 1, 1])
    always = bradley_terry([0, 0, 1, 2], [1, 2, 2, 1], [1, 1, 1, 1])
    ties = bradley_terry([0, 0, 1], [1, 2, 2], [0, 0, 0])
    reasons = [found.reason for found in (nothing, apart, always, ties)]
    assert reasons == [Reason.NO_RATINGS, Reason.NOT_CONNECTED, Reason.SEPARATED, Reason.NO_VARIATION]
    assert (always.difference(0, 1).value, always.wins(0, 1).reason) == (None, Reason.SEPARATED)
    # Items 1 and 2 have beaten each other; item 0 stands alone.
    assert always.groups[1] == always.groups[2] != always.groups[0]
    assert order_effect([0], [1], [1]).reason == Reason.SEPARATED


def test_an_order_that_cannot_be_told_apart_is_refused():
    """Item 0 is always shown first, so its place and its strength are one question; and one who always wins there."""
    always_there = bradley_terry([0, 0, 0], [1, 1, 1], [1, 1, -1], order=True)
    assert (always_there.reason, always_there.order.value) == (Reason.NOT_CONNECTED, None)
    wins_there = bradley_terry([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], order=True)
    assert (wins_there.reason, wins_there.order.value) == (Reason.SEPARATED, None)


def test_nothing_is_compared_with_itself():
    with pytest.raises(ValueError, match="itself"):
        bradley_terry([1], [1], [1])
