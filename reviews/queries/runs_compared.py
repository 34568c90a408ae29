"""Which run, and of which model, stands at each place of the items that raters compared."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Value
from django.db.models.functions import Coalesce

from reviews.models import Candidate, Queue
from reviews.queries.answers import Answers

# Positions within an item are below this.
MOST_CANDIDATES = 1_000


@dataclass(frozen=True)
class RunsOfItems:
    """Sorted by `key`, which stands for an item's code and a position; `model` is empty where it is not known."""

    key: np.ndarray
    run: np.ndarray
    model: np.ndarray

    def at(self, items: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The places of these runs in the other arrays."""
        return np.searchsorted(self.key, items * MOST_CANDIDATES + positions)


def runs_of_items(answers: Answers, queue: Queue) -> RunsOfItems:
    """One query."""
    candidates = Candidate.objects.filter(item__queue_items__queue=queue)
    code = {uid: at for at, uid in enumerate(answers.item_uids)}
    found = sorted(
        (code[uid] * MOST_CANDIDATES + position, run, model)
        for uid, position, run, model in candidates.values_list(
            "item__uid", "position", "trajectory", Coalesce("trajectory__outcome__model", Value(""))
        )
        if uid in code
    )
    keys, runs, models = zip(*found, strict=True) if found else ((), (), ())
    return RunsOfItems(np.array(keys, dtype=np.int64), np.array(runs, dtype=np.int64), np.array(models, dtype=object))
