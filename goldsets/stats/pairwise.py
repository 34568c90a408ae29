"""A grader of pairs held against experts' preferences, with what a judge would score that sees only length or place.

A verdict is 1 where the first of the item is better, -1 where the second is, 0 where neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from goldsets.stats.grading import clustered_share
from goldsets.stats.leanings import (
    TIE,
    Position,
    agrees,
    first_wins,
    longest_wins,
    position,
    right_in_both_orders,
)
from goldsets.stats.proportion import wilson
from reviews.stats.pairs import cohen_kappa
from reviews.stats.result import Estimate

MOST_NAMED = 500


@dataclass(frozen=True, slots=True)
class Paired:
    """One pair: what the grader said as the item has it, and where it was shown the other way round, in the places
    shown; what the label says, what raters said before, and how long each side is."""

    item: UUID
    verdict: int
    swapped: int | None = None
    gold: int | None = None
    said: tuple[int, ...] = ()
    first_length: int = 0
    second_length: int = 0


@dataclass(frozen=True)
class PairCalibration:
    """`agrees` counts pairs that experts do not call level; `same` counts all three answers, and so does kappa."""

    n_scored: int
    n_labelled: int
    n_level: int
    agrees: Estimate
    same: Estimate
    kappa: Estimate
    ceiling: Estimate
    longest: Estimate
    first: Estimate
    position: Position
    both_orders: Estimate
    wrong: tuple[UUID, ...]


def paired(rows: Sequence[Paired]) -> PairCalibration:
    known = [row for row in rows if row.gold is not None]
    gold = [row.gold or 0 for row in known]
    said = [row.verdict for row in known]
    turned = [row for row in rows if row.swapped is not None]
    both = [row for row in turned if row.gold is not None]
    same = sum(one == right for one, right in zip(said, gold, strict=True))
    hits = [sum(one == row.gold for one in row.said) for row in known]
    return PairCalibration(
        n_scored=len(rows),
        n_labelled=len(known),
        n_level=sum(right == TIE for right in gold),
        agrees=agrees(said, gold, statistic="Prefers what experts prefer"),
        same=wilson(same, len(known), statistic="Says the same, level pairs too"),
        kappa=_kappa(said, gold),
        ceiling=clustered_share(hits, [len(row.said) for row in known], statistic="A rater says the same"),
        longest=longest_wins([row.first_length for row in known], [row.second_length for row in known], gold),
        first=first_wins(gold),
        position=position([row.verdict for row in turned], [row.swapped or 0 for row in turned]),
        both_orders=right_in_both_orders(
            [row.verdict for row in both], [row.swapped or 0 for row in both], [row.gold or 0 for row in both]
        ),
        wrong=tuple(row.item for row in known if row.verdict != row.gold)[:MOST_NAMED],
    )


def _kappa(said: Sequence[int], gold: Sequence[int]) -> Estimate:
    table = np.zeros((3, 3), int)
    np.add.at(table, (np.asarray(said, int) + 1, np.asarray(gold, int) + 1), 1)
    return cohen_kappa(table)
