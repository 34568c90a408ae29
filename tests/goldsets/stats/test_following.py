"""A rater followed answer by answer: the way to a verdict, a chart that never rings on one error, last good work."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.following import chart, last_good, trial
from goldsets.stats.sequential import Verdict

USUAL = (0.10, 0.30, 0.05, 0.10)
rights = st.lists(st.booleans(), max_size=200)


def test_the_way_is_walds_and_the_first_bound_decides():
    on_the_way = trial([False, True], *USUAL)
    assert on_the_way.path == pytest.approx((log(3), log(3) + log(7 / 9)))
    assert (on_the_way.verdict, on_the_way.at, on_the_way.errors) == (Verdict.UNDECIDED, 0, 1)
    failed = trial([False] * 3 + [True] * 50, *USUAL)
    assert (failed.verdict, failed.at, failed.n) == (Verdict.FAIL, 3, 53)
    assert failed.words.startswith("3 wrong of 3, failed after 3")


def test_nothing_to_look_at_decides_nothing():
    assert trial([], *USUAL).verdict == Verdict.UNDECIDED
    assert (chart([], 0.1, 0.3, 200).rang, chart([], 0.1, 0.3, 200).path) == (False, ())


@given(rights, st.sampled_from([(0.1, 0.3), (0.01, 0.05), (0.01, 0.9), (0.3, 0.4)]))
def test_the_chart_never_rings_on_one_error(outcomes, rates):
    followed = chart(outcomes, *rates, 20)
    assert followed.limit > followed.step
    assert followed.run_length >= 20
    if followed.rang:
        assert outcomes[: followed.at].count(False) >= 2


@given(rights)
def test_the_chart_follows_its_rule(outcomes):
    followed, level = chart(outcomes, 0.1, 0.3, 200), 0
    for right, shown in zip(outcomes, followed.path, strict=True):
        level = max(0, level - 1) if right else level + followed.step
        assert shown == level
    assert followed.rang == any(level >= followed.limit for level in followed.path)


def test_a_drift_is_found_with_the_moment_it_began():
    outcomes = [True] * 30 + [False, True, False, False]
    followed = chart(outcomes, 0.1, 0.3, 200)
    assert (followed.rang, followed.turned) == (True, 30)
    assert last_good(outcomes, 0.1, 0.3) == 30


def test_work_was_never_good_where_it_began_with_errors():
    assert last_good([False, False, False], 0.1, 0.3) == 0
    assert last_good([], 0.1, 0.3) == 0
