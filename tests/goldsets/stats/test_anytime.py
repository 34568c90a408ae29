"""The bound that may be looked at after every item: what it takes, and that looking often does not break it."""

from math import log

import pytest

from goldsets.stats.anytime import _evidence, always_at_most, more_without_error
from goldsets.stats.grading import at_most


def test_it_takes_half_as_many_items_more_than_a_single_look():
    assert more_without_error(0, 0, limit=0.05) == 92
    assert more_without_error(0, 0, limit=0.1) == 45
    assert always_at_most(0, 92, limit=0.05).high == pytest.approx(0.049995, abs=1e-6)
    assert always_at_most(0, 91, limit=0.05).high > 0.05
    assert at_most(0, 59).high <= 0.05


def test_an_error_costs_more_items_and_too_many_are_never_made_good():
    assert more_without_error(1, 60, limit=0.05) == 81
    assert more_without_error(600, 700, limit=0.05, confidence=0.95) is None


def test_without_items_nothing_is_bounded_and_all_wrong_is_bounded_by_one():
    nothing = always_at_most(0, 0, limit=0.05)
    assert (nothing.value, nothing.low, nothing.high, nothing.reason) == (None, 0.0, 1.0, "no_ratings")
    assert always_at_most(5, 5, limit=0.1).high == pytest.approx(1.0)


def test_looking_after_every_item_keeps_the_promise():
    """The chance that the bound ever falls to the limit within 300 looks, exactly, where the limit is the true rate."""
    limit, alive, crossed = 0.05, {0: 1.0}, 0.0
    for n in range(1, 301):
        after: dict[int, float] = {}
        for errors, chance in alive.items():
            after[errors] = after.get(errors, 0) + chance * (1 - limit)
            after[errors + 1] = after.get(errors + 1, 0) + chance * limit
        alive = {}
        for errors, chance in after.items():
            if errors < limit * n and _evidence(limit, errors, n, limit) >= log(20):
                crossed += chance
            else:
                alive[errors] = chance
    assert 0.01 < crossed <= 0.05
