"""How many doubts there are about the gold in use, by kind; kept as last counted, for it takes every answer on gold."""

from collections import Counter

from goldsets.models import GoldPlacement
from goldsets.queries.gold import doubtful_gold
from goldsets.queries.keeping import fresh, seen
from reviews.models import Queue

# So many answers on gold are gone through while somebody waits; of more the worker does it, every two minutes.
FEW_ANSWERS = 2_000
# Raise it with every change of the kinds of doubts.
FORM = 1


def doubts_about_gold(queue: Queue) -> Counter[str]:
    """As last counted; none where there are many answers that were never gone through."""
    kept = seen(_key(queue), queue.project_id, little=lambda: _are_few(queue), count=lambda: _counted(queue)).kept
    return kept.found if kept else Counter()


def count_doubts(queue: Queue) -> None:
    """Count anew where something has happened since."""
    fresh(_key(queue), queue.project_id, lambda: _counted(queue))


def _counted(queue: Queue) -> Counter[str]:
    return Counter(doubt.kind for row in doubtful_gold(queue) for doubt in row.doubts)


def _are_few(queue: Queue) -> bool:
    answers = GoldPlacement.objects.filter(gold_item__queue=queue).values("pk")
    return len(answers[: FEW_ANSWERS + 1]) <= FEW_ANSWERS


def _key(queue: Queue) -> str:
    return f"gold-doubts-{FORM}-{queue.uid}"
