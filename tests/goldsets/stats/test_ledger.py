"""What judgement costs, in numbers worked out by hand."""

from math import exp, sqrt

import pytest

from goldsets.stats.ledger import PRICES, ratio, saving, wrong_prices
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate


def test_a_ratio_is_the_sum_over_the_sum_with_tasks_as_what_varies():
    # 50 minutes for 10 labels; by task off by (10 - 5*2, 5 - 5*2, 15 - 5*2, 12 - 5*2, 8 - 5*2) = (0, -5, 5, 2, -2).
    minutes = {1: 10, 2: 5, 3: 15, 4: 12, 5: 8}
    found = ratio(minutes, dict.fromkeys(minutes, 2), statistic="minutes per label", nothing="None.")
    spread = 2.776445 * sqrt(5 / 4 * 58) / 10 / 5
    assert (found.value, found.n_units) == (5.0, 5)
    assert (found.low, found.high) == pytest.approx((5 * exp(-spread), 5 * exp(spread)), rel=1e-6)


def test_work_that_brought_nothing_counts_all_the_same():
    labels = {1: 1, 2: 1, 3: 1, 4: 1}
    assert ratio(dict.fromkeys(range(1, 6), 4), labels, statistic="minutes per label", nothing="").value == 5.0


def test_what_has_no_value_or_no_interval_says_why():
    nothing = ratio({1: 10}, {}, statistic="minutes per kept item", nothing="Nothing of it is kept.")
    assert (nothing.value, nothing.words, nothing.n_units) == (None, "Nothing of it is kept.", 1)
    few = ratio({1: 10, 2: 4}, {1: 1, 2: 1}, statistic="minutes per label", nothing="")
    assert (few.value, few.low) == (7.0, None)
    assert few.words == "Work on 2 tasks gives no interval; it takes 5."
    none_kept = ratio({}, dict.fromkeys(range(6), 3.0), statistic="kept items per US dollar", nothing="")
    assert (none_kept.value, none_kept.low, none_kept.high) == (0.0, None, None)


def test_prices_are_named_and_within_reason():
    assert wrong_prices({"expert": 90, "lead": 120.5}) == {}
    assert wrong_prices({"expert": 90_000, "boss": 1, "lead": True, "crowd": float("nan")}) == {
        "expert": "It is a number of US dollars from 0 to 1000.",
        "boss": f"There is no such price. There are {', '.join(PRICES)}.",
        "lead": "It is a number of US dollars from 0 to 1000.",
        "crowd": "It is a number of US dollars from 0 to 1000.",
    }


def test_the_next_rung_saves_the_share_it_decides_of_what_an_item_takes():
    minutes = Estimate("minutes per label", 5.0, 4.0, 6.0, 40)
    found = saving(wilson(60, 100), minutes, waiting=200)
    assert found.per_item.value == pytest.approx(3.0)
    assert found.per_item.low == pytest.approx(0.5020 * 4, abs=1e-3)
    assert found.per_item.high == pytest.approx(0.6906 * 6, abs=1e-3)
    assert found.ahead.value == pytest.approx(600)
    assert found.ahead.n_units == 40


def test_what_is_not_known_of_either_is_not_forecast():
    none = saving(wilson(0, 0), Estimate("minutes per label", 5.0, 4.0, 6.0, 40), waiting=200)
    assert (none.ahead.value, none.ahead.words) == (None, "Nothing to count yet.")
    spreadless = saving(wilson(3, 4), Estimate("minutes per label", 5.0, words="Work on 2 tasks."), waiting=8)
    assert (spreadless.ahead.value, spreadless.ahead.low, spreadless.ahead.words) == (30.0, None, "Work on 2 tasks.")
