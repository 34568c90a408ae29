"""What judgement costs a project: work by kind, recipe and week, against the labels and kept items that came of it.

1. Time is that of assignments, whatever became of them: gold, practice and what was given back are paid like the rest.
2. A decision takes the time since the lead's decision before it, where that is ten minutes ago at most. The first after
   a break has no time. What has no time is counted and costs nothing here, so all figures are the least it can be.
3. A label counts where it stands and is not “ambiguous”, in the week in which it was made.
4. A task is kept where its label decides “keep”; anything else where its label is in a finished data set version that
   is not withdrawn.
5. Everything is reckoned at one list of prices, so that what changes from week to week is the work and not the price.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.db import connection
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, NullIf, TruncWeek
from django.utils import timezone

from goldsets.enums import DatasetState, WorkKind
from goldsets.models import DatasetRow, DatasetVersion, PriceList
from goldsets.stats.ledger import CURRENCY, PRICES, ratio
from reviews.enums import AssignmentState, Basis, ItemKind, Purpose
from reviews.models import Assignment, LabelValue, Membership, Project, Queue, QueueItem
from reviews.stats.result import Estimate
from reviews.task_review import DECISION, KEEP

NO_RECIPE = "no recipe named"
BREAK_SECONDS = 600
LEAD = "lead"
HOUR = 3600


@dataclass(frozen=True)
class Spent:
    """Work on one task in one week that has one price; `amount` is in seconds. `pieces` counts what it was made of."""

    task: int
    recipe: str
    week: date
    kind: str
    price: str
    amount: float
    pieces: int
    untimed: int
    simulated: bool


@dataclass(frozen=True)
class Made:
    """What came of one task in one week."""

    task: int
    recipe: str
    week: date
    labels: int
    kept: int


@dataclass(frozen=True)
class Line:
    """Work and what came of it, of one part. Money is None, with the reason in `unpriced`, where a price is missing."""

    key: str
    title: str
    minutes: float
    pieces: int
    untimed: int
    simulated_minutes: float
    money: float | None
    unpriced: str
    labels: int
    kept: int
    minutes_per_label: Estimate
    minutes_per_kept: Estimate
    cost_per_label: Estimate
    cost_per_kept: Estimate
    kept_per_dollar: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        estimates = {name: value.as_dict() for name, value in vars(self).items() if isinstance(value, Estimate)}
        return asdict(self) | estimates


@dataclass(frozen=True)
class KindRow:
    """People's time by what it went into."""

    kind: str
    title: str
    minutes: float
    pieces: int
    untimed: int
    share: float
    money: float | None

    @property
    def percent(self) -> int:
        return round(self.share * 100)


@dataclass(frozen=True)
class Ledger:
    """All of a project, or of one queue of it."""

    prices: PriceList | None
    total: Line
    kinds: list[KindRow]
    recipes: list[Line]
    weeks: list[Line]

    @property
    def totals(self) -> list[Line]:
        """The total as a table of one row."""
        return [self.total]

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "currency": CURRENCY,
            "prices": self.prices and {"number": self.prices.number, "prices": self.prices.prices},
            "total": self.total.as_dict(),
            "kinds": [asdict(row) for row in self.kinds],
            "recipes": [line.as_dict() for line in self.recipes],
            "weeks": [line.as_dict() for line in self.weeks],
        }


def price_lists(project: Project) -> QuerySet[PriceList]:
    """The latest first."""
    return PriceList.objects.filter(project=project).select_related("written_by").order_by("-number")


def price_list(project: Project, number: int) -> PriceList | None:
    return price_lists(project).filter(number=number).first()


def ledger(project: Project, *, queue: Queue | None = None, prices: PriceList | None = None) -> Ledger:
    """Six queries, whatever the size of the project. Without `prices`, at the latest there are."""
    prices = prices or price_lists(project).first()
    spent = [*_assignments(project, queue), *_decisions(project, queue)]
    made = _made(project, queue)
    known = prices.prices if prices else {}
    return Ledger(
        prices=prices,
        total=_line("total", "Everything", spent, made, known),
        kinds=_kinds(spent, known),
        recipes=_lines(spent, made, known, lambda row: row.recipe, lambda recipe: recipe or NO_RECIPE),
        weeks=_lines(spent, made, known, lambda row: row.week, lambda week: f"{week:%-d %b %Y}"),
    )


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


def _assignments(project: Project, queue: Queue | None) -> list[Spent]:
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


