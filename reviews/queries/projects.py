"""What the pages of a project show: the project itself, its people and invitations, its queues and how far they are."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from reviews.enums import ImportState, QueueState, Role
from reviews.models import Guideline, ImportJob, Invitation, Membership, Project, Queue, Rubric
from reviews.queries.listings import item_counts
from reviews.queries.questions import open_count


def project_by_slug(slug: str) -> Project | None:
    return Project.objects.filter(slug=slug).first()


def projects_of(person: Any) -> QuerySet[Membership]:
    """The person's memberships, each with its project."""
    return Membership.objects.filter(user=person, active=True).select_related("project").order_by("project__name")


# --- People -----------------------------------------------------------------------------------------------------------
def members(project: Project) -> QuerySet[Membership]:
    """Everybody who is or was a member: the active first, then by role and name."""
    return Membership.objects.filter(project=project).select_related("user").order_by("-active", "role", "user__name")


def member_by_id(project: Project, number: int) -> Membership | None:
    return Membership.objects.filter(project=project, pk=number).select_related("user", "project").first()


def open_invitations(project: Project) -> QuerySet[Invitation]:
    """Links that nobody has used and that have not run out, the latest first."""
    return (
        Invitation.objects.filter(project=project, used_at=None, expires_at__gt=timezone.now())
        .select_related("created_by")
        .order_by("-created_at")
    )


# --- Rubrics and guidelines -------------------------------------------------------------------------------------------
def rubrics(project: Project) -> QuerySet[Rubric]:
    """All versions, the latest of each name first, with how many queues use them."""
    return (
        Rubric.objects.filter(project=project)
        .select_related("created_by")
        .annotate(
            gate_count=Count("criteria", filter=Q(criteria__kind="gate"), distinct=True),
            level_count=Count("criteria", filter=~Q(criteria__kind="gate"), distinct=True),
            queue_count=Count("queues", distinct=True),
        )
        .order_by("name", "-version")
    )


def guidelines(project: Project) -> QuerySet[Guideline]:
    """All versions, the latest of each name first, with how many queues use them."""
    return (
        Guideline.objects.filter(project=project)
        .select_related("created_by")
        .annotate(queue_count=Count("queues", distinct=True))
        .order_by("name", "-version")
    )


def rubric_by_uid(project: Project, uid: Any) -> Rubric | None:
    return rubrics(project).filter(uid=uid).prefetch_related("criteria__principle").first()


def guideline_by_uid(project: Project, uid: Any) -> Guideline | None:
    return guidelines(project).filter(uid=uid).first()


# --- Queues -----------------------------------------------------------------------------------------------------------
def queue_rows(project: Project) -> list[Queue]:
    """The project's queues with their items counted by state. One query."""
    return list(
        Queue.objects.filter(project=project)
        .select_related("rubric", "guideline")
        .annotate(item_count=Count("queue_items"), **item_counts())
        .order_by("name")
    )


def queue_by_slug(project: Project, slug: str) -> Queue | None:
    return Queue.objects.filter(project=project, slug=slug).first()


@dataclass(frozen=True)
class Hint:
    """One thing worth doing now: a sentence, and where; `page` is the name of an address and `key` its slug or uid.

    `permission` is what it takes to do it: nobody is sent where they may not go.
    """

    words: str
    action: str
    page: str
    key: Any
    permission: str


def project_hints(project: Project, queues: list[Queue], reader: Any) -> list[Hint]:
    """What is worth doing in a project, the most pressing first."""
    asked = open_count(project, reader)
    hints = [_asked(project, asked)] if asked else []
    hints += [_waiting(queue) for queue in queues if queue.waiting]
    failed = ImportJob.objects.filter(project=project, state=ImportState.FAILED).count()
    if failed:
        hints.append(
            Hint(f"{_counted(failed, 'import')} failed.", "See why", "reviews:imports", project.slug, "import")
        )
    for queue in queues:
        if queue.state == QueueState.PAUSED and queue.collecting:
            words = f"{queue.name} is paused with {_counted(queue.collecting, 'item')} still to judge."
            hints.append(Hint(words, "Settings", "reviews:queue_settings", queue.uid, "manage_queue"))
        if not queue.item_count and queue.state != QueueState.CLOSED:
            words = f"{queue.name} has no items yet."
            hints.append(Hint(words, "Import runs", "reviews:imports", project.slug, "import"))
    if not Membership.objects.filter(project=project, role=Role.EXPERT, active=True).exists():
        hints.append(Hint("Nobody judges here yet.", "Invite experts", "reviews:people", project.slug, "invite"))
    return hints


def _asked(project: Project, count: int) -> Hint:
    words = f"{_counted(count, 'question')} {'waits' if count == 1 else 'wait'} for an answer."
    return Hint(words, "Answer", "reviews:questions", project.slug, "answer_questions")


def _waiting(queue: Queue) -> Hint:
    words = f"{queue.name}: {_counted(queue.waiting, 'item')} {'waits' if queue.waiting == 1 else 'wait'} for a lead."
    return Hint(words, "Decide", "reviews:disagreements", queue.uid, "adjudicate")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
