"""Items that leads passed on: what is open of one, who is asked, and what waits for a rater's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from reviews.enums import AssignmentState, QueueItemState, QueueState, ReferralKind, Role
from reviews.models import (
    Assignment,
    DecisionDraft,
    FirstAnswer,
    Label,
    Membership,
    Queue,
    QueueItem,
    Referral,
    ReferralAnswer,
)
from reviews.queries.masking import title_of
from reviews.queries.own_work import own_work


def open_referral(queue_item: QueueItem) -> Referral | None:
    return Referral.objects.filter(queue_item=queue_item, closed_at=None).select_related("lead", "queue").first()


def referrals_of(queue_item: QueueItem) -> list[Referral]:
    """Whatever was asked about it, with the answers."""
    return list(queue_item.referrals.select_related("lead", "queue").prefetch_related("answers"))


def label_there(referral: Referral) -> Label | None:
    """The label that stands in the queue into which an item was split out, None as long as there is none."""
    there = QueueItem.objects.filter(queue=referral.queue_id, item=referral.queue_item.item_id).select_related("label")
    found = there.first() if referral.queue_id else None
    return found.label if found else None


def asked_raters(queue_item: QueueItem) -> set[int]:
    """Whose judgments of it count."""
    judged = Assignment.objects.filter(
        queue=queue_item.queue_id, item=queue_item.item_id, state=AssignmentState.SUBMITTED
    )
    return set(judged.values_list("rater", flat=True))


def other_leads(queue_item: QueueItem, lead: Any) -> list[Membership]:
    """Who could decide it instead: active leads who have not judged it."""
    leads = Membership.objects.filter(project=queue_item.queue.project_id, role=Role.LEAD, active=True)
    return list(leads.exclude(user=lead).filter(~Exists(own_work(OuterRef("user"), queue_item.item_id))))


def other_queues(queue: Queue) -> QuerySet[Queue]:
    """Where an item of this queue may be split out to: open queues of its project for items of its kind."""
    found = Queue.objects.filter(project=queue.project_id, rubric__item_kind=queue.rubric.item_kind)
    return found.exclude(pk=queue.pk).exclude(state=QueueState.CLOSED)


def asked_by(lead: Any) -> QuerySet[Referral]:
    """Of which items, by `OuterRef`, this lead asked a second one."""
    return Referral.objects.filter(queue_item=OuterRef("pk"), closed_at=None, kind=ReferralKind.SECOND_LEAD, lead=lead)


@dataclass(frozen=True)
class LookAgain:
    """A question about an item that its rater has judged."""

    referral: Referral
    assignment: Assignment

    @property
    def title(self) -> str:
        """The item's title as its rater reads it."""
        return title_of(self.assignment.item)


def asked_again(person: Any) -> list[LookAgain]:
    """What leads ask this rater about items they judged, and what waits for an answer."""
    answered = ReferralAnswer.objects.filter(referral=OuterRef("pk"), rater=person)
    mine = Assignment.objects.filter(
        queue=OuterRef("queue_item__queue"),
        item=OuterRef("queue_item__item"),
        rater=person,
        state=AssignmentState.SUBMITTED,
    )
    found = Referral.objects.filter(~Exists(answered), Exists(mine), closed_at=None, kind=ReferralKind.RATERS)
    return [
        LookAgain(referral, _assignment(referral, person))
        for referral in found.select_related("queue_item__queue__project").order_by("at")
    ]


def _assignment(referral: Referral, person: Any) -> Assignment:
    queue_item = referral.queue_item
    return Assignment.objects.select_related("item__trajectory__task", "item__task").get(
        queue=queue_item.queue_id, item=queue_item.item_id, rater=person
    )


def asked_about(assignment: Assignment) -> Referral | None:
    """The open question to the rater of this assignment, None where there is none or it is answered."""
    answered = ReferralAnswer.objects.filter(referral=OuterRef("pk"), rater=assignment.rater_id)
    return Referral.objects.filter(
        ~Exists(answered),
        queue_item__queue=assignment.queue_id,
        queue_item__item=assignment.item_id,
        closed_at=None,
        kind=ReferralKind.RATERS,
    ).first()


# --- Before a decision ------------------------------------------------------------------------------------------------
def first_answer(queue_item: QueueItem, lead: Any) -> FirstAnswer | None:
    return FirstAnswer.objects.filter(queue_item=queue_item, lead=lead).first()


def unanswered_by(lead: Any) -> QuerySet[QueueItem]:
    """Items of which this lead is told nobody's answer yet: in queues where leads answer first, those that are not
    settled and that they have not answered."""
    answered = FirstAnswer.objects.filter(queue_item=OuterRef("pk"), lead=lead)
    found = QueueItem.objects.filter(~Exists(answered), queue__lead_answers_first=True)
    return found.exclude(state=QueueItemState.SETTLED)


def decision_draft(queue_item: QueueItem, lead: Any) -> DecisionDraft | None:
    return DecisionDraft.objects.filter(queue_item=queue_item, lead=lead).first()


def undoable(queue_item: QueueItem) -> bool:
    """Whether the label that stands is a lead's decision that can be undone."""
    label = queue_item.label
    return label is not None and label.adjudication is not None and label.adjudication.undoes_id is None
