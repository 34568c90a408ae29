"""Whether what comes in still looks as it did: the mean of each measure against its mean and spread back then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

WINDOW = 50
FEWEST = 20
# A mean that has moved by the whole spread of single items is another kind of input, whatever chance may do.
MOST = 1.0
# Where nothing varied back then, the least change would be endless.
LEAST_SPREAD = 0.1


@dataclass(frozen=True)
class Shift:
    """One measure: by how many standard deviations of single items its mean has moved; None where too few are known."""

    name: str
    then: float
    now: float | None
    shift: float | None
    n: int
    words: str

    @property
    def drifted(self) -> bool:
        return self.shift is not None and abs(self.shift) > MOST


def baseline_of(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """{measure: [mean, standard deviation]}; nothing where there are too few to tell."""
    if len(rows) < FEWEST:
        return {}
    names = sorted(set.intersection(*(set(row) for row in rows)))
    return {name: [fmean(row[name] for row in rows), stdev(row[name] for row in rows)] for name in names}


def shifts(baseline: Mapping[str, Sequence[float]], latest: Sequence[Mapping[str, float]]) -> list[Shift]:
    """Every measure over the latest items, of which `WINDOW` are needed."""
    found = []
    for name, (mean, spread) in sorted(baseline.items()):
        values = [row[name] for row in latest[-WINDOW:] if name in row]
        if len(values) < WINDOW:
            words = f"{len(values)} of the {WINDOW} items needed."
            found.append(Shift(name, mean, None, None, len(values), words))
            continue
        now = fmean(values)
        shift = (now - mean) / max(spread, LEAST_SPREAD)
        chance = 2 / sqrt(len(values))
        words = f"Moved by {shift:+.2f} standard deviations; chance alone moves it by up to {chance:.2f}."
        found.append(Shift(name, mean, now, shift, len(values), words))
    return found
