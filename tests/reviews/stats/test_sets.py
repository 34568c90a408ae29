"""Agreement on sets of choices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.sets import distances, set_agreement
from tests.reviews.stats import published

A, B, C = 1, 2, 4


def as_mask(choices: str) -> int:
    return sum(1 << "ABC".index(choice) for choice in choices)


def printed_sets():
    units, raters = np.indices((len(published.SETS), 2))
    return units.ravel(), raters.ravel(), np.array([as_mask(said) for row in published.SETS for said in row])


def test_the_printed_alphas_of_nine_units():
    """Their values are cut off after three decimals, not rounded: by hand .18617 and .25295."""
    kind = set_agreement(*printed_sets(), distance="kind")
    masi = set_agreement(*printed_sets(), distance="masi_2004")
    assert kind.alpha.value == pytest.approx(0.186, abs=5e-4)
    assert masi.alpha.value == pytest.approx(0.252, abs=1e-3)
    assert kind.exact.value == pytest.approx(1 / 3)
    assert kind.alpha.statistic == "Krippendorff's alpha, sets by kind of overlap"


def test_masi_by_hand():
    """{A,B} and {A,C} share one of three, and only overlap: 1 - 1/3 * 1/3."""
    found = distances(np.array([0, A, A | B, A | C, A | B | C]))
    assert found[0].tolist() == [0, 1, 1, 1, 1]
    assert found[1, 2] == pytest.approx(1 - 1 / 2 * 2 / 3)
    assert found[2, 3] == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert found[2, 4] == pytest.approx(1 - 2 / 3 * 2 / 3)
    assert np.allclose(found, found.T)
    assert not found.diagonal().any()


def test_sharing_a_choice_counts_more_than_sharing_none():
    """Alice and Bob always share one choice; Alice and Charlie never do."""
    rng = np.random.default_rng(3)
    alice = rng.choice([A, B, C], 40)
    bob = alice | rng.choice([A, B, C], 40)
    units, raters = np.tile(np.arange(40), 2), np.repeat([0, 1], 40)
    near = set_agreement(units, raters, np.concatenate([alice, bob])).alpha.value
    far = set_agreement(units, raters, np.concatenate([alice, (A | B | C) ^ bob])).alpha.value
    assert near > 0.2 > 0 > far


@given(st.integers(0, 5_000), st.sampled_from(["masi", "masi_2004", "kind"]))
def test_single_choices_are_a_nominal_scale(seed, distance):
    """Sets of one choice each differ wholly or not at all, so this is plain nominal alpha."""
    rng = np.random.default_rng(seed)
    units, raters = np.repeat(np.arange(12), 3), np.tile([0, 1, 2], 12)
    labels = rng.integers(-1, 3, 36)
    found = set_agreement(units, raters, np.where(labels < 0, -1, 1 << np.maximum(labels, 0)), distance=distance).alpha
    plain = krippendorff_alpha(from_codes(units, raters, labels, scores=range(3)), level="nominal")
    assert (found.reason, found.n_units, found.n_pairs) == (plain.reason, plain.n_units, plain.n_pairs)
    assert found.value == (None if plain.value is None else pytest.approx(plain.value))


def test_the_interval_and_whole_tasks():
    units, raters, sets = printed_sets()
    plain = set_agreement(units, raters, sets, bootstrap=Bootstrap())
    by_task = set_agreement(units, raters, sets, bootstrap=Bootstrap(over="tasks"), clusters=np.arange(9) // 3)
    assert plain.alpha.low < plain.alpha.value < plain.alpha.high
    assert by_task.alpha.value == pytest.approx(plain.alpha.value)
    assert "over tasks" in by_task.alpha.method


def test_what_is_not_defined_says_why():
    assert set_agreement([], [], []).alpha.reason == Reason.NO_RATINGS
    assert set_agreement([0, 1], [0, 0], [A, B]).alpha.reason == Reason.ONE_RATER
    assert set_agreement([0, 1], [0, 1], [A, B]).alpha.reason == Reason.NO_PAIRS
    nothing_ticked = set_agreement([0, 0], [0, 1], [0, 0])
    assert (nothing_ticked.exact.value, nothing_ticked.alpha.reason) == (1.0, Reason.NO_VARIATION)
    assert set_agreement([0, 0], [0, 1], [A, -1]).alpha.reason == Reason.ONE_RATER
    with pytest.raises(ValueError, match="bit mask"):
        set_agreement([0, 0], [0, 1], [A, -2])
