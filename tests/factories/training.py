"""Practice sets and qualifications, made from items that a rater named Gwen has settled."""

from typing import Any

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.training import Pick, open_training
from reviews.models import Judgment, Label, Queue
from tests import factories as make


def settled_queue(project: Any, *, items: int = 3) -> Queue:
    """A queue in which Gwen alone has settled every item: all gates pass, success 3, process 2."""
    queue = make.queue(project, items=items, overlap=1)
    gwen = make.expert(project, "Gwen")
    for _ in range(items):
        judge(queue, gwen, make.passing())
    return queue


def judge(queue: Queue, rater: Any, payload: dict[str, Any]) -> Judgment:
    """Take the next item and submit this of it."""
    assignment = claim(actor=rater, queue=queue)
    key = f"test-{assignment.uid}-{assignment.judgments.count()}"
    return submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key=key).judgment


def practice(project: Any, queue: Queue, *, items: int = 3, name: str = "First steps") -> Queue:
    return _opened(project, queue, items, purpose="practice", name=name)


def qualification(project: Any, queue: Queue, *, items: int = 5, mark: float = 0.4) -> Queue:
    return _opened(project, queue, items, purpose="qualification", name="Ready for refunds", mark=mark)


def _opened(project: Any, queue: Queue, items: int, **terms: Any) -> Queue:
    taken = Queue.every.exclude(purpose="work").filter(project=project).values("queue_items__item")
    labels = Label.objects.filter(queue=queue).exclude(item__in=taken).order_by("pk")[:items]
    picks = [Pick(label, guideline_line=1, policy_line=2, why="Done as asked.") for label in labels]
    return open_training(actor=make.lead_of(project), queue=queue, picks=picks, **terms)
