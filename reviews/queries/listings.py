"""The rows that lists of the API page through, each with what its answer needs, so that a page costs few queries."""

from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from reviews.enums import PASSED_ON, AssignmentState, Purpose, QueueItemState, Role, Verb, WaitsFor
from reviews.models import (
    Assignment,
    Candidate,
    Event,
    Guideline,
    ImportJob,
    Item,
    Judgment,
    Label,
    Membership,
    Project,
    Queue,
    QueueItem,
    Rubric,
)
from reviews.visibility import Phase, Viewer

VIEWERS = {
    Role.EXPERT: Viewer.RATER,
    Role.LEAD: Viewer.LEAD,
    Role.ENGINEER: Viewer.ENGINEER,
    Role.ADMIN: Viewer.ADMIN,
}


# --- Projects and queues ----------------------------------------------------------------------------------------------
def projects_with_role(person: Any) -> QuerySet[Project]:
    """The projects the person belongs to, each with `own`: their membership, in a list of one."""
    own = Membership.objects.filter(user=person, active=True)
    return Project.objects.filter(memberships__in=own).prefetch_related(
        Prefetch("memberships", queryset=own, to_attr="own")
    )


def queues_of(projects: QuerySet[Project] | list[Project]) -> QuerySet[Queue]:
    """Queues with their items counted by state."""
    queues = Queue.objects.filter(project__in=projects).select_related("project", "rubric", "guideline")
    return queues.annotate(**item_counts())


def item_counts() -> dict[str, Count]:
    """For queues: how many items collect judgments, wait for a lead, are passed on and are settled."""
    waits, passed_on = Q(queue_items__state=QueueItemState.WAITING), Q(queue_items__waits_for__in=PASSED_ON)
    return {
        "collecting": Count("queue_items", filter=Q(queue_items__state=QueueItemState.COLLECTING)),
        "waiting": Count("queue_items", filter=waits & ~passed_on),
        "passed_on": Count("queue_items", filter=waits & passed_on),
        "settled": Count("queue_items", filter=Q(queue_items__state=QueueItemState.SETTLED)),
    }


def queue_in(project: Project, uid: Any) -> Queue | None:
    return Queue.objects.filter(project=project, uid=uid).first()


def role_in(person: Any, project: Project) -> Role:
    """The role of somebody who is known to be a member."""
    return Role(Membership.objects.get(project=project, user=person, active=True).role)


def rubrics_of(project: Project) -> QuerySet[Rubric]:
    return Rubric.objects.filter(project=project).prefetch_related("criteria")


def guidelines_of(project: Project) -> QuerySet[Guideline]:
    return Guideline.objects.filter(project=project).prefetch_related("notes")


def rubric_and_guideline(project: Project, *, rubric: Any, guideline: Any) -> tuple[Rubric | None, Guideline | None]:
    """Those of the project with these ids, None where it has none."""
    return (
        Rubric.objects.filter(project=project, uid=rubric).first(),
        Guideline.objects.filter(project=project, uid=guideline).first(),
    )


# --- Items and labels -------------------------------------------------------------------------------------------------
def held_by(person: Any) -> Q:
    """Whether the person is judging the item just now: while they do, they are a rater, whatever else they may be.

    Who judges a comparison judges its runs, and who judges a run would learn of it from a comparison that has it.
    """
    leases = Assignment.objects.filter(rater=person, state=AssignmentState.LEASED)
    return (
        Q(Exists(leases.filter(item=OuterRef("pk"))))
        | Q(Exists(leases.filter(item__candidates__trajectory=OuterRef("trajectory"))))
        | Q(Exists(leases.filter(item__trajectory__candidacies__item=OuterRef("pk"))))
    )


def _unsettled() -> QuerySet[QueueItem]:
    """Where something is still to be said of an item. What was split out is settled in the queue it went into."""
    return QueueItem.objects.exclude(state=QueueItemState.SETTLED).exclude(waits_for=WaitsFor.OWN_QUEUE)


def _open_places() -> Q:
    """Whether the item still waits for judgments or a decision, by itself or in or through a comparison."""
    places = _unsettled()
    return (
        Q(Exists(places.filter(item=OuterRef("pk"))))
        | Q(Exists(places.filter(item__candidates__trajectory=OuterRef("trajectory"))))
        | Q(Exists(places.filter(item__trajectory__candidacies__item=OuterRef("pk"))))
    )


def items_told_of(project: Project, *, reader: Any) -> QuerySet[Item]:
    """Items of which the reader may know what graders said: not of what they judge just now, nor as a lead of what is
    still open, which they might be about to decide."""
    leads = Membership.objects.filter(project=project, user=reader, active=True, role=Role.LEAD)
    if leads.exists():
        return items_decided(project, reader=reader)
    return Item.objects.filter(project=project).exclude(held_by(reader))


def items_decided(project: Project, *, reader: Any) -> QuerySet[Item]:
    """Items of which a lead or an engineer may know the label: settled wherever they are, not judged by them now."""
    return Item.objects.filter(project=project).exclude(held_by(reader)).exclude(_open_places())


