"""How many rows of each source may leave, so that none makes more than its share of all."""

from collections.abc import Mapping
from math import floor


def within_quotas(counts: Mapping[str, int], shares: Mapping[str, float]) -> dict[str, int]:
    """The largest numbers of rows that keep every source of `shares` at or below its share of them all.

    Rows that are left out make the whole smaller, so the shares are taken again until they hold. Where every source has
    a share and these make less than 1, nothing can be large enough: all are 0.
    """
    allowed = dict(counts)
    while True:
        total = sum(allowed.values())
        fit = {
            # The rounding is against the case of a share like 0.29 of 100, which is 28.999… in binary.
            source: min(n, floor(shares[source] * total + 1e-9)) if source in shares else n
            for source, n in allowed.items()
        }
        if fit == allowed:
            return fit
        allowed = fit
