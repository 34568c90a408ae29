"""What a judge likes beside quality: place, length, formatting, its own kind; with baselines that see only that."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from goldsets.stats.proportion import wilson
from reviews.stats.bias import mcnemar
from reviews.stats.result import Estimate, HypothesisTest, Reason, without_test, without_value

FIRST, TIE, SECOND = 1, 0, -1


@dataclass(frozen=True)
class Position:
    """Pairs judged in both orders. Verdicts are in the places shown: 1 the first is better, -1 the second, 0 neither.

    `always_first` counts pairs where the first place won both times, whoever stood there.
    """

    n: int
    consistent: Estimate
    always_first: int
    always_second: int
    test: HypothesisTest


def position(shown: Sequence[int], swapped: Sequence[int]) -> Position:
    """McNemar's exact test on pairs that follow the place: as often the first as the second, without bias."""
    a, b = np.asarray(shown), np.asarray(swapped)
    first, second = int(((a == FIRST) & (b == FIRST)).sum()), int(((a == SECOND) & (b == SECOND)).sum())
    same = int((a == -b).sum())
    consistent = wilson(same, len(a), statistic="Same winner in both orders")
    return Position(len(a), consistent, first, second, mcnemar(first, second, name="First place against second"))


def right_in_both_orders(shown: Sequence[int], swapped: Sequence[int], gold: Sequence[int]) -> Estimate:
    """How often the two verdicts together favour what gold does; a tie between them is wrong (Tan et al. 2024)."""
    together = np.sign(np.asarray(shown) - np.asarray(swapped))
    right = int((together == np.asarray(gold)).sum())
    return wilson(right, len(together), statistic="Right in both orders together")


def agrees(verdicts: Sequence[int], gold: Sequence[int], *, statistic: str) -> Estimate:
    """How often the verdict is that of gold, where gold is no tie."""
    said, right = np.asarray(verdicts), np.asarray(gold)
    told = right != TIE
    return wilson(int((said[told] == right[told]).sum()), int(told.sum()), statistic=statistic)


def longest_wins(first: Sequence[float], second: Sequence[float], gold: Sequence[int]) -> Estimate:
    """A judge that sees only length. A judge that is not better than this has shown nothing."""
    return agrees(np.sign(np.asarray(first, float) - np.asarray(second, float)), gold, statistic="Longest wins")


def first_wins(gold: Sequence[int]) -> Estimate:
    """A judge that sees only the place."""
    return agrees([FIRST] * len(gold), gold, statistic="First shown wins")


# --- Single runs ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Leaning:
    """How a feature moves the grader's verdict among runs that experts judge alike.

    `odds` is by what the odds of a pass are multiplied when the feature grows by one standard deviation.
    """

    name: str
    odds: Estimate
    test: HypothesisTest


def leaning(name: str, feature: Sequence[float], passes: Sequence[bool], truth: Sequence[bool]) -> Leaning:
    """Logistic regression of the verdict on the feature, controlling for the label; Wald's test and interval."""
    x, y, gold = np.asarray(feature, float), np.asarray(passes, float), np.asarray(truth, float)
    method = "logistic regression controlling for the label, 95% Wald"
    bare = Estimate(f"Odds of a pass per SD of {name}", None, n_units=len(x), method=method)
    title = f"{name[:1].upper()}{name[1:]} moves the verdict"
    if len(x) < 20 or not x.std() or y.min() == y.max():
        words = "It takes 20 settled runs that differ in it, some passed and some not."
        return Leaning(
            name,
            without_value(bare, Reason.BELOW_FLOOR, words),
            without_test(title, len(x), method, Reason.BELOW_FLOOR),
        )
    columns = [np.ones_like(x), (x - x.mean()) / x.std()] + ([gold] if gold.min() != gold.max() else [])
    fitted = _logistic(np.column_stack(columns), y)
    if fitted is None:
        return Leaning(
            name,
            without_value(bare, Reason.SEPARATED, _SEPARATED),
            without_test(title, len(x), method, Reason.SEPARATED),
        )
    slope, error = fitted
    z = slope / error
    p = float(2 * ndtr(-abs(z)))
    odds = Estimate(
        bare.statistic,
        float(np.exp(slope)),
        float(np.exp(slope - 1.959964 * error)),
        float(np.exp(slope + 1.959964 * error)),
        len(x),
        method=method,
    )
    return Leaning(name, odds, HypothesisTest(title, p, len(x), float(z), method=method))


_SEPARATED = "The grader follows it, or the label, without exception, so no finite odds explain its verdicts."


def _logistic(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    """Slope and error of the second column by Newton's method; None where no finite fit exists."""
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        information = x.T @ (x * (p * (1 - p))[:, None])
        if np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, x.T @ (y - p))
        beta += step
        if np.abs(beta).max() > 25:
            return None
        if np.abs(step).max() < 1e-9:
            return float(beta[1]), float(np.sqrt(np.linalg.inv(information)[1, 1]))
    return None


@dataclass(frozen=True)
class OwnKind:
    """False positives on runs of the judge's own model family, and on those of others."""

    own: Estimate
    others: Estimate
    test: HypothesisTest


def own_kind(own: Sequence[bool], passes: Sequence[bool], truth: Sequence[bool]) -> OwnKind:
    """Among runs that experts fail, whether those of the judge's own family pass more often (Fisher's exact test)."""
    mine, said, failed = np.asarray(own, bool), np.asarray(passes, bool), ~np.asarray(truth, bool)
    a, n = int((mine & said & failed).sum()), int((mine & failed).sum())
    b, m = int((~mine & said & failed).sum()), int((~mine & failed).sum())
    shares = wilson(a, n, statistic="False positives on its own family"), wilson(b, m, statistic="On others")
    name, method = "Own family against others", "Fisher's exact test, two-sided"
    if not n or not m:
        return OwnKind(*shares, without_test(name, n + m, method, Reason.NO_PAIRS))
    # Inside, because importing scipy.stats takes longer and more memory than all the rest of a web process.
    from scipy.stats import fisher_exact

    p = float(fisher_exact([[a, n - a], [b, m - b]]).pvalue)
    return OwnKind(*shares, HypothesisTest(name, min(1.0, p), n + m, method=method))


@dataclass(frozen=True)
class OwnSide:
    """Pairs in which one side alone is of the judge's own family: how often it is preferred, by the judge and by gold.

    The test holds the two against each other, pair by pair.
    """

    judge: Estimate
    gold: Estimate
    test: HypothesisTest


def own_side(own: Sequence[int], verdicts: Sequence[int], gold: Sequence[int]) -> OwnSide:
    """`own` is the place of the own side, FIRST or SECOND. Pairs on which either is undecided are left out."""
    place, said, right = np.asarray(own, int), np.asarray(verdicts, int), np.asarray(gold, int)
    told = (said != TIE) & (right != TIE)
    mine, golds = (said == place)[told], (right == place)[told]
    n = int(told.sum())
    return OwnSide(
        wilson(int(mine.sum()), n, statistic="The judge prefers its own family"),
        wilson(int(golds.sum()), n, statistic="Experts prefer that side"),
        mcnemar(int((mine & ~golds).sum()), int((~mine & golds).sum()), name="The judge against experts"),
    )
