"""Of preferences: whether the place on the screen helps, and whether a rater's choices fit into one order."""

from dataclasses import dataclass

import numpy as np

from reviews.queries.answers import Answers
from reviews.queries.compared import CandidatePairs
from reviews.queries.runs_compared import RunsOfItems
from reviews.stats.bias import mcnemar
from reviews.stats.preference import Triads, cyclic_triads
from reviews.stats.proportion import wilson
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, HypothesisTest


@dataclass(frozen=True, kw_only=True)
class Preferring:
    """`left_wins` is how often the one shown first was preferred, of the answers with a preference.

    Places are drawn, so without bias that is a half, which `test` asks. `cyclic` is over triads of candidates that one
    rater compared with each other.
    """

    left: int
    right: int
    tied: int
    left_wins: Estimate
    test: HypothesisTest
    cyclic: Estimate
    n_triads: int


def preferring(answers: Answers, pairs: CandidatePairs, runs: RunsOfItems) -> Preferring:
    """Of answers on two candidates; rankings have no left and right."""
    judgments = answers.judgment[pairs.rows]
    order = answers.order[judgments]
    left = pairs.ahead * np.select([order == "1,2", order == "2,1"], [1, -1], 0)
    of_two = np.isin(order, ["1,2", "2,1"])
    won, lost = int((left > 0).sum()), int((left < 0).sum())
    triads = _triads(answers, pairs, runs)
    return Preferring(
        left=won,
        right=lost,
        tied=int((of_two & (left == 0)).sum()),
        left_wins=wilson(won, won + lost, statistic="Wins of the one shown first"),
        test=mcnemar(won, lost, name="Place on the screen, McNemar's exact test"),
        cyclic=triads.cyclic,
        n_triads=triads.n_triads,
    )


def _triads(answers: Answers, pairs: CandidatePairs, runs: RunsOfItems) -> Triads:
    """Triads of runs within one rater and task."""
    judgments = answers.judgment[pairs.rows]
    items = answers.item_of[judgments]
    firsts, seconds = (runs.run[runs.at(items, column)] for column in (pairs.first, pairs.second))
    groups = answers.rater_of[judgments] * (answers.task_of_item.max(initial=0) + 1) + answers.task_of_item[items]
    return cyclic_triads(groups, firsts, seconds, pairs.ahead, bootstrap=Bootstrap(over="raters' tasks"))
