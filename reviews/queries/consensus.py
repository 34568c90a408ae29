"""What the raters' answers to one question come to when each rater may err in a way of their own. [Dawid and Skene]"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from reviews.models import Queue, QueueItem
from reviews.queries.answers import Answers, ratings
from reviews.queries.compared import Compared, compared
from reviews.stats.aggregation import NO_LABEL, dawid_skene
from reviews.stats.counts import Ratings

# An answer less probable than this deserves a look.
SURE = 0.9
# With fewer pairable units the errors of raters cannot be told.
FEWEST_UNITS = 10


@dataclass(frozen=True, kw_only=True)
class RaterErrors:
    """`confusion[i][j]` is how often the rater says label j where label i is the probable truth."""

    rater_id: int
    rater: str
    n: int
    accuracy: float
    confusion: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ProbableAnswer:
    """One unit: `answer` is empty where two are as probable; `probabilities` in the order of the labels."""

    item: UUID
    answer: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ProbableAnswers:
    """Those of all rated units, column by column, because there may be very many: `codes` of the labels, -1 where two
    are as probable, and (units, labels) of probabilities."""

    items: tuple[UUID, ...]
    labels: tuple[str, ...]
    codes: np.ndarray
    probabilities: np.ndarray

    def __iter__(self) -> Iterator[ProbableAnswer]:
        for item, code, probable in zip(self.items, self.codes.tolist(), self.probabilities.tolist(), strict=True):
            answer = "" if code == NO_LABEL else self.labels[code]
            yield ProbableAnswer(item=item, answer=answer, probabilities=tuple(probable))


@dataclass(frozen=True, kw_only=True)
class Consensus:
    """Without enough answers everything is empty and `words` says why.

    `items` have an answer less probable than `SURE`; `answers` are of all rated units, or None where figures name no
    items. `n_...` say how many.
    """

    method: str
    words: str
    labels: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    raters: tuple[RaterErrors, ...] = ()
    converged: bool = False
    n_units: int = 0
    n_undecided: int = 0
    items: tuple[UUID, ...] = ()
    n_items: int = 0
    answers: ProbableAnswers | None = None

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists for JSON, what is probable of each unit among them."""
        return asdict(replace(self, answers=None)) | {"answers": [asdict(one) for one in self.answers or ()]}


def consensus_on(answers: Answers, compared: Compared, names: Mapping[int, str], *, floor: int) -> Consensus:
    """Over all units that count; no label has a part in it."""
    rated = compared.ratings
    found = dawid_skene(rated)
    if found.reason:
        return Consensus(method=found.method, words=found.words)
    if rated.n_pairable_units < floor:
        missing = f"{rated.n_pairable_units} of the {floor} units needed have two or more answers."
        return Consensus(method=found.method, words=f"Too few to say: {missing}")
    units = np.flatnonzero(rated.per_unit > 0)
    posterior = found.posterior[units]
    unsure = compared.items(units[posterior.max(axis=1) < SURE])
    return Consensus(
        method=found.method,
        words="" if found.converged else "The estimate has not come to rest, so take it as rough.",
        labels=compared.names,
        shares=tuple(found.prior.tolist()),
        raters=_errors(answers, rated, found.confusion, found.accuracy, names),
        converged=found.converged,
        n_units=found.n_units,
        n_undecided=found.n_undecided,
        items=answers.uids(unsure),
        n_items=len(unsure),
        answers=ProbableAnswers(
            items=answers.uids(compared.item_of_unit[units]),
            labels=compared.names,
            codes=found.labels[units],
            probabilities=np.round(posterior, 4),
        ),
    )


def queues_to_weigh() -> list[Queue]:
    """Queues with items whose raters agree, of which is to be found how probable their answer is."""
    return list(Queue.objects.filter(pk__in=QueueItem.objects.filter(to_weigh=True).values("queue")))


def certainty_of_items(queue: Queue) -> dict[UUID, float]:
    """By item how probable the answer most of its raters gave is: of its questions and candidates the least.

    Items of which no question can be weighed are left out. Labels of steps and questions of single items have no part.
    """
    answers = ratings(queue)
    found = np.full(len(answers.item_uids), np.inf)
    for criterion in queue.rubric.criteria.all():
        asked = compared(answers, criterion) if criterion.is_comparable else None
        if asked is None or not asked.declared or asked.ratings.n_pairable_units < FEWEST_UNITS:
            continue
        weighed = dawid_skene(asked.ratings)
        if weighed.reason:
            continue
        units = np.flatnonzero(asked.ratings.per_unit > 0)
        most_said = asked.ratings.counts[units].argmax(axis=1)
        np.minimum.at(found, asked.item_of_unit[units], weighed.posterior[units, most_said])
    return {uid: value for uid, value in zip(answers.item_uids, found.tolist(), strict=True) if value != float("inf")}


def _errors(
    answers: Answers, rated: Ratings, confusion: np.ndarray, accuracy: np.ndarray, names: Mapping[int, str]
) -> tuple[RaterErrors, ...]:
    n = np.bincount(rated.raters, minlength=rated.n_raters)
    found = [
        RaterErrors(
            rater_id=answers.rater_ids[rater],
            rater=names[answers.rater_ids[rater]],
            n=int(n[rater]),
            accuracy=float(accuracy[rater]),
            confusion=tuple(tuple(row) for row in np.round(confusion[rater], 4).tolist()),
        )
        for rater in np.flatnonzero(n).tolist()
    ]
    return tuple(sorted(found, key=lambda entry: entry.rater))
