"""What a lead sees first of a queue: how far it is, what each rater did, whether the gold will last, what to do now."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q
from django.utils import timezone

from goldsets.enums import GoldState
from goldsets.models import GoldItem, GoldPlacement, GoldPolicy, GoldSchedule
from goldsets.queries.agreement import Kept
from goldsets.queries.doubts import doubts_about_gold
from goldsets.queries.gold import proposal_count
from goldsets.queries.rationales import open_flags
from goldsets.queries.stages import stopped_by_rule
from goldsets.queries.standing import proposed_moves
from reviews.enums import PASSED_ON, AssignmentState, QueueItemState, QueueState, Role, SkipReason, SlotState
from reviews.models import Assignment, Membership, Queue, QueueItem, Slot
from reviews.stats.result import Estimate


@dataclass(frozen=True)
class Progress:
    """Items by state and the judgments that are wanted of them; those on gold are not among these.

    `waiting` for a lead; `passed_on` are those sent back to raters, set apart or split out.
    """

    items: int
    collecting: int
    waiting: int
    passed_on: int
    settled: int
    wanted: int
    judged: int
    in_hand: int
    oldest_waiting: datetime | None


@dataclass(frozen=True)
class RaterToday:
    """What one rater did: everything dealt to them counts, and `gold` says how much of it was gold."""

    rater_id: int
    rater: str
    simulated: bool
    active: bool
    today: int
    total: int
    gold: int
    skipped: int
    in_hand: bool
    gold_used_up: datetime | None


@dataclass(frozen=True)
class GoldPool:
    """`needed` is how many gold items one rater will meet until the queue is done; `used_up` who has met them all."""

    rate: Decimal
    active: int
    needed: int
    used_up: tuple[str, ...]

    @property
    def percent(self) -> int:
        return round(self.rate * 100)

    @property
    def small(self) -> bool:
        return bool(self.rate) and self.active < self.needed


@dataclass(frozen=True)
class Hint:
    """One thing worth doing now: a sentence, and the name of the page where it is done."""

    words: str
    action: str
    page: str


@dataclass(frozen=True)
class Overview:
    progress: Progress
    raters: list[RaterToday]
    skips: list[tuple[str, int]]
    pool: GoldPool


def overview(queue: Queue) -> Overview:
    """A dozen queries, whatever the size of the queue."""
    progress, raters = progress_of(queue), raters_of(queue)
    skips = Counter(
        Assignment.objects.filter(queue=queue, state=AssignmentState.SKIPPED).values_list("skip_reason", flat=True)
    )
    return Overview(
        progress=progress,
        raters=raters,
        skips=[(SkipReason(reason).label, count) for reason, count in skips.most_common()],
        pool=pool_of(queue, progress, raters),
    )


def progress_of(queue: Queue) -> Progress:
    states = Counter(
        dict(QueueItem.objects.filter(queue=queue).values_list("state").annotate(n=Count("pk")).order_by())
    )
    slots = Counter(dict(_plain_slots(queue).values_list("state").annotate(n=Count("pk")).order_by()))
    waiting = QueueItem.objects.filter(queue=queue, state=QueueItemState.WAITING).exclude(waits_for__in=PASSED_ON)
    since = waiting.aggregate(n=Count("pk"), oldest=Min("waiting_since"))
    return Progress(
        items=sum(states.values()),
        collecting=states[QueueItemState.COLLECTING],
        waiting=since["n"],
        passed_on=states[QueueItemState.WAITING] - since["n"],
        settled=states[QueueItemState.SETTLED],
        wanted=slots[SlotState.OPEN] + slots[SlotState.LEASED] + slots[SlotState.DONE],
        judged=slots[SlotState.DONE],
        in_hand=slots[SlotState.LEASED],
        oldest_waiting=since["oldest"],
    )


def _plain_slots(queue: Queue) -> Any:
    placed = GoldPlacement.objects.filter(assignment__slot=OuterRef("pk"))
    return Slot.objects.filter(~Exists(placed), queue=queue)


def raters_of(queue: Queue) -> list[RaterToday]:
    """Everybody who judges or has judged here, the busiest today first."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    done, gold = Q(state=AssignmentState.SUBMITTED), Q(gold_placement__isnull=False)
    counted = {
        row["rater"]: row
        for row in Assignment.objects.filter(queue=queue)
        .values("rater")
        .annotate(
            today=Count("pk", filter=done & Q(ended_at__gte=midnight)),
            total=Count("pk", filter=done),
            gold=Count("pk", filter=done & gold),
            skipped=Count("pk", filter=Q(state=AssignmentState.SKIPPED)),
            in_hand=Count("pk", filter=Q(state=AssignmentState.LEASED)),
        )
        .order_by()
    }
    used_up = dict(GoldSchedule.objects.filter(queue=queue).values_list("rater", "used_up_at"))
    nothing = {"today": 0, "total": 0, "gold": 0, "skipped": 0, "in_hand": 0}
    rows = []
    for member in Membership.objects.filter(project=queue.project_id).select_related("user"):
        if member.user_id not in counted and not (member.role == Role.EXPERT and member.active):
            continue
        row = counted.get(member.user_id, nothing)
        rows.append(
            RaterToday(
                rater_id=member.user_id,
                rater=str(member.user),
                simulated=member.simulated,
                active=member.active,
                today=row["today"],
                total=row["total"],
                gold=row["gold"],
                skipped=row["skipped"],
                in_hand=bool(row["in_hand"]),
                gold_used_up=used_up.get(member.user_id),
            )
        )
    return sorted(rows, key=lambda row: (-row.today, -row.total, row.rater))


