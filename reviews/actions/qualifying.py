"""Qualifications: weighed by an interval as items come in, asked for by queues, waived by leads.

1. An item is right when every gate is as it stands, no level is more than one off, and everything else is the same.
2. It is looked at after every fifth item, and at the end. So that looking several times does not make passing easier,
   the 5 % that an interval may miss are shared between the looks.
3. Passed is who has the whole interval above the mark, not yet who has it below. Everybody else gets more items, up
   to the end of the set; then it stays undecided, and a lead says.
"""

from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.enums import AssignmentState, Purpose, QualificationOutcome, Verb
from reviews.errors import Invalid
from reviews.models import Assignment, Membership, Qualification, Queue, QueueItem
from reviews.queries.home import JUDGES
from reviews.queries.references import compared
from reviews.rules import check
from reviews.stats.proportion import wilson

LOOK_EVERY = 5
MISSED = 0.05


def looks(size: int) -> list[int]:
    """After how many items a set of this size is looked at."""
    return [*range(LOOK_EVERY, size, LOOK_EVERY), size]


def confidence_of(size: int) -> float:
    """The confidence of each look's interval, with which all of them together hold in 95 of 100 cases."""
    return 1 - MISSED / len(looks(size))


def bounds(right: int, n: int, *, size: int) -> tuple[float, float]:
    """The interval of one look at `n` items of a set of `size`."""
    interval = wilson(right, n, confidence=confidence_of(size))
    return interval.low or 0.0, 1.0 if interval.high is None else interval.high


def can_be_passed(size: int, mark: float) -> bool:
    """Whether somebody who has every item right passes at all."""
    return bounds(size, size, size=size)[0] > mark


def weigh(*, queue: Queue, rater_id: int) -> Qualification | None:
    """What the rater's answers come to now, where it is time to look. Runs in the transaction of a submission."""
    size = QueueItem.objects.filter(queue=queue).count()
    done = list(Assignment.objects.filter(queue=queue, rater=rater_id, state=AssignmentState.SUBMITTED))
    n = len(done)
    if n not in looks(size):
        return None
    right = sum(answer.right for answer in compared(done).values())
    lower, upper = bounds(right, n, size=size)
    outcome = QualificationOutcome.UNDECIDED
    if lower > (queue.mark or 0):
        outcome = QualificationOutcome.PASSED
    elif upper < (queue.mark or 0):
        outcome = QualificationOutcome.NOT_YET
    result = Qualification.objects.create(
        queue=queue, rater_id=rater_id, outcome=outcome, n=n, right=right, lower=lower, upper=upper
    )
    record(
        project=queue.project_id,
        actor=None,
        verb=Verb.QUALIFICATION_WEIGHED,
        target=queue,
        rater=str(result.rater),
        outcome=outcome,
        n=n,
        right=right,
    )
    return result


@transaction.atomic
def waive(*, actor: Any, queue: Queue, rater_id: Any, why: str) -> Qualification:
    """Let somebody in who has not passed. Raises Invalid where they judge nothing in the project or nothing is said."""
    check(actor, "manage_queue", queue.project)
    why = why.strip()
    member = Membership.objects.filter(project=queue.project, user=rater_id, active=True, role__in=JUDGES).first()
    errors = {}
    if queue.purpose != Purpose.QUALIFICATION:
        errors["queue"] = "This is not a qualification."
    if member is None:
        errors["rater"] = "Only somebody who judges in this project can be let in."
    if not 0 < len(why) <= 500 or "\x00" in why:
        errors["why"] = "Say in up to 500 characters why they need not pass it."
    if errors or member is None:
        raise Invalid(errors)
    result, new = Qualification.objects.get_or_create(
        queue=queue,
        rater=member.user,
        n=0,
        defaults={"outcome": QualificationOutcome.WAIVED, "waived_by": actor, "why": why},
    )
    if new:
        record(
            project=queue.project,
            actor=actor,
            verb=Verb.QUALIFICATION_WAIVED,
            target=queue,
            rater=str(member.user),
            why=why,
        )
    return result


@transaction.atomic
def require_qualification(*, actor: Any, queue: Queue, qualification: Queue | None) -> Queue:
    """Have a queue for work ask for a qualification of its project, or for none any longer."""
    check(actor, "manage_queue", queue.project)
    queue = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    fits = qualification is None or (
        qualification.purpose == Purpose.QUALIFICATION and qualification.project_id == queue.project_id
    )
    if not fits:
        raise Invalid({"qualification": "Choose a qualification of this project, or none."})
    wanted = qualification.pk if qualification else None
    if queue.requires_id != wanted:
        Queue.objects.filter(pk=queue.pk).update(requires=wanted)
        queue.requires_id = wanted
        name = qualification.name if qualification else ""
        record(project=queue.project_id, actor=actor, verb=Verb.QUALIFICATION_REQUIRED, target=queue, asks_for=name)
    return queue
