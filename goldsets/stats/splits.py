"""Deals families to splits: each at its own place between 0 and 1, which a hash draws, and the shares cut at places.

Where a family goes depends on the seed, the shares and its name alone: not on when it comes, nor on which others there
are. So every family, now or later, is dealt by one rule, and anybody can deal it again.
"""

import hashlib
from collections.abc import Mapping

ALL = 100  # shares are whole percents


def place_of(family: str, *, seed: str) -> float:
    """From 0 up to 1, evenly spread over names."""
    digest = hashlib.sha256(f"{seed}\n{family}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def deal(family: str, *, seed: str, shares: Mapping[str, int]) -> str:
    """The split of a family. `shares` are whole percents in a fixed order. ValueError unless they make 100."""
    if sum(shares.values()) != ALL or any(share < 0 for share in shares.values()):
        raise ValueError("the shares must be whole percents that make 100")
    place, cut = place_of(family, seed=seed) * ALL, 0
    for split, share in shares.items():
        cut += share
        if place < cut:
            return split
    raise AssertionError("a place is below 1")
