"""How long agreement takes on a million ratings, against one plain call of the package krippendorff on the same."""

import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score

from reviews.stats.aggregation import dawid_skene
from reviews.stats.agreement import Alpha, estimate, gwet_ac, krippendorff_alpha, percent_agreement
from reviews.stats.counts import MISSING, Ratings, from_codes
from reviews.stats.pairs import pairwise
from reviews.stats.raters import against_rest, leave_one_out
from reviews.stats.resampling import Bootstrap
from reviews.stats.tally import Tally
from tests.bench.figures import Figure, count, milliseconds, ratio

OVERLAP, RATERS, LABELS, MISSED = 5, 50, 5, 0.05
# With one in twenty missing these are a million.
UNITS = 210_526
ROUNDS = 5
THOUSAND = Bootstrap(replicates=1000)
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def run() -> list[Figure]:
    """Each round times the packages and then everything of ours; ratios are taken within a round."""
    columns = made_up_ratings(UNITS)
    matrix = as_matrix(columns)
    families = np.arange(UNITS) % 500

    def ratings() -> Ratings:
        """Counted anew every time, since counts are kept once made."""
        return counted(columns)

    alpha = Alpha("ordinal", np.arange(float(LABELS)))
    theirs = "krippendorff.alpha, ordinal, no interval"
    kappas = "kappa of all pairs of raters by scikit-learn"
    page = "all of a page: alpha, AC, percent, intervals, pairs, without each rater, each against the rest"
    resampled = "alpha with 1,000 bootstrap replicates"
    pairs = "kappa of all pairs of raters, with intervals"
    calls: dict[str, Callable[[], Any]] = {
        theirs: lambda: krippendorff.alpha(reliability_data=matrix, level_of_measurement="ordinal"),
        kappas: lambda: kappas_of_scikit_learn(matrix),
        "alpha without interval": lambda: krippendorff_alpha(ratings(), level="ordinal"),
        resampled: lambda: krippendorff_alpha(ratings(), level="ordinal", bootstrap=THOUSAND),
        "alpha with 1,000 replicates over 500 tasks": lambda: krippendorff_alpha(
            ratings(), level="ordinal", bootstrap=THOUSAND, clusters=families
        ),
        "alpha without each of 50 raters, with intervals": lambda: leave_one_out(ratings(), alpha),
        pairs: lambda: pairwise(ratings()),
        "each rater against the rest": lambda: against_rest(ratings()),
        page: lambda: page_of(ratings()),
        "Dawid-Skene, 20 iterations": lambda: dawid_skene(ratings(), max_iterations=20, tolerance=0),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            seconds[name].append(timed(call))
    against = {pairs: kappas}
    return [
        *(milliseconds(f"{name}, 1 M ratings", seconds[name]) for name in (theirs, kappas)),
        *(
            ratio(
                name,
                seconds[name],
                seconds[against.get(name, theirs)],
                at_most=1 if name in {resampled, page, pairs} else None,
                note=f"of {against.get(name, theirs)}",
            )
            for name in calls
            if name not in {theirs, kappas}
        ),
        *_kept_fresh(columns, alpha),
        *(count(f"memory at most: {name}", peak_memory(call), unit="MB") for name, call in calls.items()),
    ]


def made_up_ratings(n_units: int, *, raters: int = RATERS, seed: int = 2026) -> Columns:
    """Units, raters and labels: each unit dealt to five people who see the truth in seven of ten; some never answer."""
    rng = np.random.default_rng(seed)
    dealt = np.argpartition(rng.random((n_units, raters)), OVERLAP, axis=1)[:, :OVERLAP].ravel()
    units = np.repeat(np.arange(n_units), OVERLAP)
    truth = rng.integers(0, LABELS, n_units)[units]
    labels = np.where(rng.random(len(units)) < 0.7, truth, rng.integers(0, LABELS, len(units)))
    labels[rng.random(len(units)) < MISSED] = MISSING
    given = labels != MISSING
    return units[given], dealt[given], labels[given]


def counted(columns: Columns) -> Ratings:
    return from_codes(*columns, scores=range(LABELS))


def as_matrix(columns: Columns) -> np.ndarray:
    """Raters by units, as the package takes them."""
    units, raters, labels = columns
    matrix = np.full((raters.max() + 1, units.max() + 1), np.nan)
    matrix[raters, units] = labels
    return matrix


def page_of(ratings: Ratings) -> tuple[Any, ...]:
    """What a lead sees of one ordered criterion."""
    return (
        krippendorff_alpha(ratings, level="ordinal", bootstrap=THOUSAND),
        gwet_ac(ratings, weights="quadratic", bootstrap=THOUSAND),
        percent_agreement(ratings, bootstrap=THOUSAND),
        pairwise(ratings, weights="quadratic"),
        leave_one_out(ratings, Alpha("ordinal", ratings.scores)),
        against_rest(ratings),
    )


def kappas_of_scikit_learn(matrix: np.ndarray) -> list[float]:
    """One call for each two raters on what both rated."""
    found = []
    for first in range(len(matrix)):
        for second in range(first + 1, len(matrix)):
            both = ~np.isnan(matrix[first]) & ~np.isnan(matrix[second])
            found.append(cohen_kappa_score(matrix[first, both], matrix[second, both], labels=range(LABELS)))
    return found


def timed(call: Callable[[], Any]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def peak_memory(call: Callable[[], Any]) -> float:
    """Megabytes allocated at most during a call, beyond what was there before."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _kept_fresh(columns: Columns, alpha: Alpha) -> list[Figure]:
    """A label more, on top of a million, and the value and the interval after it."""
    ratings = counted(columns)
    tally = Tally.of(ratings)
    beside = {"alice": 1, "bob": 2, "charlie": 1}
    for rater, label in beside.items():
        tally.add(rater, label, beside={other: said for other, said in beside.items() if other < rater})

    def a_thousand_labels() -> None:
        for _ in range(500):
            tally.add("dana", 1, beside=beside)
            tally.remove("dana", 1, beside=beside)

    labels = [timed(a_thousand_labels) / 1000 for _ in range(ROUNDS)]
    values = [timed(lambda: estimate(tally, alpha)) for _ in range(ROUNDS)]
    intervals = [timed(lambda: estimate(tally, alpha, bootstrap=THOUSAND)) for _ in range(ROUNDS)]
    return [
        milliseconds("a label more or less in a tally of a million", labels),
        milliseconds("alpha after it", values),
        milliseconds("alpha with 1,000 replicates after it", intervals),
    ]
