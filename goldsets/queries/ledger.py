"""What judgement costs a project: work by kind, recipe and week, against the labels and kept items that came of it.

1. Time is that of assignments, whatever became of them: gold, practice and what was given back are paid like the rest.
2. A decision takes the time since the lead's decision before it, where that is ten minutes ago at most. The first after
   a break has no time. What has no time is counted and costs nothing here, so all figures are the least it can be.
3. A label counts where it stands and is not “ambiguous”, in the week in which it was made.
4. A task is kept where its label decides “keep”; anything else where its label is in a finished data set version that
   is not withdrawn.
5. A grader's score costs what it says, or else its tokens and its seconds at their prices; a verdict of a reviewer at
   work in a queue the seconds that one took when it was proven. What says neither, or has no price, costs nothing here
   and is counted.
6. Everything is reckoned at one list of prices, so that what changes from week to week is the work and not the price.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from goldsets.enums import GraderKind, ReviewerState, Rung, WorkKind
from goldsets.models import PriceList, Reviewer
from goldsets.queries.spending import EXPERTS, MACHINE, Made, Spent, assignments, decisions, grading, made_of, staging
from goldsets.stats.ledger import CURRENCY, PRICES, Saving, ratio, saving
from reviews.enums import QueueItemState
from reviews.models import Project, Queue, QueueItem
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate, Reason

NO_RECIPE = "no recipe named"
TOKENS = "million_tokens"
HOUR, MILLION = 3600, 1_000_000
# One verdict of a rule costs too little to be read.
PER = 1000
RUNGS = {
    EXPERTS: "Experts",
    GraderKind.HUMAN_PANEL.value: str(GraderKind.HUMAN_PANEL.label),
    Rung.JUDGE.value: str(Rung.JUDGE.label),
    Rung.CASCADE.value: str(Rung.CASCADE.label),
    Rung.CLASSIFIER.value: str(Rung.CLASSIFIER.label),
    Rung.RULES.value: str(Rung.RULES.label),
}


@dataclass(frozen=True)
class Line:
    """Work and what came of it, of one part. Money is None, with the reason in `unpriced`, where a price is missing.

    `checked` is the share of its labels that rest on judgments: of a recipe, how much of what it makes people look at.
    """

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
    checked: Estimate
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
class RungRow:
    """What one rung of the ladder took. `cost` is per label for experts, per 1,000 verdicts for others."""

    rung: str
    title: str
    verdicts: int
    untold: int
    minutes: float
    tokens: int
    seconds: float
    money: float | None
    unpriced: str
    cost: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"cost": self.cost.as_dict()}


@dataclass(frozen=True)
class Forecast:
    """What a proven reviewer would save of the items that still collect judgments, in minutes and in money."""

    reviewer: UUID
    title: str
    minutes: Saving
    money: Saving

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"minutes": self.minutes.as_dict(), "money": self.money.as_dict()}


@dataclass(frozen=True)
class Ledger:
    """All of a project, or of one queue of it."""

    prices: PriceList | None
    total: Line
    kinds: list[KindRow]
    rungs: list[RungRow]
    recipes: list[Line]
    weeks: list[Line]
    forecasts: list[Forecast]

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
            "rungs": [row.as_dict() for row in self.rungs],
            "recipes": [line.as_dict() for line in self.recipes],
            "weeks": [line.as_dict() for line in self.weeks],
            "forecasts": [each.as_dict() for each in self.forecasts],
        }


def price_lists(project: Project) -> QuerySet[PriceList]:
    """The latest first."""
    return PriceList.objects.filter(project=project).select_related("written_by").order_by("-number")


def price_list(project: Project, number: int) -> PriceList | None:
    return price_lists(project).filter(number=number).first()


def ledger(project: Project, *, queue: Queue | None = None, prices: PriceList | None = None) -> Ledger:
    """A dozen queries and three for each proven reviewer, whatever the size. Without `prices`, at the latest there are.

    Graders score items whatever queue they are in, so theirs is left out of what is said of one queue.
    """
    prices = prices or price_lists(project).first()
    spent = [*assignments(project, queue), *decisions(project, queue), *staging(project, queue)]
    spent += [] if queue else grading(project)
    made = made_of(project, queue)
    known = prices.prices if prices else {}
    return Ledger(
        prices=prices,
        total=_line("total", "Everything", spent, made, known),
        kinds=_kinds(spent, known),
        rungs=_rungs(spent, made, known),
        recipes=_lines(spent, made, known, lambda row: row.recipe, lambda recipe: recipe or NO_RECIPE),
        weeks=_lines(spent, made, known, lambda row: row.week, lambda week: f"{week:%-d %b %Y}"),
        forecasts=_forecasts(project, queue, known),
    )


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
    minutes = _by_task((row.task, row.minutes) for row in spent)
    labels = _by_task((row.task, row.labels) for row in made)
    kept = _by_task((row.task, row.kept) for row in made)
    unpriced = _unpriced(spent, prices)
    money = None if unpriced else _by_task((row.task, _cost(row, prices)) for row in spent)
    return Line(
        key=key,
        title=title,
        minutes=sum(minutes.values()),
        pieces=sum(row.pieces for row in spent if row.rung == EXPERTS),
        untimed=sum(row.untimed for row in spent if row.rung == EXPERTS),
        simulated_minutes=sum(row.minutes for row in spent if row.simulated),
        money=None if money is None else sum(money.values()),
        unpriced=unpriced,
        labels=sum(row.labels for row in made),
        kept=sum(row.kept for row in made),
        checked=wilson(
            sum(row.by_people for row in made), sum(row.labels for row in made), statistic="labels judged by people"
        ),
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
    """People's work has a price wherever this is asked; a machine's without one costs nothing here."""
    tokens = row.tokens / MILLION * prices.get(TOKENS, 0.0)
    return row.dollars + row.amount / HOUR * prices.get(row.price, 0.0) + tokens


def _unpriced(spent: Sequence[Spent], prices: dict[str, float]) -> str:
    """Why the cost cannot be said; empty where it can."""
    if not prices:
        return "No lead has written what an hour costs."
    people = [row for row in spent if row.rung == EXPERTS]
    return _missing({row.price for row in people if row.amount and row.price not in prices})


def _missing(names: set[str]) -> str:
    """ "No price is written for an hour of computing.", or nothing."""
    titles = "; ".join(PRICES[name][0][0].lower() + PRICES[name][0][1:] for name in sorted(names))
    return f"No price is written for {titles}." if titles else ""


def _priced(top: Any, bottom: Any, statistic: str, nothing: str, unpriced: str) -> Estimate:
    if unpriced:
        return Estimate(statistic, None, words=unpriced)
    return ratio(top, bottom, statistic=statistic, nothing=nothing)


def _kinds(spent: Sequence[Spent], prices: dict[str, float]) -> list[KindRow]:
    people = [row for row in spent if row.rung == EXPERTS]
    whole = sum(row.amount for row in people) or 1.0
    found = []
    for kind in WorkKind:
        rows = [row for row in people if row.kind == kind]
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


def _rungs(spent: Sequence[Spent], made: Sequence[Made], prices: dict[str, float]) -> list[RungRow]:
    """Experts first, then whatever else has judged, the dearest first."""
    found = []
    for rung, title in RUNGS.items():
        rows = [row for row in spent if row.rung == rung]
        if not rows:
            continue
        unpriced = _unpriced(rows, prices) if rung == EXPERTS else _untold(rows, prices)
        money = None if unpriced else _by_task((row.task, _cost(row, prices)) for row in rows)
        if rung == EXPERTS:
            cost = _of_people(rows, made, prices)[1]
        else:
            verdicts = _by_task((row.task, row.pieces) for row in rows)
            thousands = {task: n / PER for task, n in verdicts.items()}
            cost = _priced(money, thousands, f"US dollars per {PER:,} verdicts", "There is no verdict.", unpriced)
        found.append(
            RungRow(
                rung=rung,
                title=title,
                verdicts=sum(row.pieces for row in rows),
                untold=sum(row.untimed for row in rows),
                minutes=sum(row.minutes for row in rows),
                tokens=sum(row.tokens for row in rows),
                seconds=0.0 if rung == EXPERTS else sum(row.amount for row in rows),
                money=None if money is None else sum(money.values()),
                unpriced=unpriced,
                cost=cost,
            )
        )
    return found


def _of_people(spent: Sequence[Spent], made: Sequence[Made], prices: dict[str, float]) -> tuple[Estimate, Estimate]:
    """Minutes and money for each label that rests on judgments."""
    labels, nothing = _by_task((row.task, row.by_people) for row in made), "No label came of it."
    unpriced = _unpriced(spent, prices)
    minutes = _by_task((row.task, row.minutes) for row in spent)
    money = None if unpriced else _by_task((row.task, _cost(row, prices)) for row in spent)
    return (
        ratio(minutes, labels, statistic="minutes per label by people", nothing=nothing),
        _priced(money, labels, "US dollars per label by people", nothing, unpriced),
    )


def _untold(rows: Sequence[Spent], prices: dict[str, float]) -> str:
    """Why the cost of a grader's rung cannot be said; empty where it can."""
    if sum(row.untimed for row in rows) == sum(row.pieces for row in rows):
        return "No score says what it took."
    used = {name for name, amount in ((MACHINE, _sum(rows, "amount")), (TOKENS, _sum(rows, "tokens"))) if amount}
    return _missing(used - set(prices))


