"""The report of one grader version, from rows whose right answers are known beforehand."""

from uuid import UUID

import pytest

from goldsets.stats.calibration import Graded, calibrated, cuts_of, in_first_half
from tests.goldsets.stats.reference import beside, rows


def graded(number: int, score: float, truth: bool | None, **more) -> Graded:
    return Graded(UUID(int=number), more.pop("task", f"task-{number}"), score, truth, **more)


def many(score: float, truth: bool | None, times: int, start: int, **more) -> list[Graded]:
    return [graded(start + number, score, truth, **more) for number in range(times)]


# A grader that passes 2 of 20 failures and 36 of 40 successes, and half of 100 runs that nobody labelled.
KNOWN = [
    *many(1, False, 2, 0, family="refunds", failed=("Consent",), succeeded=True),
    *many(0, False, 18, 100, family="refunds", failed=("Consent",)),
    *many(1, True, 36, 200, family="addresses"),
    *many(0, True, 4, 300, family="refunds"),
    *many(1, None, 50, 400),
    *many(0, None, 50, 500),
]


def test_errors_are_counted_on_labelled_runs_alone():
    found = calibrated(KNOWN, 1)
    assert (found.n_scored, found.n_labelled) == (160, 60)
    assert (found.errors.true_passes, found.errors.false_passes) == (36, 2)
    assert (found.errors.false_fails, found.errors.true_fails) == (4, 18)
    assert found.errors.false_positive_rate.value == 0.1
    assert found.bound.high == pytest.approx(0.2826, abs=1e-4)
    assert found.missing[0].startswith("104 more labelled failures to bound false positives at 5%")


def test_the_pass_rate_of_all_runs_is_corrected_by_the_labelled_ones():
    rates = calibrated(KNOWN, 1).rates
    assert rates.apparent.value == 88 / 160
    # (0.55 + 0.9 - 1) / (0.9 + 0.9 - 1)
    assert rates.corrected.value == pytest.approx(0.5625)
    assert rates.corrected.low < 0.5625 < rates.corrected.high
    assert rates.powered.weight > 0.3


def test_the_first_score_counts_and_trying_again_is_told_apart():
    once = graded(1, 0, False, attempts=(0, 1, 0, 0))
    found = calibrated([once, graded(2, 0, False, attempts=(0,))], 1)
    assert found.errors.false_passes == 0
    assert found.regrading.n_repeated == 1
    assert dict(found.regrading.best_of)[4].value == 1.0
    assert dict(found.regrading.best_of)[1].value == 0.25


def test_the_worst_part_is_the_one_that_is_shown_to_be_bad():
    few = [graded(1, 1, False, family="one of one")]
    bad = [*many(1, False, 30, 10, family="thirty of ninety"), *many(0, False, 60, 100, family="thirty of ninety")]
    good = many(0, False, 50, 300, family="none of fifty")
    lucky = many(1, True, 5, 400, family="no failures")
    order = [cut.part for cut in cuts_of([*few, *good, *lucky, *bad], 1)]
    assert order == ["thirty of ninety", "one of one", "none of fifty", "no failures"]


def test_runs_are_cut_by_every_slice_and_by_the_gate_that_fails():
    found = cuts_of(
        [
            graded(1, 1, False, slices={"tier": "free"}, failed=("Consent",), model="a"),
            graded(2, 0, False, slices={"tier": "paid"}, failed=("Consent", "Accounts"), model="b"),
            graded(3, 1, True, slices={"tier": "paid"}, model="b"),
        ],
        1,
    )
    titles = {cut.title: (cut.errors.false_passes, cut.errors.failures) for cut in found}
    assert titles == {
        "gate Consent": (1, 2),
        "gate Accounts": (0, 1),
        "slice tier free": (1, 1),
        "slice tier paid": (0, 1),
        "model a": (1, 1),
        "model b": (0, 1),
    }
    assert found[0].items == (UUID(int=1),)


def test_successes_that_break_policy_and_were_rewarded_come_first():
    quiet = graded(9, 1, False, failed=("Consent",), succeeded=False)
    found = calibrated([quiet, *KNOWN], 1).rewarded
    assert (found.breaking.value, found.breaking.n_units) == (3 / 21, 21)
    assert (found.successes.value, found.successes.n_units) == (1.0, 2)
    assert found.items == (UUID(int=0), UUID(int=1), UUID(int=9))


def test_people_are_held_to_the_same_labels():
    found = calibrated(
        [
            graded(1, 1, True, said=(True, True, True)),
            graded(2, 1, False, said=(False, True, False), decided=True),
            graded(3, 0, False, said=(False, False)),
            graded(4, 0, True),
        ],
        1,
    ).ceiling
    assert (found.n_items, found.accuracy.value, found.accuracy.n_units) == (3, 7 / 8, 8)
    assert found.false_positives.value == 1 / 5
    assert found.false_negatives.value == 0
    assert found.decided.value == 2 / 3
    assert found.grader.value == 2 / 3


def test_a_threshold_is_chosen_on_half_of_the_tasks_and_tried_on_the_rest():
    assert 400 < sum(in_first_half(f"task {number}") for number in range(1000)) < 600
    made = [graded(n, n % 100 / 100, n % 100 > 50, task=f"task {n // 2}") for n in range(400)]
    found = calibrated(made, 0.5).certified
    assert found.threshold == pytest.approx(0.49, abs=0.03)
    assert found.chosen_on.n + found.certified_on.n == 400


def test_two_versions_are_told_apart_on_runs_that_both_scored():
    other = {row.item: 1.0 for row in KNOWN[:20]}
    found = calibrated(KNOWN, 1, other=(2, other, 1.0)).beside
    assert (found.other, found.all.n, found.all.first_only, found.all.second_only) == (2, 20, 18, 0)
    assert found.failures.test.p == pytest.approx(2 * 0.5**18)


def test_what_is_missing_is_said_ahead():
    assert calibrated([graded(1, 1, None)], 1).missing == [
        "No scored run has a trusted label yet: settle some, or score settled ones."
    ]
    said = calibrated([graded(1, 0, False)], 1).missing
    assert said[0].startswith("58 more labelled failures to bound false positives at 5%")
    assert said[1].startswith("No labelled run passes")


def test_the_report_is_plain_for_json():
    told = calibrated(KNOWN, 1, other=(2, {}, 1.0)).as_dict()
    assert told["errors"]["false_positive_rate"]["value"] == 0.1
    assert told["cuts"][0]["errors"]["false_passes"] == 2
    assert told["rewarded"]["items"][0] == str(UUID(int=0))
    assert told["beside"]["all"]["test"]["reason"] == "nothing_differs"
    assert told["ceiling"]["accuracy"]["reason"] == "no_ratings"


@beside
def test_devais_judge_agent_by_agent():
    judged = [
        graded(n, float(row["ai_judge"]), row["human_consensus"] == "1", model=row["agent"], task=row["task"])
        for n, row in enumerate(rows("agreement/realdata/devai_judge_vs_human.csv"))
    ]
    found = calibrated(judged, 1)
    assert round(found.errors.false_positive_rate.value, 3) == 0.092
    told = [(cut.part, cut.errors.false_passes, cut.errors.failures) for cut in found.cuts]
    assert told == [("GPT-Pilot", 28, 203), ("OpenHands", 19, 209), ("MetaGPT", 17, 285)]
