"""Agreement kept up to date one label at a time."""

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.stats.agreement import Alpha, Gwet, Percent, disagreement_weights, estimate
from reviews.stats.analytic import analytic_estimate
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.tally import Tally
from tests.reviews.stats.helpers import random_ratings

LABELS = 3
ALPHA = Alpha("ordinal", np.arange(float(LABELS)))
COEFFICIENTS = (ALPHA, Percent(), Gwet(disagreement_weights("quadratic", np.arange(float(LABELS)))))
# Unit, rater, and the new label; a label of -1 takes the rater's label back.
steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-1, LABELS - 1)), max_size=60)


def follow(tally, changes):
    """Apply changes to a tally; gives what then stands, as unit -> rater -> label."""
    said = defaultdict(dict)
    for unit, rater, label in changes:
        old = said[unit].pop(rater, None)
        beside = said[unit]
        if old is None and label >= 0:
            tally.add(rater, label, beside=beside)
        elif old is not None and label >= 0:
            tally.replace(rater, old, label, beside=beside)
        elif old is not None:
            tally.remove(rater, old, beside=beside)
        if label >= 0:
            said[unit][rater] = label
    return said


def counted_again(said):
    rows = [(unit, rater, label) for unit, given_labels in said.items() for rater, label in given_labels.items()]
    return from_codes(*np.array(rows, dtype=int).reshape(-1, 3).T, scores=range(LABELS))


@settings(max_examples=200)
@given(steps)
def test_the_same_as_counting_everything_again(changes):
    tally = Tally(range(LABELS))
    ratings = counted_again(follow(tally, changes))
    for coefficient in COEFFICIENTS:
        kept, again = estimate(tally, coefficient), estimate(ratings, coefficient)
        assert kept.value == (None if again.value is None else pytest.approx(again.value))
        assert (kept.n_units, kept.n_pairs, kept.n_raters) == (again.n_units, again.n_pairs, again.n_raters)
        assert kept.reason == again.reason
    assert Tally.of(ratings).as_state() == tally.as_state()


@given(steps)
def test_the_state_survives_json(changes):
    tally = Tally(range(LABELS))
    follow(tally, changes)
    stored = json.loads(json.dumps(tally.as_state()))
    assert Tally.from_state(stored).as_state() == tally.as_state()


def test_ten_thousand_changes_leave_no_drift():
    """Labels come and go; at the end all are taken back and nothing is left, not even rounding."""
    rng = np.random.default_rng(0)
    tally = Tally(range(LABELS))
    said = follow(tally, rng.integers([0, 0, -1], [200, 6, LABELS], (10_000, 3)).tolist())
    assert estimate(tally, ALPHA).value == pytest.approx(estimate(counted_again(said), ALPHA).value, abs=1e-14)
    follow_back = [(unit, rater) for unit, given_labels in said.items() for rater in given_labels]
    for unit, rater in follow_back:
        label = said[unit].pop(rater)
        tally.remove(rater, label, beside=said[unit])
    assert tally.as_state() == Tally(range(LABELS)).as_state()
    assert estimate(tally, ALPHA).reason == Reason.NO_RATINGS


def test_the_interval_is_there_too():
    ratings = random_ratings(3, n_units=200, n_labels=LABELS)
    tally = Tally.from_state(Tally.of(ratings).as_state())
    kept, again = (estimate(one, ALPHA, bootstrap=Bootstrap()) for one in (tally, ratings))
    assert (kept.low, kept.high) == (pytest.approx(again.low, abs=0.02), pytest.approx(again.high, abs=0.02))
    assert kept.method == again.method
    exact = analytic_estimate(tally, ALPHA)
    assert (exact.low, exact.high) == pytest.approx((kept.low, kept.high), abs=0.02)


def test_the_state_of_a_hundred_thousand_ratings_is_small():
    rng = np.random.default_rng(1)
    units, raters = np.repeat(np.arange(30_000), 4), np.tile(np.arange(4), 30_000)
    labels = rng.integers(-1, 5, 120_000)
    state = Tally.of(from_codes(units, raters, labels, scores=range(5))).as_state()
    assert len(json.dumps(state)) < 5_000


def test_what_cannot_be_is_refused():
    tally = Tally([0, 1])
    tally.add("alice", 1, beside={})
    with pytest.raises(ValueError, match="rates a unit once"):
        tally.add("alice", 1, beside={"alice": 1})
    with pytest.raises(ValueError, match="scale"):
        tally.add("bob", 2, beside={"alice": 1})
    with pytest.raises(ValueError, match="holds no such label"):
        tally.remove("bob", 0, beside={})


def test_a_refused_removal_changes_nothing():
    tally = Tally([0, 1])
    tally.add("alice", 1, beside={})
    before = tally.as_state()
    with pytest.raises(ValueError, match="holds no such label"):
        tally.remove("bob", 1, beside={})
    assert tally.as_state() == before


def test_clusters_need_the_ratings_themselves():
    tally = Tally.of(random_ratings(2, n_labels=LABELS))
    with pytest.raises(ValueError, match="which unit"):
        estimate(tally, ALPHA, bootstrap=Bootstrap(), clusters=np.zeros(30, dtype=int))
