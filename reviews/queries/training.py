"""Practice and qualification: what can be trained with, what a rater has before them, how everybody did."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from reviews.enums import (
    UNANSWERED,
    AssignmentState,
    NormingState,
    Purpose,
    QualificationOutcome,
    QueueItemState,
    QueueState,
    Role,
)
from reviews.models import Assignment, Judgment, Label, Membership, Project, Qualification, Queue, QueueItem
from reviews.queries.history import Value, value_of
from reviews.queries.masking import read_by_raters
from reviews.queries.references import Compared, compared
from reviews.trajectories.guideline import guideline_lines
from reviews.trajectories.policy import policy_lines
from reviews.visibility import Phase, Thing, Viewer, visible

LEARNING = (Purpose.PRACTICE, Purpose.QUALIFICATION)
PASSING = (QualificationOutcome.PASSED, QualificationOutcome.WAIVED)
DECIDED = (*PASSING, QualificationOutcome.NOT_YET)


def fit_to_train(queue: Queue) -> QuerySet[Label]:
    """Labels that stand under the queue's rubric, of items in no set yet and of which no judgment is awaited."""
    elsewhere = QueueItem.objects.filter(item=OuterRef("item"))
    busy = elsewhere.filter(Q(queue__purpose__in=LEARNING) | ~Q(state=QueueItemState.SETTLED))
    standing = QueueItem.objects.filter(label=OuterRef("pk"), state=QueueItemState.SETTLED)
    return (
        Label.objects.filter(Exists(standing), queue__project=queue.project_id, rubric=queue.rubric_id)
        .exclude(Exists(busy))
        .exclude(basis__in=UNANSWERED)
        .order_by("pk")
    )


def labels_to_pick(queue: Queue) -> QuerySet[Label]:
    """The same with what a list shows of each."""
    return (
        fit_to_train(queue)
        .select_related("queue", "item__trajectory__task__policy", "item__trajectory__policy", "item__task__policy")
        .prefetch_related("values__criterion")
    )


@dataclass
class PickRow:
    """A label that can be picked, in words, with the lines that may decide it; `chosen` is the line ticked so far."""

    label: Label
    values: list[Value]
    lines: list[tuple[str, str]]
    chosen: str = ""
    why: str = ""


def pick_rows(queue: Queue, *, most: int) -> list[PickRow]:
    """The first of the labels that can be trained with."""
    guideline = [
        (f"guideline-{line.number}", f"Guideline {line.number}: {line.text[:80]}")
        for line in guideline_lines(queue.guideline.text)
    ]
    rows = []
    for label in labels_to_pick(queue)[:most]:
        policy = label.item.policy
        numbered = [line for line in policy_lines(policy.text) if line.number] if policy else []
        lines = [(f"policy-{line.number}", f"Policy {line.number}: {line.text[:80]}") for line in numbered]
        values = sorted(label.values.all(), key=lambda value: (value.criterion.position, value.candidate or 0))
        words = [value_of(value, list(range(1, label.item.candidates.count() + 1))) for value in values]
        rows.append(PickRow(label, words, guideline + lines))
    return rows


def training_by_uid(uid: Any) -> Queue | None:
    """A queue that is not for work."""
    others = Queue.every.exclude(purpose=Purpose.WORK)
    return others.select_related("project", "rubric", "guideline").filter(uid=uid).first()


def any_queue_by_uid(uid: Any) -> Queue | None:
    return Queue.every.select_related("project", "rubric", "guideline").filter(uid=uid).first()


