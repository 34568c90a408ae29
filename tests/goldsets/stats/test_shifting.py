"""Whether input still looks as it did: means against the spread of single items."""

from goldsets.stats.shifting import WINDOW, baseline_of, shifts


def test_too_few_items_tell_nothing():
    assert baseline_of([{"steps": 1.0}] * 19) == {}
    (found,) = shifts({"steps": [1.0, 0.5]}, [{"steps": 9.0}] * (WINDOW - 1))
    assert (found.shift, found.drifted, found.words) == (None, False, "49 of the 50 items needed.")


def test_a_mean_that_moved_by_more_than_the_spread_has_drifted():
    baseline = baseline_of([{"steps": value} for value in (1.0, 3.0) * 10])
    assert baseline["steps"][0] == 2.0
    (still,) = shifts(baseline, [{"steps": 2.5}] * WINDOW)
    (moved,) = shifts(baseline, [{"steps": 3.5}] * WINDOW)
    assert (round(still.shift, 2), still.drifted) == (0.49, False)
    assert (round(moved.shift, 2), moved.drifted) == (1.46, True)


def test_where_nothing_varied_the_least_change_is_not_endless():
    (found,) = shifts({"errors": [0.0, 0.0]}, [{"errors": 0.05}] * WINDOW)
    assert (round(found.shift, 2), found.drifted) == (0.5, False)


def test_only_the_latest_count():
    (found,) = shifts({"steps": [1.0, 1.0]}, [{"steps": 99.0}] * 10 + [{"steps": 1.0}] * WINDOW)
    assert found.shift == 0
