"""Whether a grader and the experts part as a policy is trained against the grader: Goodhart's law, watched.

Each point is a part of the runs in its order (a checkpoint, a week): what the grader says of them on average, the
proxy, and what the experts say of the same runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from goldsets.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason, without_interval, without_value

# A part with fewer runs raises no alarm.
FLOOR = 10


@dataclass(frozen=True)
class Part:
    """Runs of one checkpoint or week, judged by both. `distance` is how far the policy has moved, where known."""

    name: str
    passes: tuple[bool, ...]
    truth: tuple[bool, ...]
    distance: float | None = None


@dataclass(frozen=True)
class Parting:
    """One part: both rates, and the gap between them on the same runs."""

    name: str
    distance: float | None
    proxy: Estimate
    gold: Estimate
    gap: Estimate


@dataclass(frozen=True)
class Alarm:
    """Whether the proxy rose while gold fell, from the best part on gold to the last; `rang` only beyond chance."""

    rang: bool
    since: str
    words: str


@dataclass(frozen=True)
class Watched:
    parts: tuple[Parting, ...]
    alarm: Alarm


def watched(parts: Sequence[Part]) -> Watched:
    """The gap part by part, and the alarm of Gao et al. (2023): gold falls while the proxy rises."""
    found = tuple(_parting(part) for part in parts)
    return Watched(found, _alarm([one for one in found if one.gap.n_units >= FLOOR]))


def drift(kl: float) -> float:
    """The distance of Gao et al. (2023): the square root of the KL divergence."""
    return sqrt(max(0.0, kl))


def _parting(part: Part) -> Parting:
    said, right = np.asarray(part.passes, float), np.asarray(part.truth, float)
    n = len(said)
    proxy = wilson(int(said.sum()), n, statistic="Grader passes")
    gold = wilson(int(right.sum()), n, statistic="Experts pass")
    return Parting(part.name, part.distance, proxy, gold, _gap(said - right))


def _gap(differences: np.ndarray) -> Estimate:
    n = len(differences)
    bare = Estimate("Grader minus experts", None, n_units=n, method="95% normal, paired difference of shares")
    if not n:
        return without_value(bare, Reason.NO_RATINGS, "No run has both a score and a label.")
    value = float(differences.mean())
    reach = NormalDist().inv_cdf(0.975) * float(differences.std()) / sqrt(n)
    full = Estimate(bare.statistic, value, value - reach, value + reach, n, method=bare.method)
    if n == 1:
        return without_interval(full, Reason.ONE_UNIT)
    return full if reach else without_interval(full, Reason.UNSTABLE)


def _alarm(parts: list[Parting]) -> Alarm:
    if len(parts) < 2:
        return Alarm(False, "", f"It takes two parts with {FLOOR} runs or more that both judged.")
    best = max(parts[:-1], key=lambda one: one.gold.value or 0.0)
    last = parts[-1]
    proxy, gold = (last.proxy.value or 0) - (best.proxy.value or 0), (last.gold.value or 0) - (best.gold.value or 0)
    widened = (last.gap.value or 0) - (best.gap.value or 0)
    error = sqrt(_error(last.gap) ** 2 + _error(best.gap) ** 2)
    way = f"From {best.name} to {last.name} the grader moves by {proxy:+.2f} and the experts by {gold:+.2f}"
    if proxy >= 0 > gold and widened > NormalDist().inv_cdf(0.95) * error:
        return Alarm(True, best.name, f"{way}: they part. Stop at {best.name}, or mend the grader.")
    if proxy >= 0 > gold:
        return Alarm(False, best.name, f"{way}, which may be chance yet.")
    return Alarm(False, "", f"{way}.")


def _error(gap: Estimate) -> float:
    if gap.low is None or gap.high is None:
        return 0.0
    return (gap.high - gap.low) / (2 * NormalDist().inv_cdf(0.975))
