"""Agreement of many raters: published values, our own edges, and what must not change a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.stats.agreement import (
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    squared_distances,
)
from reviews.stats.counts import from_codes, from_matrix
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from tests.reviews.stats import published
from tests.reviews.stats.helpers import from_counts, from_table, naive_percent, random_ratings


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorffs_own_example(level, value):
    alpha = krippendorff_alpha(from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5]), level=level)
    assert round(alpha.value, 3) == value
    assert (alpha.n_units, alpha.n_pairs, alpha.n_raters) == (11, 55, 4)


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.691358), ("interval", 0.810845)])
def test_alpha_of_the_wikipedia_example(level, value):
    assert (
        round(krippendorff_alpha(from_matrix(published.WIKIPEDIA, scale=[1, 2, 3, 4]), level=level).value, 6) == value
    )


def test_alpha_of_two_observers_and_ten_units():
    ratings = from_matrix(published.KRIPPENDORFF_BINARY, scale=[0, 1])
    assert round(krippendorff_alpha(ratings, level="nominal").value, 3) == 0.095
    assert percent_agreement(ratings).value == pytest.approx(0.6)


def test_krippendorffs_printed_ordinal_distances():
    printed = [
        [0, 11, 22.5, 30, 32.5, 34],
        [11, 0, 11.5, 19, 21.5, 23],
        [22.5, 11.5, 0, 7.5, 10, 11.5],
        [30, 19, 7.5, 0, 2.5, 4],
        [32.5, 21.5, 10, 2.5, 0, 1.5],
        [34, 23, 11.5, 4, 1.5, 0],
    ]
    squared = squared_distances("ordinal", np.arange(1.0, 7.0), np.array([[9.0, 13, 10, 5, 0, 3]]))
    assert np.allclose(np.sqrt(squared[0]), printed)


def test_fleiss_diagnoses():
    ratings = from_counts(published.FLEISS_COUNTS)
    assert round(fleiss_kappa(ratings).value, 7) == 0.4302445
    assert round(percent_agreement(ratings).value, 4) == 0.5556
    assert round(krippendorff_alpha(ratings, level="nominal").value, 9) == 0.433409828


def test_gwets_ordered_example():
    ratings = from_matrix(published.GWET_ORDERED, scale=[1, 2, 3])
    assert round(gwet_ac(ratings, weights="quadratic").value, 4) == 0.8261
    assert round(fleiss_kappa(ratings, weights="quadratic").value, 4) == 0.7673
    assert round(krippendorff_alpha(ratings, level="interval").value, 4) == 0.7581


def test_gwets_values_on_krippendorffs_example():
    ratings = from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5])
    assert round(gwet_ac(ratings).value, 5) == 0.77544
    assert round(fleiss_kappa(ratings).value, 5) == 0.76117
    assert round(gwet_ac(ratings, weights="quadratic").value, 3) == 0.914
    assert round(gwet_ac(ratings, weights="linear").value, 3) == 0.859


def test_one_category_against_the_rest():
    """Agresti prints one value per category of the pathologists' table, with both raters' shares pooled."""
    table = np.array(published.PATHOLOGISTS)
    found = []
    for one in range(4):
        both, first, second = table[one, one], table[one].sum(), table[:, one].sum()
        two_by_two = [[both, first - both], [second - both, table.sum() - first - second + both]]
        found.append(round(fleiss_kappa(from_table(two_by_two)).value, 3))
    assert found == [0.781, 0.247, 0.402, 0.435]


def test_the_prevalence_paradox_is_seen_side_by_side():
    ratings = from_table(published.GWET_SKEWED)
    assert percent_agreement(ratings).value == pytest.approx(0.85)
    assert round(gwet_ac(ratings).value, 3) == 0.808
    assert round(fleiss_kappa(ratings).value, 10) == 0.3142857143


def test_ac2_near_the_diagonal():
    ratings = from_table(published.GWET_NEAR_DIAGONAL)
    assert round(gwet_ac(ratings).value, 5) == 0.58046
    assert round(gwet_ac(ratings, weights="quadratic").value, 5) == 0.84028


# What libraries answer differently from each other, and what we answer.


def test_everybody_gives_the_same_label():
    ratings = from_matrix([[1, 1]] * 4, scale=[1, 2])
    assert percent_agreement(ratings).value == 1.0
    assert krippendorff_alpha(ratings, level="nominal").reason == Reason.NO_VARIATION
    assert fleiss_kappa(ratings).reason == Reason.NO_VARIATION
    assert gwet_ac(ratings).value == 1.0


def test_ac1_needs_a_scale_of_two():
    ratings = from_matrix([[1, 1]] * 4, scale=[1])
    assert (gwet_ac(ratings).value, gwet_ac(ratings).reason) == (None, Reason.NO_SCALE)


@pytest.mark.parametrize("rows", [[[1], [2], [1], [2]], [[1, None], [None, 1], [2, None], [None, 2]], []])
def test_without_pairs_nothing_is_defined(rows):
    ratings = from_matrix(rows, scale=[1, 2])
    for estimate in (
        percent_agreement(ratings, bootstrap=Bootstrap()),
        krippendorff_alpha(ratings, level="ordinal", bootstrap=Bootstrap()),
        fleiss_kappa(ratings, bootstrap=Bootstrap()),
        gwet_ac(ratings, bootstrap=Bootstrap()),
    ):
        assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
        assert estimate.reason in {Reason.NO_RATINGS, Reason.ONE_RATER, Reason.NO_PAIRS}
        assert estimate.words


def test_one_unit_that_agrees():
    ratings = from_matrix([[1, 1]], scale=[1, 2])
    assert krippendorff_alpha(ratings, level="nominal").reason == Reason.NO_VARIATION


def test_one_unit_that_disagrees_has_a_value_and_no_interval():
    ratings = from_matrix([[1, 2]], scale=[1, 2])
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap())
    assert (alpha.value, alpha.low, alpha.high, alpha.reason) == (0.0, None, None, Reason.ONE_UNIT)
    assert fleiss_kappa(ratings).value == -1.0


def test_a_constant_rater_beside_a_varied_one():
    ratings = from_matrix([[1, 1], [1, 2], [1, 1], [1, 2]], scale=[1, 2])
    assert krippendorff_alpha(ratings, level="nominal").value == pytest.approx(-1 / 6)
    assert fleiss_kappa(ratings).value == pytest.approx(-1 / 3)
    assert gwet_ac(ratings).value == pytest.approx(0.2)


def test_a_label_seen_only_alone_makes_no_variation():
    ratings = from_matrix([[1, 1], [1, 1], [1, 1], [2, None]], scale=[1, 2])
    assert krippendorff_alpha(ratings, level="nominal").reason == Reason.NO_VARIATION
    assert fleiss_kappa(ratings).reason == Reason.NO_VARIATION


def test_unequally_many_raters_per_unit():
    """By hand: shares of agreeing pairs 1, 1/3, 0; label shares (1 + 2/3 + 1/2) / 3 and the rest."""
    ratings = from_counts([[3, 0], [2, 1], [1, 1]])
    agree, first = (1 + 1 / 3 + 0) / 3, (1 + 2 / 3 + 1 / 2) / 3
    by_chance = first**2 + (1 - first) ** 2
    assert fleiss_kappa(ratings).value == pytest.approx((agree - by_chance) / (1 - by_chance))


def test_krippendorffs_ordinal_is_not_gwets():
    ratings = from_matrix(published.KRIPPENDORFF_C, scale=[1, 2, 3, 4, 5])
    assert round(krippendorff_alpha(ratings, level="ordinal").value, 7) == 0.8153875


def test_a_ratio_scale_below_zero_is_refused():
    with pytest.raises(ValueError, match="below 0"):
        krippendorff_alpha(from_matrix([[-1, 1]], scale=[-1, 1]), level="ratio")


def test_unused_levels_change_ac1_and_leave_alpha():
    rows = [[0, 0], [0, 1], [1, 1], [0, 0]]
    short, long = from_matrix(rows, scale=[0, 1]), from_matrix(rows, scale=[0, 1, 2, 3])
    assert krippendorff_alpha(short, level="nominal").value == pytest.approx(
        krippendorff_alpha(long, level="nominal").value
    )
    assert gwet_ac(short).value != pytest.approx(gwet_ac(long).value)


@given(st.integers(0, 10_000))
def test_percent_agreement_is_its_definition(seed):
    ratings = random_ratings(seed)
    assert percent_agreement(ratings).value == pytest.approx(naive_percent(ratings))


@given(st.integers(0, 10_000))
def test_names_of_units_and_raters_do_not_matter(seed):
    ratings = random_ratings(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(ratings.units))
    renamed = from_codes(
        rng.permutation(ratings.n_units)[ratings.units][order],
        rng.permutation(ratings.n_raters)[ratings.raters][order],
        ratings.labels[order],
        scores=ratings.scores,
    )
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(renamed, level=level).value == pytest.approx(
            krippendorff_alpha(ratings, level=level).value
        )


@given(st.integers(0, 10_000))
def test_turning_the_scale_round_leaves_alpha(seed):
    ratings = random_ratings(seed)
    turned = from_codes(ratings.units, ratings.raters, ratings.n_labels - 1 - ratings.labels, scores=ratings.scores)
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(turned, level=level).value == pytest.approx(
            krippendorff_alpha(ratings, level=level).value
        )


def test_ordinal_distances_as_krippendorff_prints_them():
    """Krippendorff (2004): the roots for labels given 9, 13, 10, 5, 0 and 3 times; the fifth is never used."""
    found = squared_distances("ordinal", np.arange(1.0, 7.0), np.array([[9.0, 13, 10, 5, 0, 3]]))[0]
    assert np.sqrt(found).tolist() == [
        [0, 11, 22.5, 30, 32.5, 34],
        [11, 0, 11.5, 19, 21.5, 23],
        [22.5, 11.5, 0, 7.5, 10, 11.5],
        [30, 19, 7.5, 0, 2.5, 4],
        [32.5, 21.5, 10, 2.5, 0, 1.5],
        [34, 23, 11.5, 4, 1.5, 0],
    ]
