"""What was spent on judging, and what came of it, task by task and week by week: what the ledger adds up."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Case, Count, Exists, OuterRef, Q, Subquery, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, NullIf, TruncWeek
from django.utils import timezone

from goldsets.enums import DatasetState, GraderKind, Rung, WorkKind
from goldsets.models import DatasetRow, DatasetVersion, GraderScore, Reviewer, StageVerdict
from reviews.enums import AssignmentState, Basis, ItemKind, Purpose
from reviews.models import Assignment, LabelValue, Membership, Project, Queue, QueueItem
from reviews.task_review import DECISION, KEEP

BREAK_SECONDS = 600
LEAD, MACHINE = "lead", "machine_hour"
EXPERTS = "experts"
RUNG_OF = {
    GraderKind.DETERMINISTIC.value: Rung.RULES.value,
    GraderKind.MODEL.value: Rung.JUDGE.value,
    GraderKind.HUMAN_PANEL.value: GraderKind.HUMAN_PANEL.value,
}


@dataclass(frozen=True)
class Spent:
    """Work on one task in one week that has one price; `amount` is in seconds. `pieces` counts what it was made of.

    What graders took has `tokens` too, and `dollars` where they say them; `rung` is who did it.
    """

    task: int
    recipe: str
    week: date
    kind: str
    price: str
    amount: float
    pieces: int
    untimed: int
    simulated: bool = False
    rung: str = EXPERTS
    tokens: int = 0
    dollars: float = 0.0

    @property
    def minutes(self) -> float:
        """Of people; nobody waits for a grader."""
        return self.amount / 60 if self.rung == EXPERTS else 0.0


@dataclass(frozen=True)
class Made:
    """What came of one task in one week; `by_people` are the labels that rest on judgments."""

    task: int
    recipe: str
    week: date
    labels: int
    by_people: int
    kept: int


# --- What was spent ---------------------------------------------------------------------------------------------------
def _keys(prefix: str) -> dict[str, Any]:
    """The task and the recipe of the item at `prefix`."""
    return {
        "of_task": Coalesce(f"{prefix}trajectory__task_id", f"{prefix}task_id"),
        "of_recipe": Coalesce(
            NullIf(f"{prefix}task_version__recipe", Value("")),
            KeyTextTransform("recipe", f"{prefix}trajectory__versions"),
            Value(""),
            output_field=TextField(),
        ),
    }


def assignments(project: Project, queue: Queue | None) -> list[Spent]:
    member = Membership.objects.filter(project=project, user=OuterRef("rater"))
    rows = Assignment.objects.filter(queue__project=project)
    rows = rows.filter(queue=queue) if queue else rows
    unfinished = ~Q(state__in=[AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE])
    found = (
        rows.annotate(
            **_keys("item__"),
            of_week=TruncWeek(Coalesce("ended_at", "seen_at")),
            tier=Subquery(member.values("tier")[:1]),
            simulated=Subquery(member.values("simulated")[:1]),
            work=Case(
                When(~Q(queue__purpose=Purpose.WORK), then=Value(WorkKind.LEARNING.value)),
                When(unfinished, then=Value(WorkKind.UNFINISHED.value)),
                When(occasion__gt=1, then=Value(WorkKind.AGAIN.value)),
                When(state=AssignmentState.SET_ASIDE, then=Value(WorkKind.SET_ASIDE.value)),
                When(gold_placement__isnull=False, then=Value(WorkKind.GOLD.value)),
                default=Value(WorkKind.JUDGING.value),
            ),
        )
        .order_by()
        .values_list("of_task", "of_recipe", "of_week", "work", "tier", "simulated")
        .annotate(seconds=Sum("active_seconds"), n=Count("pk"), untimed=Count("pk", filter=Q(active_seconds=0)))
    )
    return [
        Spent(task, recipe, week.date(), work, tier, seconds, n, untimed, simulated)
        for task, recipe, week, work, tier, simulated, seconds, n, untimed in found
    ]


DECISIONS = """
    WITH decided AS (
        SELECT a.queue_item_id, a.created_at, extract(epoch FROM a.created_at - lag(a.created_at)
            OVER (PARTITION BY a.lead_id ORDER BY a.created_at, a.id)) AS seconds
        FROM reviews_adjudication a
        JOIN reviews_queueitem q ON q.id = a.queue_item_id JOIN reviews_queue u ON u.id = q.queue_id
        WHERE u.project_id = %(project)s
    )
    SELECT coalesce(t.task_id, i.task_id), coalesce(nullif(v.recipe, ''), t.versions ->> 'recipe', ''),
        date_trunc('week', d.created_at AT TIME ZONE %(zone)s)::date,
        coalesce(sum(d.seconds) FILTER (WHERE d.seconds <= %(longest)s), 0), count(*),
        count(*) FILTER (WHERE d.seconds IS NULL OR d.seconds > %(longest)s)
    FROM decided d
    JOIN reviews_queueitem q ON q.id = d.queue_item_id JOIN reviews_item i ON i.id = q.item_id
    LEFT JOIN reviews_trajectory t ON t.id = i.trajectory_id
    LEFT JOIN reviews_taskversion v ON v.id = i.task_version_id
    WHERE %(queue)s::bigint IS NULL OR q.queue_id = %(queue)s
    GROUP BY 1, 2, 3