def items_of(project: Project, *, reader: Any) -> QuerySet[Item]:
    """Items with run, outcome and queues, and with `held`, `queued` and `open_somewhere` to tell each one's phase."""
    at_work = QueueItem.objects.filter(queue__purpose=Purpose.WORK)
    places = at_work.filter(item=OuterRef("pk"))
    return (
        Item.objects.filter(project=project)
        .select_related("trajectory__task", "trajectory__outcome", "task")
        .prefetch_related(
            "trajectory__later_scores",
            Prefetch("queue_items", queryset=at_work.select_related("queue", "rule").order_by("pk")),
            Prefetch(
                "candidates", queryset=Candidate.objects.select_related("trajectory__item", "trajectory__outcome")
            ),
        )
        .annotate(
            held=held_by(reader),
            queued=Exists(places),
            open_somewhere=_open_places(),
        )
    )


def phase_of(item: Item) -> Phase:
    """An item is settled once it is in all of its queues; until then nothing opens that could bias a decision."""
    return Phase.SETTLED if item.queued and not item.open_somewhere else Phase.JUDGING


def viewer_of(item: Item, role: Role) -> Viewer:
    return Viewer.RATER if item.held else VIEWERS[role]


def in_queues(items: QuerySet[Item], **conditions: Any) -> QuerySet[Item]:
    """Those that are in a queue in this way; `conditions` are of one and the same place."""
    return items.filter(pk__in=QueueItem.objects.filter(**conditions).values("item"))


def about_tasks(items: QuerySet[Item], **conditions: Any) -> QuerySet[Item]:
    """Those whose task is like this, whether they are one run or several."""
    if not conditions:
        return items
    of_run = Q(**{f"trajectory__task__{name}": value for name, value in conditions.items()})
    return items.filter(of_run | Q(**{f"task__{name}": value for name, value in conditions.items()}))


def redacted_items(project: Project) -> QuerySet[Item]:
    """Items whose run came in while the project redacted, the latest first."""
    items = Item.objects.filter(project=project, trajectory__redactions__isnull=False)
    return items.select_related("trajectory").order_by("-pk")


def item_by_uid(uid: Any, *, reader: Any) -> Item | None:
    """One item as `items_of` gives it, with its project."""
    project = Project.objects.filter(items__uid=uid).first()
    return items_of(project, reader=reader).select_related("project").get(uid=uid) if project else None


def items_by_uid(project: Project, uids: list[Any]) -> dict[Any, Item]:
    """Those of the project's items that have these ids."""
    return {item.uid: item for item in Item.objects.filter(project=project, uid__in=uids)}


def items_outside(queue: Queue) -> QuerySet[Item]:
    """The project's items of the queue's kind that are not yet in it, as they came in."""
    return (
        Item.objects.filter(project=queue.project_id, kind=queue.rubric.item_kind)
        .exclude(pk__in=QueueItem.objects.filter(queue=queue).values("item"))
        .order_by("pk")
    )


def labels_of(project: Project, *, reader: Any) -> QuerySet[Label]:
    """Labels with their values and versions; not those of an item that the reader is judging just now."""
    held = Assignment.objects.filter(rater=reader, state=AssignmentState.LEASED, item=OuterRef("item"))
    standing = QueueItem.objects.filter(label=OuterRef("pk"))
    still_open = _unsettled().filter(item=OuterRef("item"))
    return (
        Label.objects.filter(queue__project=project)
        .exclude(Exists(held))
        .annotate(stands=Exists(standing), open_somewhere=Exists(still_open))
        .select_related("queue", "item", "rubric", "guideline", "adjudication")
        .prefetch_related("values__criterion", "steps", "adjudication__values__criterion")
    )


def label_by_id(label_id: int, *, reader: Any) -> Label:
    """One label as lists show it."""
    project = Project.objects.get(queues__labels=label_id)
    return labels_of(project, reader=reader).get(pk=label_id)


# --- Imports ----------------------------------------------------------------------------------------------------------
def imports_of(project: Project) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(project=project).select_related("project", "queue")


def import_by_uid(project: Project, uid: Any) -> ImportJob | None:
    return imports_of(project).filter(uid=uid).first()


# --- Events -----------------------------------------------------------------------------------------------------------
def events_of(project: Project, *, reader: Any) -> QuerySet[Event]:
    """The audit log as this person may read it.

    Who judges an item that is not settled stays out for everybody but admins: a lead could tell from it, without
    opening the names, whom they are about to decide on. Who asked a question stays out for good.
    """
    events = Event.objects.filter(project=project).select_related("actor")
    if role_in(reader, project) == Role.ADMIN:
        return events
    events = events.exclude(verb__in=[Verb.QUESTION_ASKED, Verb.REFERRAL_ANSWERED])
    unsettled = [QueueItemState.COLLECTING, QueueItemState.WAITING]
    assignments = Assignment.objects.filter(pk=OuterRef("target_id"), slot__queue_item__state__in=unsettled)
    judgments = Judgment.objects.filter(pk=OuterRef("target_id"), assignment__slot__queue_item__state__in=unsettled)
    return events.exclude(Q(target_type="assignment"), Exists(assignments)).exclude(
        Q(target_type="judgment"), Exists(judgments)
    )
