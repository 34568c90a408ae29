"""Every reference table that these statistics cover, to its stated decimals.

The tables lie beside the project, not in it; without them these tests are skipped. The most important published ones
are typed in `published` and tested everywhere.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from reviews.stats.aggregation import State, dawid_skene, majority
from reviews.stats.agreement import (
    Alpha,
    AlphaByDistance,
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
from reviews.stats.analytic import analytic_error
from reviews.stats.counts import Ratings, from_codes, from_matrix, from_values
from reviews.stats.pairs import cohen_kappa, scott_pi
from reviews.stats.preference import position_bias
from reviews.stats.proportion import wilson
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.sets import set_agreement
from reviews.stats.spans import unitising_disagreement
from reviews.stats.strength import bradley_terry
from reviews.stats.within import within_raters
from tests.reviews.stats.helpers import from_counts, from_table

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "agreement"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the reference tables do not lie beside the project")

# Coefficients that Assay does not offer, and distances that no rubric has.
NOT_OFFERED = {
    "bangdiwala_b",
    "bennett_s",
    "brennan_prediger",
    "category_kappa",
    "conger_kappa",
    "kappa_max",
    "max_observed_agreement",
    "randolph_kappa",
}


def tables():
    found = []
    for path in sorted((FOLDER / "reference").glob("*.json")):
        data = json.loads(path.read_text())
        for number, table in enumerate(data.get("tables", [data])):
            # Other files are about other statistics.
            if not is_rated(table):
                continue
            scale = table.get("categories") or data.get("categories")
            for expected in table["expected"]:
                stat = expected.get("stat") or expected.get("measure")
                if stat not in NOT_OFFERED:
                    found.append(pytest.param(table, scale, expected, id=f"{path.stem}-{number}-{stat}"))
    return found


def is_rated(table):
    """Whether it holds ratings, or counts of labels, and a list of agreement statistics. Labels are no sets."""
    if not isinstance(table.get("expected"), list) or not {"stat", "measure"} & set(table["expected"][0]):
        return False
    forms = [table[form] for form in ("ratings", "counts", "table") if isinstance(table.get(form), list)]
    return bool(forms) and not isinstance(forms[0][0][0], list)


def ratings_of(table, scale):
    if "table" in table:
        return from_table(table["table"])
    if "counts" in table:
        return from_counts(table["counts"])
    labels = {label for row in table["ratings"] for label in row if label is not None}
    return from_matrix(table["ratings"], scale=scale or sorted(labels))


def two_rater_table(table, scale):
    if "table" in table:
        return np.array(table["table"])
    found = np.zeros((len(scale), len(scale)), dtype=int)
    for first, second in table["ratings"]:
        found[scale.index(first), scale.index(second)] += 1
    return found


def compute(table, scale, expected):
    stat = expected.get("stat") or expected["measure"]
    weights = {"unweighted": "identity"}.get(expected.get("weights"), expected.get("weights") or "identity")
    if stat in {"cohen_kappa", "weighted_kappa"}:
        counted = two_rater_table(table, scale)
        v = expected.get("disagreement_weights") or disagreement_weights(weights, np.arange(float(len(counted))))
        return cohen_kappa(counted, v=v)
    ratings = ratings_of(table, scale)
    if stat == "krippendorff_alpha" and "distance" in expected:
        return estimate(ratings, AlphaByDistance(np.array(expected["distance"]), "alpha by a printed distance"))
    if stat == "krippendorff_alpha":
        # The one level given as a matrix holds the squared differences of 1, 2, 3.
        level = expected["level"] if isinstance(expected["level"], str) else "interval"
        return krippendorff_alpha(ratings, level=level)
    if stat in {"percent_agreement", "observed_agreement"}:
        return percent_agreement(ratings)
    if stat == "scott_pi":
        return scott_pi(two_rater_table(table, scale))
    if stat == "fleiss_kappa":
        return fleiss_kappa(ratings, weights=weights)
    if stat == "gwet_ac2_quadratic":
        return gwet_ac(ratings, weights="quadratic")
    assert stat in {"gwet_ac", "gwet_ac1", "AC1", "AC2"}, f"{stat} is neither computed nor named as not offered"
    return gwet_ac(ratings, weights=weights)


@pytest.mark.parametrize(("table", "scale", "expected"), tables())
def test_reference_value(table, scale, expected):
    if expected.get("stat") == "expected_agreement":
        counted = np.array(table["table"]) / np.sum(table["table"])
        assert round(float(counted.sum(axis=0) @ counted.sum(axis=1)), 2) == expected["value"]
        return
    estimate = compute(table, scale, expected)
    value = expected.get("value", expected.get("coefficient"))
    decimals = expected.get("decimals", 5)
    tolerance = expected.get("tolerance", 0.5 * 10**-decimals * 1.0001)
    assert estimate.value == pytest.approx(value, abs=tolerance)


def test_every_printed_standard_error():
    """The README of irrCAC divides by n for tables, and takes another chance term for alpha of counts: left out."""
    checked = 0
    for path in sorted((FOLDER / "reference").glob("*.json")):
        data = json.loads(path.read_text())
        for expected in data["expected"] if isinstance(data.get("expected"), list) else []:
            coefficient = with_analytic_error(expected, data)
            if coefficient is None:
                continue
            ratings = ratings_of(data, data.get("categories") if "counts" not in data else None)
            found = analytic_error(ratings, coefficient(ratings))
            n = ratings.n_pairable_units if "table" in data else None
            found = found * np.sqrt((n - 1) / n) if n else found
            digits = len(str(expected["se"]).split(".")[1])
            assert found == pytest.approx(expected["se"], abs=0.6 * 10**-digits), (path.stem, expected["stat"])
            checked += 1
    assert checked == 10


def with_analytic_error(expected, data):
    if "se" not in expected or (expected["stat"] == "krippendorff_alpha" and "counts" in data):
        return None
    return {
        "percent_agreement": lambda ratings: Percent(),
        "fleiss_kappa": lambda ratings: Fleiss(disagreement_weights("identity", ratings.scores)),
        "scott_pi": lambda ratings: Fleiss(disagreement_weights("identity", ratings.scores)),
        "gwet_ac": lambda ratings: Gwet(disagreement_weights("identity", ratings.scores)),
        "gwet_ac1": lambda ratings: Gwet(disagreement_weights("identity", ratings.scores)),
        "krippendorff_alpha": lambda ratings: Alpha("nominal", ratings.scores),
    }.get(expected["stat"])


def test_alpha_for_unitising():
    data = json.loads((FOLDER / "reference" / "krippendorff1995_unitizing.json").read_text())
    for name, spans in data["units"].items():
        units = [
            np.array(sorted((start, start + long) for start, long, who in spans if who == rater)) * 50_000
            for rater in (0, 1)
        ]
        observed, by_chance = unitising_disagreement(units, data["continuum"][1] * 50_000)
        assert observed == pytest.approx(data["expected"]["Do"][name], abs=1e-5)
        assert by_chance == pytest.approx(data["expected"]["De_limit"][name], abs=0.005)
        assert 1 - observed / by_chance == pytest.approx(data["expected"]["alpha_u_limit"][name], abs=0.02)


def test_sets_of_choices():
    """Printed after cutting off three decimals, not rounding: the distances are 2.2778/9 and .33878."""
    data = json.loads((FOLDER / "reference" / "masi_set_agreement.json").read_text())
    units, raters, sets = zip(
        *(
            (unit, rater, sum(1 << "ABC".index(choice) for choice in said))
            for unit, row in enumerate(data["ratings"])
            for rater, said in enumerate(row)
        ),
        strict=True,
    )
    expected = {entry["stat"]: entry["value"] for entry in data["expected"]}
    found = {name: set_agreement(units, raters, sets, distance=name) for name in ("kind", "masi_2004")}
    assert found["kind"].alpha.value == pytest.approx(expected["krippendorff_alpha_set_distance"], abs=1e-3)
    assert found["masi_2004"].alpha.value == pytest.approx(expected["krippendorff_alpha_masi"], abs=1e-3)
    assert found["kind"].exact.value == pytest.approx(expected["percent_agreement"], abs=5e-4)


def test_dawid_and_skenes_tables():
    data = json.loads((FOLDER / "reference" / "dawid_skene1979_anaesthesia.json").read_text())
    items, raters, _, labels = np.array(data["labels"]).T - 1
    ratings = Ratings(items, raters, labels, np.arange(4.0), 45, 5)
    found = dawid_skene(ratings, smoothing=0, tolerance=1e-12, max_iterations=1000)
    again = data["recomputed"]
    assert found.log_likelihood == pytest.approx(again["log_likelihood"], abs=1e-9)
    assert found.prior == pytest.approx(again["class_marginals"], abs=1e-6)
    assert np.abs(found.confusion - np.array(again["error_rates"])).max() < 6e-5
    assert np.abs(found.confusion - np.array(data["expected"]["error_rates_true_by_observed"])).max() < 0.01
    assert {str(item + 1): label + 1 for item, label in enumerate(found.labels)} == data["expected"]["map_class"]


def test_strengths_of_journals_and_of_small_cycles():
    data = json.loads((FOLDER / "reference" / "bradley_terry_citations.json").read_text())
    wins, expected = np.array(data["wins"]), data["expected"]
    winners, losers = np.nonzero(wins)
    found = bradley_terry(winners, losers, np.ones(len(winners)), times=wins[winners, losers])
    for journal, name in enumerate(data["players"][1:], start=1):
        difference = found.difference(journal, 0)
        assert round(difference.value, 4) == expected["coef"][name]
        assert round((difference.high - difference.low) / 2 / 1.959964, 4) == expected["se"][name]
    for case in json.loads((FOLDER / "reference" / "bradley_terry_choix.json").read_text())["cases"]:
        winners, losers = np.array(case["data"]).T
        found = bradley_terry(winners, losers, np.ones(len(winners)), n_items=case["n_items"])
        assert found.strength == pytest.approx(case["ml_est"], abs=1e-8)


def test_a_judge_that_saw_every_pair_in_both_orders():
    data = json.loads((FOLDER / "reference" / "judge_swap_o1mini.json").read_text())["expected"]
    lines = [line.split(",") for line in (FOLDER / "reference" / "judge_swap_o1mini.csv").read_text().splitlines()]
    said = {"A>B": 1, "A=B": 0, "B>A": -1}
    once, swapped = (
        np.array([said[line[lines[0].index(name)]] for line in lines[1:]])
        for name in ("decision_order1", "decision_order2_as_shown")
    )
    found = position_bias(once, swapped)
    assert found.consistent.n_units == data["n"]
    assert round(found.consistent.value * data["n"]) == data["consistent"]
    assert (found.always_first, found.always_second) == (data["always_first"], data["always_second"])
    assert found.test.p == pytest.approx(data["mcnemar_exact_p"])
    wins = data["first_pos_wins_order1"] + data["first_pos_wins_order2"]
    assert found.first_shown.value * found.first_shown.n_units == pytest.approx(wins)


def edge_case(name):
    cases = json.loads((FOLDER / "reference" / "edge_cases.json").read_text())["cases"]
    return next(case for case in cases if case["name"] == name)


@pytest.mark.parametrize(
    "name",
    [
        "all labels the same category",
        "one rater only",
        "raters never overlap",
        "one unit, agree",
        "one unit, disagree",
        "constant rater vs varied rater",
        "second category only in a singleton unit",
    ],
)
def test_edge_case_as_recommended(name):
    case = edge_case(name)
    ratings = from_matrix(case["ratings"], scale=[1, 2])
    computed = {
        "percent_agreement": percent_agreement(ratings),
        "krippendorff_alpha": krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap()),
        "fleiss_kappa": fleiss_kappa(ratings),
        "gwet_ac1": gwet_ac(ratings),
    }
    recommended = case["recommended"]
    if "all" in recommended:
        assert [found.value for found in computed.values()] == [None] * 4
        # The recommended reason is told more exactly: nobody else rated, or nobody the same item.
        assert {found.reason for found in computed.values()} <= {Reason.ONE_RATER, Reason.NO_PAIRS}
        return
    table = np.zeros((2, 2), dtype=int)
    for first, *rest in case["ratings"]:
        if rest[0] is not None:
            table[first - 1, rest[0] - 1] += 1
    computed["cohen_kappa"] = cohen_kappa(table)
    for stat in computed.keys() & recommended.keys():
        if isinstance(recommended[stat], str):
            assert stat == "gwet_ac1"
            assert computed[stat].value == 1.0
            assert gwet_ac(from_matrix(case["ratings"], scale=[1])).value is None
        elif recommended[stat] is None:
            assert (computed[stat].value, computed[stat].reason) == (None, recommended["reason"])
        else:
            assert computed[stat].value == pytest.approx(recommended[stat], abs=1e-8)
    if recommended.get("ci", "given") is None:
        assert (computed["krippendorff_alpha"].low, computed["krippendorff_alpha"].high) == (None, None)


def test_edge_cases_of_other_forms():
    unequal = from_counts(edge_case("unequal number of raters per unit")["counts"])
    assert fleiss_kappa(unequal).defined
    triples = edge_case("same rater labels a unit twice")["triples"]
    raters, units, labels = zip(*triples, strict=True)
    twice = from_values(units, raters, labels, scale=[1, 2])
    assert (twice.n_repeats, percent_agreement(twice).value) == (1, 1.0)
    again = within_raters(
        np.array(units), np.array([ord(name) for name in raters]), np.array(labels) - 1, np.arange(5), scores=[1, 2]
    )
    assert (again.percent.value, again.percent.n_units) == (0.0, 1)
    by_rater = edge_case("missing coded as a string")["ratings_by_rater"]
    with pytest.raises(ValueError, match="not on the declared scale"):
        from_matrix(list(zip(*by_rater, strict=True)), scale=["a", "b"])
    nothing = wilson(0, 0)
    assert (nothing.value, nothing.low, nothing.high, nothing.reason) == (None, 0.0, 1.0, Reason.NO_RATINGS)
    ordinal = edge_case("krippendorff ordinal is not Gwet ordinal")
    data = json.loads((FOLDER / "reference" / ordinal["file"]).read_text())
    alpha = krippendorff_alpha(from_matrix(data["ratings"], scale=data["categories"]), level="ordinal")
    assert round(alpha.value, 7) == ordinal["krippendorff_ordinal"]


@pytest.mark.parametrize("name", ["snow2008_rte", "snow2008_temporal", "hitspam_mturk_sample", "zhou2012_dogs"])
def test_alpha_of_real_crowds(name):
    index = {entry["file"]: entry for entry in json.loads((FOLDER / "realdata" / "index.json").read_text())}
    ratings, expected = read_csv(f"{name}.csv"), index[f"{name}.csv"]
    assert (len(ratings.units), ratings.n_units, ratings.n_raters) == (
        expected["labels"],
        expected["units"],
        expected["raters"],
    )
    assert round(krippendorff_alpha(ratings, level="nominal").value, 6) == expected["alpha_nominal"]


def test_alpha_of_likert_ratings_at_every_level():
    ratings = read_csv("lewidi_paraphrase.csv", scale=range(-5, 6))
    found = {
        level: round(krippendorff_alpha(ratings, level=level).value, 6) for level in ("nominal", "ordinal", "interval")
    }
    assert found == {"nominal": 0.151624, "ordinal": 0.511205, "interval": 0.473515}


@pytest.mark.parametrize("name", ["snow2008_rte", "snow2008_temporal", "zhou2012_dogs"])
def test_majority_and_dawid_skene_against_the_gold_of_real_crowds(name):
    index = {entry["file"]: entry for entry in json.loads((FOLDER / "realdata" / "index.json").read_text())}
    expected, ratings, gold = index[f"{name}.csv"], *with_gold(name)
    votes = majority(ratings)
    assert votes.n_tied == expected["majority_ties"]
    # A tie counts as right by the share of its labels that are.
    tied = ratings.counts[votes.states == State.TIED]
    best = tied == tied.max(axis=1, keepdims=True)
    split = (best[np.arange(len(best)), gold[votes.states == State.TIED]] / best.sum(axis=1)).sum()
    share = (np.count_nonzero(votes.labels == gold) + split) / len(gold)
    assert share == pytest.approx(expected["majority_accuracy_ties_split"], abs=1e-6)
    found = dawid_skene(ratings, smoothing=0.01)
    assert (found.labels == gold).mean() == pytest.approx(expected["dawid_skene_accuracy_smoothing_0_01"], abs=1e-6)


def with_gold(name):
    """Ratings with units in the order of the gold file, and the gold labels."""
    lines = [line.split(",") for line in (FOLDER / "realdata" / f"{name}.csv").read_text().splitlines()[1:]]
    gold = dict(line.split(",") for line in (FOLDER / "realdata" / f"{name}_gold.csv").read_text().splitlines()[1:])
    unit, rater, label = (np.array(column) for column in zip(*lines, strict=True))
    units, unit_codes = np.unique(unit, return_inverse=True)
    labels, label_codes = np.unique(label, return_inverse=True)
    ratings = from_codes(unit_codes, np.unique(rater, return_inverse=True)[1], label_codes, scores=range(len(labels)))
    return ratings, np.searchsorted(labels, [gold[name] for name in units])


def read_csv(name, scale=None):
    lines = (FOLDER / "realdata" / name).read_text().splitlines()
    names = lines[0].split(",")
    columns = dict(zip(names, zip(*(line.split(",") for line in lines[1:]), strict=True), strict=True))
    unit, rater, label = (np.array(columns[column]) for column in names[:3])
    values, labels = np.unique(label, return_inverse=True)
    scores = range(len(values))
    if scale is not None:
        labels, scores = label.astype(int) - scale[0], scale
    return from_codes(
        np.unique(unit, return_inverse=True)[1], np.unique(rater, return_inverse=True)[1], labels, scores=scores
    )
