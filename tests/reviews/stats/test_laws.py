"""What holds for every statistic whatever the data: no bare number, nothing that is not a number, no error."""

import json
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reviews.stats.aggregation import dawid_skene, majority, one_coin
from reviews.stats.agreement import (
    Alpha,
    Fleiss,
    Gwet,
    Percent,
    disagreement_weights,
    estimate,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)
from reviews.stats.analytic import analytic_error, analytic_estimate
from reviews.stats.counts import from_codes
from reviews.stats.pairs import cohen_kappa, pairwise, scott_pi
from reviews.stats.preference import cyclic_triads, position_bias, preference_agreement
from reviews.stats.raters import against_labels, against_majority, against_rest, leave_one_out
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, HypothesisTest, Reason
from reviews.stats.sets import set_agreement
from reviews.stats.spans import Spans, span_agreement
from reviews.stats.steps import step_agreement
from reviews.stats.strength import bradley_terry, order_effect
from reviews.stats.tally import Tally
from reviews.stats.within import within_raters

QUICK = Bootstrap(replicates=40)
LEVELS = ("nominal", "ordinal", "interval", "ratio")
ONLY_THE_INTERVAL = {Reason.ONE_UNIT, Reason.UNSTABLE}
# Units by raters, -1 for a missing rating: so small that nearly every degenerate case turns up.
matrices = hnp.arrays(np.int64, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=st.integers(-1, 2))
scales = st.integers(1, 3)


def results_in(found):
    """All estimates and tests in nested tuples, lists and data classes."""
    if isinstance(found, Estimate | HypothesisTest):
        yield found
    elif isinstance(found, list | tuple):
        for entry in found:
            yield from results_in(entry)
    elif isinstance(found, np.ndarray | float):
        assert np.isfinite(np.asarray(found, dtype=float)).all()
    elif is_dataclass(found):
        for field in fields(found):
            yield from results_in(getattr(found, field.name))


def check(found):
    for result in results_in(found):
        numbers = [getattr(result, name, None) for name in ("value", "low", "high", "p", "statistic")]
        assert all(np.isfinite(number) for number in numbers if isinstance(number, float)), result
        json.dumps(result.as_dict(), allow_nan=False)
        assert result.method or result.reason, result
        assert (result.reason is None) == (result.words == ""), result
        if isinstance(result, HypothesisTest):
            assert (result.p is None) == (result.reason is not None), result
            assert result.p is None or 0 <= result.p <= 1
            continue
        assert result.defined == (result.reason is None or result.reason in ONLY_THE_INTERVAL), result
        assert (result.low is None) == (result.high is None), result
        assert result.low is None or result.low <= result.high, result
        if result.reason in ONLY_THE_INTERVAL:
            assert result.low is None, result


@pytest.fixture(autouse=True)
def _quiet():
    """Not even a warning of division by nothing."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield


@settings(max_examples=150, deadline=None)
@given(matrices, scales)
def test_agreement(matrix, n_labels):
    matrix = np.minimum(matrix, n_labels - 1)
    units, raters = (axis.ravel() for axis in np.indices(matrix.shape))
    ratings = from_codes(units, raters, matrix.ravel(), scores=range(n_labels), n_units=len(matrix))
    tasks = np.arange(len(matrix)) // 2
    for one in (ratings, Tally.of(ratings)):
        for weights in ("identity", "linear", "quadratic"):
            check([gwet_ac(one, weights=weights, bootstrap=QUICK), fleiss_kappa(one, weights=weights, bootstrap=QUICK)])
        check([krippendorff_alpha(one, level=level, bootstrap=QUICK) for level in LEVELS])
        check(percent_agreement(one, bootstrap=QUICK))
        v = disagreement_weights("quadratic", one.scores)
        for coefficient in (Percent(), Gwet(v), Fleiss(v), *(Alpha(level, one.scores) for level in LEVELS)):
            check([analytic_estimate(one, coefficient), estimate(one, coefficient)])
            error = analytic_error(one, coefficient)
            assert error is None or np.isfinite(error)
    if len(matrix):
        check(krippendorff_alpha(ratings, level="ordinal", bootstrap=QUICK, clusters=tasks))
    check(leave_one_out(ratings, Alpha("ordinal", ratings.scores)))
    check([pairwise(ratings, floor=0), pairwise(ratings, weights="quadratic")])
    check([against_rest(ratings), against_majority(ratings), against_labels(ratings, np.zeros(len(matrix), dtype=int))])
    check([majority(ratings), dawid_skene(ratings), one_coin(ratings), dawid_skene(ratings, smoothing=0)])
    check(step_agreement(units, raters, matrix.ravel(), bootstrap=QUICK))
    check(set_agreement(units, raters, matrix.ravel(), bootstrap=QUICK))
    repeats = within_raters(
        units, np.zeros_like(raters), matrix.ravel(), raters, scores=range(n_labels), level="ordinal", bootstrap=QUICK
    )
    check(repeats)
    check(preference_agreement(units, raters, np.where(matrix < 0, np.nan, matrix - 1).ravel(), bootstrap=QUICK))


@settings(deadline=None)
@given(hnp.arrays(np.int64, st.integers(1, 3).map(lambda k: (k, k)), elements=st.integers(0, 3)))
def test_tables(table):
    check([cohen_kappa(table), scott_pi(table)])
    v = disagreement_weights("linear", np.arange(float(len(table))))
    check([cohen_kappa(table, v=v), scott_pi(table, v=v)])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-1, 1)).filter(lambda row: row[0] != row[1]),
        max_size=12,
    )
)
def test_preferences(rows):
    first, second, outcome = np.array(rows, dtype=int).reshape(-1, 3).T
    for order in (False, True):
        found = bradley_terry(first, second, outcome, n_items=4, order=order)
        check(found)
        check([found.of(0), found.difference(0, 1), found.wins(2, 3)])
    check(order_effect(first, second, outcome))
    check(cyclic_triads(np.zeros_like(first), first, second, outcome, bootstrap=QUICK))
    check(position_bias(outcome, outcome[::-1]))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2))),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(1, 4)), max_size=5),
)
def test_spans(lengths, judged, marks):
    judged = sorted((text, rater) for text, rater in judged if text < len(lengths))
    lying = [
        (*judged[which % len(judged)], start, min(start + long, lengths[judged[which % len(judged)][0]]))
        for which, start, long in marks
        if judged and start < lengths[judged[which % len(judged)][0]]
    ]
    check(span_agreement(Spans.of(lengths, judged, lying), bootstrap=QUICK))
