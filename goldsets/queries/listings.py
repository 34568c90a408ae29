"""The rows that lists of the API page through."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from goldsets.models import GoldChallenge, GoldItem, GoldKey, GoldPolicy, StandingMove
from reviews.enums import QueueItemState
from reviews.models import Queue, QueueItem
from reviews.queries.referrals import unanswered_by


def gold_of(queue: Queue) -> QuerySet[GoldItem]:
    return _gold().filter(queue=queue)


def gold_by_queue_item(uid: Any) -> GoldItem | None:
    return _gold().filter(queue_item__uid=uid).first()


def _gold() -> QuerySet[GoldItem]:
    return GoldItem.objects.select_related(
        "queue__project",
        "queue__rubric",
        "queue_item__item__trajectory__task",
        "queue_item__item__task",
        "key__guideline",
        "key__label",
    ).prefetch_related("keys__guideline", "keys__label", "keys__proposed_by", "keys__decided_by")


def open_key(gold: GoldItem) -> GoldKey | None:
    """What is proposed for it and waits for a second person."""
    return gold.keys.filter(state="proposed").select_related("gold_item__queue__project").first()


def challenge_by_uid(uid: Any) -> GoldChallenge | None:
    return (
        GoldChallenge.objects.select_related(
            "placement__rater", "placement__gold_item__queue__project", "placement__gold_item__queue_item"
        )
        .filter(uid=uid)
        .first()
    )


def move_by_uid(uid: Any) -> StandingMove | None:
    return StandingMove.objects.select_related("standing__queue__project", "standing__rater").filter(uid=uid).first()


def gold_policy(queue: Queue) -> GoldPolicy:
    """The queue's policy, or the one that holds where none was set, which is not stored."""
    return GoldPolicy.objects.filter(queue=queue).first() or GoldPolicy(queue=queue, rate=0)


def unanswered_items(queue: Queue, lead: Any) -> set[UUID]:
    """The items whose answers this lead is to see only after their own."""
    return set(unanswered_by(lead).filter(queue=queue).values_list("item__uid", flat=True))


def settled_items(queue: Queue) -> set[UUID]:
    settled = QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED)
    return set(settled.values_list("item__uid", flat=True))
