"""The report on a reviewer: every proof that is asked for, whether it holds, and what is missing where one does not.

No single test shows that a reviewer judges as the experts do, so all must hold.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

WORD = {1: "pass", 0: "fail"}


# What a person is worth in the alternative annotator test, by tier (Calderon, Reichart and Dror 2025).
EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}


@dataclass(frozen=True)
class Demands:
    """What has to hold; the report says what was asked for. `epsilon` is what a person is worth, by their tier."""

    risk: float = 0.1
    delta: float = 0.1
    epsilon: float = 0.2
    false_accepts: float = 0.05
    false_rejects: float = 0.1
    coverage: float = 0.2
    agreement: float = 0.4
    fewest_of_class: int = 40
    fewest_in_slice: int = 5


@dataclass(frozen=True)
class Proof:
    """One line of the report. `holds` is None for what is only told; `missing` says what would make it hold."""

    key: str
    title: str
    holds: bool | None
    words: str
    figures: Mapping[str, Any]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assurance:
    """All proofs, and what they come to."""

    proofs: tuple[Proof, ...]
    demands: Demands

    @property
    def holds(self) -> bool:
        return all(proof.holds is not False for proof in self.proofs)

    @property
    def missing(self) -> list[str]:
        return [each for proof in self.proofs for each in proof.missing]

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "holds": self.holds,
            "missing": self.missing,
            "proofs": [asdict(proof) for proof in self.proofs],
            "demands": asdict(self.demands),
        }


def plural(label: int, n: int) -> str:
    word = WORD[label]
    return word if n == 1 else f"{word}es" if label else f"{word}s"
