"""The alternative annotator test: may a substitute stand in for one of the people who judge?

Each rater in turn is held against the others, and so is the substitute. The substitute wins against a rater where it
comes as close to the others as that rater does, up to a cost `epsilon` that a person is worth (.2 for experts, .15 for
skilled people, .1 for a crowd). It passes when it wins against at least half of the raters. [Calderon, Reichart and
Dror 2025]

The test alone proves little: where 5% are positive, a substitute that always says "no" passes it. Hence the bounds on
both error rates that stand beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit
from scipy.stats import false_discovery_control

from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason, without_value

# What a person is worth, by tier.
FEWEST_RATERS = 3
FEWEST_ITEMS = 30
LEVEL = 0.05

# By whatever names an item.
Answers = Mapping[Any, Any]
Closeness = Callable[[Any, Sequence[Any]], float]


def accuracy(said: Any, others: Sequence[Any]) -> float:
    """The share of the others who said the same."""
    return fmean(said == other for other in others)


def nearness(said: Any, others: Sequence[Any]) -> float:
    """Minus the root of the mean squared distance from the others, for numbers and ordered levels."""
    return -sqrt(fmean((said - other) ** 2 for other in others))


@dataclass(frozen=True)
class Against:
    """The substitute against one rater, over `n` items that this rater and at least one other judged.

    `difference` is how much more often the rater comes at least as close to the others, with its 95% interval;
    `advantage` how often the substitute does. `p` tests that the difference is at least epsilon; `beaten` says
    whether that is rejected, with false discoveries held at 5% over all raters.
    """

    rater: str
    n: int
    difference: float
    low: float
    high: float
    advantage: float
    p: float
    beaten: bool


@dataclass(frozen=True)
class AltTest:
    """What the test says. `winning` and `advantage` have no value where it cannot be run, with the reason."""

    epsilon: float
    winning: Estimate
    advantage: Estimate
    raters: tuple[Against, ...]

    @property
    def passes(self) -> bool:
        return self.winning.value is not None and self.winning.value >= 0.5

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "epsilon": self.epsilon,
            "passes": self.passes,
            "winning": self.winning.as_dict(),
            "advantage": self.advantage.as_dict(),
            "raters": [asdict(rater) for rater in self.raters],
        }


def alt_test(
    people: Mapping[str, Answers],
    substitute: Answers,
    *,
    epsilon: float = 0.2,
    closeness: Closeness = accuracy,
    fewest_items: int = FEWEST_ITEMS,
) -> AltTest:
    """The test on each rater's answers by item, and the substitute's.

    Items judged by one person, or not by the substitute, are left out, as are raters with fewer than `fewest_items`
    of the rest. It cannot be run with fewer than three raters: with two, a copy of one of them would pass.
    """
    shared = _answers_by_item(people, substitute)
    compared = []
    for rater, answers in people.items():
        items = [item for item in answers if item in shared]
        if len(items) >= fewest_items:
            compared.append((rater, _compare(rater, items, shared, substitute, closeness)))
    method = f"alternative annotator test, epsilon {epsilon:g}, Benjamini-Yekutieli at {LEVEL:g}"
    if len(compared) < FEWEST_RATERS:
        words = (
            f"Too few to say: {len(compared)} of the {FEWEST_RATERS} raters needed with at least {fewest_items} items "
            "that somebody else judged as well."
        )
        empty = Estimate("Winning rate", None, n_units=len(shared), n_raters=len(compared), method=method)
        refused = without_value(empty, Reason.BELOW_FLOOR, words)
        return AltTest(epsilon, refused, replace(refused, statistic="Advantage"), ())
    tests = [_test(differences, epsilon) for _rater, (differences, _wins) in compared]
    adjusted = false_discovery_control([p for *_interval, p in tests], method="by")
    raters = tuple(
        Against(rater, len(wins), mean, low, high, float(np.mean(wins)), p, bool(corrected <= LEVEL))
        for (rater, (_d, wins)), (mean, low, high, p), corrected in zip(compared, tests, adjusted, strict=True)
    )
    beaten = wilson(sum(rater.beaten for rater in raters), len(raters))
    winning = Estimate(
        "Winning rate",
        beaten.value,
        beaten.low,
        beaten.high,
        n_units=len(shared),
        n_raters=len(raters),
        method=f"{method}; {beaten.method} over raters",
    )
    return AltTest(epsilon, winning, _advantage(raters, len(shared)), raters)


def _answers_by_item(people: Mapping[str, Answers], substitute: Answers) -> dict[Any, dict[str, Any]]:
    """Who said what of each item that two people judged and the substitute too."""
    by_item: dict[Any, dict[str, Any]] = {}
    for rater, answers in people.items():
        for item, said in answers.items():
            by_item.setdefault(item, {})[rater] = said
    return {item: said for item, said in by_item.items() if len(said) > 1 and item in substitute}


def _compare(
    rater: str, items: list[Any], shared: Mapping[Any, Mapping[str, Any]], substitute: Answers, closeness: Closeness
) -> tuple[np.ndarray, np.ndarray]:
    """Per item: whether the rater comes at least as close to the others, less whether the substitute does; and that."""
    theirs, ours = [], []
    for item in items:
        others = [said for other, said in shared[item].items() if other != rater]
        person, machine = closeness(shared[item][rater], others), closeness(substitute[item], others)
        theirs.append(person >= machine)
        ours.append(machine >= person)
    wins = np.array(ours, dtype=float)
    return np.array(theirs, dtype=float) - wins, wins


def _test(differences: np.ndarray, epsilon: float) -> tuple[float, float, float, float]:
    """Mean with its 95% interval, and Student's one-sided p that it is epsilon or more."""
    n, mean = len(differences), float(differences.mean())
    error = float(differences.std(ddof=1)) / sqrt(n)
    if not error:
        return mean, mean, mean, 0.0 if mean < epsilon else 1.0
    reach = float(stdtrit(n - 1, 0.975)) * error
    return mean, mean - reach, mean + reach, float(stdtr(n - 1, (mean - epsilon) / error))


def _advantage(raters: tuple[Against, ...], n: int) -> Estimate:
    """The mean over raters of how often the substitute comes at least as close, with Student's interval over them."""
    values = np.array([rater.advantage for rater in raters])
    reach = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(len(values))
    mean = float(values.mean())
    method = "mean over raters, 95% Student's t over raters"
    low, high = max(0.0, mean - reach), min(1.0, mean + reach)
    return Estimate("Advantage", mean, low, high, n_units=n, n_raters=len(values), method=method)
