"""The pass rate of many runs that only a grader saw, corrected by the few that experts saw too."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from reviews.stats.result import Estimate, Reason, without_value


def rogan_gladen(
    passed: int, n: int, *, specificity: tuple[int, int], sensitivity: tuple[int, int], confidence: float = 0.95
) -> Estimate:
    """The true pass rate behind an apparent one (Rogan and Gladen 1978): (p + sp - 1) / (se + sp - 1).

    Both rates are (right, of so many) on labelled runs. The interval counts their noise too, with added pseudo-counts
    (Lee et al. 2025, arXiv 2511.21140). Refused where the grader tells no more than chance; an estimate outside 0 to 1
    is cut off, and `words` say so.
    """
    method = f"Rogan-Gladen, {confidence:.0%} with calibration noise (arXiv 2511.21140)"
    bare = Estimate("Corrected pass rate", None, n_units=n, method=method)
    (right0, m0), (right1, m1) = specificity, sensitivity
    if not n or not m0 or not m1:
        words = "It takes scored runs, and labelled ones of both kinds: passed and failed by experts."
        return without_value(bare, Reason.NO_RATINGS, words)
    sp, se = right0 / m0, right1 / m1
    if se + sp <= 1 + 1e-12:
        words = "The grader tells passes from failures no better than chance, so its rate cannot be corrected."
        return without_value(bare, Reason.NO_VARIATION, words)
    raw = (passed / n + sp - 1) / (se + sp - 1)
    low, high = _with_calibration_noise(passed / n, n, sp, m0, se, m1, confidence)
    words = "" if 0 <= raw <= 1 else f"The formula gives {raw:.3f}, outside 0 to 1, and was cut off there."
    value = min(1.0, max(0.0, raw))
    return Estimate(bare.statistic, value, min(low, value), max(high, value), n, method=method, words=words)


def _with_calibration_noise(
    p: float, n: float, sp: float, m0: float, se: float, m1: float, confidence: float
) -> tuple[float, float]:
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, n = (p * n + z * z / 2) / (n + z * z), n + z * z
    sp, m0 = (sp * m0 + 1) / (m0 + 2), m0 + 2
    se, m1 = (se * m1 + 1) / (m1 + 2), m1 + 2
    denominator = sp + se - 1
    if denominator <= 0:
        return 0.0, 1.0
    middle = min(1.0, max(0.0, (p + sp - 1) / denominator))
    noise0, noise1 = sp * (1 - sp) / m0, se * (1 - se) / m1
    shift = 2 * z * z * (-(1 - middle) * noise0 + middle * noise1)
    spread = z * sqrt(p * (1 - p) / n + (1 - middle) ** 2 * noise0 + middle**2 * noise1) / denominator
    return max(0.0, middle + shift - spread), min(1.0, middle + shift + spread)


@dataclass(frozen=True)
class Powered:
    """A mean from predictions and labels together; `weight` is how far the predictions were trusted, 0 not at all."""

    estimate: Estimate
    weight: float | None


def ppi(
    labels: Sequence[float],
    predicted: Sequence[float],
    unlabelled: Sequence[float],
    *,
    weight: float | None = None,
    confidence: float = 0.95,
) -> Powered:
    """Prediction-powered mean (Angelopoulos et al. 2023); the weight is tuned (PPI++, Angelopoulos, Duchi and Zrnic
    2023) unless given, and cut to 0 to 1, so a useless grader costs nothing.

    The labelled runs must be a random sample of all.
    """
    y, f, g = (np.asarray(each, float) for each in (labels, predicted, unlabelled))
    n, m = len(y), len(g)
    method = f"{'PPI++' if weight is None else 'PPI'}, {confidence:.0%} normal"
    bare = Estimate("Prediction-powered pass rate", None, n_units=n + m, method=method)
    if n < 2 or m < 2:
        words = "It takes at least two labelled runs and two that only the grader saw."
        return Powered(without_value(bare, Reason.BELOW_FLOOR, words), None)
    if weight is None:
        spread = float(np.concatenate([f, g]).var())
        tuned = float(((y - y.mean()) * (f - f.mean())).mean()) / ((1 + n / m) * spread) if spread else 0.0
        weight = min(1.0, max(0.0, tuned))
    value = float(weight * g.mean() + (y - weight * f).mean())
    error = sqrt(weight**2 * float(g.var()) / m + float((y - weight * f).var()) / n)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Powered(Estimate(bare.statistic, value, value - reach, value + reach, n + m, method=method), weight)
