"""How a version stood up: what holds, what is missing, and what was better before."""

import pytest

from goldsets.stats.probing import holds, stood_up, what_is_missing

WORDS = {"a": "Attack A", "b": "Attack B", "settled": "Settled"}


@pytest.mark.parametrize(
    ("expected", "said", "so"),
    [
        (True, True, True),
        (True, False, False),
        (True, None, False),
        (False, False, True),
        (False, None, True),
        (False, True, False),
    ],
)
def test_who_says_nothing_is_not_fooled_and_has_not_seen_the_good_either(expected, said, so):
    assert holds(expected, said) is so


def stood(held, before=None):
    probes = [(1, "a"), (2, "a"), (3, "b"), (4, "settled"), (5, "settled")]
    return stood_up(["a", "b", "settled"], probes, held, before or {})


def missing(held, before=None):
    return what_is_missing(stood(held, before), WORDS, told_only={"settled"})


def test_each_kind_has_its_count_and_wilsons_interval():
    first, second, settled = stood({1: True, 2: False, 3: True, 4: True, 5: False})
    assert (first.held, first.answered, first.probes) == (1, 2, 2)
    # Wilson's interval of 1 of 2 at 95%.
    assert (round(first.rate.low, 3), round(first.rate.high, 3)) == (0.095, 0.905)
    assert (second.all_held, settled.all_held) == (True, False)


def test_a_version_is_held_back_by_one_probe_that_fooled_it():
    assert missing({1: True, 2: False, 3: True}) == ["Attack A: wrong on 1 of 2."]


def test_and_by_what_is_not_answered_or_not_there():
    assert missing({1: True, 2: None, 3: True}) == ["Attack A: 1 of 2 probes are not answered."]
    rows = stood_up(["a", "b"], [(1, "a")], {1: True}, {})
    assert what_is_missing(rows, WORDS, told_only=set()) == ["Attack B: no probe of this kind is approved."]


def test_settled_runs_count_only_where_the_version_before_had_them_right():
    held = {1: True, 2: True, 3: True, 4: False, 5: False}
    assert missing(held) == []
    assert missing(held, before={4: True, 5: False}) == ["Settled: 1 that the version before had right are wrong now."]
