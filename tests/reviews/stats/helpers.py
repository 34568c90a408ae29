"""Ratings from the ways in which tables are printed, and the naive definitions to compare with."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from reviews.stats.counts import Ratings, from_codes, from_matrix


def from_table(table: Sequence[Sequence[int]], scale: Sequence[int] | None = None) -> Ratings:
    """Two raters: the cell (i, j) holds how many units got i from the first and j from the second."""
    n_labels = len(table)
    scale = scale or list(range(1, n_labels + 1))
    rows = [[scale[i], scale[j]] for i in range(n_labels) for j in range(n_labels) for _ in range(table[i][j])]
    return from_matrix(rows, scale=scale)


def from_counts(counts: Sequence[Sequence[int]], scores: Sequence[float] | None = None) -> Ratings:
    """Each unit by how often it got each label. Who gave which is unknown, so places stand for raters."""
    units, raters, labels = [], [], []
    for unit, row in enumerate(counts):
        given = [label for label, times in enumerate(row) for _ in range(times)]
        units += [unit] * len(given)
        raters += range(len(given))
        labels += given
    return from_codes(units, raters, labels, scores=scores or range(len(counts[0])))


def random_ratings(
    seed: int, *, n_units: int = 30, n_raters: int = 4, n_labels: int = 4, missing: float = 0.3
) -> Ratings:
    """Raters who mostly see the same thing and miss some units."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_units)
    seen = np.where(
        rng.random((n_units, n_raters)) < 0.6, truth[:, None], rng.integers(0, n_labels, (n_units, n_raters))
    )
    seen[rng.random(seen.shape) < missing] = -1
    units, raters = np.indices(seen.shape)
    return from_codes(
        units.ravel(), raters.ravel(), seen.ravel(), scores=range(n_labels), n_units=n_units, n_raters=n_raters
    )


def by_unit(ratings: Ratings) -> dict[int, dict[int, int]]:
    """unit -> rater -> label."""
    found: dict[int, dict[int, int]] = {}
    for unit, rater, label in zip(ratings.units, ratings.raters, ratings.labels, strict=True):
        found.setdefault(int(unit), {})[int(rater)] = int(label)
    return found


def naive_percent(ratings: Ratings) -> float:
    """Percent agreement, pair by pair as it is defined."""
    shares = []
    for given in by_unit(ratings).values():
        pairs = list(combinations(given.values(), 2))
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
    return sum(shares) / len(shares)
