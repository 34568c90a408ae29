"""Drafts and judgments: saved as they grow, submitted once, never changed afterwards."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone

from reviews.actions.admitting import check_may_submit, may_vote_again
from reviews.actions.dealing import count_active_time, ended_sentence, lease_end, own_assignment
from reviews.actions.events import record
from reviews.actions.marking import mark
from reviews.actions.payloads import Answers, read_judgment, storable, subject_of_assignment
from reviews.actions.qualifying import weigh
from reviews.enums import AssignmentState, Purpose, QueueItemState, SettlingCause, SlotState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import (
    Assignment,
    CandidateFailure,
    Correction,
    Draft,
    Evidence,
    Judgment,
    QueueItem,
    Rating,
    Slot,
    StepLabel,
    VerdictsShown,
)
from reviews.queries.prelabels import prelabel_of
from reviews.queries.referrals import asked_about

DRAFT_BYTES = 512 * 1024
KEY_LENGTH = 80
# Whether a judgment counts is nothing that its rater meets.
SUBMITTED = (AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE)
# How long raters may correct what they submitted. What leads decided is shown to them later than this.
CORRECT_WITHIN = timedelta(hours=24)


@dataclass(frozen=True)
class Receipt:
    """The judgment that stands; `created` is False when it had been submitted before."""

    judgment: Judgment
    created: bool


@transaction.atomic
def save_draft(
    *, actor: Any, uid: Any, data: Any, version: int, worked: int | None = None, correcting: bool = False
) -> Draft:
    """Keep what the rater has entered. `version` is the one they last saw; the answer carries the next.

    With `correcting` it is the draft of a correction of what was submitted; without, a tab that was left behind hears
    that the item is submitted. `worked` is how many seconds the rater worked since the last sign of life, as in
    `count_active_time`.
    Raises Conflict with the other draft in `current` when another tab has saved since, so that both can be shown.
    """
    if not isinstance(data, dict):
        raise Invalid({"data": "A draft is a JSON object."})
    encoded = msgspec.json.encode(data)
    if len(encoded) > DRAFT_BYTES or b"\\u0000" in encoded or not storable(encoded.decode()):
        raise Invalid({"data": f"A draft is at most {DRAFT_BYTES // 1024} KB, without NUL characters."})
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state in SUBMITTED and correcting:
        check_correctable(assignment)
    elif assignment.state in (*SUBMITTED, AssignmentState.SKIPPED):
        raise Conflict(ended_sentence(assignment))
    draft, _ = Draft.objects.get_or_create(assignment=assignment)
    if draft.version == version + 1 and draft.data == data:
        return draft  # the same save again, because its answer was lost
    if draft.version != version:
        raise Conflict("Another tab or machine has saved this draft since.", field="version", current=draft)
    draft.data, draft.version, draft.saved_at = data, version + 1, timezone.now()
    draft.save(update_fields=["data", "version", "saved_at"])
    if assignment.state == AssignmentState.LEASED:
        count_active_time(assignment, draft.saved_at, worked)
        assignment.expires_at = lease_end(assignment.queue, draft.saved_at)
        assignment.save(update_fields=["seen_at", "active_seconds", "expires_at"])
    return draft


@transaction.atomic
def submit(*, actor: Any, uid: Any, payload: Any, idempotency_key: str, worked: int | None = None) -> Receipt:
    """Make the rater's answers a judgment. Doing it again, from wherever, gives the same receipt.

    Raises Invalid with a sentence per field; Conflict when the item has gone to somebody else or was skipped.
    """
    check_key(idempotency_key)
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if assignment.state in SUBMITTED:
        return Receipt(judgment=assignment.judgments.latest("revision"), created=False)
    _hold_slot(assignment)
    learning = assignment.queue.purpose != Purpose.WORK
    if learning:
        check_may_submit(assignment=assignment)
    answers = read_judgment(payload, subject=subject_of_assignment(assignment))
    now = timezone.now()
    count_active_time(assignment, now, worked)
    # Practice can be repeated: then it is a further judgment of the same assignment.
    revision = assignment.judgments.count() + 1 if learning else 1
    judgment = write_judgment(assignment, answers, idempotency_key, now, revision=revision)
    first = assignment.occasion == 1
    assignment.state, assignment.ended_at = AssignmentState.SUBMITTED if first else AssignmentState.SET_ASIDE, now
    assignment.save(update_fields=["state", "ended_at", "seen_at", "active_seconds"])
    taken = SlotState.LEASED if first else SlotState.DONE
    Slot.objects.filter(pk=assignment.slot_id, state=taken).update(state=SlotState.DONE)
    Draft.objects.filter(assignment=assignment).delete()
    record(project=assignment.queue.project, actor=actor, verb=Verb.JUDGMENT_SUBMITTED, target=judgment)
    mark(assignment.slot.queue_item_id, SettlingCause.JUDGED)
    if assignment.queue.purpose == Purpose.QUALIFICATION:
        weigh(queue=assignment.queue, rater_id=assignment.rater_id)
    return Receipt(judgment=judgment, created=True)


def is_correctable(assignment: Assignment) -> bool:
    """Whether its rater may still change what they submitted. What became of the item, they do not learn by it."""
    if assignment.queue.purpose != Purpose.WORK:
        return assignment.state in SUBMITTED and may_vote_again(assignment=assignment)
    if VerdictsShown.objects.filter(assignment=assignment).exists():
        return False
    if assignment.state not in SUBMITTED or assignment.ended_at is None:
        return False
    return timezone.now() <= assignment.ended_at + CORRECT_WITHIN or asked_about(assignment) is not None


def check_correctable(assignment: Assignment) -> None:
    """Raises Conflict when it is too late for a correction."""
    if not is_correctable(assignment):
        if assignment.queue.purpose != Purpose.WORK:
            raise Conflict("This stays as you submitted it: nothing that counts rests on it.")
        if VerdictsShown.objects.filter(assignment=assignment).exists():
            raise Conflict("You have read what graders said of this run, so your judgment stays as it is.")
        hours = int(CORRECT_WITHIN.total_seconds() // 3600)
        raise Conflict(f"A judgment can be corrected for {hours} hours after it was submitted. These are over.")


def check_key(idempotency_key: str) -> None:
    if not idempotency_key or len(idempotency_key) > KEY_LENGTH or not storable(idempotency_key):
        raise Invalid({"idempotency_key": f"The key has 1 to {KEY_LENGTH} characters."})


def _hold_slot(assignment: Assignment) -> None:
    """Make sure the rater still has the slot. After the lease ran out it is theirs as long as nobody else took it."""
    if assignment.state == AssignmentState.LEASED:
        return
    if assignment.state != AssignmentState.EXPIRED or not _take_back(assignment):
        raise Conflict(ended_sentence(assignment))
    holds_another = Assignment.objects.filter(
        queue=assignment.queue_id, rater=assignment.rater_id, state=AssignmentState.LEASED
    ).exists()
    if holds_another:
        raise Conflict("Your time on this item ran out and you have another item now. Finish or give back that one.")
    assignment.state = AssignmentState.LEASED
    assignment.save(update_fields=["state"])


def _take_back(assignment: Assignment) -> bool:
    """Lease a slot again that nobody has taken since. One withdrawn from a settled item was nobody else's to take, nor
    is that of a second occasion, which asks for no slot."""
    if assignment.occasion > 1:
        return True
    slot, free = assignment.slot, [SlotState.OPEN]
    if QueueItem.objects.filter(pk=slot.queue_item_id, state=QueueItemState.SETTLED).exists():
        free.append(SlotState.WITHDRAWN)
    return bool(Slot.objects.filter(pk=slot.pk, state__in=free).update(state=SlotState.LEASED))


def write_judgment(assignment: Assignment, answers: Answers, key: str, now: Any, *, revision: int = 1) -> Judgment:
    """The rows of a judgment. Call it in a transaction that holds the assignment."""
    queue = assignment.queue
    judgment = Judgment.objects.create(
        assignment=assignment,
        revision=revision,
        occasion=assignment.occasion,
        queue=queue,
        item_id=assignment.item_id,
        rater_id=assignment.rater_id,
        rubric_id=queue.rubric_id,
        guideline_id=queue.guideline_id,
        confidence=answers.confidence,
        rationale=answers.rationale,
        active_seconds=assignment.active_seconds,
        prelabel=prelabel_of(assignment),
        idempotency_key=key,
        submitted_at=now,
        **(answers.failure.as_fields() if answers.failure else {}),
    )
    Rating.objects.bulk_create(
        Rating(judgment=judgment, note=answer.note, **answer.as_fields()) for answer in answers.values
    )
    StepLabel.objects.bulk_create(
        StepLabel(judgment=judgment, step=step, value=value) for step, value in answers.steps.items()
    )
    Correction.objects.bulk_create(Correction(judgment=judgment, **vars(each)) for each in answers.corrections)
    CandidateFailure.objects.bulk_create(
        CandidateFailure(judgment=judgment, candidate=candidate, **failure.as_fields())
        for candidate, failure in answers.failures.items()
    )
    Evidence.objects.bulk_create(
        Evidence(judgment=judgment, position=position, **vars(pointer))
        for position, pointer in enumerate(answers.evidence, start=1)
    )
    return judgment