def pool_of(queue: Queue, progress: Progress, raters: list[RaterToday]) -> GoldPool:
    """How the gold stands against what is still to be judged, shared evenly among those who judge."""
    rate = GoldPolicy.objects.filter(queue=queue).values_list("rate", flat=True).first() or Decimal(0)
    judging = sum(row.active for row in raters) or 1
    each = min(progress.items, ceil(progress.wanted / judging))
    return GoldPool(
        rate=rate,
        active=GoldItem.objects.filter(queue=queue, state=GoldState.ACTIVE).count(),
        needed=ceil(each * rate / (1 - rate)),
        used_up=tuple(row.rater for row in raters if row.gold_used_up and row.active),
    )


def hints(queue: Queue, seen: Overview, kept: Kept | None) -> list[Hint]:
    """What is worth doing now, the most pressing first. `kept` is the agreement as last counted, with its sentences."""
    progress, pool = seen.progress, seen.pool
    found = []
    if progress.waiting:
        wait = "waits" if progress.waiting == 1 else "wait"
        found.append(Hint(f"{counted(progress.waiting, 'item')} {wait} for a lead.", "Decide", "reviews:disagreements"))
    if proposed := proposal_count(queue):
        wait = "waits" if proposed == 1 else "wait"
        words = f"{counted(proposed, 'gold proposal')} {wait} for a second person."
        found.append(Hint(words, "Look", "goldsets:gold_proposals"))
    found += _gold_in_doubt(queue)
    if moves := len(proposed_moves(queue)):
        found.append(Hint(f"{counted(moves, 'change')} of standing proposed by rule.", "Decide", "goldsets:raters"))
    found += _much_faster(seen, kept) if kept else []
    if stopped := stopped_by_rule(queue):
        words = f"The stage was {stopped.get_state_display().lower()}: {stopped.why}"
        found.append(Hint(words, "See the stage", "goldsets:stages"))
    if flagged := open_flags(queue).count():
        speak = "speaks" if flagged == 1 else "speak"
        words = f"{counted(flagged, 'rationale')} {speak} for the other verdict."
        found.append(Hint(words, "Look", "goldsets:rationales"))
    if pool.used_up:
        have = "has" if len(pool.used_up) == 1 else "have"
        words = f"{', '.join(pool.used_up)} {have} seen all gold: nothing checks them until there is more."
        found.append(Hint(words, "Add gold", "goldsets:gold"))
    elif pool.small:
        words = (
            f"At a rate of {pool.percent}% each rater will meet about {pool.needed} gold items, and there "
            f"{'is' if pool.active == 1 else 'are'} {pool.active}."
        )
        found.append(Hint(words, "Add gold", "goldsets:gold"))
    elif not pool.rate and progress.settled:
        found.append(Hint("No gold is mixed in, so nothing measures the raters.", "Set a rate", "goldsets:gold"))
    readings = kept.found.readings if kept else ()
    found += [Hint(reading, "See agreement", "goldsets:agreement") for reading in readings[:3]]
    if queue.state == QueueState.PAUSED:
        found.append(Hint("The queue is paused.", "Settings", "reviews:queue_settings"))
    return found


def _gold_in_doubt(queue: Queue) -> list[Hint]:
    """What raters or the answers themselves say against gold in use."""
    kinds = doubts_about_gold(queue)
    found = []
    if disputed := kinds["disputed"]:
        wait = "waits" if disputed == 1 else "wait"
        words = f"{counted(disputed, 'gold item')} that raters challenged {wait} for an answer."
        found.append(Hint(words, "Answer", "goldsets:gold"))
    if others := kinds.total() - disputed:
        words = (
            f"{counted(others, 'doubt')} about gold in use: missed by most, perhaps passed on, or decided otherwise."
        )
        found.append(Hint(words, "Look", "goldsets:gold"))
    return found


def _much_faster(seen: Overview, kept: Kept) -> list[Hint]:
    names = {row.rater_id: row.rater for row in seen.raters if row.active}
    return [
        Hint(
            f"{names[rater]} takes {_seconds(kept.seconds[rater], 'judgment')} on an item, the others "
            f"{_seconds(usual, 'rater')}. That may be right; a few of these judgments are worth a look.",
            "See the pace",
            "goldsets:pace",
        )
        for rater, usual in kept.much_faster.items()
        if rater in names
    ]


def _seconds(median: Estimate, of: str) -> str:
    """ "2 s (median of 6 judgments, 95% 2 to 2 s)"."""
    span = "no interval" if median.low is None else f"95% {median.low:.0f} to {median.high:.0f} s"
    return f"{median.value:.0f} s (median of {counted(median.n_units, of)}, {span})"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
