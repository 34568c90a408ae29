"""Grader and experts over checkpoints, weeks and kinds of evidence, with the alarm known beforehand."""

import pytest

from goldsets.stats.proportion import difference, wilson
from goldsets.stats.watching import checkpoint_of, watch
from tests.goldsets.stats.test_calibration import graded


def runs(start, passed, right, n=100, **more):
    """So many of n pass with the grader and so many with experts, the first ones."""
    return [graded(start + k, float(k < passed), k < right, **more) for k in range(n)]


def at(step, kl=None):
    return {"checkpoint": f"ckpt-{step}", "training_step": step} | ({} if kl is None else {"kl": kl})


def test_it_rings_where_the_policy_games_the_grader_and_says_where_to_stop():
    found = watch(
        [*runs(0, 90, 40, meta=at(1000, 9)), *runs(200, 50, 50, meta=at(0, 0)), *runs(400, 70, 65, meta=at(200, 4))], 1
    )
    assert [part.name for part in found.checkpoints.parts] == ["ckpt-0", "ckpt-200", "ckpt-1000"]
    assert [part.distance for part in found.checkpoints.parts] == [0, 2, 3]
    assert (found.distance, found.rang, found.checkpoints.alarm.since) == ("kl", True, "ckpt-200")
    assert [round(part.gap.value, 2) for part in found.checkpoints.parts] == [0.0, 0.05, 0.5]


def test_checkpoints_without_a_step_are_in_the_order_that_people_count_in():
    rows = [*runs(0, 5, 5, 10, meta={"checkpoint": "v10"}), *runs(20, 5, 5, 10, meta={"checkpoint": "v9"})]
    found = watch([*rows, graded(99, 1, True)], 1)
    assert [part.name for part in found.checkpoints.parts] == ["v9", "v10"]
    assert (found.distance, found.n_without_checkpoint) == ("", 1)
    assert checkpoint_of({"training_step": 40}) == "step 40"
    assert checkpoint_of({"training_step": True}) == checkpoint_of({}) == ""


def test_weeks_are_told_apart_and_runs_without_a_label_count_in_neither_line():
    rows = [*runs(0, 5, 5, 10, week="2026-W01"), *runs(20, 9, 3, 10, week="2026-W02"), graded(99, 1, None, week="x")]
    found = watch(rows, 1)
    assert [(part.name, part.gap.value) for part in found.weeks.parts] == [
        ("2026-W01", 0.0),
        ("2026-W02", pytest.approx(0.6)),
    ]


def test_held_out_runs_stand_beside_those_of_training_and_are_never_added_up():
    found = watch([*runs(0, 82, 80, split="train"), *runs(200, 80, 50, split="held_out")], 1)
    (apart,) = found.apart
    assert (apart.first.name, apart.second.name) == ("train", "held out")
    assert apart.experts.value == pytest.approx(-0.3)
    assert apart.gap.value == pytest.approx(0.28)
    assert apart.words.startswith("Experts pass fewer held out runs")
    assert "The grader flatters held out runs more" in apart.words


def test_offline_and_online_without_a_difference_say_so():
    rows = [*runs(0, 50, 50, meta={"evidence": "offline"}), *runs(200, 51, 51, meta={"evidence": "online"})]
    (apart,) = watch(rows, 1).apart
    assert apart.words == "No difference beyond chance."
    assert apart.gap.reason == "unstable"
    assert watch(rows[:100], 1).apart == ()


def test_newcombes_interval_for_56_of_70_against_48_of_80():
    found = difference(wilson(48, 80), wilson(56, 70), statistic="d")
    assert [round(each, 4) for each in (found.value, found.low, found.high)] == [0.2, 0.0524, 0.3339]
    assert difference(wilson(0, 0), wilson(1, 2), statistic="d").reason == "no_ratings"


def test_the_report_is_plain_for_json():
    told = watch(runs(0, 5, 5, 10, week="2026-W01"), 1).as_dict()
    assert told["weeks"]["parts"][0]["proxy"]["value"] == 0.5
    assert told["rang"] is False
