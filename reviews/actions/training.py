"""Practice sets and qualifications: opened from settled items of one rubric, practised as often as somebody likes.

1. An item comes in with the label that stands in its queue, and with the line of guideline or policy that decides it.
2. It serves once: not in two sets, and not while another queue still collects judgments of it.
3. A set never changes once it is open, so that everybody goes the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from reviews.actions.events import record
from reviews.actions.qualifying import can_be_passed
from reviews.enums import AssignmentState, Purpose, QueueItemState, QueueState, SettleRule, SlotState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Assignment, Label, Queue, QueueItem, RaterCursor, Reference, Slot
from reviews.queries.training import LEARNING, fit_to_train
from reviews.rules import check
from reviews.trajectories.guideline import guideline_lines
from reviews.trajectories.policy import policy_lines

# Nobody else waits for these items, so a lease lasts a day.
LEASE_MINUTES = 1440
MOST_ITEMS = 200
WHY_LENGTH = 1000


@dataclass(frozen=True)
class Pick:
    """A label to train with, the line of guideline or policy that decides it, and a lead's words on why it stands."""

    label: Label
    guideline_line: int | None = None
    policy_line: int | None = None
    why: str = ""


@transaction.atomic
def open_training(
    *,
    actor: Any,
    queue: Queue,
    purpose: str,
    name: str,
    picks: Sequence[Pick],
    mark: float | None = None,
) -> Queue:
    """A practice set or a qualification for whoever judges in `queue`, with its rubric and guideline.

    Raises Invalid with a sentence per field; `picks.N` where a label is at fault.
    """
    check(actor, "manage_queue", queue.project)
    errors = _errors_of(queue, purpose, name, picks, mark)
    if errors:
        raise Invalid(errors)
    made = new_queue(
        actor=actor,
        like=queue,
        purpose=Purpose(purpose),
        name=name,
        mark=mark if purpose == Purpose.QUALIFICATION else None,
    )
    rows = settled_items(made, [pick.label.item_id for pick in picks])
    Reference.objects.bulk_create(
        Reference(
            queue_item=row,
            label=pick.label,
            guideline_line=pick.guideline_line,
            policy_line=pick.policy_line,
            why=pick.why.strip(),
        )
        for row, pick in zip(rows, picks, strict=True)
    )
    record(
        project=queue.project_id,
        actor=actor,
        verb=Verb.TRAINING_OPENED,
        target=made,
        purpose=purpose,
        items=len(rows),
        **({"mark": mark} if made.mark else {}),
    )
    return made


def _errors_of(queue: Queue, purpose: str, name: str, picks: Sequence[Pick], mark: float | None) -> dict[str, str]:
    errors = name_errors(name)
    if purpose not in LEARNING:
        errors["purpose"] = "Choose practice or qualification."
    if not 0 < len(picks) <= MOST_ITEMS:
        errors["picks"] = f"Choose 1 to {MOST_ITEMS} items."
    if len({pick.label.item_id for pick in picks}) < len(picks):
        errors["picks"] = "An item can be in the set once."
    if purpose == Purpose.QUALIFICATION:
        if mark is None or not 0 < mark < 1:
            errors["mark"] = "The mark is a share between 0 and 1, such as 0.7."
        elif picks and not can_be_passed(len(picks), mark):
            errors["picks"] = (
                f"With {len(picks)} items nobody can pass a mark of {mark:.0%}, not even with all of them right: "
                "the interval stays too wide. Choose more items or a lower mark."
            )
    fit = set(fit_to_train(queue).filter(pk__in=[pick.label.pk for pick in picks]).values_list("pk", flat=True))
    for number, pick in enumerate(picks):
        if sentence := _pick_error(queue, pick, fit):
            errors[f"picks.{number}"] = sentence
    return errors


def _pick_error(queue: Queue, pick: Pick, fit: set[int]) -> str:
    if pick.label.pk not in fit:
        return (
            "This label cannot be trained with: it must stand under the queue's rubric, and its item be in no other "
            "set and wait for no judgment."
        )
    if len(pick.why.strip()) > WHY_LENGTH or "\x00" in pick.why:
        return f"Say why in up to {WHY_LENGTH:,} characters."
    lines = {line.number for line in guideline_lines(queue.guideline.text)}
    if pick.guideline_line is not None and pick.guideline_line not in lines:
        return "The guideline has no such line."
    if pick.policy_line is not None:
        policy = pick.label.item.policy
        if policy is None or pick.policy_line not in {line.number for line in policy_lines(policy.text)}:
            return "The policy has no such line."
    return ""


def name_errors(name: str) -> dict[str, str]:
    if not 0 < len(name.strip()) <= 120 or "\x00" in name:
        return {"name": "Give a name of 1 to 120 characters."}
    return {} if slugify(name) else {"name": "The name needs at least one letter or digit."}


def new_queue(
    *, actor: Any, like: Queue, purpose: Purpose, name: str, mark: float | None = None, overlap: int = 1
) -> Queue:
    """A queue that is not for work, with rubric and guideline of one that is."""
    try:
        with transaction.atomic():
            return Queue.objects.create(
                project=like.project,
                name=name.strip(),
                slug=slugify(name)[:60],
                rubric=like.rubric,
                guideline=like.guideline,
                overlap=overlap,
                lease_minutes=LEASE_MINUTES,
                settle_rule=SettleRule.LEAD,
                purpose=purpose,
                mark=mark,
                created_by=actor,
            )
    except IntegrityError:
        raise Conflict("This project has a queue or a set of that name already.", field="name") from None


def settled_items(queue: Queue, items: Sequence[int]) -> list[QueueItem]:
    """Rows of these items that no judgment will settle, because they are."""
    return QueueItem.objects.bulk_create(
        QueueItem(queue=queue, item_id=item, state=QueueItemState.SETTLED) for item in items
    )


@transaction.atomic
def practise_again(*, actor: Any, queue: Queue) -> int:
    """Put every item of a practice set before the rater once more. What they said before stays. Returns how many."""
    check(actor, "judge", queue.project)
    if queue.purpose != Purpose.PRACTICE:
        raise Conflict("Only practice can be repeated.")
    if queue.state != QueueState.OPEN:
        raise Conflict("This practice set is not open now.")
    RaterCursor.objects.select_for_update().filter(queue=queue, rater=actor).first()
    done = Assignment.objects.filter(queue=queue, rater=actor, state=AssignmentState.SUBMITTED)
    slots = list(done.values_list("slot", flat=True))
    if not slots:
        return 0
    done.update(state=AssignmentState.RELEASED, ended_at=timezone.now())
    Slot.objects.filter(pk__in=slots).update(state=SlotState.OPEN)
    RaterCursor.objects.filter(queue=queue, rater=actor).update(place=0, slot_id=0)
    record(project=queue.project_id, actor=actor, verb=Verb.PRACTICE_REPEATED, target=queue, items=len(slots))
    return len(slots)


@transaction.atomic
def move_training(*, actor: Any, queue: Queue, state: str) -> Queue:
    """Close a set, or open it again."""
    check(actor, "manage_queue", queue.project)
    if queue.purpose not in LEARNING or state not in (QueueState.OPEN, QueueState.CLOSED):
        raise Invalid({"state": "A set is opened or closed."})
    moved = Queue.every.filter(pk=queue.pk).exclude(state=state).update(state=state)
    queue.state = state
    if moved:
        record(project=queue.project_id, actor=actor, verb=Verb.QUEUE_CHANGED, target=queue, state=state)
    return queue
