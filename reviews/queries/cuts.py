"""Agreement on one question, cut by family, slice, rater tier and week: each part with its number and its interval."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from reviews.queries.answers import Answers
from reviews.queries.compared import Compared
from reviews.queries.items import family_words
from reviews.stats.confusion import disagreeing_units
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below

# Of each dimension the parts with the most answers; of weeks the last ones.
MOST_PARTS = 12
NONE = -1


@dataclass(frozen=True, kw_only=True)
class Cut:
    """One part. `items` are those of it on which raters differ."""

    dimension: str
    part: str
    percent: Estimate
    alpha: Estimate
    items: tuple[UUID, ...]
    n_items: int

    @property
    def key(self) -> str:
        return f"{self.dimension}:{self.part}"

    @property
    def part_words(self) -> str:
        """The part as people read it: names of families have other marks between their words."""
        return family_words(self.part) if self.dimension == "family" else self.part

    @property
    def title(self) -> str:
        return f"{self.dimension} {self.part_words}"


@dataclass(frozen=True)
class Dimension:
    """What answers are cut by: a code into `parts` for each item or each rater; -1 belongs to no part."""

    name: str
    parts: list[str]
    codes: np.ndarray
    of_raters: bool = False

    def of(self, compared: Compared) -> np.ndarray:
        """The part of each rating."""
        rated = compared.ratings
        return self.codes[rated.raters if self.of_raters else compared.item_of_unit[rated.units]]


def dimensions(answers: Answers, tier_of: Mapping[int, str]) -> list[Dimension]:
    """Those by which anything can be cut: with two parts or more."""
    slices = sorted({name for one in answers.slices_of_item for name in one})
    found = [
        Dimension("family", *_coded(answers.family_of_item)),
        *(
            Dimension(f"slice {name}", *_coded(str(one.get(name, "")) for one in answers.slices_of_item))
            for name in slices
        ),
        Dimension("week", *_coded(_weeks(answers), last=True)),
    ]
    tiers = _coded(tier_of.get(rater, "") for rater in answers.rater_ids)
    found.append(Dimension("tier", *tiers, of_raters=True))
    return [dimension for dimension in found if len(dimension.parts) >= 2]


def _weeks(answers: Answers) -> list[str]:
    """Per item the week in which its last counted judgment came, so that an item counts in one week."""
    last = np.zeros(len(answers.item_uids), dtype=np.int64)
    np.maximum.at(last, answers.item_of, answers.week)
    return [f"{week // 100}-W{week % 100:02}" for week in last.tolist()]


def _coded(values: Iterable[str], *, last: bool = False) -> tuple[list[str], np.ndarray]:
    """The parts in order, the most frequent of them or the last, and each value's code."""
    values = list(values)
    counts = Counter(value for value in values if value)
    kept = sorted(counts)[-MOST_PARTS:] if last else sorted(dict(counts.most_common(MOST_PARTS)))
    code_of = {value: code for code, value in enumerate(kept)}
    return kept, np.array([code_of.get(value, NONE) for value in values], dtype=np.int64)


def cuts_of(
    answers: Answers,
    compared: Compared,
    cut_by: list[Dimension],
    bootstrap: Bootstrap,
    tasks: np.ndarray | None,
    *,
    floor: int,
) -> tuple[Cut, ...]:
    found = []
    for dimension in cut_by:
        part_of = dimension.of(compared)
        for code, part in enumerate(dimension.parts):
            keep = part_of == code
            if not keep.any():
                continue
            within = compared.part(keep)
            measured = within.measured(bootstrap, tasks, with_ac=False)
            items = within.items(disagreeing_units(within.ratings))
            found.append(
                Cut(
                    dimension=dimension.name,
                    part=part,
                    percent=refuse_below(measured.percent, floor),
                    alpha=refuse_below(measured.alpha, floor),
                    items=answers.uids(items),
                    n_items=len(items),
                )
            )
    return tuple(found)