# --- For raters -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Lesson:
    """A queue that is not for work on somebody's first page."""

    queue: Queue
    total: int
    done: int
    in_hand: bool
    result: Qualification | None = None
    asked_for: bool = False
    revealed: bool = False

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to do in it."""
        decided = self.result is not None and self.result.outcome in DECIDED
        return self.revealed or (self.left > 0 and not decided)

    @property
    def words(self) -> str:
        """What stands on its card, such as "Practice: 6 items"."""
        items = f"{self.left} item{'' if self.left == 1 else 's'}"
        more = " left" if self.done else ""
        if self.queue.purpose == Purpose.PRACTICE:
            return f"Practice: {items}{more}"
        if self.queue.purpose == Purpose.QUALIFICATION:
            return f"Qualification: {items}{more}"
        return (
            "Norming session: look at the votes together" if self.revealed else f"Norming session: {items} to vote on"
        )


def lessons_of(person: Any, projects: list[int]) -> list[Lesson]:
    """What the person has before them of practice, qualification and norming. Three queries."""
    mine = Q(purpose__in=LEARNING) | Q(
        purpose=Purpose.NORMING, session__members__user=person, session__state__in=_GOING_ON
    )
    queues = (
        Queue.every.filter(mine, project__in=projects, state=QueueState.OPEN)
        .exclude(purpose=Purpose.WORK)
        .select_related("project", "session")
        .annotate(
            total=Count("queue_items", distinct=True), asked=Exists(Queue.objects.filter(requires=OuterRef("pk")))
        )
        .order_by("project__name", "name")
    )
    found = list(queues)
    states = Counter(Assignment.objects.filter(queue__in=found, rater=person).values_list("queue", "state"))
    results = {row.queue_id: row for row in Qualification.objects.filter(queue__in=found, rater=person).order_by("n")}
    waived = {row.queue_id: row for row in Qualification.objects.filter(queue__in=found, rater=person, n=0)}
    return [
        Lesson(
            queue=queue,
            total=queue.total,
            done=states[queue.pk, AssignmentState.SUBMITTED] + states[queue.pk, AssignmentState.SKIPPED],
            in_hand=bool(states[queue.pk, AssignmentState.LEASED]),
            result=waived.get(queue.pk) or results.get(queue.pk),
            asked_for=queue.asked,
            revealed=queue.purpose == Purpose.NORMING and queue.session.state == NormingState.REVEALED,
        )
        for queue in found
    ]


def lesson_of(queue: Queue, person: Any) -> Lesson | None:
    """One of them, None where it is not this person's or not open."""
    return next((lesson for lesson in lessons_of(person, [queue.project_id]) if lesson.queue == queue), None)


_GOING_ON = (NormingState.VOTING, NormingState.REVEALED)


def first_practice(project: Project) -> Queue | None:
    """Where somebody new begins, if the project has one practice set that is open and not several to choose from."""
    sets = list(Queue.every.filter(project=project, purpose=Purpose.PRACTICE, state=QueueState.OPEN)[:2])
    return sets[0] if len(sets) == 1 else None


@dataclass(frozen=True)
class Feedback:
    """What the rater sees after an item of practice: theirs beside what stands, and why."""

    compared: Compared
    guideline_line: str
    policy_line: str
    done: int
    total: int

    @property
    def rationale(self) -> str:
        reference = self.compared.reference
        return "\n".join(filter(None, (reference.why, reference.label.rationale)))

    @property
    def words(self) -> str:
        """A kind sentence: what to take along."""
        wrong = len(self.compared.differing)
        if not wrong:
            near = any(line.near for line in self.compared.lines)
            return "You see it as it stands, but for a level." if near else "You see it exactly as it stands."
        if wrong == 1:
            return "One answer differs from what stands. That is what practice is for."
        return f"{wrong} answers differ from what stands. That is what practice is for; read why below."


def feedback_of(assignment: Assignment) -> Feedback | None:
    """None where nothing may be shown: outside practice, and before the rater has judged the item."""
    queue = assignment.queue
    practised = queue.purpose == Purpose.PRACTICE and assignment.state == AssignmentState.SUBMITTED
    phase = Phase.PRACTISED if practised else Phase.JUDGED
    if Thing.LABEL not in visible(Viewer.RATER, phase):
        return None
    found = compared([assignment]).get(assignment.pk)
    if found is None:
        return None
    reference, policy = found.reference, assignment.item.policy
    text = read_by_raters(assignment.item, policy.text) if policy else ""
    guideline = {line.number: line.text for line in guideline_lines(queue.guideline.text)}
    lines = {line.number: line.text for line in policy_lines(text)}
    states = Counter(Assignment.objects.filter(queue=queue, rater=assignment.rater_id).values_list("state", flat=True))
    return Feedback(
        compared=found,
        guideline_line=guideline.get(reference.guideline_line or 0, ""),
        policy_line=lines.get(reference.policy_line, "") if reference.policy_line else "",
        done=states[AssignmentState.SUBMITTED] + states[AssignmentState.SKIPPED],
        total=QueueItem.objects.filter(queue=queue).count(),
    )


