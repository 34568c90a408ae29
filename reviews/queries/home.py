"""What the first page shows a person: the queues they judge in, and the projects they belong to."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reviews.enums import AssignmentState, QueueState, Role
from reviews.models import Assignment, Membership, Qualification, Queue
from reviews.queries.auditing import unchecked
from reviews.queries.digest import unread
from reviews.queries.questions import Asked, on_first_page, waiting_by_project
from reviews.queries.referrals import LookAgain, asked_again
from reviews.queries.training import PASSING, Lesson, lessons_of

JUDGES = (Role.EXPERT, Role.LEAD)


@dataclass(frozen=True)
class QueueCard:
    """An open queue, whether the person has an item of it in hand, and the qualification they have yet to pass."""

    queue: Queue
    in_hand: bool
    asks_for: Queue | None = None


@dataclass(frozen=True)
class HomePage:
    cards: list[QueueCard]
    memberships: list[Membership]
    asked: list[Asked]
    judges: bool
    digest: bool
    unread: int
    unchecked: list[UUID]
    questions: dict[int, int]
    lessons: list[Lesson]
    asked_again: list[LookAgain]

    @property
    def with_pages(self) -> list[Membership]:
        """Memberships that come with pages of their own: everything but plain raters."""
        return [membership for membership in self.memberships if membership.role != Role.EXPERT]


def home_page(person: Any) -> HomePage:
    """A few queries, whatever the number of queues; `questions` counts those that wait, by the project they lead."""
    memberships = list(
        Membership.objects.filter(user=person, active=True).select_related("project").order_by("project__name")
    )
    judging = [membership.project_id for membership in memberships if membership.role in JUDGES]
    queues = Queue.objects.filter(project__in=judging, state=QueueState.OPEN)
    queues = queues.select_related("project", "guideline", "requires")
    in_hand = set(
        Assignment.objects.filter(rater=person, state=AssignmentState.LEASED).values_list("queue_id", flat=True)
    )
    passed = set(Qualification.objects.filter(rater=person, outcome__in=PASSING).values_list("queue_id", flat=True))
    knows = {membership.project_id: set(membership.domains) for membership in memberships}
    cards = [
        QueueCard(queue, queue.pk in in_hand, queue.requires if queue.requires_id not in passed else None)
        # In the order of their making: what a project is about was there before what came beside it.
        for queue in queues.order_by("project__name", "pk")
        if not queue.domains or queue.pk in in_hand or knows[queue.project_id] & set(queue.domains)
    ]
    with_digest = [row.project for row in memberships if row.project_id in judging and row.project.digest]
    return HomePage(
        cards=cards,
        memberships=memberships,
        asked=on_first_page(person),
        judges=bool(judging),
        digest=bool(with_digest),
        unread=unread(person, with_digest) if with_digest else 0,
        unchecked=unchecked(person, judging) if judging else [],
        questions=waiting_by_project(person, memberships),
        asked_again=asked_again(person) if judging else [],
        lessons=[lesson for lesson in lessons_of(person, judging) if lesson.goes_on],
    )


def queue_by_uid(uid: Any) -> Queue | None:
    return Queue.objects.select_related("project", "rubric", "guideline").filter(uid=uid).first()
