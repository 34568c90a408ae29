"""Wald's test of a rater on gold, and the CUSUM that notices when somebody drifts."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.sequential import Cusum, Sprt, Verdict

REFERENCE = Path(__file__).parents[4] / "shared" / "data" / "agreement" / "reference"
beside = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference tables do not lie beside the project")

WRONG, RIGHT = True, False
# Good 10%, bad 30%, risks 5% and 10%, at most 60 items: true error rate, fails, passes, undecided, expected items.
OPERATING = [
    (0.05, 0.00167797, 0.99819047, 0.00013156, 12.529597),
    (0.10, 0.03243049, 0.95404805, 0.01352145, 18.342052),
    (0.20, 0.45950477, 0.45157702, 0.08891821, 26.066787),
    (0.30, 0.89254711, 0.09222858, 0.01522431, 18.179050),
    (0.50, 0.99766632, 0.00233293, 0.00000075, 7.989520),
]
# Weight 5, limit 20: error rate and expected answers until the alarm.
RUN_LENGTHS = [(0.05, 19561.974812), (0.1, 693.574016), (0.2, 56.320337), (0.3, 23.068417), (0.5, 10.37543)]


def test_three_straight_errors_fail_and_nine_straight_right_answers_pass():
    sprt = Sprt()
    assert (sprt.straight_wrong_to_fail, sprt.straight_right_to_pass) == (3, 9)
    assert sprt.test([WRONG] * 2).verdict == Verdict.UNDECIDED
    assert sprt.test([WRONG] * 3).verdict == Verdict.FAIL
    assert sprt.test([RIGHT] * 8).verdict == Verdict.UNDECIDED
    assert sprt.test([RIGHT] * 9).verdict == Verdict.PASS


def test_what_follows_the_verdict_changes_nothing():
    early = Sprt().test([WRONG] * 3)
    late = Sprt().test([WRONG] * 3 + [RIGHT] * 50)
    assert early == late
    assert (late.n, late.n_wrong, late.expected_more) == (3, 3, (0.0, 0.0))


def test_nothing_answered_yet():
    tested = Sprt().test([])
    assert (tested.verdict, tested.n, tested.evidence) == (Verdict.UNDECIDED, 0, 0.0)
    assert tested.expected_more == pytest.approx((18.5, 18.4), abs=0.1)
    # One right answer brings the pass nearer.
    assert Sprt().test([RIGHT]).expected_more[0] < tested.expected_more[0]


@pytest.mark.parametrize(("rate", "fails", "passes", "undecided", "expected"), OPERATING)
def test_how_the_test_ends_by_true_error_rate(rate, fails, passes, undecided, expected):
    found = Sprt().operating(rate, at_most=60)
    assert (found.fails, found.passes, found.undecided) == pytest.approx((fails, passes, undecided), abs=1e-8)
    assert found.expected_n == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("good", "bad", "alpha", "beta"), [(0.1, 0.3, 0.05, 0.1), (0.05, 0.2, 0.01, 0.1)])
def test_risks_are_kept(good, bad, alpha, beta):
    """Wald's bounds hold the risks up to what a walk overshoots, and here they are kept outright."""
    sprt = Sprt(good, bad, alpha, beta)
    assert sprt.operating(good).fails <= alpha
    assert sprt.operating(bad).passes <= beta


def test_the_expected_number_is_that_of_simulated_raters():
    rng = np.random.default_rng(1)
    sprt = Sprt()
    tested = [sprt.test(rng.random(400) < 0.2) for _ in range(500)]
    expected = sprt.operating(0.2)
    n = np.array([rater.n for rater in tested])
    fails = np.mean([rater.verdict == Verdict.FAIL for rater in tested])
    assert abs(n.mean() - expected.expected_n) < 3 * n.std() / np.sqrt(500)
    assert abs(fails - expected.fails) < 3 * np.sqrt(0.25 / 500)


@given(st.lists(st.booleans(), max_size=60))
def test_the_verdict_as_by_hand(answers):
    sprt = Sprt()
    evidence, verdict, n = 0.0, Verdict.UNDECIDED, 0
    for wrong in answers:
        n += 1
        evidence += sprt.wrong_adds if wrong else sprt.right_adds
        if evidence >= sprt.fail_at or evidence <= sprt.pass_at:
            verdict = Verdict.FAIL if evidence > 0 else Verdict.PASS
            break
    tested = sprt.test(answers)
    assert (tested.verdict, tested.n) == (verdict, n)
    assert tested.evidence == pytest.approx(evidence)


