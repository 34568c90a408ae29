"""Texts that say nearly the same, found among many.

Texts are compared by their shingles, every five words in a row, and are near where the shingles that both have are
at least 0.8 of those that either has: Jaccard's share, with the length and the threshold of Lee et al. 2022
("Deduplicating Training Data Makes Language Models Better"). MinHash (Broder 1997) in 32 bands of 4 finds what may be
near without comparing all with all: a pair at 0.8 is missed once in 20 million. What it finds is then compared in full,
so that a similarity that is told is exact.
"""

import hashlib
import re
import unicodedata
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from rensa import RMinHash, RMinHashLSH

SHINGLE = 5
THRESHOLD = 0.8
PERMUTATIONS = 128
BANDS = 32
SEED = 42
# A shorter text has too few shingles to be near another: it is the same or it is not.
FEWEST_WORDS = 8

_word = re.compile(r"\w+")


@lru_cache(maxsize=4)
def words(text: str) -> tuple[str, ...]:
    """The words, whatever their case, marks and spaces. Of one text they are asked for several times in a row."""
    return tuple(_word.findall(unicodedata.normalize("NFKC", text).casefold()))


def text_hash(text: str) -> str:
    """The SHA-256 of the words with one space between them: what a list may hold where its texts may not be copied."""
    return hashlib.sha256(" ".join(words(text)).encode()).hexdigest()


def shingles(text: str) -> set[str]:
    """Every five words in a row; of a shorter text, all of it. None of a text without words."""
    found = words(text)
    if not found:
        return set()
    return {" ".join(found[start : start + SHINGLE]) for start in range(max(1, len(found) - SHINGLE + 1))}


def similarity(one: str, other: str) -> float:
    """The share of shingles that both have of those that either has; 0 where neither has any."""
    first, second = shingles(one), shingles(other)
    return len(first & second) / len(first | second) if first or second else 0.0


@dataclass(frozen=True)
class Near:
    """A text of the index that is near the one asked for."""

    key: Any
    similarity: float


class Index:
    """Texts to find near ones among. Memory holds about 8 bytes a word and 2 KB a text, not the texts themselves."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self.threshold = threshold
        self._lsh = RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=BANDS)
        self._keys: list[Hashable] = []
        self._shingles: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: Hashable, text: str) -> None:
        found = shingles(text)
        if found:
            self._add(key, found)

    def _add(self, key: Hashable, found: set[str]) -> None:
        self._lsh.insert(len(self._keys), _sketch(found))
        self._keys.append(key)
        self._shingles.append(_hashes(found))

    def near(self, text: str) -> list[Near]:
        """The texts near this one, the nearest first."""
        found = shingles(text) if self._keys else set()
        return list(self._near(found)) if found else []

    def add_and_near(self, key: Hashable, text: str) -> list[Near]:
        """Those that were there before and are near; the text is there from then on."""
        found = shingles(text)
        if not found:
            return []
        there = list(self._near(found))
        self._add(key, found)
        return there

    def _near(self, found: set[str]) -> Iterator[Near]:
        ours = _hashes(found)
        compared = [(_share(ours, self._shingles[at]), at) for at in self._lsh.query(_sketch(found))]
        near = sorted((-share, at) for share, at in compared if share >= self.threshold)
        return (Near(self._keys[at], -share) for share, at in near)


def _sketch(found: set[str]) -> RMinHash:
    sketch = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
    sketch.update(list(found))
    return sketch


def _hashes(found: set[str]) -> np.ndarray:
    """A number of 64 bits for each, in ascending order."""
    return np.unique(np.fromiter(map(hash, found), dtype=np.int64, count=len(found)))


def _share(one: np.ndarray, other: np.ndarray) -> float:
    both = np.intersect1d(one, other, assume_unique=True).size
    return both / (one.size + other.size - both)
