"""Whether raters agree with themselves."""

import krippendorff
import numpy as np
import pytest

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.within import within_raters

ALICE, BOB = 0, 1


def test_alice_is_steady_and_bob_has_grown_strict():
    """Ten runs twice each. Alice repeats herself but once; Bob fails four of the runs he passed at first."""
    rows = []
    for run in range(10):
        label = run % 2
        rows += [(run, ALICE, label, 1), (run, ALICE, label if run else 1, 2)]
        rows += [(run, BOB, 1, 1), (run, BOB, 0 if run < 4 else 1, 2)]
    units, raters, labels, times = np.array(rows).T
    found = within_raters(units, raters, labels, times, scores=[0, 1])
    alice, bob = found.raters
    assert (alice.rater, alice.n, alice.percent.value) == (ALICE, 10, pytest.approx(0.9))
    assert (bob.percent.value, bob.percent.n_raters) == (pytest.approx(0.6), 1)
    assert bob.drift.test.p == pytest.approx(0.125)
    assert bob.drift.shifts[1].value == pytest.approx(0.4)
    assert found.percent.value == pytest.approx(0.75)
    assert (found.percent.n_units, found.percent.n_pairs, found.percent.n_raters) == (20, 20, 2)


def test_time_and_not_the_order_of_rows_says_which_came_first():
    rows = np.array([(run, BOB, label, time) for run in range(6) for label, time in ((0, 2), (1, 1))])
    shuffled = rows[np.random.default_rng(2).permutation(12)]
    for units, raters, labels, times in (rows.T, shuffled.T):
        (bob,) = within_raters(units, raters, labels, times, scores=[0, 1]).raters
        assert bob.drift.shifts[1].value == 1.0


def test_the_formulas_are_those_between_raters():
    """Repeats of one rater, seen as two people, have the same alpha."""
    rng = np.random.default_rng(8)
    first = rng.integers(0, 4, 60)
    second = np.where(rng.random(60) < 0.7, first, rng.integers(0, 4, 60))
    units = np.tile(np.arange(60), 2)
    labels, occasion = np.concatenate([first, second]), np.repeat([0, 1], 60)
    found = within_raters(
        units, np.zeros(120, dtype=int), labels, occasion, scores=range(4), level="ordinal", bootstrap=Bootstrap()
    )
    as_two = krippendorff_alpha(from_codes(units, occasion, labels, scores=range(4)), level="ordinal")
    (one,) = found.raters
    assert one.alpha.value == pytest.approx(as_two.value)
    assert one.alpha.low < one.alpha.value < one.alpha.high


def test_single_ratings_do_not_count():
    found = within_raters([0, 1, 2, 2], [0, 0, 0, 0], [1, 0, 1, 1], [1, 2, 3, 4], scores=[0, 1])
    assert (found.percent.value, found.percent.n_units) == (1.0, 1)
    assert found.raters[0].n == 1


def test_with_many_raters_whole_raters_are_drawn():
    rng = np.random.default_rng(9)
    raters, units = np.repeat(np.arange(12), 20), np.tile(np.repeat(np.arange(10), 2), 12)
    found = within_raters(
        units, raters, rng.integers(0, 2, 240), np.arange(240), scores=[0, 1], bootstrap=Bootstrap(200)
    )
    assert "over raters" in found.alpha.method
    assert found.alpha.n_raters == 12
    assert len(found.raters) == 12


@pytest.mark.parametrize("rows", [[], [(0, 0, 1, 1)], [(0, 0, 1, 1), (0, 1, 1, 1)], [(0, 0, 1, 1), (0, 0, -1, 2)]])
def test_without_repeats_there_is_nothing_to_compare(rows):
    units, raters, labels, times = np.array(rows, dtype=int).reshape(-1, 4).T
    found = within_raters(units, raters, labels, times, scores=[0, 1], bootstrap=Bootstrap())
    assert (found.alpha.value, found.alpha.reason, found.raters) == (None, Reason.NO_PAIRS, ())
    assert "twice" in found.percent.words


def test_numbers_are_the_same_within_a_tolerance_and_compared_by_how_far_they_are_apart():
    """Ten minutes, each told twice: seven the same, two a minute apart, one five."""
    first = np.arange(10.0)
    second = first + np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 5])
    numbers = np.concatenate([first, second])
    scores, labels = np.unique(numbers, return_inverse=True)
    units, occasions = np.tile(np.arange(10), 2), np.repeat([0, 1], 10)
    found = within_raters(units, np.zeros(20, dtype=int), labels, occasions, scores=scores, tolerance=1)
    assert found.percent.value == pytest.approx(0.9)
    theirs = krippendorff.alpha([first, second], level_of_measurement="interval")
    assert found.alpha.value == pytest.approx(theirs)
    assert (found.raters[0].alpha.value, found.raters[0].kappa) == (pytest.approx(theirs), None)


def test_of_parts_of_a_run_whole_runs_are_drawn():
    """Twenty runs of five steps: a run is said of all the same twice, or of all another time otherwise."""
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 100)
    second = np.where(np.repeat(rng.random(20) < 0.7, 5), first, 1 - first)
    rows = np.tile(np.arange(100), 2), np.zeros(200, dtype=int), np.concatenate([first, second]), np.repeat([0, 1], 100)
    alone = within_raters(*rows, scores=[0, 1], bootstrap=Bootstrap())
    whole = within_raters(*rows, scores=[0, 1], bootstrap=Bootstrap(), wholes=np.repeat(np.arange(20), 5))
    assert whole.percent.value == alone.percent.value
    # Five steps that go together are one: the interval is wider by the root of five.
    wider = (whole.percent.high - whole.percent.low) / (alone.percent.high - alone.percent.low)
    assert wider == pytest.approx(5**0.5, rel=0.25)
