"""Agreement on some hundred thousand ratings, as ratios to one plain call of krippendorff with room for a busy machine.

`python -m tests.bench agreement` measures the same on a million, where fixed costs weigh less.
"""

import statistics
from collections.abc import Callable
from typing import Any

import krippendorff
import pytest

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.resampling import Bootstrap
from reviews.stats.tally import Tally
from tests.bench.bench_agreement import as_matrix, counted, made_up_ratings, page_of, timed

UNITS = 80_000


@pytest.fixture(scope="module")
def columns():
    return made_up_ratings(UNITS)


def as_ratio(call: Callable[[], Any], other: Callable[[], Any]) -> float:
    """The median of three ratios, each of two calls in turn."""
    return statistics.median(timed(call) / timed(other) for _ in range(3))


def plain_call_of_krippendorff(columns) -> Callable[[], Any]:
    matrix = as_matrix(columns)
    return lambda: krippendorff.alpha(reliability_data=matrix, level_of_measurement="ordinal")


def test_alpha_with_a_thousand_resamples_takes_less_than_one_call_of_krippendorff(columns):
    theirs = plain_call_of_krippendorff(columns)
    assert as_ratio(lambda: krippendorff_alpha(counted(columns), level="ordinal", bootstrap=Bootstrap()), theirs) < 1


def test_all_numbers_of_a_page_take_a_few_such_calls(columns):
    """On a million ratings it is less than one; the resamples and the pairs of raters cost the same for fewer."""
    assert as_ratio(lambda: page_of(counted(columns)), plain_call_of_krippendorff(columns)) < 4


def test_a_label_more_costs_the_same_on_few_ratings_and_on_many(columns):
    beside = {"alice": 1, "bob": 2}

    def label(tally: Tally) -> Callable[[], None]:
        tally.add("alice", 1, beside={})
        tally.add("bob", 2, beside={"alice": 1})

        def more_and_less() -> None:
            for _ in range(2_000):
                tally.add("charlie", 1, beside=beside)
                tally.remove("charlie", 1, beside=beside)

        return more_and_less

    few, many = label(Tally(range(5))), label(Tally.of(counted(columns)))
    assert as_ratio(many, few) < 3
