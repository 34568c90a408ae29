"""What a judge likes beside quality: a real judge asked in both orders, and judges made to lean."""

import numpy as np
import pytest

from goldsets.stats.leanings import (
    agrees,
    first_wins,
    leaning,
    longest_wins,
    own_kind,
    own_side,
    position,
    right_in_both_orders,
)
from reviews.stats.result import Reason
from tests.goldsets.stats.reference import beside, lines, rows, table

SAID = {"A>B": 1, "B>A": -1, "A=B": 0}


@beside
def test_a_real_judge_asked_in_both_orders_favours_the_first_place():
    expected = table("judge_swap_o1mini")["expected"]
    found = rows("agreement/reference/judge_swap_o1mini.csv")
    once = [SAID[row["decision_order1"]] for row in found]
    again = [SAID[row["decision_order2_as_shown"]] for row in found]
    gold = [SAID[row["gold"]] for row in found]
    seen = position(once, again)
    assert (seen.n, seen.always_first, seen.always_second) == (350, 58, 18)
    assert seen.consistent.value == expected["consistent"] / 350
    assert seen.test.p == pytest.approx(expected["mcnemar_exact_p"])
    assert 100 * right_in_both_orders(once, again, gold).value == pytest.approx(expected["judgebench_accuracy_percent"])
    lengths = [[float(row[name]) for row in found] for name in ("len_A", "len_B")]
    # What a judge has to beat on this table.
    assert abs(longest_wins(*lengths, gold).value - 0.5) < 0.1
    assert first_wins(gold).n_units == 350


@beside
def test_pandalms_people_prefer_the_longer_answer_more_often_than_not():
    pairs = lines("preferences/pandalm-testset/pairs.jsonl")
    gold = []
    for pair in pairs:
        votes = [pair[f"annotator{place}"] for place in (1, 2, 3)]
        common = max(set(votes), key=votes.count)
        gold.append({0: 0, 1: 1, 2: -1}[common])
    found = longest_wins(*([len(str(pair[f"response{n}"])) for pair in pairs] for n in (1, 2)), gold)
    assert found.low > 0.5
    assert first_wins(gold).n_units == sum(value != 0 for value in gold)


@beside
def test_mt_benchs_judges_do_better_than_the_first_place():
    places = {"model_a": 1, "model_b": -1, "tie": 0}
    pairs = lines("preferences/mtbench-human-pairs/items.jsonl")
    gold = []
    for pair in pairs:
        votes = [places[vote] for vote in pair["human"].values()]
        gold.append(int(np.sign(sum(votes))))
    judged = [places[pair["llm_judges"]["gpt-4o"]] for pair in pairs]
    assert agrees(judged, gold, statistic="gpt-4o").low > first_wins(gold).value


def test_a_judge_that_counts_characters_is_found_out():
    rng = np.random.default_rng(5)
    length, truth = rng.normal(100, 20, 400), rng.random(400) < 0.5
    leans = rng.random(400) < 1 / (1 + np.exp(-(length - 100) / 10))
    fair = np.where(rng.random(400) < 0.9, truth, ~truth)
    assert leaning("length", length, leans, truth).odds.low > 3
    assert leaning("length", length, leans, truth).test.p < 1e-6
    honest = leaning("length", length, fair, truth)
    assert honest.odds.low < 1 < honest.odds.high


def test_too_few_runs_or_a_verdict_that_follows_without_exception_is_said():
    assert leaning("length", [1, 2], [True, False], [True, False]).odds.reason == Reason.BELOW_FLOOR
    steps = list(range(40))
    assert leaning("length", steps, [x > 20 for x in steps], [x % 2 > 0 for x in steps]).odds.reason == Reason.SEPARATED


def test_a_judge_that_spares_its_own_family():
    own, failed = [True] * 30 + [False] * 30, [False] * 60
    found = own_kind(own, [True] * 15 + [False] * 15 + [True] * 2 + [False] * 28, failed)
    assert (found.own.value, found.others.value) == (0.5, 2 / 30)
    assert found.test.p < 0.001
    assert own_kind([True], [True], [False]).test.reason == Reason.NO_PAIRS


def test_a_judge_that_prefers_its_own_side_beside_what_experts_prefer():
    # Ten pairs; the own side stands first in half of them. Experts prefer it in 5, the judge in 9; one tie is left out.
    own = [1, -1] * 5 + [1]
    gold = [1, -1, 1, -1, 1, 1, -1, 1, -1, 1, 1]
    verdicts = [1, -1, 1, -1, 1, -1, 1, -1, 1, 1, 0]
    found = own_side(own, verdicts, gold)
    assert (found.judge.value, found.gold.value, found.judge.n_units) == (0.9, 0.5, 10)
    assert found.test.p == pytest.approx(0.125)
    assert own_side([], [], []).judge.value is None
