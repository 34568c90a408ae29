"""Agreement on answers that are sets, as where several choices may be ticked: alpha with the MASI distance.

A set is a bit mask: choice k is in it when bit k is 1, so an empty set is 0. Distinct sets are labels of a scale, and
the distance between two of them says how far apart they are, from 0 (the same) to 1 (nothing in common).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from reviews.stats.agreement import AlphaByDistance, estimate, percent_agreement
from reviews.stats.counts import MISSING, Ratings, from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate

SetDistance = Literal["masi", "masi_2004", "kind"]


@dataclass(frozen=True)
class SetAgreement:
    """`exact` is the share of pairs with exactly the same set; `alpha` gives credit for what two sets share."""

    exact: Estimate
    alpha: Estimate


def set_agreement(
    units: np.ndarray,
    raters: np.ndarray,
    sets: np.ndarray,
    *,
    distance: SetDistance = "masi",
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> SetAgreement:
    """One row per unit and rater; a set is a bit mask of up to 62 choices, and -1 is no answer.

    `clusters` as for `agreement.estimate`.
    """
    ratings, distinct = _as_labels(units, raters, sets)
    coefficient = AlphaByDistance(distances(distinct, distance), f"Krippendorff's alpha, sets by {_NAMES[distance]}")
    return SetAgreement(
        exact=percent_agreement(ratings, bootstrap=bootstrap, clusters=clusters),
        alpha=estimate(ratings, coefficient, bootstrap=bootstrap, clusters=clusters),
    )


_NAMES = {"masi": "MASI", "masi_2004": "MASI of 2004", "kind": "kind of overlap"}


def distances(sets: np.ndarray, distance: SetDistance = "masi") -> np.ndarray:
    """(sets,) bit masks -> (sets, sets), how far apart every two are.

    J is the share of all choices in either set that both have. K, the kind of overlap, is 0 for equal sets, 1/3 where
    one holds the other, 2/3 where they only overlap, 1 where they have nothing in common.

    - `masi`: 1 - J (1 - K), as Passonneau (2006) has it. An empty set shares nothing with any other.
    - `masi_2004`: (1 - J) K, as in Passonneau (2004). Every set holds the empty one, so that K is 1/3.
    - `kind`: K alone.
    """
    sets = np.asarray(sets, dtype=np.int64)
    first, second = sets[:, None], sets[None, :]
    shared, either = np.bitwise_count(first & second), np.bitwise_count(first | second)
    jaccard = np.where(either > 0, shared / np.maximum(either, 1), 1)
    holds = ((first & second) == first) | ((first & second) == second)
    kind = np.select([first == second, holds, shared > 0], [0, 1 / 3, 2 / 3], 1)
    if distance == "masi":
        return 1 - jaccard * (1 - kind)
    return (1 - jaccard) * kind if distance == "masi_2004" else kind


def _as_labels(units: np.ndarray, raters: np.ndarray, sets: np.ndarray) -> tuple[Ratings, np.ndarray]:
    """Ratings whose labels are the distinct sets, and those sets."""
    sets = np.asarray(sets, dtype=np.int64).ravel()
    if len(sets) and sets.min() < MISSING:
        raise ValueError("a set is a bit mask from 0, or -1 for no answer")
    distinct = np.unique(sets[sets != MISSING])
    labels = np.where(sets == MISSING, MISSING, np.searchsorted(distinct, sets))
    return from_codes(units, raters, labels, scores=range(len(distinct))), distinct
