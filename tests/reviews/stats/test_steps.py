"""Agreement on the first decisive step."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.steps import step_agreement


def test_where_and_whether_are_reported_apart():
    """Run 1: steps 4, 4, 5. Run 2: nobody sees a failure. Run 3: one sees it at 7, one does not. Run 4: both at 9."""
    found = step_agreement([1, 1, 1, 2, 2, 3, 3, 4, 4], [0, 1, 2, 0, 1, 0, 1, 0, 1], [4, 4, 5, 0, 0, 7, 0, 9, 9])
    assert found.named.n_units == 4
    assert found.exact.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.within_one.value == 1.0
    assert (found.exact.n_units, found.exact.n_pairs) == (2, 4)
    assert found.distances == ((0, 2), (1, 2))


@given(st.integers(0, 10_000))
def test_alpha_without_a_table_is_interval_alpha(seed):
    rng = np.random.default_rng(seed)
    units, raters = np.repeat(np.arange(20), 3), np.tile([0, 1, 2], 20)
    steps = np.where(rng.random(60) < 0.6, np.repeat(rng.integers(1, 40, 20), 3), rng.integers(1, 40, 60))
    steps[rng.random(60) < 0.2] = -1
    found = step_agreement(units, raters, steps)
    table = krippendorff_alpha(from_codes(units, raters, steps, scores=range(41)), level="interval")
    assert found.alpha.value == pytest.approx(table.value)
    assert (found.alpha.n_units, found.alpha.n_pairs) == (table.n_units, table.n_pairs)


def test_the_same_step_everywhere_has_no_variation_but_full_agreement():
    found = step_agreement([0, 0, 1, 1], [0, 1, 0, 1], [3, 3, 3, 3], bootstrap=Bootstrap())
    assert found.exact.value == 1.0
    assert found.alpha.reason == Reason.NO_VARIATION


def test_nobody_names_a_step():
    found = step_agreement([0, 0], [0, 1], [0, 0], bootstrap=Bootstrap())
    assert (found.exact.value, found.exact.reason) == (None, Reason.NO_RATINGS)
    assert found.distances == ()


def test_no_judgments_at_all():
    found = step_agreement([], [], [], bootstrap=Bootstrap())
    assert {estimate.reason for estimate in (found.named, found.exact, found.within_one, found.alpha)} == {
        Reason.NO_RATINGS
    }


def test_intervals_hold_the_values():
    rng = np.random.default_rng(3)
    units, raters = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    steps = np.repeat(rng.integers(1, 20, 40), 2) + rng.integers(0, 3, 80)
    found = step_agreement(units, raters, steps, bootstrap=Bootstrap())
    for estimate in (found.exact, found.within_one, found.alpha):
        assert estimate.low <= estimate.value <= estimate.high


def test_whole_tasks_may_be_drawn():
    """Four copies of forty runs, each task holding a run and its copies: as sure as forty runs, not as 160."""
    rng = np.random.default_rng(6)
    units, raters = np.repeat(np.arange(40), 3), np.tile([0, 1, 2], 40)
    steps = np.where(rng.random(120) < 0.6, np.repeat(rng.integers(1, 20, 40), 3), rng.integers(1, 20, 120))
    steps[rng.random(120) < 0.2] = 0
    copies = np.concatenate([units + 40 * copy for copy in range(4)]), np.tile(raters, 4), np.tile(steps, 4)
    once = step_agreement(units, raters, steps, bootstrap=Bootstrap())
    plain = step_agreement(*copies, bootstrap=Bootstrap())
    by_task = step_agreement(*copies, bootstrap=Bootstrap(over="tasks"), clusters=np.tile(np.arange(40), 4))
    for name in ("named", "exact", "within_one", "alpha"):
        first, many, tasks = (getattr(found, name) for found in (once, plain, by_task))
        assert tasks.value == pytest.approx(many.value)
        assert tasks.high - tasks.low == pytest.approx(first.high - first.low, rel=0.2)
        assert tasks.high - tasks.low > 1.5 * (many.high - many.low)
        assert "over tasks" in tasks.method


@given(st.integers(0, 5_000))
def test_every_part_as_by_hand(seed):
    """Pairs who both name a step, run by run; and nominal alpha on whether there is one."""
    rng = np.random.default_rng(seed)
    said = rng.integers(-1, 6, (10, 4))
    units, raters = np.indices(said.shape)
    found = step_agreement(units.ravel(), raters.ravel(), said.ravel())
    exact, near, distances = [], [], []
    for row in said:
        pairs = [abs(int(a) - int(b)) for a, b in combinations(row[row > 0], 2)]
        if pairs:
            exact.append(np.mean([pair == 0 for pair in pairs]))
            near.append(np.mean([pair <= 1 for pair in pairs]))
            distances += pairs
    assert found.distances == tuple(sorted(Counter(distances).items()))
    assert found.exact.value == (pytest.approx(np.mean(exact)) if exact else None)
    assert found.within_one.value == (pytest.approx(np.mean(near)) if near else None)
    named = from_codes(units.ravel(), raters.ravel(), np.minimum(said, 1).ravel(), scores=[0, 1])
    assert found.named.value == krippendorff_alpha(named, level="nominal").value
