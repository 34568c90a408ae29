"""What a rater is told of their answers on gold once the queue's policy says it is time. Everybody else stays blind."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from goldsets.models import GoldChallenge, GoldKey, GoldPlacement, GoldPolicy
from goldsets.queries.answers import GoldAnswer, gold_answers
from goldsets.queries.questions import questions_of
from goldsets.queries.wording import Said, said_and_expected
from reviews.models import Judgment, Membership, Queue
from reviews.queries.masking import title_of


@dataclass(frozen=True)
class ToldAnswer:
    """One checked answer, as its rater sees it."""

    placement: GoldPlacement
    key: GoldKey
    queue: Queue
    title: str
    at: datetime
    right: bool
    lines: tuple[Said, ...]
    challenge: GoldChallenge | None


def told_answers(rater: Any) -> list[ToldAnswer]:
    """Every answer the rater is told of by now, the latest first. A few queries for each queue that tells."""
    projects = Membership.objects.filter(user=rater, active=True).values("project")
    tells = Q(feedback_items__isnull=False) | Q(feedback_days__isnull=False)
    policies = GoldPolicy.objects.filter(tells, queue__project__in=projects).select_related(
        "queue__project", "queue__rubric"
    )
    found = [told for policy in policies for told in _told(policy, rater)]
    return sorted(found, key=lambda told: told.at, reverse=True)


def told_answer(rater: Any, uid: Any) -> ToldAnswer | None:
    """The checked answer of this assignment, if the rater is told of it."""
    return next((told for told in told_answers(rater) if str(told.placement.assignment.uid) == str(uid)), None)


def _told(policy: GoldPolicy, rater: Any) -> list[ToldAnswer]:
    queue = policy.queue
    due = [answer for answer in gold_answers(queue, rater=rater.pk) if answer.right]
    due = _due(policy, due, rater)
    placements = {
        placement.pk: placement
        for placement in GoldPlacement.objects.filter(pk__in=[answer.placement for answer in due]).select_related(
            "assignment__item__trajectory__task", "assignment__item__task", "gold_item__key"
        )
    }
    challenges = {
        (made.placement_id, made.key_id): made for made in GoldChallenge.objects.filter(placement__in=placements)
    }
    asked = questions_of(queue)
    told = []
    for answer in due:
        placement = placements[answer.placement]
        key = placement.gold_item.key
        if key is not None:
            told.append(
                ToldAnswer(
                    placement=placement,
                    key=key,
                    queue=queue,
                    title=title_of(placement.assignment.item),
                    at=answer.at,
                    right=answer.all_right,
                    lines=said_and_expected(asked.of(answer.item), answer),
                    challenge=challenges.get((placement.pk, key.pk)),
                )
            )
    return told


def _due(policy: GoldPolicy, answers: list[GoldAnswer], rater: Any) -> list[GoldAnswer]:
    """Those old enough by the policy, in items judged since or in days."""
    submitted = list(
        Judgment.objects.filter(queue=policy.queue, rater=rater, revision=1)
        .order_by("submitted_at")
        .values_list("submitted_at", flat=True)
    )

    def due(answer: GoldAnswer) -> bool:
        since = sum(at > answer.at for at in submitted)
        by_items = policy.feedback_items is not None and since >= policy.feedback_items
        days = policy.feedback_days
        return by_items or (days is not None and answer.at <= timezone.now() - timedelta(days=days))

    return [answer for answer in answers if due(answer)]
