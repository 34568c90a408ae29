"""Pace: quartiles known beforehand, and marks only for what is far from this rater's own way with such runs."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.pace import FLOOR, Timed, much_faster, pace
from reviews.stats.result import Estimate, Reason


def around(seconds, n, *, rater=1, length=10):
    """So many judgments, scattered evenly over a normal distribution of log seconds."""
    scatter = [NormalDist(0, 0.2).inv_cdf((place + 0.5) / n) for place in range(n)]
    return [Timed(rater, round(seconds * math.exp(away)), length) for away in scatter]


def test_quartiles_and_the_interval_of_the_median_are_those_of_the_textbook():
    found = pace([Timed(1, seconds, 5) for seconds in (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)])
    assert (found.n, found.low, found.high) == (10, 32.5, 77.5)
    # Ten values: the second and the ninth.
    assert (found.median.value, found.median.low, found.median.high, found.median.n_units) == (55, 20, 90, 10)


def test_below_six_there_is_a_median_without_an_interval():
    found = pace([Timed(1, seconds, 5) for seconds in (10, 20, 40)])
    assert (found.median.value, found.median.low, found.median.reason) == (20, None, Reason.BELOW_FLOOR)
    assert found.median.words == "3 judgments give no 95% interval; it takes 6."


def test_who_takes_less_than_a_fifth_of_the_others_time_is_much_faster():
    """The others of rater 1 take 50 and 70 s, so 60 s is usual; who has four judgments, or no time, is not asked."""

    def faster(**medians):
        known = {rater: Estimate("Median seconds", seconds, n_units=n) for rater, (n, seconds) in medians.items()}
        return {rater: (usual.value, usual.n_units, usual.reason) for rater, usual in much_faster(known).items()}

    usual = (60, 2, Reason.BELOW_FLOOR)
    assert faster(one=(20, 2), two=(20, 50), three=(20, 70), four=(4, 1), five=(20, 0)) == {"one": usual}
    assert faster(one=(20, 12), two=(20, 50), three=(20, 70)) == {}
    assert faster(one=(20, 2), two=(20, 50)) == {}


def test_nothing_at_all_is_said_in_words():
    found = pace([])
    assert (found.n, found.median.value, found.words) == (0, None, "There is no judgment with a time yet.")


def test_a_judgment_of_two_seconds_among_minutes_is_marked_and_so_is_an_hour():
    found = pace([*around(120, 40), Timed(1, 2, 10), Timed(1, 3600, 10)])
    assert [(mark.place, mark.fast) for mark in found.apart] == [(40, True), (41, False)]
    assert found.apart[0].expected == pytest.approx(120, rel=0.15)
    assert found.words == ""


def test_a_thorough_rater_is_no_exception_but_their_own_haste_is():
    quick, thorough = around(40, 30, rater=1), around(400, 30, rater=2)
    found = pace([*quick, *thorough, Timed(2, 40, 10)])
    assert [mark.place for mark in found.apart] == [60]
    slow = {row.rater: row.ratio.value for row in found.raters}
    assert slow[2] / slow[1] == pytest.approx(10, rel=0.25)


def test_long_runs_may_take_longer():
    short, long = around(30, 40, length=4), around(600, 40, length=200)
    assert pace([*short, *long]).apart == ()
    assert [mark.place for mark in pace([*short, *long, Timed(1, 30, 200)]).apart] == [80]


def test_too_few_or_all_the_same_mark_nobody_and_say_so():
    few = pace([*around(100, FLOOR - 2), Timed(1, 1, 10)])
    assert (few.apart, few.words) == ((), "Too few to mark any: 19 of the 20 judgments needed.")
    same = pace([Timed(1, 60, 10)] * 30 + [Timed(1, 1, 10)])
    assert same.apart == ()
    assert same.words.startswith("Half of the judgments or more")


@given(st.lists(st.builds(Timed, st.integers(1, 4), st.integers(0, 10**6), st.integers(1, 500)), max_size=60))
def test_whatever_was_measured_it_can_be_told(times):
    found = pace(times)
    assert found.n == len(times) == sum(row.n for row in found.raters)
    assert len(found.apart) <= len(times) / 2
    for row in found.raters:
        assert row.low <= row.median.value <= row.high
        assert row.ratio.value > 0