def _decisions(project: Project, queue: Queue | None) -> list[Spent]:
    """A lead decides in several queues at a time, so the decision before may be one in another."""
    given = {"project": project.pk, "queue": queue.pk if queue else None, "longest": BREAK_SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(DECISIONS, given | {"zone": timezone.get_current_timezone_name()})
        rows = cursor.fetchall()
    return [
        Spent(task, recipe, week, WorkKind.DECIDING, LEAD, float(seconds), n, untimed, False)
        for task, recipe, week, seconds, n, untimed in rows
    ]


# --- What came of it --------------------------------------------------------------------------------------------------
def _made(project: Project, queue: Queue | None) -> list[Made]:
    rows = QueueItem.objects.filter(queue__project=project, queue__purpose=Purpose.WORK, label__isnull=False)
    rows = rows.filter(queue=queue) if queue else rows
    found = (
        rows.exclude(label__basis=Basis.AMBIGUOUS)
        .annotate(**_keys("item__"), of_week=TruncWeek("label__created_at"))
        .order_by()
        .values_list("of_task", "of_recipe", "of_week")
        .annotate(labels=Count("pk"), kept=Count("pk", filter=_is_kept(project)))
    )
    return [Made(task, recipe, week.date(), labels, kept) for task, recipe, week, labels, kept in found]


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


# --- Lines ------------------------------------------------------------------------------------------------------------
def _lines(
    spent: Sequence[Spent],
    made: Sequence[Made],
    prices: dict[str, float],
    of: Callable[[Any], Any],
    title: Callable[[Any], str],
) -> list[Line]:
    """A line for each value of `of`, in their order."""
    parts: dict[Any, tuple[list[Spent], list[Made]]] = defaultdict(lambda: ([], []))
    for row in spent:
        parts[of(row)][0].append(row)
    for each in made:
        parts[of(each)][1].append(each)
    return [_line(str(key), title(key), *parts[key], prices) for key in sorted(parts)]


def _line(key: str, title: str, spent: Sequence[Spent], made: Sequence[Made], prices: dict[str, float]) -> Line:
    minutes = _by_task((row.task, row.amount / 60) for row in spent)
    labels = _by_task((row.task, row.labels) for row in made)
    kept = _by_task((row.task, row.kept) for row in made)
    unpriced = _unpriced(spent, prices)
    money = None if unpriced else _by_task((row.task, _cost(row, prices)) for row in spent)
    return Line(
        key=key,
        title=title,
        minutes=sum(minutes.values()),
        pieces=sum(row.pieces for row in spent),
        untimed=sum(row.untimed for row in spent),
        simulated_minutes=sum(row.amount / 60 for row in spent if row.simulated),
        money=None if money is None else sum(money.values()),
        unpriced=unpriced,
        labels=sum(row.labels for row in made),
        kept=sum(row.kept for row in made),
        minutes_per_label=ratio(minutes, labels, statistic="minutes per label", nothing="No label came of it."),
        minutes_per_kept=ratio(minutes, kept, statistic="minutes per kept item", nothing="Nothing of it is kept."),
        cost_per_label=_priced(money, labels, "US dollars per label", "No label came of it.", unpriced),
        cost_per_kept=_priced(money, kept, "US dollars per kept item", "Nothing of it is kept.", unpriced),
        kept_per_dollar=_priced(kept, money, "kept items per US dollar", "It cost nothing.", unpriced),
    )


def _by_task(rows: Iterable[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, float] = defaultdict(float)
    for task, amount in rows:
        found[task] += amount
    return found


def _cost(row: Spent, prices: dict[str, float]) -> float:
    return row.amount / HOUR * prices[row.price]


def _unpriced(spent: Sequence[Spent], prices: dict[str, float]) -> str:
    """Why the cost cannot be said; empty where it can."""
    if not prices:
        return "No lead has written what an hour costs."
    missing = sorted({row.price for row in spent if row.amount and row.price not in prices})
    if not missing:
        return ""
    names = "; ".join(PRICES[name][0][0].lower() + PRICES[name][0][1:] for name in missing)
    return f"No price is written for {names}."


def _priced(top: Any, bottom: Any, statistic: str, nothing: str, unpriced: str) -> Estimate:
    if unpriced:
        return Estimate(statistic, None, words=unpriced)
    return ratio(top, bottom, statistic=statistic, nothing=nothing)


def _kinds(spent: Sequence[Spent], prices: dict[str, float]) -> list[KindRow]:
    whole = sum(row.amount for row in spent) or 1.0
    found = []
    for kind in WorkKind:
        rows = [row for row in spent if row.kind == kind]
        if not rows:
            continue
        amount = sum(row.amount for row in rows)
        found.append(
            KindRow(
                kind=kind.value,
                title=str(kind.label),
                minutes=amount / 60,
                pieces=sum(row.pieces for row in rows),
                untimed=sum(row.untimed for row in rows),
                share=amount / whole,
                money=None if _unpriced(rows, prices) else sum(_cost(row, prices) for row in rows),
            )
        )
    return found
