"""Reviewers expire by rule: the worker looks whether what each was compiled from still holds."""

from django.db import transaction
from django.utils import timezone

from goldsets.enums import GoldVerb, ReviewerState
from goldsets.models import Reviewer
from goldsets.models.reviewer import WHY_LENGTH
from goldsets.queries.expiry import HOLDING, holding_reviewers, why_expired
from goldsets.queries.reviewers import decision_of
from reviews.actions.events import record


def expire_reviewers() -> int:
    """Expire every proven or signed reviewer that no longer holds. Returns how many."""
    return sum(_expire(reviewer, why) for reviewer in holding_reviewers() if (why := why_expired(reviewer)))


@transaction.atomic
def _expire(reviewer: Reviewer, why: str) -> bool:
    """Whether it expired now, and not in another's hands a moment ago."""
    because = why if len(why) <= WHY_LENGTH else why[: WHY_LENGTH - 1] + "…"
    expired = Reviewer.objects.filter(pk=reviewer.pk, state__in=HOLDING).update(
        state=ReviewerState.EXPIRED, expired_at=timezone.now(), expired_because=because
    )
    if expired:
        record(
            project=reviewer.project_id,
            actor=None,
            verb=GoldVerb.REVIEWER_EXPIRED,
            target=reviewer,
            queue=reviewer.queue.name,
            number=reviewer.number,
            decision=decision_of(reviewer).title,
            why=why,
        )
    return bool(expired)
