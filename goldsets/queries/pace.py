"""How long the judgments of a queue took, by rater, and which are worth a look.

What was dealt as gold took its time like anything else and is among them. Whose judgment it was is named once its item
is settled, as everywhere; until then it is only counted.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Sum

from goldsets.models import GoldPlacement
from goldsets.stats.pace import Apart, Pace, RaterPace, Timed, pace
from reviews.enums import AssignmentState, QueueItemState
from reviews.models import Candidate, Judgment, Membership, Queue, QueueItem

MOST_LISTED = 50


@dataclass(frozen=True)
class RaterRow:
    """A rater's pace with their name; `gold` says how many of their judgments were on gold."""

    rater: str
    active: bool
    simulated: bool
    gold: int
    fast: int
    slow: int
    pace: RaterPace
    seconds: tuple[int, ...]


@dataclass(frozen=True)
class LookAt:
    """One judgment worth a look: of whom, of which item, how long it took and was expected to take."""

    rater: str
    item: UUID
    title: str
    steps: int
    at: datetime
    seconds: int
    expected: float
    fast: bool

    @property
    def times(self) -> float:
        """How many times faster or slower than expected."""
        took = max(self.seconds, 1)
        return self.expected / took if self.fast else took / self.expected


@dataclass(frozen=True)
class QueuePace:
    """`look_at` are at most fifty, the furthest first; `kept_back` wait until their items are settled."""

    pace: Pace
    raters: list[RaterRow]
    look_at: list[LookAt]
    listed_of: int
    kept_back: int
    untimed: int

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists for JSON."""
        rows = [
            {
                **asdict(row.pace),
                "rater_id": row.pace.rater,
                "rater": row.rater,
                "gold": row.gold,
                "fast": row.fast,
                "slow": row.slow,
            }
            for row in self.raters
        ]
        return {
            **{name: getattr(self.pace, name) for name in ("n", "low", "high", "words")},
            "median": asdict(self.pace.median),
            "raters": rows,
            "look_at": [{**asdict(one), "times": one.times} for one in self.look_at],
            "kept_back": self.kept_back,
            "untimed": self.untimed,
        }


def queue_pace(queue: Queue) -> QueuePace:
    """A handful of queries, whatever the size of the queue."""
    judgments = Judgment.objects.filter(queue=queue, assignment__state=AssignmentState.SUBMITTED)
    latest = judgments.order_by("assignment", "-revision").distinct("assignment")
    several = _steps_of_several(queue)
    rows = [
        (rater, seconds, several.get(item, 0) if steps is None else steps, item, assignment, at)
        for rater, seconds, steps, item, assignment, at in latest.values_list(
            "rater_id",
            "active_seconds",
            "item__trajectory__step_count",
            "item_id",
            "assignment_id",
            "submitted_at",
        )
    ]
    timed = [row for row in rows if row[1] > 0]
    found = pace([Timed(rater, seconds, steps) for rater, seconds, steps, *_rest in timed])
    names = {row.user_id: row for row in Membership.objects.filter(project=queue.project_id).select_related("user")}
    gold = set(GoldPlacement.objects.filter(gold_item__queue=queue).values_list("assignment_id", flat=True))
    apart = [(one, timed[one.place]) for one in found.apart]
    settled = _settled(queue, [row[3] for _one, row in apart])
    named = [(one, row) for one, row in apart if row[3] in settled]
    return QueuePace(
        pace=found,
        raters=sorted(
            (_rater_row(one, names[one.rater], timed, apart, gold) for one in found.raters if one.rater in names),
            key=lambda row: row.rater,
        ),
        look_at=[
            LookAt(
                rater=str(names[row[0]].user),
                item=settled[row[3]].item.uid,
                title=str(settled[row[3]].item.subject),
                steps=row[2],
                at=row[5],
                seconds=row[1],
                expected=one.expected,
                fast=one.fast,
            )
            for one, row in named[:MOST_LISTED]
        ],
        listed_of=len(named),
        kept_back=len(apart) - len(named),
        untimed=len(rows) - len(timed),
    )


def _steps_of_several(queue: Queue) -> dict[int, int]:
    """For items of several runs, the steps of all of them."""
    candidates = Candidate.objects.filter(item__queue_items__queue=queue).order_by()
    return dict(candidates.values_list("item").annotate(steps=Sum("trajectory__step_count")))


def _settled(queue: Queue, items: list[int]) -> dict[int, QueueItem]:
    rows = QueueItem.objects.filter(queue=queue, item__in=items, state=QueueItemState.SETTLED)
    return {row.item_id: row for row in rows.select_related("item__trajectory__task", "item__task")}


def _rater_row(
    one: RaterPace, member: Membership, timed: list[Any], apart: list[tuple[Apart, Any]], gold: set[int]
) -> RaterRow:
    own = [row for row in timed if row[0] == one.rater]
    marks = [mark.fast for mark, row in apart if row[0] == one.rater]
    return RaterRow(
        rater=str(member.user),
        active=member.active,
        simulated=member.simulated,
        gold=sum(row[4] in gold for row in own),
        fast=sum(marks),
        slow=len(marks) - sum(marks),
        pace=one,
        seconds=tuple(sorted(row[1] for row in own)),
    )