# --- For leads --------------------------------------------------------------------------------------------------------
def training_rows(project: Project) -> list[Queue]:
    """The project's queues that are not for work, with how many began each and how many passed."""
    return list(
        Queue.every.filter(project=project)
        .exclude(purpose=Purpose.WORK)
        .select_related("rubric", "session")
        .annotate(
            item_count=Count("queue_items", distinct=True),
            begun=Count("cursors", distinct=True),
            passed=Count("qualifications__rater", filter=Q(qualifications__outcome__in=PASSING), distinct=True),
        )
        .order_by("purpose", "name")
    )


def qualifications(project: Project) -> list[Queue]:
    """Those that queues can ask for."""
    return list(Queue.every.filter(project=project, purpose=Purpose.QUALIFICATION).order_by("name"))


def queues_asking(queue: Queue) -> list[Queue]:
    return list(Queue.objects.filter(requires=queue).order_by("name"))


@dataclass
class Learner:
    """How somebody did in a set, on their first judgment of each item. `results` are the looks of a qualification."""

    user: Any
    done: int = 0
    right: int = 0
    tries: int = 1
    differs: Counter[str] = field(default_factory=Counter)
    results: list[Qualification] = field(default_factory=list)

    @property
    def result(self) -> Qualification | None:
        """What counts now: a waiver, else the last look."""
        waived = [row for row in self.results if row.waived_by_id]
        return waived[0] if waived else self.results[-1] if self.results else None

    @property
    def differs_most(self) -> list[tuple[str, int]]:
        return self.differs.most_common(3)


@dataclass(frozen=True)
class TrainingPage:
    queue: Queue
    item_count: int
    learners: list[Learner]
    not_begun: list[Membership]
    asking: list[Queue]
    can_be_let_in: list[Any]


def training_page(queue: Queue) -> TrainingPage:
    """Who practised, or sat the qualification, and where they differ from what stands."""
    assignments = list(
        Assignment.objects.filter(queue=queue, judgments__isnull=False).select_related("rater").distinct()
    )
    answers = compared(assignments, first=True)
    learners: dict[int, Learner] = {}
    for assignment in assignments:
        learner = learners.setdefault(assignment.rater_id, Learner(assignment.rater))
        answer = answers[assignment.pk]
        learner.done += 1
        learner.right += answer.right
        learner.differs.update(line.title for line in answer.differing)
    latest = Judgment.objects.filter(queue=queue).order_by("rater", "-revision").distinct("rater")
    for rater, revision in latest.values_list("rater", "revision"):
        learners[rater].tries = revision
    for result in Qualification.objects.filter(queue=queue).select_related("rater", "waived_by").order_by("n"):
        learners.setdefault(result.rater_id, Learner(result.rater)).results.append(result)
    members = Membership.objects.filter(project=queue.project, active=True, role=Role.EXPERT)
    passed = {user for user, learner in learners.items() if learner.result and learner.result.passed}
    outside = [member.user for member in members.exclude(user__in=passed).select_related("user")]
    return TrainingPage(
        queue=queue,
        item_count=QueueItem.objects.filter(queue=queue).count(),
        learners=sorted(learners.values(), key=lambda learner: str(learner.user)),
        not_begun=list(members.exclude(user__in=learners).select_related("user").order_by("user__name")),
        asking=queues_asking(queue),
        can_be_let_in=outside,
    )
