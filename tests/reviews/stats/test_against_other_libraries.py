"""The same data through other people's code: krippendorff, statsmodels and scikit-learn."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater, proportion

from reviews.stats.agreement import disagreement_weights, fleiss_kappa, krippendorff_alpha
from reviews.stats.counts import Ratings, from_codes
from reviews.stats.pairs import cohen_kappa, pairwise
from reviews.stats.proportion import wilson
from reviews.stats.result import Reason
from tests.reviews.stats.helpers import from_counts

LEVELS = ("nominal", "ordinal", "interval", "ratio")
# Units by raters, -1 for a missing rating: small, so that empty and constant tables turn up often.
matrices = hnp.arrays(np.int64, st.tuples(st.integers(1, 10), st.integers(2, 5)), elements=st.integers(-1, 3))


def as_ratings(matrix: np.ndarray) -> Ratings:
    units, raters = np.indices(matrix.shape)
    return from_codes(units.ravel(), raters.ravel(), matrix.ravel(), scores=range(4))


@settings(max_examples=300)
@given(matrices, st.sampled_from(LEVELS))
def test_alpha_is_that_of_the_krippendorff_package_or_undefined_where_it_fails(matrix, level):
    ours = krippendorff_alpha(as_ratings(matrix), level=level)
    pairable = matrix[(matrix >= 0).sum(axis=1) >= 2]
    if len(np.unique(pairable[pairable >= 0])) < 2:
        assert ours.value is None
        assert ours.reason
        assert ours.words
        return
    theirs = krippendorff.alpha(
        reliability_data=np.where(matrix >= 0, matrix, np.nan).T, level_of_measurement=level, value_domain=[0, 1, 2, 3]
    )
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 12), st.just(5)), elements=st.integers(0, 3)))
def test_fleiss_kappa_is_that_of_statsmodels_where_all_units_have_equally_many(labels):
    counts = np.stack([np.bincount(row, minlength=4) for row in labels])
    assume(np.count_nonzero(counts.sum(axis=0)) > 1)
    assert fleiss_kappa(from_counts(counts.tolist())).value == pytest.approx(inter_rater.fleiss_kappa(counts))


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 25), st.just(2)), elements=st.integers(0, 3)),
    st.sampled_from(["identity", "linear", "quadratic"]),
)
def test_cohens_kappa_is_that_of_scikit_learn(labels, weights):
    table = np.zeros((4, 4), dtype=int)
    np.add.at(table, (labels[:, 0], labels[:, 1]), 1)
    ours = cohen_kappa(table, v=disagreement_weights(weights, np.arange(4.0)))
    if len(np.unique(labels)) == 1:
        assert ours.value is None
        return
    theirs = cohen_kappa_score(
        labels[:, 0], labels[:, 1], labels=[0, 1, 2, 3], weights=None if weights == "identity" else weights
    )
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@given(hnp.arrays(np.int64, (3, 3), elements=st.integers(1, 30)), st.sampled_from([None, "linear", "quadratic"]))
def test_the_interval_of_kappa_is_that_of_statsmodels(table, weights):
    theirs = inter_rater.cohens_kappa(table, wt=weights)
    ours = cohen_kappa(table, v=disagreement_weights(weights or "identity", np.arange(3.0)))
    assert ours.value == pytest.approx(theirs.kappa)
    assert (ours.low, ours.high) == pytest.approx((theirs.kappa_low, theirs.kappa_upp))


@given(st.integers(1, 500), st.data())
def test_wilson_is_that_of_statsmodels(n, data):
    right = data.draw(st.integers(0, n))
    ours = wilson(right, n)
    assert (ours.low, ours.high) == pytest.approx(proportion.proportion_confint(right, n, method="wilson"), abs=1e-9)


@given(matrices)
def test_the_matrix_of_pairs_is_that_of_scikit_learn_on_what_both_rated(matrix):
    for pair in pairwise(as_ratings(matrix), floor=0):
        said = matrix[:, [pair.first, pair.second]]
        first, second = said[(said >= 0).all(axis=1)].T
        assert pair.n == len(first)
        assert pair.percent.value == pytest.approx((first == second).mean())
        if len(np.unique([first, second])) == 1:
            assert (pair.kappa.value, pair.kappa.reason) == (None, Reason.NO_VARIATION)
        else:
            assert pair.kappa.value == pytest.approx(cohen_kappa_score(first, second, labels=range(4)), abs=1e-9)
