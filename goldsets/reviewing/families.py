"""Splits examples by family, which is the only way here: a random split lets a reviewer meet in the test what it knows.

Each family goes where most of what it has is still wanted; a hash of their names draws the order of equals. What is
sealed already is the test's, whatever its share.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from goldsets.reviewing.examples import Example

FEWEST_FAMILIES = 8


class Part(StrEnum):
    """What each part is for: to fit weights, to choose among fits and calibrate, to certify, and to prove."""

    TRAIN = "train"
    DEVELOPMENT = "development"
    CALIBRATION = "calibration"
    TEST = "test"


SHARES = {Part.TRAIN: 0.4, Part.DEVELOPMENT: 0.1, Part.CALIBRATION: 0.2, Part.TEST: 0.3}


def split_families(
    examples: Sequence[Example], *, seed: str, sealed: Collection[str] = (), certifying: Collection[str] = ()
) -> dict[Part, list[Example]]:
    """Every example in one part, and every family in one part with all its examples.

    Families that are `sealed` are for the proof alone, and those `certifying` for calibration alone.

    The same examples and seed give the same parts. Passes and fails are each spread by the shares, as far as families
    allow; the largest family comes first, so that the small ones even out what it leaves.
    """
    counts = Counter((example.family, example.label) for example in examples)
    totals = Counter(example.label for example in examples)
    families = sorted({example.family for example in examples}, key=lambda family: _drawn(family, seed))
    shares = {family: {label: counts[family, label] / (totals[label] or 1) for label in (0, 1)} for family in families}
    part_of: dict[str, Part] = dict.fromkeys(certifying, Part.CALIBRATION) | dict.fromkeys(sealed, Part.TEST)
    wanting = _still_wanted({part: [shares[f] for f in families if part_of.get(f) is part] for part in Part})
    for family in sorted(families, key=lambda family: sum(shares[family].values()), reverse=True):
        if family not in part_of:
            part_of[family] = max(Part, key=lambda part: _fit(shares[family], wanting[part]))
            for label, share in shares[family].items():
                wanting[part_of[family]][label] -= share
    parts: dict[Part, list[Example]] = {part: [] for part in Part}
    for example in examples:
        parts[part_of[example.family]].append(example)
    return parts


def _still_wanted(given: Mapping[Part, Sequence[Mapping[int, float]]]) -> dict[Part, dict[int, float]]:
    """What each part wants of what is free, where some families are given: what one has too much, all others lack."""
    wanted: dict[Part, dict[int, float]] = {part: {} for part in Part}
    for label in (0, 1):
        has = {part: sum(shares[label] for shares in given[part]) for part in Part}
        lacking = {part: max(0.0, SHARES[part] - has[part]) for part in Part}
        free, all_lacking = 1 - sum(has.values()), sum(lacking.values()) or 1.0
        for part in Part:
            wanted[part][label] = lacking[part] / all_lacking * free
    return wanted


def _fit(shares: Mapping[int, float], wanting: Mapping[int, float]) -> float:
    """How well a family's passes and fails meet what a part still wants of each."""
    return sum(share * wanting[label] for label, share in shares.items())


def _drawn(family: str, seed: str) -> str:
    return hashlib.sha256(f"{seed}\n{family}".encode()).hexdigest()
