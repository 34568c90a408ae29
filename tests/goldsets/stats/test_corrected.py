"""Corrected pass rates against epiR, the code of arXiv 2511.21140, and ppi_py."""

import numpy as np
import pytest

from goldsets.stats.corrected import ppi, rogan_gladen
from reviews.stats.result import Reason
from tests.goldsets.stats.reference import beside, rows, table


def test_a_known_rate_is_that_of_epir():
    found = rogan_gladen(45, 150, specificity=(890_000, 1_000_000), sensitivity=(960_000, 1_000_000))
    assert found.value == pytest.approx(0.22352941, abs=1e-8)
    # epiR's interval, 14% to 32%, is Blaker's.
    assert (found.low, found.high) == (pytest.approx(0.14, abs=0.01), pytest.approx(0.32, abs=0.01))


def test_the_interval_counts_the_noise_of_calibration():
    found = rogan_gladen(400, 1000, specificity=(140, 200), sensitivity=(180, 200))
    assert found.value == pytest.approx(1 / 6)
    assert (found.low, found.high) == (pytest.approx(0.05635072, abs=1e-8), pytest.approx(0.26273303, abs=1e-8))


def test_what_falls_outside_is_cut_off_and_said():
    found = rogan_gladen(5, 100, specificity=(90, 100), sensitivity=(90, 100))
    assert (found.value, found.low) == (0.0, 0.0)
    assert "-0.062" in found.words


def test_a_grader_no_better_than_chance_is_refused():
    found = rogan_gladen(50, 100, specificity=(5, 10), sensitivity=(5, 10))
    assert (found.value, found.reason) == (None, Reason.NO_VARIATION)
    assert rogan_gladen(50, 100, specificity=(0, 0), sensitivity=(5, 10)).reason == Reason.NO_RATINGS


@beside
def test_the_forest_example_of_ppi_py():
    expected = table("ppi_forest")["expected"]
    found = rows("agreement/reference/ppi_forest.csv")
    truth, said, known = (
        np.array([float(row[name]) for row in found]) for name in ("y_human", "yhat_judge", "labelled")
    )
    seen = known == 1
    plain = ppi(truth[seen], said[seen], said[~seen], weight=1).estimate
    assert plain.value == pytest.approx(expected["ppi_lambda1"]["theta"])
    assert [plain.low, plain.high] == pytest.approx(expected["ppi_lambda1"]["ci95"], abs=1e-5)
    tuned = ppi(truth[seen], said[seen], said[~seen])
    assert tuned.weight == 0
    assert tuned.estimate.value == pytest.approx(expected["ppi_plus_plus_tuned"]["theta"])
    assert [tuned.estimate.low, tuned.estimate.high] == pytest.approx(expected["classical_ci95"], abs=1e-5)


def test_a_good_grader_narrows_the_interval_and_a_useless_one_costs_nothing():
    rng = np.random.default_rng(11)
    truth = (rng.random(2000) < 0.6).astype(float)
    good = np.where(rng.random(2000) < 0.95, truth, 1 - truth)
    noise = rng.random(2000).round()
    wide = ppi(truth[:100], truth[:100], truth[100:], weight=0).estimate
    narrow, same = (ppi(truth[:100], said[:100], said[100:]).estimate for said in (good, noise))
    assert narrow.high - narrow.low < 0.7 * (wide.high - wide.low)
    assert same.high - same.low <= 1.01 * (wide.high - wide.low)
    assert narrow.low < 0.6 < narrow.high


def test_one_labelled_run_is_too_few():
    assert ppi([1.0], [1.0], [1.0, 0.0]).estimate.reason == Reason.BELOW_FLOOR
