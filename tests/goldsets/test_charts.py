"""Where the marks of a dot-and-whisker figure stand."""

import pytest

from goldsets.charts import dot_and_whisker, odds_figure
from reviews.stats.result import Estimate, Reason


def entry(value, low=None, high=None, *, key="k", title="Task success", n=20, **fields):
    return key, title, Estimate("alpha", value, low, high, n_units=n, **fields)


def test_the_axis_runs_from_0_to_1_and_marks_stand_on_it():
    figure = dot_and_whisker([entry(0.5, 0.0, 1.0)], label="Alpha", reference=0.667)
    (mark,) = figure.marks
    assert (mark.low_x, mark.x, mark.high_x) == (210, 400, 590)
    assert [tick.text for tick in figure.ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert (figure.ticks[0].x, figure.ticks[-1].x) == (210, 590)
    assert figure.reference_x == pytest.approx(463.5)
    assert mark.words == "Task success: 0.50 [0.00, 1.00], n 20"
    assert (mark.value, mark.n) == ("0.50", 20)


def test_rows_stand_below_each_other_inside_the_figure():
    figure = dot_and_whisker([entry(0.1 * row, key=str(row)) for row in range(6)], label="Alpha")
    assert [mark.y for mark in figure.marks] == [24, 55, 86, 117, 148, 179]
    assert figure.marks[-1].y < figure.axis_bottom < figure.tick_y < figure.height


def test_the_axis_reaches_below_0_for_values_and_whiskers():
    figure = dot_and_whisker([entry(0.1, -0.33, 0.4)], label="Alpha")
    assert [tick.text for tick in figure.ticks] == ["-0.4", "-0.2", "0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert 210 <= figure.marks[0].low_x < figure.marks[0].x
    far = dot_and_whisker([entry(-0.9, -1.0, 0.0)], label="Alpha")
    assert [tick.text for tick in far.ticks] == ["-1", "-0.6", "-0.2", "0.2", "0.6", "1"]


def test_what_is_not_defined_has_no_mark_and_says_why():
    words = "There are no ratings yet."
    figure = dot_and_whisker([entry(None, n=0, reason=Reason.NO_RATINGS, words=words)], label="Alpha")
    (mark,) = figure.marks
    assert (mark.x, mark.low_x, mark.high_x, mark.value) == (None, None, None, "")
    assert mark.words == "Task success: There are no ratings yet."


def test_a_whole_interval_without_a_value_draws_nothing():
    figure = dot_and_whisker([entry(None, 0.0, 1.0, n=0, words="Nothing to count yet.")], label="Gold")
    assert figure.marks[0].low_x is None


def test_a_value_without_an_interval_has_a_dot_and_the_reason():
    figure = dot_and_whisker([entry(0.4, n=2, words="One item gives no interval.")], label="Alpha")
    assert (figure.marks[0].x, figure.marks[0].low_x) == (362, None)
    assert figure.marks[0].words == "Task success: 0.40, n 2. One item gives no interval."


def test_weak_marks_and_long_names():
    title = "Communication with the requester and everybody else"
    weak, fine = dot_and_whisker([entry(0.4, title=title), entry(0.9)], label="Alpha", weak_below=0.667).marks
    assert (weak.weak, fine.weak) == (True, False)
    assert weak.title == title
    assert weak.name == "Communication with the requ…"


def test_an_empty_figure_stands():
    figure = dot_and_whisker([], label="Alpha")
    assert figure.marks == ()
    assert figure.axis_bottom > figure.axis_top


def test_odds_stand_on_a_log_axis_and_end_at_its_ends():
    figure = odds_figure([entry(1.0, 0.25, 4.0), entry(40.0, 2.0, 800.0), entry(None)], label="Odds")
    level, far, nothing = figure.marks
    assert (level.x, figure.reference_x) == (400, 400)
    assert level.x - level.low_x == pytest.approx(level.high_x - level.x)
    assert (far.x, far.high_x, far.value) == (590, 590, "40.00")
    assert (nothing.x, nothing.low_x) == (None, None)
    assert [tick.text for tick in figure.ticks] == ["1/8", "1/4", "1/2", "1", "2", "4", "8"]
