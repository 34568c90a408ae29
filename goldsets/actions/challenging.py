"""Challenges: a rater who was told how an answer compares with gold says that the gold is wrong; a lead answers."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from goldsets.enums import ChallengeState, GoldVerb
from goldsets.models import GoldChallenge
from goldsets.queries.feedback import told_answer
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Assignment
from reviews.rules import check

REASON_LENGTH = 4000


@transaction.atomic
def challenge(*, actor: Any, uid: Any, reason: str) -> GoldChallenge:
    """Say why what was expected of this assignment is wrong. Raises NotFound for one that the rater was not told of."""
    told = told_answer(actor, uid)
    if told is None:
        raise NotFound("There is no checked answer of yours like that.")
    check(actor, "judge", told.queue.project)
    reason = reason.strip()
    if not reason or len(reason) > REASON_LENGTH or not storable(reason):
        raise Invalid({"reason": f"Say in 1 to {REASON_LENGTH:,} characters what the expected answer gets wrong."})
    # Two tabs follow each other, so that the second finds the first one's challenge.
    Assignment.objects.select_for_update().get(pk=told.placement.assignment_id)
    if GoldChallenge.objects.filter(placement=told.placement, key=told.key).exists():
        raise Conflict("You have challenged this already. A lead answers it.")
    made = GoldChallenge.objects.create(placement=told.placement, key=told.key, reason=reason)
    record(project=told.queue.project_id, actor=actor, verb=GoldVerb.GOLD_CHALLENGED, target=made)
    return made


@transaction.atomic
def decide_challenge(*, actor: Any, challenge: GoldChallenge, uphold: bool, answer: str) -> GoldChallenge:
    """Answer a challenge. Upholding alone changes nothing: a lead then proposes a correction, or retires the gold.

    A lead does not answer their own challenge.
    """
    queue = challenge.placement.gold_item.queue
    check(actor, "manage_queue", queue.project)
    answer = answer.strip()
    errors = {}
    if not answer or len(answer) > REASON_LENGTH or not storable(answer):
        errors["answer"] = f"Answer the rater in 1 to {REASON_LENGTH:,} characters."
    if challenge.placement.rater_id == actor.pk:
        errors["answer"] = "This is your own challenge. Another lead answers it."
    if errors:
        raise Invalid(errors)
    decided = GoldChallenge.objects.filter(pk=challenge.pk, state=ChallengeState.OPEN).update(
        state=ChallengeState.UPHELD if uphold else ChallengeState.REJECTED,
        answer=answer,
        decided_by=actor,
        decided_at=timezone.now(),
    )
    if not decided:
        raise Conflict("Somebody answered this challenge before.")
    challenge.refresh_from_db()
    record(
        project=queue.project_id,
        actor=actor,
        verb=GoldVerb.CHALLENGE_DECIDED,
        target=challenge,
        state=str(challenge.state),
    )
    return challenge
