"""The training-grade checklist and the instrument, from runs whose right answers are known beforehand."""

from dataclasses import replace

import pytest

from goldsets.stats.calibration import calibrated
from goldsets.stats.checklist import complete, wrong_terms
from goldsets.stats.instrument import (
    TERMS,
    Circumstances,
    bands_of,
    coverage_of,
    instrument,
    sensitivity,
)
from tests.goldsets.stats.test_calibration import graded, many

KNOWN = Circumstances(
    runs=320,
    pinned=320,
    environments=(("desk 3.2", 320),),
    with_reset=0,
    grader_pinned=True,
    held_out_families=2,
    compared=40,
    shared=(),
    near="no export was searched for near texts yet",
)


def tasks(passes, model="swift", start=0):
    """A task for each entry, with a run for each 1 or 0: the grader's verdict, which is right."""
    return [
        graded(
            start + 10 * at + place, float(said), bool(said), task=f"{model} {at}", model=model, attempts=(said, said)
        )
        for at, runs in enumerate(passes)
        for place, said in enumerate(runs)
    ]


# Thirty tasks passed sometimes, five never, five always; nothing is passed wrongly.
GOOD = tasks([[1, 0, 1, 0]] * 30 + [[0] * 4] * 5 + [[1] * 4] * 5)


def check(found, key):
    return next(each for each in found.checks if each.key == key)


def test_an_environment_that_can_train_holds_every_check():
    found = instrument(GOOD, calibrated(GOOD, 1), KNOWN, complete({}, TERMS))
    assert [each.key for each in found.checks if each.passed is False] == []
    assert found.holds
    assert check(found, "tasks").said == "40 tasks with two runs or more of swift"
    assert check(found, "band").said.startswith("0.75 [0.60, 0.86], n 40")
    assert check(found, "reset").passed is None


def test_each_shortcoming_fails_its_own_check_and_no_other():
    def failing(rows=GOOD, known=KNOWN, **terms):
        found = instrument(rows, calibrated(rows, 1), known, complete(terms, TERMS))
        return [each.key for each in found.checks if each.passed is False]

    assert failing(known=replace(KNOWN, shared=("T-1", "T-2"))) == ["overlap"]
    assert failing(known=replace(KNOWN, compared=0)) == ["overlap"]
    assert failing(known=replace(KNOWN, grader_pinned=False)) == ["grader"]
    assert failing(known=replace(KNOWN, pinned=319)) == ["environment"]
    assert failing(known=replace(KNOWN, held_out_families=0)) == ["held_out"]
    assert failing([*GOOD, *many(1, False, 5, 9000, model="swift")]) == ["false_positives"]
    assert failing([*GOOD, *many(0, True, 30, 9000, model="swift")]) == ["false_negatives"]
    assert failing([replace(row, attempts=(row.score,)) for row in GOOD]) == ["verdicts"]
    assert failing([replace(row, attempts=(0.0, 1.0)) for row in GOOD]) == ["verdicts"]
    assert failing(min_between=0.7) == ["band"]
    assert failing(min_tasks=41) == ["tasks"]
    assert failing([]) == ["tasks", "band", "false_positives", "false_negatives", "verdicts"]


def test_terms_are_checked():
    assert wrong_terms({"min_between": 2, "colour": 1}, TERMS).keys() == {"min_between", "colour"}


def test_pass_rates_are_told_model_by_model():
    first, second = bands_of([*GOOD, *tasks([[1, 1], [0, 1]], "oak", 5000)], 1)
    assert (first.model, first.runs, second.model) == ("swift", 160, "oak")
    assert (first.band.never, first.band.between, first.band.always) == (5, 30, 5)
    # Of two passes in four: pass@2 is 1 - C(2,2)/C(4,2), pass^2 is C(2,2)/C(4,2).
    assert first.any_of[1].value == pytest.approx((30 * 5 / 6 + 5) / 40)
    assert first.all_of[1].value == pytest.approx((30 / 6 + 5) / 40)
    assert [each.statistic for each in second.any_of] == ["pass@1", "pass@2"]


def test_a_grader_that_a_stronger_agent_fools_more_is_found_out():
    weak = [*many(1, False, 1, 0, model="weak"), *many(0, False, 59, 100, model="weak")]
    strong = [*many(1, False, 30, 300, model="strong"), *many(0, False, 30, 400, model="strong")]
    found = sensitivity([*strong, *weak, *many(1, True, 60, 600, model="strong")], 1)
    assert [one.model for one in found.models] == ["weak", "strong"]
    assert found.change.value == pytest.approx(30 / 60 - 1 / 60)
    assert found.words.startswith("It is fooled more by strong than by weak")
    alone = sensitivity(weak, 1)
    assert (alone.change.value, alone.words) == (None, "It takes two models with 10 labelled failures or more.")


def test_families_of_which_nothing_is_known_stand_first():
    rows = [
        graded(1, 1, True, family="both"),
        graded(2, 1, False, family="both"),
        graded(3, 1, None, family="unseen"),
        graded(4, 1, True, family="only good"),
    ]
    assert [(one.family, one.hole) for one in coverage_of(rows)] == [
        ("only good", "no labelled failure"),
        ("unseen", "no label"),
        ("both", ""),
    ]
