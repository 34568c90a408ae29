"""What a gold item is worth as a test, against values computed by hand, and whether a leak is found."""

import random

import pytest

from goldsets.stats.items import discrimination, leak_test
from reviews.stats.result import Reason


def test_an_item_that_the_good_get_right_tells():
    right, rest = [True] * 4 + [False] * 4, [0.9, 0.8, 0.9, 0.8, 0.5, 0.4, 0.5, 0.4]
    found = discrimination(right, rest)
    # The means of rest are .85 and .45, its deviation .2062. Point-biserial: r = .4 * .5 / .2062 = .9701.
    assert found.value == pytest.approx(0.9701, abs=1e-4)
    assert found.low < found.value < found.high <= 1
    assert discrimination([not one for one in right], rest).value == pytest.approx(-0.9701, abs=1e-4)


def test_too_few_raters_and_no_variation_are_said():
    assert discrimination([True] * 7, [0.5] * 7).reason == Reason.BELOW_FLOOR
    assert discrimination([True] * 8, [0.1 * n for n in range(8)]).reason == Reason.NO_VARIATION


def test_fishers_and_mann_whitneys_tests_by_hand():
    # 2 of 5 and then 5 of 5: P = C(7,5) C(3,0) / C(10,5) = 21/252. Times: all of the later smaller, U = 0 of 25,
    # z = (0 - 12.5 + .5) / sqrt(25 * 11 / 12) = -2.507, P = .00609. Fisher's method: X = -2 ln(.0833 * .00609) = 15.17.
    test = leak_test([True, True, False, False, False] + [True] * 5, [1.0, 1.1, 1.2, 1.3, 1.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert (test.right_before, test.right_after) == (2, 5)
    assert test.p == pytest.approx(0.00436, abs=2e-4)
    assert test.suspected(1)
    assert not test.suspected(20), "of twenty items one in twenty looks like this by chance"


def test_too_few_answers_suspect_nobody():
    assert leak_test([True] * 9, [0.1] * 9).p is None
    assert not leak_test([], []).suspected(1)


def test_an_easy_item_is_no_leaked_one():
    assert not leak_test([True] * 40, [1.0] * 40).suspected(1)


@pytest.mark.parametrize(("begins", "found"), [(0.25, 0.8), (0.35, 0.97), (0.5, 0.97), (0.65, 0.97), (0.8, 0.8)])
def test_how_often_a_leak_is_found_wherever_it_begins(begins, found):
    """200 items of 40 answers that turn right (97% for 80%) and fast (a third of the time) from some place on."""
    rng = random.Random(11)  # noqa: S311
    assert sum(simulated(rng, begins).suspected(12) for _ in range(200)) / 200 >= found


def test_an_honest_item_is_hardly_ever_suspected():
    rng = random.Random(12)  # noqa: S311
    assert sum(simulated(rng, 1).suspected(12) for _ in range(600)) / 600 <= 0.01


def simulated(rng, begins):
    knows = [n >= 40 * begins for n in range(40)]
    right = [rng.random() < (0.97 if known else 0.8) for known in knows]
    return leak_test(right, [rng.lognormvariate(-1.1 if known else 0, 0.45) for known in knows])