@pytest.mark.parametrize("wrong", [{"good": 0.3, "bad": 0.1}, {"good": 0.0}, {"bad": 1.0}, {"alpha": 0.5, "beta": 0.5}])
def test_a_test_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"error rate|risks"):
        Sprt(**wrong)


@pytest.mark.parametrize(("rate", "expected"), RUN_LENGTHS)
def test_run_lengths(rate, expected):
    assert Cusum(5, 20).run_length(rate) == pytest.approx(expected, abs=2e-6)


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 6), st.integers(1, 15))
def test_the_score_as_by_hand(answers, weight, limit):
    score, scores, alarm = 0, [], None
    for at, wrong in enumerate(answers):
        score = max(0, score + (weight if wrong else -1))
        scores.append(score)
        if score >= limit and alarm is None:
            alarm = at
    drift = Cusum(weight, limit).watch(answers)
    assert (drift.scores.tolist(), drift.alarm, drift.n) == (scores, alarm, len(answers))


@given(st.lists(st.booleans(), max_size=40), st.lists(st.booleans(), max_size=40))
def test_watching_can_go_on_from_the_score(before, after):
    cusum = Cusum(4, 30)
    left = cusum.watch(before).score
    assert cusum.watch(after, since=left).score == cusum.watch([*before, *after]).score


def test_run_length_is_that_of_simulated_raters():
    cusum, rng = Cusum(4, 12), np.random.default_rng(6)
    lengths = np.array([cusum.watch(rng.random(600) < 0.3).alarm + 1 for _ in range(800)])
    assert abs(lengths.mean() - cusum.run_length(0.3)) < 3 * lengths.std() / np.sqrt(800)


def test_a_designed_limit_is_the_lowest_that_is_quiet_enough():
    cusum = Cusum.designed(good=0.10, bad=0.30, false_alarm_after=500)
    assert cusum.weight == 4
    assert cusum.run_length(0.10) >= 500 > Cusum(4, cusum.limit - 1).run_length(0.10)
    assert Cusum.designed(good=0.05, bad=0.20).weight == 8


def test_a_rater_who_tires_rings_the_alarm():
    """Sixty careful answers, then every second one wrong."""
    drift = Cusum.designed().watch([RIGHT] * 60 + [WRONG, RIGHT] * 10)
    assert 60 < drift.alarm < 75
    assert Cusum.designed().watch([RIGHT] * 60).alarm is None


def test_edges_of_run_length():
    assert Cusum(5, 20).run_length(0.0) == float("inf")
    assert Cusum(5, 20).run_length(1.0) == pytest.approx(4)
    assert Cusum(5, 20).run_length(0.1, since=20) == 0.0
    assert Cusum(5, 20).run_length(0.1, since=10) < Cusum(5, 20).run_length(0.1)
    with pytest.raises(ValueError, match="whole numbers"):
        Cusum(0, 5)


@beside
def test_every_reference_value_of_the_test():
    for case in json.loads((REFERENCE / "sprt_gold_items.json").read_text())["cases"]:
        sprt = Sprt(case["p0"], case["p1"], case["alpha"], case["beta"])
        assert (sprt.fail_at, sprt.pass_at) == pytest.approx((case["upper"], case["lower"]), abs=1e-8)
        assert sprt.straight_wrong_to_fail == case["consecutive_errors_to_fail"]
        assert sprt.straight_right_to_pass == case["consecutive_correct_to_pass"]
        for row in case["operating"]:
            found = sprt.operating(row["p_true_error"], at_most=case["nmax"])
            ends = (row["reject"], row["accept"], row["undecided"])
            assert (found.fails, found.passes, found.undecided) == pytest.approx(ends, abs=1e-8)
            assert found.expected_n == pytest.approx(row["asn"], abs=1e-6)


@beside
def test_every_reference_value_of_the_run_length():
    for case in json.loads((REFERENCE / "cusum_bernoulli_lattice.json").read_text())["cases"]:
        for row in case["arl"]:
            assert Cusum(case["W"], case["H"]).run_length(row["p"]) == pytest.approx(row["arl"], abs=2e-6)