"""


def decisions(project: Project, queue: Queue | None) -> list[Spent]:
    """A lead decides in several queues at a time, so the decision before may be one in another."""
    given = {"project": project.pk, "queue": queue.pk if queue else None, "longest": BREAK_SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(DECISIONS, given | {"zone": timezone.get_current_timezone_name()})
        rows = cursor.fetchall()
    return [
        Spent(task, recipe, week, WorkKind.DECIDING, LEAD, float(seconds), n, untimed, False)
        for task, recipe, week, seconds, n, untimed in rows
    ]


def grading(project: Project) -> list[Spent]:
    told = Q(cost__isnull=False)
    found = (
        GraderScore.objects.filter(version__grader__project=project)
        .annotate(**_keys("item__"), of_week=TruncWeek("created_at"))
        .order_by()
        .values_list("of_task", "of_recipe", "of_week", "version__grader__kind")
        .annotate(
            n=Count("pk"),
            untold=Count("pk", filter=Q(cost=None, tokens=None, seconds=None)),
            seconds=Coalesce(Sum("seconds", filter=~told), 0.0),
            tokens=Coalesce(Sum("tokens", filter=~told), 0),
            dollars=Coalesce(Sum("cost"), Decimal(0)),
        )
    )
    return [
        Spent(
            task,
            recipe,
            week.date(),
            WorkKind.GRADING,
            MACHINE,
            seconds,
            n,
            untold,
            rung=RUNG_OF[kind],
            tokens=tokens,
            dollars=float(dollars),
        )
        for task, recipe, week, kind, n, untold, seconds, tokens, dollars in found
    ]


def staging(project: Project, queue: Queue | None) -> list[Spent]:
    """Verdicts of reviewers at work in a queue: each took what a verdict took when the reviewer was proven."""
    verdicts = StageVerdict.objects.filter(stage__queue__project=project)
    verdicts = verdicts.filter(stage__queue=queue) if queue else verdicts
    found = (
        verdicts.annotate(**_keys("queue_item__item__"), of_week=TruncWeek("at"))
        .order_by()
        .values_list("of_task", "of_recipe", "of_week", "stage__reviewer")
        .annotate(n=Count("pk"))
    )
    rows = list(found)
    reviewers = Reviewer.objects.in_bulk({row[3] for row in rows})
    taken = {pk: seconds_of(reviewer) for pk, reviewer in reviewers.items()}
    return [
        Spent(
            task,
            recipe,
            week.date(),
            WorkKind.GRADING,
            MACHINE,
            n * (taken[pk] or 0.0),
            n,
            n if taken[pk] is None else 0,
            rung=reviewers[pk].rung,
        )
        for task, recipe, week, pk, n in rows
    ]


def seconds_of(reviewer: Reviewer) -> float | None:
    """What one verdict took on the reviewer's test, or None where its proof does not say."""
    for proof in (reviewer.assurance or {}).get("proofs", ()):
        if proof["key"] == "cost":
            return float(proof["figures"]["seconds"])
    return None


# --- What came of it --------------------------------------------------------------------------------------------------
def made_of(project: Project, queue: Queue | None) -> list[Made]:
    rows = QueueItem.objects.filter(queue__project=project, queue__purpose=Purpose.WORK, label__isnull=False)
    rows = rows.filter(queue=queue) if queue else rows
    found = (
        rows.exclude(label__basis=Basis.AMBIGUOUS)
        .annotate(**_keys("item__"), of_week=TruncWeek("label__created_at"))
        .order_by()
        .values_list("of_task", "of_recipe", "of_week")
        .annotate(
            labels=Count("pk"),
            by_people=Count("pk", filter=~Q(label__basis=Basis.REVIEWER)),
            kept=Count("pk", filter=_is_kept(project)),
        )
    )
    return [Made(task, recipe, week.date(), *counted) for task, recipe, week, *counted in found]


def _is_kept(project: Project) -> Q:
    """Whether an item is of use: a task that stays, or anything else whose label left."""
    versions = DatasetVersion.objects.filter(
        dataset__project=project, state=DatasetState.FINISHED, withdrawal__isnull=True
    )
    left = DatasetRow.objects.filter(
        version__in=list(versions.values_list("pk", flat=True)), queue_item=OuterRef("pk"), label=OuterRef("label")
    )
    stays = LabelValue.objects.filter(label=OuterRef("label"), criterion__key=DECISION, candidate=None, value=KEEP)
    is_task = Q(item__kind=ItemKind.TASK)
    return (is_task & Q(Exists(stays))) | (~is_task & Q(Exists(left)))
