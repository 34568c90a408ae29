"""From one row per rating to counts per unit, and to the few count patterns that a million ratings hold.

A unit-level coefficient depends on a unit only through how often each label was given to it. There are far fewer such
patterns than units, which is what makes counting, resampling and leaving a rater out cheap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from reviews.stats.result import Reason

MISSING = -1
# Up to this many cells a table indexed directly is faster than sorting.
DIRECT_CELLS = 50_000_000


@dataclass(frozen=True)
class Patterns:
    """The distinct rows of the count matrix, (patterns, labels).

    `times` says how many units show each pattern, `of_unit` which one a unit shows.
    """

    counts: np.ndarray
    times: np.ndarray
    of_unit: np.ndarray


class Counted(Protocol):
    """All that a coefficient over units has to know: the kinds of unit, and the numbers to go with its value."""

    @property
    def scores(self) -> np.ndarray: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def patterns(self) -> Patterns: ...
    @property
    def n_pairable_units(self) -> int: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def n_pairing_raters(self) -> int: ...
    @property
    def nothing_to_compare(self) -> Reason | None: ...


@dataclass(frozen=True)
class Ratings:
    """One rating per row, as codes from 0, on a declared scale. A rater appears at most once on a unit.

    `scores` are the scale's values, one per label. Unused ones belong to it: weights and AC1 depend on the whole scale.
    """

    units: np.ndarray
    raters: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    n_units: int
    n_raters: int
    n_repeats: int = 0

    @property
    def n_labels(self) -> int:
        return len(self.scores)

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each label was given to each unit, (units, labels)."""
        cells = self.units * self.n_labels + self.labels
        flat = np.bincount(cells, minlength=self.n_units * self.n_labels)
        return flat.reshape(self.n_units, self.n_labels)

    @cached_property
    def per_unit(self) -> np.ndarray:
        """Ratings per unit."""
        return np.bincount(self.units, minlength=self.n_units)

    @cached_property
    def patterns(self) -> Patterns:
        return find_patterns(self.counts)

    @cached_property
    def n_pairable_units(self) -> int:
        return int(np.count_nonzero(self.per_unit >= 2))

    @cached_property
    def n_pairs(self) -> int:
        return int((self.per_unit * (self.per_unit - 1)).sum() // 2)

    @cached_property
    def n_pairing_raters(self) -> int:
        """People with at least one rating that can be compared."""
        pairable = self.per_unit[self.units] >= 2
        return int(np.count_nonzero(np.bincount(self.raters[pairable], minlength=self.n_raters)))

    @cached_property
    def nothing_to_compare(self) -> Reason | None:
        """Why no two ratings can be compared, or None when some can."""
        if not len(self.units):
            return Reason.NO_RATINGS
        if not np.any(self.raters != self.raters[0]):
            return Reason.ONE_RATER
        return None if self.n_pairable_units else Reason.NO_PAIRS

    def keep(self, rows: np.ndarray) -> "Ratings":
        """Only the rows chosen by a mask or an index, on the same codes and scale."""
        return Ratings(
            self.units[rows],
            self.raters[rows],
            self.labels[rows],
            self.scores,
            self.n_units,
            self.n_raters,
            self.n_repeats,
        )


def from_codes(
    units: np.ndarray,
    raters: np.ndarray,
    labels: np.ndarray,
    *,
    scores: Sequence[float] | np.ndarray,
    n_units: int | None = None,
    n_raters: int | None = None,
) -> Ratings:
    """Ratings from integer codes. Label -1 is a missing rating and is dropped; of repeats on a unit the first stays.

    A label outside the declared scale is an error of the caller, not a degenerate case, and is refused.
    """
    units, raters, labels = (np.asarray(column, dtype=np.int64).ravel() for column in (units, raters, labels))
    if not len(units) == len(raters) == len(labels):
        raise ValueError("units, raters and labels must have the same length")
    if len(labels) and (labels.min() < MISSING or labels.max() >= len(scores)):
        raise ValueError("a label is not on the declared scale")
    given = labels != MISSING
    if not given.all():
        units, raters, labels = units[given], raters[given], labels[given]
    n_units = _size(units, n_units)
    n_raters = _size(raters, n_raters)
    first = _first_of_each(units * n_raters + raters, n_units * n_raters)
    n_repeats = 0
    if first is not None:
        n_repeats = len(units) - len(first)
        units, raters, labels = units[first], raters[first], labels[first]
    return Ratings(units, raters, labels, np.asarray(scores, dtype=float), n_units, n_raters, n_repeats)


def from_values(units: Sequence[Any], raters: Sequence[Any], labels: Sequence[Any], *, scale: Sequence[Any]) -> Ratings:
    """Ratings from any values; None is a missing label.

    Numbers on the scale are its scores, names are scored by their place.
    """
    code_of = {value: code for code, value in enumerate(scale)}
    if len(code_of) != len(scale):
        raise ValueError("the scale names a value twice")
    unknown = {label for label in labels if label is not None and label not in code_of}
    if unknown:
        raise ValueError(f"not on the declared scale: {', '.join(sorted(map(repr, unknown)))}")
    numeric = all(isinstance(value, int | float) for value in scale)
    return from_codes(
        _codes(units),
        _codes(raters),
        np.array([MISSING if label is None else code_of[label] for label in labels], dtype=np.int64),
        scores=list(scale) if numeric else range(len(scale)),
    )


def from_matrix(rows: Sequence[Sequence[Any]], *, scale: Sequence[Any]) -> Ratings:
    """Ratings from a list of units, each a list with one label per rater, None where the rater gave none."""
    cells = [(unit, rater, label) for unit, row in enumerate(rows) for rater, label in enumerate(row)]
    units, raters, labels = zip(*cells, strict=True) if cells else ((), (), ())
    return from_values(units, raters, labels, scale=scale)


def find_patterns(counts: np.ndarray) -> Patterns:
    """The distinct rows of a count matrix, each with the number of units that show it."""
    n_labels = counts.shape[1]
    base = int(counts.max(initial=0)) + 1
    if base**n_labels > 2**62:
        distinct, of_unit, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
        return Patterns(distinct, times, of_unit.ravel())
    # A row of counts read as the digits of one number: equal rows, equal numbers.
    code = counts @ (base ** np.arange(n_labels, dtype=np.int64))
    if base**n_labels <= max(len(counts), 1024):
        present = np.bincount(code, minlength=base**n_labels)
        kinds = np.flatnonzero(present)
        number_of = np.zeros(base**n_labels, dtype=np.int64)
        number_of[kinds] = np.arange(len(kinds))
        times, of_unit = present[kinds], number_of[code]
    else:
        kinds, of_unit, times = np.unique(code, return_inverse=True, return_counts=True)
    distinct = kinds[:, None] // (base ** np.arange(n_labels, dtype=np.int64)) % base
    return Patterns(distinct, times, of_unit)


def _codes(values: Sequence[Any]) -> np.ndarray:
    """Numbers from 0 in order of first appearance."""
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.int64)


def _size(codes: np.ndarray, declared: int | None) -> int:
    """How many codes there are: as declared, or one more than the largest."""
    if len(codes) and codes.min() < 0:
        raise ValueError("codes start at 0")
    largest = int(codes.max()) + 1 if len(codes) else 0
    if declared is not None and declared < largest:
        raise ValueError("a code is larger than declared")
    return largest if declared is None else declared


def _first_of_each(cells: np.ndarray, n_cells: int) -> np.ndarray | None:
    """Rows to keep so that every cell appears once, the first time; None when none repeats."""
    if n_cells <= DIRECT_CELLS:
        taken = np.zeros(n_cells, dtype=bool)
        taken[cells] = True
        if np.count_nonzero(taken) == len(cells):
            return None
    _, first = np.unique(cells, return_index=True)
    return None if len(first) == len(cells) else np.sort(first)
