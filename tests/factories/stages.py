"""Reviewers at work in a queue: a signed one with what it was compiled from, in shadow or already deciding."""

from typing import Any

from goldsets.actions.staging import drawn, start_stage
from goldsets.enums import ReviewerState
from goldsets.models import Reviewer, ReviewerLabel, Stage
from reviews.actions.adjudicating import decide_ahead
from reviews.actions.queueing import add_items
from reviews.models import Item, Queue, QueueItem
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.reviewers import reviewer

KEEP = [{"key": "keep", "title": "Keep", "kind": "binary"}]
LEAST_AUDITED = 0.01
REFUND, STRANGER, OTHER = "A refund, as asked.", "It read a stranger's account.", "Nothing of either."


def run(project: Any, words: str = REFUND, **more: Any) -> Item:
    """A run of one message. The reviewer passes a refund, fails a stranger, and leaves anything else to people."""
    return make.item(project, steps=(Step(role="agent", text=words, pointer="/messages/0"),), **more)


def keeping_queue(project: Any, *, compiled_from: int = 1, **settings: Any) -> Queue:
    """A queue that asks one yes or no, with items that a lead has settled, from which a reviewer was compiled."""
    items = [run(project) for _ in range(compiled_from)]
    queue = make.queue(project, items=items, **{"criteria": KEEP, "overlap": 1, **settings})
    for row in QueueItem.objects.filter(queue=queue):
        decide_ahead(actor=make.lead_of(project), queue_item=row, payload={"criteria": {"keep": True}})
    return queue


def signed(queue: Queue, *, risk: float = 0.3, **fields: Any) -> Reviewer:
    """A signed reviewer that was compiled from all that is settled in the queue."""
    made = reviewer(queue, ReviewerState.SIGNED, demands={"risk": risk, "false_accepts": risk}, **fields)
    rows = QueueItem.objects.filter(queue=queue, label__isnull=False).order_by("pk")
    ReviewerLabel.objects.bulk_create(
        ReviewerLabel(reviewer=made, position=position, queue_item=row, label=row.label)
        for position, row in enumerate(rows, start=1)
    )
    return made


def shadow(queue: Queue, **settings: Any) -> Stage:
    lead = make.lead_of(queue.project)
    return start_stage(actor=lead, queue=queue, reviewer=signed(queue), **settings)


def deciding(queue: Queue, *, takes: tuple[int, ...] = (1, 0), **settings: Any) -> Stage:
    """One that decides without having been tried on live items, as no door of the app lets it."""
    stage = shadow(queue, **settings)
    Stage.objects.filter(pk=stage.pk).update(state="deciding", takes=list(takes), decides_from=stage.started_at)
    stage.refresh_from_db()
    return stage


def more(queue: Queue, *words: str, **of_run: Any) -> list[QueueItem]:
    """Items put into the queue now, of runs with these words."""
    items = [run(queue.project, each, **of_run) for each in words]
    add_items(actor=make.lead_of(queue.project), queue=queue, items=items)
    found = {row.item_id: row for row in QueueItem.objects.filter(queue=queue, item__in=items)}
    rows = [found[item.pk] for item in items]
    for stage in Stage.objects.filter(queue=queue, audit_share=LEAST_AUDITED):
        audit_none(stage, rows)
    return rows


def audit_none(stage: Stage, rows: list[QueueItem]) -> None:
    """Give the stage a secret that draws none of these, so that no test hangs on a chance of one in a hundred."""
    for number in range(10_000):
        stage.secret = number.to_bytes(32)
        if all(drawn(stage, row) >= stage.audit_share for row in rows):
            return stage.save(update_fields=["secret"])
    raise AssertionError(f"No secret spares all {len(rows)} items.")
