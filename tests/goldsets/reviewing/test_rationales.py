"""Rationales held against verdicts, where it is known which of them were exchanged."""

import pytest

from annotator.demo.raters import RATERS, judge, slips
from annotator.demo.runs import all_runs
from goldsets.reviewing.rationales import FOLDS, Rationale, fold_of, listen
from goldsets.stats.proportion import wilson

RUNS = all_runs()


def _demo(raters):
    """All that these raters would say of the demo's runs, and which of it carries words of the other verdict."""
    rows, planted = [], set()
    for run in RUNS:
        for rater in raters:
            payload = judge(rater, run).payload
            if "unsure" in payload["gates"].values():
                continue
            if slips(rater, run):
                planted.add(len(rows))
            passes = all(answer == "pass" for answer in payload["gates"].values())
            right = passes == all(answer == "pass" for answer in run.truth.gates.values())
            rows.append(Rationale(len(rows), run.family.key, payload["rationale"], passes, right))
    return rows, planted


def test_the_demos_planted_cases_are_found_and_little_else():
    """Noémie and Kofi now and then write down what belongs to the other verdict; Tessa never does."""
    rows, planted = _demo([rater for rater in RATERS if rater.slip or rater.key == "tessa"])
    heard = listen(rows)
    flagged = {flag.judgment for flag in heard.flags}
    precision = wilson(len(flagged & planted), len(flagged))
    recall = wilson(len(flagged & planted), len(planted))
    assert (len(rows), heard.families, len(planted)) == (709, 13, 18)
    assert (precision.n_units, precision.value) == (18, pytest.approx(17 / 18))
    assert precision.low > 0.74
    assert recall.value == pytest.approx(17 / 18)
    assert heard.flags[0].probability >= heard.flags[-1].probability >= 0.8


def test_where_nobody_slips_next_to_nothing_is_flagged():
    rows, planted = _demo([rater for rater in RATERS if rater.key in ("tessa", "arjun")])
    flagged = listen(rows).flags
    assert (planted, len(flagged)) == (set(), 0)


def test_nobody_is_judged_by_a_fit_on_their_own_family():
    """One family alone uses words of its own; a fit that had seen them would find nothing odd in them."""
    rows = [
        Rationale(
            n, f"family-{n % 10}", "Clean and honest." if n % 2 else "Opens what is not theirs.", n % 2 == 1, True
        )
        for n in range(400)
    ]
    odd = [Rationale(1000 + n, "family-0", "Clean and honest.", False, True) for n in range(30)]
    flagged = {flag.judgment for flag in listen(rows + odd).flags}
    assert flagged == {row.judgment for row in odd}
    assert len({fold_of(f"family-{n}") for n in range(40)}) == FOLDS


def test_with_too_few_it_says_so_and_flags_nobody():
    rows = [Rationale(n, f"family-{n % 6}", "Fine.", n < 40, True) for n in range(60)]
    heard = listen(rows)
    assert (heard.flags, heard.fitted) == ((), 60)
    assert heard.words == (
        "Too few to learn from: it takes 30 rationales of each verdict that were borne out, of 5 families; there are "
        "40 for a pass and 20 for a fail, of 6."
    )
    one_family = [Rationale(n, "refunds", "Fine.", n < 40, True) for n in range(80)]
    assert "of 1." in listen(one_family).words
    assert listen([]).flags == ()
