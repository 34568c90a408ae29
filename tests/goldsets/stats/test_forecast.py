"""How long a pool of gold lasts, in numbers worked out by hand."""

from goldsets.stats.forecast import forecast


def test_a_pool_lasts_until_the_first_rater_has_met_all_of_it():
    # 16 items a day at 8% are 1.28 gold items: 12 last 9.4 days. 400 more items bring ceil(400 * .08 / .92) = 35.
    said = forecast(pool=12, rate=0.08, left=[12] * 5, a_day=[16] * 5, to_judge=400)
    assert round(said.days, 1) == 9.4
    assert said.more == 23
    assert said.words == "This pool of 12 lasts 9 days for 5 raters at 8%; 23 more are needed."


def test_the_busiest_rater_is_out_first():
    said = forecast(pool=10, rate=0.1, left=[10, 4], a_day=[5, 20], to_judge=30)
    assert said.days == 2.0
    assert said.more == 0


def test_whoever_has_met_all_of_it_is_said_first():
    said = forecast(pool=3, rate=0.1, left=[0, 3], a_day=[5, 5], to_judge=90)
    assert (said.days, said.more) == (0.0, 10)
    assert said.words == (
        "This pool of 3 is used up for 1 of 2 raters at 10%: nothing checks them now; 10 more are needed."
    )


def test_a_month_is_as_far_as_it_looks():
    # 10 a day at 10% are 30 gold items a month, whatever the queue still holds.
    assert forecast(pool=5, rate=0.1, left=[5], a_day=[10], to_judge=100_000).more == 25


def test_where_nobody_judges_or_nothing_is_mixed_in_it_says_so():
    assert "cannot be said" in forecast(pool=5, rate=0.1, left=[5], a_day=[0], to_judge=10).words
    assert forecast(pool=5, rate=0.0, left=[5], a_day=[3], to_judge=10).words == "No gold is mixed in: the rate is 0."
    assert forecast(pool=0, rate=0.1, left=[], a_day=[], to_judge=10).days is None
