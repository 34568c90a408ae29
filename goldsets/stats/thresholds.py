"""Where to draw the line on a score: the curves behind it; chosen on one half of the tasks, certified on the other.

A run passes where its score is at or above the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldsets.stats.grading import Errors, errors
from reviews.stats.result import Estimate, Reason, without_value

# A curve is drawn through at most so many thresholds.
MOST_POINTS = 200


@dataclass(frozen=True)
class Point:
    """What one threshold does. `precision` is None where nothing passes."""

    threshold: float
    false_positive_rate: float
    true_positive_rate: float
    precision: float | None


@dataclass(frozen=True)
class Curve:
    """Points from the strictest threshold to the loosest; both areas by their own method."""

    points: tuple[Point, ...]
    roc_area: Estimate
    average_precision: Estimate


def curve(scores: Sequence[float], truth: Sequence[bool]) -> Curve:
    """ROC and precision-recall. The area under ROC is Mann and Whitney's (1947), ties by half, interval by Hanley
    and McNeil (1982)."""
    values, right = np.asarray(scores, float), np.asarray(truth, bool)
    positive, negative = int(right.sum()), int((~right).sum())
    area = Estimate("Area under ROC", None, n_units=len(values), method="Mann-Whitney, 95% Hanley-McNeil")
    precision = Estimate("Average precision", None, n_units=len(values), method="step-wise sum, no interval")
    if not positive or not negative:
        words = "It takes runs that experts pass and runs that they fail."
        return Curve((), *(without_value(each, Reason.NO_VARIATION, words) for each in (area, precision)))
    cuts, passed, hits = _cumulative(values, right)
    points = [
        Point(float(cut), float((all_ - hit) / negative), float(hit / positive), float(hit / all_))
        for cut, all_, hit in zip(cuts, passed, hits, strict=True)
    ]
    recall_steps = np.diff(np.concatenate([[0], hits])) / positive
    average = float((recall_steps * hits / passed).sum())
    return Curve(
        tuple(_thinned(points)),
        _roc_area(values, right, area),
        Estimate(precision.statistic, average, n_units=len(values), method=precision.method),
    )


def _cumulative(values: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct scores downwards, with how many runs pass at each, and how many of those rightly."""
    order = np.argsort(-values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)
    return values[order][ends], ends + 1, np.cumsum(right[order])[ends]


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= MOST_POINTS:
        return points
    places = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))
    return [points[place] for place in places]


def _roc_area(values: np.ndarray, right: np.ndarray, bare: Estimate) -> Estimate:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    m, n = int(right.sum()), int((~right).sum())
    area = float((ranks[right].sum() - m * (m + 1) / 2) / (m * n))
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = np.sqrt(max(0.0, area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (m * n))
    low, high = max(0.0, area - 1.959964 * spread), min(1.0, area + 1.959964 * spread)
    return Estimate(bare.statistic, area, float(low), float(high), bare.n_units, method=bare.method)


@dataclass(frozen=True)
class Certified:
    """A threshold chosen on one part and tried on the other, whose numbers are therefore honest.

    `threshold` is None where no choice keeps the rate of false positives at the limit on the first part.
    """

    limit: float
    threshold: float | None
    chosen_on: Errors | None
    certified_on: Errors | None
    holds: bool
    words: str


def certify(scores: Sequence[float], truth: Sequence[bool], choosing: Sequence[bool], limit: float) -> Certified:
    """The loosest threshold with at most `limit` false positives where `choosing`, bounded on all others at 95%."""
    values, right, first = np.asarray(scores, float), np.asarray(truth, bool), np.asarray(choosing, bool)
    if not (~right[first]).any() or not (~right[~first]).any():
        words = "Each half needs runs that experts fail: one to choose the threshold, the other to certify it."
        return Certified(limit, None, None, None, False, words)
    threshold = _loosest(values[first], right[first], limit)
    if threshold is None:
        words = f"Every threshold passes more than {limit:.0%} of the failures it was chosen on."
        return Certified(limit, None, None, None, False, words)
    chosen = errors(values[first] >= threshold, right[first])
    tried = errors(values[~first] >= threshold, right[~first])
    bound = tried.bound()
    holds = (bound.high or 0) <= limit
    words = (
        f"At {threshold:g}, {tried.false_passes} of {tried.failures} failures pass on the other half: at most "
        f"{bound.high:.1%} with 95% confidence, {'within' if holds else 'which does not show'} {limit:.0%}."
    )
    return Certified(limit, threshold, chosen, tried, holds, words)


def _loosest(values: np.ndarray, right: np.ndarray, limit: float) -> float | None:
    cuts, passed, hits = _cumulative(values, right)
    within = cuts[(passed - hits) <= limit * int((~right).sum())]
    return float(within[-1]) if len(within) else None
