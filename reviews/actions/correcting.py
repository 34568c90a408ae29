"""Corrections: raters change what they submitted, as a new revision beside the old one.

1. For a day after the first submission, whatever has become of the item; raters do not learn what has. Whoever is asked
   again by a lead may correct at any time until they have answered.
2. A correction counts as long as the item is not settled: an item that waits because raters differed settles if they
   no longer do. Of a settled item it is kept and changes nothing, as any further judgment of it.
3. In the first minute it takes the submission back: where that very judgment settled the item by the queue's rule, the
   rule looks again.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.dealing import ended_sentence, own_assignment
from reviews.actions.events import record
from reviews.actions.judging import SUBMITTED, Receipt, check_correctable, check_key, write_judgment
from reviews.actions.marking import mark
from reviews.actions.payloads import read_judgment, subject_of_assignment
from reviews.actions.referring import correction_answers
from reviews.enums import AssignmentState, SettlingCause, Verb
from reviews.errors import Conflict
from reviews.models import Draft

# How long a submission can be taken back, seconds; the page offers a little less.
UNDO_SECONDS = 60
GRACE_SECONDS = 15


@transaction.atomic
def correct(*, actor: Any, uid: Any, payload: Any, idempotency_key: str, seen_revision: int) -> Receipt:
    """Submit other answers than before. `seen_revision` is the revision that the rater saw.

    Sending it again with the same key gives the same receipt. Raises Invalid with a sentence per field; Conflict when
    the day is over, when nothing was submitted, or, with that revision in `current`, when another was made meanwhile.
    """
    check_key(idempotency_key)
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state not in SUBMITTED:
        if assignment.state == AssignmentState.LEASED:
            raise Conflict("You have not submitted this item yet, so there is nothing to correct.")
        raise Conflict(ended_sentence(assignment))
    latest = assignment.judgments.select_related("assignment").latest("revision")
    if latest.revision > 1 and latest.idempotency_key == idempotency_key:
        return Receipt(judgment=latest, created=False)
    check_correctable(assignment)
    if seen_revision != latest.revision:
        raise Conflict("You have corrected this judgment since, somewhere else.", field="revision", current=latest)
    now = timezone.now()
    answers = read_judgment(payload, subject=subject_of_assignment(assignment))
    judgment = write_judgment(assignment, answers, idempotency_key, now, revision=latest.revision + 1)
    Draft.objects.filter(assignment=assignment).delete()
    record(
        project=assignment.queue.project,
        actor=actor,
        verb=Verb.JUDGMENT_CORRECTED,
        target=judgment,
        revision=judgment.revision,
    )
    correction_answers(assignment, judgment)
    first = assignment.ended_at or now
    at_once = now <= first + timedelta(seconds=UNDO_SECONDS + GRACE_SECONDS)
    mark(assignment.slot.queue_item_id, SettlingCause.CORRECTED, since=first if at_once else now)
    return Receipt(judgment=judgment, created=True)
