"""Several runs of one task and several scores of one run: pass@k, pass^k, bands, and what trying again does."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from goldsets.stats.grading import clustered_share
from goldsets.stats.proportion import wilson
from reviews.stats.resampling import Bootstrap, resampled_sums
from reviews.stats.result import Estimate, Reason, without_interval, without_value


def any_of(n: int, passed: int, k: int) -> float | None:
    """pass@k without bias (Chen et al. 2021): the chance that one of k runs drawn from n passes; None for k > n."""
    return None if k > n else 1 - comb(n - passed, k) / comb(n, k)


def all_of(n: int, passed: int, k: int) -> float | None:
    """pass^k (Yao et al. 2024): the chance that all of k runs drawn from n pass; None for k > n."""
    return None if k > n else comb(passed, k) / comb(n, k)


def pass_at(tasks: Sequence[tuple[int, int]], k: int) -> Estimate:
    """pass@k over tasks, each (runs, passed). Tasks with fewer than k runs are left out."""
    return _over_tasks([any_of(n, passed, k) for n, passed in tasks], f"pass@{k}", k)


def pass_hat(tasks: Sequence[tuple[int, int]], k: int) -> Estimate:
    """pass^k over tasks, each (runs, passed)."""
    return _over_tasks([all_of(n, passed, k) for n, passed in tasks], f"pass^{k}", k)


def _over_tasks(values: list[float | None], statistic: str, k: int) -> Estimate:
    known = np.array([value for value in values if value is not None])
    draws = Bootstrap(over="tasks")
    bare = Estimate(statistic, None, n_units=len(known), method=draws.method)
    if not len(known):
        return without_value(bare, Reason.BELOW_FLOOR, f"No task has {k} runs, so {statistic} is not defined.")
    full = Estimate(statistic, float(known.mean()), n_units=len(known), method=draws.method)
    if len(known) == 1:
        return without_interval(full, Reason.ONE_UNIT)
    kinds, times = np.unique(known, return_counts=True)
    if len(kinds) == 1:
        return without_interval(full, Reason.UNSTABLE)
    means = np.concatenate([sums[:, 0] for sums in resampled_sums(kinds[:, None], times, draws)]) / len(known)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(statistic, full.value, float(low), float(high), len(known), method=draws.method)


@dataclass(frozen=True)
class Band:
    """Tasks by how often they are passed: never, always, or in between, where training can learn something."""

    never: int
    always: int
    between: int
    within: Estimate

    @property
    def tasks(self) -> int:
        return self.never + self.always + self.between


def band(tasks: Sequence[tuple[int, int]]) -> Band:
    """Only tasks with two runs or more can be in between."""
    several = [(n, passed) for n, passed in tasks if n >= 2]
    never = sum(passed == 0 for _, passed in several)
    always = sum(passed == n for n, passed in several)
    between = len(several) - never - always
    return Band(never, always, between, wilson(between, len(several), statistic="Tasks passed sometimes"))


# --- One run scored again and again -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Regrading:
    """What a grader says of the same run when asked again.

    `changes` is the chance that two scores of one run fall on different sides; `spread` the standard deviation of
    scores within a run. `best_of` says for each k how often a run that experts fail passes when it may try k times.
    """

    n_repeated: int
    changes: Estimate
    spread: Estimate
    best_of: tuple[tuple[int, Estimate], ...]


def regrading(scores: Sequence[Sequence[float]], truth: Sequence[bool | None], threshold: float) -> Regrading:
    """Runs with two scores or more count; `truth` is None for a run without a label."""
    several = [(list(each), right) for each, right in zip(scores, truth, strict=True) if len(each) >= 2]
    passed = [(len(each), sum(value >= threshold for value in each), right) for each, right in several]
    pairs = [comb(n, 2) for n, _, _ in passed]
    changes = clustered_share([p * (n - p) for n, p, _ in passed], pairs, statistic="Verdict changes when asked again")
    failed = [(n, p) for n, p, right in passed if right is False]
    most = max((n for n, _ in failed), default=1)
    best = tuple((k, pass_at(failed, k)) for k in dict.fromkeys((1, 2, 4, 8, most)) if k <= most)
    return Regrading(len(several), changes, _spread([each for each, _ in several]), best)


def _spread(scores: list[list[float]]) -> Estimate:
    """The pooled standard deviation within runs."""
    freedom = sum(len(each) - 1 for each in scores)
    bare = Estimate("Spread within a run", None, n_units=len(scores), method="pooled standard deviation, no interval")
    if not freedom:
        return without_value(bare, Reason.NO_PAIRS, "No run has two scores of this version.")
    squares = sum(float(((np.array(each) - np.mean(each)) ** 2).sum()) for each in scores)
    return Estimate(bare.statistic, (squares / freedom) ** 0.5, n_units=len(scores), method=bare.method)
