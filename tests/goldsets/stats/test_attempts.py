"""pass@k and pass^k as published, and what a second try does to a grader."""

from collections import Counter

import pytest

from goldsets.stats.attempts import all_of, any_of, band, pass_at, pass_hat, regrading
from reviews.stats.result import Reason
from tests.goldsets.stats.reference import beside, rows, table

# n, c, k, pass@k, pass^k.
CASES = [
    (5, 0, 1, 0.0, 0.0),
    (5, 5, 5, 1.0, 1.0),
    (5, 2, 2, 0.7, 0.1),
    (5, 2, 4, 1.0, 0.0),
    (10, 3, 5, 0.9166666666666666, 0.0),
    (100, 10, 10, 0.6695237889132748, 5.776904234533874e-14),
    (200, 1, 100, 0.5, 0.0),
]
# Tasks of tau-bench's airline by how many of 4 runs of gpt-4o passed.
AIRLINE = [(4, passed) for passed, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]


@pytest.mark.parametrize(("n", "passed", "k", "some", "every"), CASES)
def test_known_cases(n, passed, k, some, every):
    assert any_of(n, passed, k) == pytest.approx(some)
    assert all_of(n, passed, k) == pytest.approx(every)


def test_more_runs_than_there_are_is_not_defined():
    assert (any_of(3, 1, 4), all_of(3, 1, 4)) == (None, None)
    assert pass_at([(3, 1)], 4).words == "No task has 4 runs, so pass@4 is not defined."


@pytest.mark.parametrize(("k", "every", "some"), [(1, 0.42, 0.42), (2, 0.273, 0.567), (3, 0.22, 0.66), (4, 0.2, 0.72)])
def test_tau_benchs_published_airline_figures(k, every, some):
    assert round(pass_hat(AIRLINE, k).value, 3) == every
    assert round(pass_at(AIRLINE, k).value, 3) == some


@beside
def test_tau_benchs_rewards_counted_from_their_rows():
    found = rows("agreement/realdata/tau_bench_gpt4o_airline_trials.csv")
    runs, passed = Counter(), Counter()
    for row in found:
        runs[row["task_id"]] += 1
        passed[row["task_id"]] += int(row["success"])
    tasks = [(n, passed[task]) for task, n in runs.items()]
    assert sorted(tasks) == sorted(AIRLINE)
    for case in table("pass_at_k")["small_cases"]:
        assert any_of(case["n"], case["c"], case["k"]) == pytest.approx(case["pass_at_k"])
        assert all_of(case["n"], case["c"], case["k"]) == pytest.approx(case["pass_hat_k"])


def test_a_band_holds_tasks_that_are_passed_sometimes():
    found = band([*AIRLINE, (1, 1)])
    assert (found.never, found.between, found.always) == (14, 26, 10)
    assert found.within.value == 26 / 50


def test_a_failing_run_that_may_try_again_passes_more_often():
    found = regrading([[0, 0, 0, 1], [0, 0, 0, 0], [1, 1], [0.4]], [False, False, True, None], 0.5)
    assert found.n_repeated == 3
    assert found.changes.value == pytest.approx(3 / 13)
    assert {k: each.value for k, each in found.best_of} == {1: 0.125, 2: 0.25, 4: 0.5}


def test_one_score_each_says_nothing_of_trying_again():
    found = regrading([[1.0], [0.0]], [True, False], 0.5)
    assert (found.n_repeated, found.changes.reason, found.spread.reason) == (0, Reason.NO_RATINGS, Reason.NO_PAIRS)
