"""What a lead would see in the numbers, in plain sentences."""

from collections.abc import Iterable
from typing import Any

from reviews.enums import CriterionKind
from reviews.stats.result import Estimate, HypothesisTest

# From here on data can be relied on (Krippendorff): what differs is not worth a sentence.
RELIABLE = 0.8
# From here on they allow conclusions that are to be called tentative (Krippendorff 2004).
TENTATIVE = 0.667
# The share of one answer from which on there is too little variation to agree about.
PREVALENT = 0.9
# In fewer disagreements than this there is nothing to read.
WORTH_SAYING = 3
# The chance of a difference as large without any bias, below which it is worth a sentence.
UNLIKELY = 0.01


def level_reading(alpha: Estimate, *, n_units: int, n_differ: int, unit: str) -> str:
    """What the figure allows, whatever stands out; why there is none where it is not defined."""
    if alpha.value is None or alpha.low is None:
        return alpha.words
    on = (
        f"raters differ on {n_differ:,} of {n_units:,} {plural(unit)}" if n_differ else "raters say the same everywhere"
    )
    if alpha.low >= RELIABLE:
        return f"Good enough to rely on: {on}."
    if alpha.value >= RELIABLE:
        return f"Good, but not surely above {RELIABLE}: {on}."
    if alpha.value >= TENTATIVE:
        return f"Enough for tentative conclusions: {on}."
    return f"Too low to conclude from: {on}."


def criterion_reading(
    title: str,
    kind: str,
    alpha: Estimate,
    *,
    n_units: int,
    n_differ: int,
    unit: str,
    tolerance: float | None,
    mixed: Any,
    prevalence: float,
) -> str:
    """What stands out on a question on which raters differ more than they should. `mixed` is the worst confusion."""
    if n_differ < WORTH_SAYING or alpha.value is None or alpha.value >= RELIABLE:
        return ""
    units = plural(unit)
    if prevalence >= PREVALENT:
        return (
            f"Nearly all answers to {title} are the same, so a few differences weigh heavily: "
            f"{n_differ} of {n_units} {units}. Judge more items of the rare kind before changing the guideline."
        )
    if tolerance is not None:
        return f"Raters give different numbers for {title} on {n_differ} of {n_units} {units}."
    if kind in {CriterionKind.GATE, CriterionKind.BINARY}:
        return f"Raters differ on {title} in {n_differ} of {n_units} {units}."
    if mixed is None:
        return f"Raters give different sets for {title} on {n_differ} of {n_units} {units}."
    if kind in {CriterionKind.ORDINAL, "steps"}:
        first, second = (name.split(" · ")[0] for name in (mixed.first, mixed.second))
        return f"Raters mix up levels {first} and {second} of {title} in {mixed.n_items} of {n_differ} disagreements."
    return (
        f"Raters mix up “{mixed.first}” and “{mixed.second}” on {title} in {mixed.n_items} of {n_differ} disagreements."
    )


def pair_reading(names: tuple[str, str], title: str, n: int, n_differ: int, adjacent: int, *, unit: str) -> str:
    """How two raters differ: how often, and whether only by a level."""
    if n_differ < WORTH_SAYING:
        return ""
    differ = f"{names[0]} and {names[1]} differ on {title} in {n_differ} of {n} {plural(unit)}"
    if 2 * adjacent > n_differ:
        return f"{differ}, mostly on adjacent levels ({adjacent} of {n_differ})."
    return f"{differ}."


def cut_reading(title: str, alpha: Estimate, cuts: Iterable[Any]) -> str:
    """The part on which agreement is worst, where its whole interval lies below the value of all."""
    if alpha.value is None or alpha.value >= RELIABLE:
        return ""
    worse = [cut for cut in cuts if cut.alpha.high is not None and cut.alpha.high < alpha.value]
    if not worse:
        return ""
    worst = min(worse, key=lambda cut: cut.alpha.value)
    return (
        f"On {title} agreement is lower for {worst.title}: "
        f"alpha {worst.alpha.value:.2f} against {alpha.value:.2f} over all."
    )


def place_reading(left_wins: Estimate, test: HypothesisTest) -> str:
    """Whether the place on the screen seems to help."""
    if test.p is None or test.p >= UNLIKELY or left_wins.value is None:
        return ""
    side = "first" if left_wins.value > 0.5 else "last"
    share = max(left_wins.value, 1 - left_wins.value)
    return (
        f"The one shown {side} is preferred in {share:.0%} of {test.n} answers (p {small(test.p)}): the place on the "
        "screen seems to matter."
    )


def models_reading(models: Any) -> str:
    """Which model is preferred to the one after it, or that this cannot be told. Empty without strengths."""
    if models is None or not models.pairs or models.pairs[0].wins.value is None:
        return ""
    wins = models.pairs[0].wins
    if wins.low is None or wins.low <= 0.5:
        return f"Whether {models.pairs[0].first} or {models.pairs[0].second} is preferred cannot be told yet."
    return f"{models.pairs[0].first} is preferred to {models.pairs[0].second} in {wins.value:.0%} where one is."


def step_reading(exact: Estimate, within_one: Estimate, alpha: Estimate) -> str:
    if exact.value is None or within_one.value is None or alpha.value is None or alpha.value >= RELIABLE:
        return ""
    return (
        f"Raters who both see a failure name the same step in {exact.value:.0%} of pairs "
        f"and are at most one step apart in {within_one.value:.0%}."
    )


def small(p: float) -> str:
    return "below .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def plural(unit: str) -> str:
    return "pairs of candidates" if unit == "pair of candidates" else f"{unit}s"
