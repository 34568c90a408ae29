"""The alternative annotator test against its authors' own figures, and the substitutes that must not pass."""

import json
from pathlib import Path

import pytest
from scipy.stats import false_discovery_control

from goldsets.stats.alt_test import accuracy, alt_test, nearness
from reviews.stats.result import Reason

REFERENCE = Path(__file__).parents[4] / "shared" / "data" / "agreement" / "reference"
beside = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference tables do not lie beside the project")
CLOSENESS = {"accuracy": accuracy, "neg_rmse": nearness}


@beside
@pytest.mark.parametrize("name", ["alt_test_mtbench", "alt_test_wax", "alt_test_lesion"])
def test_the_authors_tables_come_out_for_every_judge(name):
    table = json.loads((REFERENCE / f"{name}.json").read_text())
    for judge, expected in table["expected"].items():
        found = alt_test(
            table["humans"],
            table["judges"][judge],
            epsilon=table["epsilon"],
            closeness=CLOSENESS[table["scoring"]],
            fewest_items=table["min_instances_per_human"],
        )
        assert found.winning.value == pytest.approx(expected["winning_rate"])
        assert found.advantage.value == pytest.approx(expected["avg_advantage_probability"])
        assert found.passes is expected["passes"]
        for rater, row in zip(found.raters, expected["per_rater"], strict=True):
            assert (rater.n, rater.difference) == (row["n"], pytest.approx(row["mean_diff"]))
            assert rater.p == pytest.approx(row["p_value"], abs=1e-12)


@beside
def test_no_judge_of_mt_bench_wins_against_anybody():
    table = json.loads((REFERENCE / "alt_test_mtbench.json").read_text())
    tests = [alt_test(table["humans"], judge, epsilon=0.2) for judge in table["judges"].values()]
    assert [test.winning.value for test in tests] == [0.0] * 6
    assert not any(test.passes for test in tests)


@beside
def test_the_adjustment_for_many_raters_is_benjamini_and_yekutielis():
    table = json.loads((REFERENCE / "fdr_by_bh.json").read_text())
    adjusted = false_discovery_control(table["p"], method="by")
    assert adjusted == pytest.approx(table["expected"]["by_adjusted"], abs=1e-7)


def people(*columns: list[int]) -> dict[str, dict[int, int]]:
    return {name: dict(enumerate(column)) for name, column in zip(["alice", "bob", "charlie"], columns, strict=False)}


MIXED = [0, 1, 1, 0, 1] * 8
OTHERS = [0, 1, 0, 0, 1] * 8


def test_a_copy_of_one_of_two_experts_does_not_pass():
    found = alt_test(people(MIXED, OTHERS), dict(enumerate(MIXED)))
    assert not found.passes
    assert (found.winning.value, found.winning.reason) == (None, Reason.BELOW_FLOOR)
    assert found.winning.words.startswith("Too few to say: 2 of the 3 raters needed")


def test_who_agrees_with_everybody_passes_with_every_number_by_hand():
    found = alt_test(people(MIXED, MIXED, MIXED), dict(enumerate(MIXED)))
    assert (found.winning.value, found.advantage.value) == (1.0, 1.0)
    assert [(rater.n, rater.difference, rater.beaten) for rater in found.raters] == [(40, 0.0, True)] * 3


def test_who_contradicts_everybody_wins_against_nobody():
    found = alt_test(people(MIXED, MIXED, OTHERS), {item: 1 - said for item, said in enumerate(MIXED)})
    assert (found.winning.value, found.passes) == (0.0, False)


def test_with_five_in_a_hundred_positive_a_substitute_that_always_says_no_passes():
    """The known hole, for which the bounds on both error rates stand beside the test."""
    rare = [int(item % 20 == 0) for item in range(200)]
    assert alt_test(people(rare, rare, rare), dict.fromkeys(range(200), 0)).passes


def test_items_that_one_person_judged_and_raters_with_few_items_are_left_out():
    answers = people(MIXED, MIXED, MIXED[:29])
    answers["alice"][99] = 1
    found = alt_test(answers, dict(enumerate(MIXED)) | {99: 1})
    assert (found.winning.reason, found.winning.n_units, found.winning.n_raters) == (Reason.BELOW_FLOOR, 40, 2)
