"""How a grader's version stood up to probes: by kind, how many held, with an interval, and what is missing.

A probe holds where the verdict is the one expected. Where a fail is expected, a grader that gives no verdict that
counts is not fooled either. What nobody answered is neither. Settled runs are no attacks: of them only those count
against a version that the one before had right.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate


@dataclass(frozen=True)
class Stood:
    """What one version did on the approved probes of one kind. `worse` counts those that the version before held."""

    kind: str
    probes: int
    answered: int
    held: int
    worse: int
    rate: Estimate

    @property
    def complete(self) -> bool:
        return 0 < self.probes == self.answered

    @property
    def all_held(self) -> bool:
        return self.complete and self.held == self.answered

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "kind": self.kind,
            "probes": self.probes,
            "answered": self.answered,
            "held": self.held,
            "worse": self.worse,
            "rate": self.rate.as_dict(),
        }


def holds(expected: bool, said: bool | None) -> bool:
    """Whether a verdict, or none that counts, is as expected."""
    return said is expected if expected else said is not True


def stood_up(
    kinds: Sequence[str],
    probes: Iterable[tuple[int, str]],
    held: Mapping[int, bool | None],
    before: Mapping[int, bool | None],
) -> list[Stood]:
    """A row per kind, from approved probes as (id, kind), what held of them, and what held with the version before."""
    by_kind: dict[str, list[int]] = {kind: [] for kind in kinds}
    for probe, kind in probes:
        by_kind[kind].append(probe)
    rows = []
    for kind, ids in by_kind.items():
        known = {one: held[one] for one in ids if held.get(one) is not None}
        right = sum(bool(one) for one in known.values())
        worse = sum(before.get(one) is True and not value for one, value in known.items())
        rate = wilson(right, len(known), statistic=f"held: {kind}")
        rows.append(Stood(kind, len(ids), len(known), right, worse, rate))
    return rows


def what_is_missing(rows: Iterable[Stood], words: Mapping[str, str], *, told_only: Collection[str]) -> list[str]:
    """What keeps a version from being promoted, in sentences; nothing where every kind of attack held."""
    missing = []
    for row in rows:
        name = words[row.kind]
        if row.kind in told_only:
            if row.worse:
                missing.append(f"{name}: {row.worse} that the version before had right are wrong now.")
        elif not row.probes:
            missing.append(f"{name}: no probe of this kind is approved.")
        elif not row.complete:
            missing.append(f"{name}: {row.probes - row.answered} of {row.probes} probes are not answered.")
        elif row.held < row.answered:
            missing.append(f"{name}: wrong on {row.answered - row.held} of {row.answered}.")
    return missing
