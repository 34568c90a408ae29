"""Which labels are given side by side on the same units, and which units those are."""

from dataclasses import dataclass

import numpy as np

from reviews.stats.counts import Ratings


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two labels, by code, and the units that carry both."""

    first: int
    second: int
    units: tuple[int, ...]

    @property
    def n_units(self) -> int:
        return len(self.units)


def disagreeing_units(ratings: Ratings) -> np.ndarray:
    """Units whose ratings are not all the same."""
    return np.flatnonzero(np.count_nonzero(ratings.counts, axis=1) > 1)


def confusions(ratings: Ratings) -> list[Confusion]:
    """Every two labels found on one unit, most frequent first; equal numbers in the order of the scale."""
    disagreeing = disagreeing_units(ratings)
    given = ratings.counts[disagreeing] > 0
    found = [
        Confusion(first, second, tuple(disagreeing[given[:, first] & given[:, second]].tolist()))
        for first in range(ratings.n_labels)
        for second in range(first + 1, ratings.n_labels)
    ]
    return sorted((pair for pair in found if pair.units), key=lambda pair: -pair.n_units)
