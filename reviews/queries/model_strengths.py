"""Which models raters prefer: strengths by Bradley and Terry's model, with ties, from all preferences that count."""

from dataclasses import dataclass, replace
from itertools import combinations
from uuid import UUID

import numpy as np

from reviews.queries.answers import Answers
from reviews.queries.compared import CandidatePairs
from reviews.queries.runs_compared import RunsOfItems
from reviews.stats.result import Estimate, Reason, without_value
from reviews.stats.strength import Strengths, bradley_terry

# Every two of so many models, those compared most; more nobody reads.
MOST_IN_PAIRS = 12


@dataclass(frozen=True, kw_only=True)
class ModelStrength:
    """`strength` is a logarithm against the mean of all models; `wins` the chance of winning against that mean."""

    model: str
    n: int
    won: int
    tied: int
    lost: int
    strength: Estimate
    wins: Estimate
    items: tuple[UUID, ...]
    n_items: int


@dataclass(frozen=True, kw_only=True)
class ModelsAgainst:
    """The chance that the first is preferred where one of the two is; `n` comparisons were between just these two."""

    first: str
    second: str
    n: int
    wins: Estimate


@dataclass(frozen=True, kw_only=True)
class ModelStrengths:
    """The strongest first. `words` says why there are no strengths; `n_unknown` comparisons lack a model's name.

    Comparisons of a model with itself say nothing about models: `n_same`.
    """

    method: str
    words: str
    n: int
    n_same: int
    n_unknown: int
    models: tuple[ModelStrength, ...]
    pairs: tuple[ModelsAgainst, ...]


def model_strengths(
    answers: Answers, pairs: CandidatePairs, runs: RunsOfItems, tasks: np.ndarray | None, *, floor: int
) -> ModelStrengths | None:
    """None where fewer than two models were compared. Intervals draw on whole tasks where given, else whole items."""
    items = answers.item_of[answers.judgment[pairs.rows]]
    first, second = runs.model[runs.at(items, pairs.first)], runs.model[runs.at(items, pairs.second)]
    known = (first != "") & (second != "")
    between = known & (first != second)
    names, codes = np.unique(np.concatenate([first[between], second[between]]), return_inverse=True)
    if len(names) < 2:
        return None
    firsts, seconds = np.split(codes.ravel(), 2)
    ahead, items = pairs.ahead[between], items[between]
    clusters = items if tasks is None else tasks[items]
    found = bradley_terry(firsts, seconds, ahead, n_items=len(names), clusters=clusters)
    found = replace(found, words=_why_not(found, len(np.unique(items)), floor))
    counted = _Counted(answers, names.tolist(), firsts, seconds, ahead, items, found)
    models = [counted.model(code) for code in range(len(names))]
    most = sorted(range(len(names)), key=lambda code: -models[code].n)[:MOST_IN_PAIRS]
    in_order = sorted(most, key=lambda code: _place(models[code]))
    return ModelStrengths(
        method=found.method,
        words=found.words,
        n=len(firsts),
        n_same=int((known & ~between).sum()),
        n_unknown=int((~known).sum()),
        models=tuple(sorted(models, key=_place)),
        pairs=tuple(counted.against(*two) for two in combinations(in_order, 2)),
    )


def _why_not(found: Strengths, n_items: int, floor: int) -> str:
    if found.reason:
        return found.words
    return f"Too few to say: {n_items} of the {floor} items needed." if n_items < floor else ""


def _place(model: ModelStrength) -> tuple[float, str]:
    return -(model.strength.value or 0.0), model.model


@dataclass(frozen=True)
class _Counted:
    """Comparisons between models by their codes, and the strengths fitted to them."""

    answers: Answers
    names: list[str]
    firsts: np.ndarray
    seconds: np.ndarray
    ahead: np.ndarray
    items: np.ndarray
    found: Strengths

    def model(self, code: int) -> ModelStrength:
        as_first, as_second = self.firsts == code, self.seconds == code
        signs = np.concatenate([self.ahead[as_first], -self.ahead[as_second]])
        items = np.unique(self.items[as_first | as_second])
        name = self.names[code]
        return ModelStrength(
            model=name,
            n=len(signs),
            won=int((signs > 0).sum()),
            tied=int((signs == 0).sum()),
            lost=int((signs < 0).sum()),
            strength=self._on(self.found.of(code), f"Strength of {name}", len(items), len(signs)),
            wins=self._on(
                self.found.wins_against_all(code), f"Wins of {name} against the average", len(items), len(signs)
            ),
            items=self.answers.uids(items),
            n_items=len(items),
        )

    def against(self, first: int, second: int) -> ModelsAgainst:
        between = ((self.firsts == first) & (self.seconds == second)) | (
            (self.firsts == second) & (self.seconds == first)
        )
        n, n_items = int(between.sum()), len(np.unique(self.items[between]))
        names = self.names[first], self.names[second]
        wins = self._on(self.found.wins(first, second), f"Wins of {names[0]} against {names[1]}", n_items, n)
        return ModelsAgainst(first=names[0], second=names[1], n=n, wins=wins)

    def _on(self, estimate: Estimate, statistic: str, n_items: int, n: int) -> Estimate:
        """Items as units and comparisons as pairs; without a value where the fit has none or rests on too few."""
        full = replace(estimate, statistic=statistic, n_units=n_items, n_pairs=n)
        if not self.found.words:
            return full
        return without_value(full, self.found.reason or Reason.BELOW_FLOOR, self.found.words)
