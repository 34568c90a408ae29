"""Agreement kept up to date one label at a time, however many there are already.

A unit-level coefficient depends on the units only through how many of them show which counts of labels. A tally keeps
just that: integers, so adding and removing a label for years leaves no rounding behind, and the value, its interval and
its numbers are those of counting everything again. Its state is small and plain (`as_state`), so that it can be stored
with whatever it is about.

Whoever adds a label says what the others have given to the unit so far; the tally itself remembers no unit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from reviews.stats.counts import Patterns, Ratings
from reviews.stats.result import Reason

Rater = str | int


class Tally:
    """Counts of labels per unit, of one criterion. Labels are codes from 0 on the declared scale `scores`.

    It can be given to `agreement.estimate` and the coefficients there, in place of ratings.
    """

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = np.asarray(scores, dtype=float)
        # Counts of labels -> how many units show them; a unit nobody rated shows nothing.
        self._units: Counter[tuple[int, ...]] = Counter()
        # Ratings per rater, on all units and on those with two or more.
        self._given: Counter[str] = Counter()
        self._compared: Counter[str] = Counter()

    def add(self, rater: Rater, label: int, *, beside: Mapping[Rater, int]) -> None:
        """`rater` gives `label` to a unit to which the others, `beside`, gave theirs. A rater rates a unit once."""
        rater, others = self._checked(rater, label, beside)
        self._move(others.values(), [*others.values(), label])
        self._given[rater] += 1
        if others:
            self._compared[rater] += 1
        if len(others) == 1:
            self._compared.update(list(others))

    def remove(self, rater: Rater, label: int, *, beside: Mapping[Rater, int]) -> None:
        """Take back what `add` with the same arguments has added. What was never added is refused."""
        rater, others = self._checked(rater, label, beside)
        if not self._given[rater] or not self._units[self._counts([*others.values(), label])]:
            raise ValueError("the tally holds no such label, so it cannot be taken away")
        self._move([*others.values(), label], others.values())
        self._take(self._given, [rater])
        if others:
            self._take(self._compared, [rater])
        if len(others) == 1:
            self._take(self._compared, others)

    def replace(self, rater: Rater, label: int, by: int, *, beside: Mapping[Rater, int]) -> None:
        """A rater corrects a label."""
        self.remove(rater, label, beside=beside)
        self.add(rater, by, beside=beside)

    @classmethod
    def of(cls, ratings: Ratings) -> Self:
        """The tally of ratings counted all at once; raters are their codes."""
        tally = cls(ratings.scores.tolist())
        patterns = ratings.patterns
        for counts, times in zip(patterns.counts.tolist(), patterns.times.tolist(), strict=True):
            if any(counts):
                tally._units[tuple(counts)] = times
        pairable = ratings.per_unit[ratings.units] >= 2
        for counter, raters in ((tally._given, ratings.raters), (tally._compared, ratings.raters[pairable])):
            codes, times = np.unique(raters, return_counts=True)
            counter.update(dict(zip(map(str, codes.tolist()), times.tolist(), strict=True)))
        return tally

    def as_state(self) -> dict[str, Any]:
        """Plain types for JSON: [counts, units] for each kind of unit, and the raters with their ratings."""
        return {
            "scores": self.scores.tolist(),
            "units": [[list(counts), times] for counts, times in sorted(self._units.items())],
            "raters": {rater: [n, self._compared[rater]] for rater, n in sorted(self._given.items())},
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        tally = cls(state["scores"])
        tally._units.update({tuple(counts): times for counts, times in state["units"]})
        for rater, (given, compared) in state["raters"].items():
            tally._given[rater] = given
            if compared:
                tally._compared[rater] = compared
        return tally

    # What the coefficients read.

    @property
    def n_labels(self) -> int:
        return len(self.scores)

    @property
    def patterns(self) -> Patterns:
        """The kinds of unit with their numbers; which unit is of which kind is not known here."""
        counts = np.array(list(self._units), dtype=np.int64).reshape(len(self._units), self.n_labels)
        times = np.array(list(self._units.values()), dtype=np.int64)
        return Patterns(counts, times, np.zeros(0, dtype=np.int64))

    @property
    def n_pairable_units(self) -> int:
        return sum(times for counts, times in self._units.items() if sum(counts) >= 2)

    @property
    def n_pairs(self) -> int:
        return sum(times * (m := sum(counts)) * (m - 1) // 2 for counts, times in self._units.items())

    @property
    def n_pairing_raters(self) -> int:
        return len(self._compared)

    @property
    def nothing_to_compare(self) -> Reason | None:
        if not self._given:
            return Reason.NO_RATINGS
        if len(self._given) == 1:
            return Reason.ONE_RATER
        return None if self._compared else Reason.NO_PAIRS

    # How labels move units from one kind to another.

    def _checked(self, rater: Rater, label: int, beside: Mapping[Rater, int]) -> tuple[str, dict[str, int]]:
        others = {str(other): said for other, said in beside.items()}
        if str(rater) in others:
            raise ValueError("a rater rates a unit once; replace the label instead")
        if any(not 0 <= said < self.n_labels for said in (label, *others.values())):
            raise ValueError("a label is not on the declared scale")
        return str(rater), others

    def _move(self, before: Iterable[int], after: Iterable[int]) -> None:
        left, reached = self._counts(before), self._counts(after)
        if any(left):
            self._take(self._units, [left])
        if any(reached):
            self._units[reached] += 1

    def _counts(self, labels: Iterable[int]) -> tuple[int, ...]:
        counts = [0] * self.n_labels
        for label in labels:
            counts[label] += 1
        return tuple(counts)

    @staticmethod
    def _take(counter: "Counter[Any]", keys: Iterable[Any]) -> None:
        for key in keys:
            counter[key] -= 1
            if not counter[key]:
                del counter[key]
