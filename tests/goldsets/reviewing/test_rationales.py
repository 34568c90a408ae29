"""Rationales held against verdicts, where it is known which of them were exchanged."""

import random

from annotator.demo.raters import RATERS, judge
from annotator.demo.runs import all_runs
from goldsets.reviewing.rationales import FOLDS, Rationale, fold_of, listen
from goldsets.stats.proportion import wilson

PLANTED = 20


def _demo():
    """A third of what the demo's raters could say of its runs, in the order in which they say it."""
    rng = random.Random(3)  # noqa: S311
    rows = []
    for run in all_runs():
        for rater in RATERS:
            payload = judge(rater, run).payload
            if rng.random() > 0.35 or "unsure" in payload["gates"].values():
                continue
            passes = all(answer == "pass" for answer in payload["gates"].values())
            right = passes == all(answer == "pass" for answer in run.truth.gates.values())
            rows.append(Rationale(len(rows), run.family.key, payload["rationale"], passes, right))
    return rows


def test_the_demos_planted_cases_are_found_and_little_else():
    """Twenty judgments of some four hundred carry what somebody wrote of another run with the other verdict."""
    rng = random.Random(3)  # noqa: S311
    rows = _demo()
    planted = set(rng.sample(range(len(rows)), PLANTED))
    exchanged = [
        Rationale(row.judgment, row.family, _of_the_other(rng, rows, row), row.passes, row.borne_out)
        if row.judgment in planted
        else row
        for row in rows
    ]
    heard = listen(exchanged)
    flagged = {flag.judgment for flag in heard.flags}
    precision = wilson(len(flagged & planted), len(flagged))
    recall = wilson(len(flagged & planted), PLANTED)
    assert (len(rows), heard.families) == (416, 13)
    assert (precision.n_units, precision.value) == (19, 1.0)
    assert precision.low > 0.83
    assert recall.value == 19 / 20
    assert heard.flags[0].probability >= heard.flags[-1].probability >= 0.8


def _of_the_other(rng, rows, row):
    return rng.choice([each for each in rows if each.passes != row.passes and each.borne_out]).text


def test_where_nothing_was_exchanged_next_to_nothing_is_flagged():
    rows = _demo()
    assert len(listen(rows).flags) <= 2


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