def _sum(rows: Sequence[Spent], name: str) -> float:
    return float(sum(getattr(row, name) for row in rows))


# --- What the next rung would save ------------------------------------------------------------------------------------
def _forecasts(project: Project, queue: Queue | None, prices: dict[str, float]) -> list[Forecast]:
    """For each reviewer that is proven or signed, of what its queue still collects. Nothing is certified of others."""
    proven = Reviewer.objects.filter(project=project, state__in=[ReviewerState.PROVEN, ReviewerState.SIGNED])
    proven = proven.filter(queue=queue) if queue else proven
    found = []
    for reviewer in proven.select_related("queue__project", "criterion").order_by("queue", "-number"):
        spent = [*assignments(project, reviewer.queue), *decisions(project, reviewer.queue)]
        minutes, money = _of_people(spent, made_of(project, reviewer.queue), prices)
        collecting = QueueItem.objects.filter(queue=reviewer.queue, state=QueueItemState.COLLECTING).count()
        decided = coverage_of(reviewer)
        found.append(
            Forecast(
                reviewer=reviewer.uid,
                title=f"{reviewer.get_rung_display()} for {reviewer.decision.lower()} in {reviewer.queue}",
                minutes=saving(decided, minutes, waiting=collecting),
                money=saving(decided, money, waiting=collecting, unit="US dollars"),
            )
        )
    return found


def coverage_of(reviewer: Reviewer) -> Estimate:
    """The share of its test that it decided alone, as its proof has it."""
    for proof in (reviewer.assurance or {}).get("proofs", ()):
        if proof["key"] == "selective" and "coverage" in proof["figures"]:
            said = proof["figures"]["coverage"]
            return Estimate(**{**said, "reason": Reason(said["reason"]) if said["reason"] else None})
    return Estimate("Coverage", None, words="Its proof does not say what share it decides.")
