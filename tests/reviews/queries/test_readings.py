"""What a figure allows, said in words beside it."""

import pytest

from reviews.queries.readings import level_reading
from reviews.stats.result import WORDS, Estimate, Reason


@pytest.mark.parametrize(
    ("value", "low", "said"),
    [
        (0.95, 0.8, "Good enough to rely on: raters differ on 3 of 1,200 items."),
        (0.95, 0.79, "Good, but not surely above 0.8: raters differ on 3 of 1,200 items."),
        (0.8, 0.5, "Good, but not surely above 0.8: raters differ on 3 of 1,200 items."),
        (0.79, 0.7, "Enough for tentative conclusions: raters differ on 3 of 1,200 items."),
        (0.667, -0.2, "Enough for tentative conclusions: raters differ on 3 of 1,200 items."),
        (0.666, 0.6, "Too low to conclude from: raters differ on 3 of 1,200 items."),
        (-0.3, -0.6, "Too low to conclude from: raters differ on 3 of 1,200 items."),
    ],
)
def test_the_level_is_krippendorff_s_and_a_wide_interval_is_not_passed_over(value, low, said):
    alpha = Estimate(statistic="alpha", method="", value=value, low=low, high=1.0, n_units=1200)
    assert level_reading(alpha, n_units=1200, n_differ=3, unit="item") == said


def test_where_all_say_the_same_that_is_said_and_where_there_is_no_figure_why():
    alpha = Estimate(statistic="alpha", method="", value=1.0, low=1.0, high=1.0, n_units=12)
    same = "Good enough to rely on: raters say the same everywhere."
    assert level_reading(alpha, n_units=12, n_differ=0, unit="step") == same
    none = Estimate(statistic="alpha", method="", value=None, reason=Reason.NO_PAIRS, words=WORDS[Reason.NO_PAIRS])
    assert (
        level_reading(none, n_units=0, n_differ=0, unit="item")
        == "No item has two ratings yet, so there is nothing to compare."
    )
