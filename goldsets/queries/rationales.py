"""What raters wrote and decided, to hear whether the two part; and what was flagged, for leads alone.

A flag names its rater once the item is settled, as everywhere. While an item still collects judgments its flags are
only counted, and a lead does not see those on items that they judge themselves, or are to answer first.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from goldsets.models import RationaleFlag, RationaleWatch
from goldsets.reviewing.rationales import Rationale
from reviews.enums import AssignmentState, CriterionKind, GateAnswer, QueueItemState
from reviews.models import Judgment, LabelValue, Queue, QueueItem, Rating
from reviews.queries.own_work import own_work
from reviews.queries.referrals import unanswered_by
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate
from reviews.task_review import DECISION, KEEP

# What is listened to at a time: the latest say as well what the words mean here.
MOST = 20_000
MOST_LISTED = 50


def queues_to_hear() -> QuerySet[Queue]:
    """Queues of work with judgments since they were last listened to."""
    heard = RationaleWatch.objects.filter(queue=OuterRef("pk")).values("last_judgment")
    newer = Judgment.objects.filter(queue=OuterRef("pk"), pk__gt=Coalesce(OuterRef("heard"), 0))
    queues = Queue.objects.annotate(heard=Subquery(heard[:1]))
    return queues.filter(Exists(newer)).order_by("pk")


def rationales_of(queue: Queue) -> list[Rationale]:
    """The latest judgments with a verdict, each by its latest revision, the oldest first. Three queries."""
    rows = (
        _latest(queue)
        .annotate(family=Coalesce("item__trajectory__task__family", "item__task__family"))
        .order_by("-pk")
        .values_list("pk", "item", "family", "rationale")[:MOST]
    )
    found = list(rows)[::-1]
    ratings = Rating.objects.filter(judgment__in=[row[0] for row in found])
    said = _verdicts(ratings, "judgment")
    labels = LabelValue.objects.filter(label__in=_labelled(queue).values("label"))
    settled = _verdicts(labels, "label__item")
    return [
        Rationale(judgment, family, text, said[judgment], settled.get(item) == said[judgment])
        for judgment, item, family, text in found
        if judgment in said
    ]


def last_judgment(queue: Queue) -> int:
    return Judgment.objects.filter(queue=queue).order_by("-pk").values_list("pk", flat=True).first() or 0


def _latest(queue: Queue) -> QuerySet[Judgment]:
    states = [AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE]
    judged = Judgment.objects.filter(queue=queue, assignment__state__in=states)
    later = Judgment.objects.filter(assignment=OuterRef("assignment"), revision__gt=OuterRef("revision"))
    return judged.filter(~Exists(later))


def _labelled(queue: Queue) -> QuerySet[QueueItem]:
    return QueueItem.objects.filter(queue=queue, label__isnull=False)


def _verdicts(answers: QuerySet[Any], key: str) -> dict[int, bool]:
    """Pass or fail by key: by the gates, or for tasks by whether they are kept. Nothing for the unsure."""
    gate, whole = Q(criterion__kind=CriterionKind.GATE), Q(candidate=None)
    decision = Q(criterion__key=DECISION, criterion__kind=CriterionKind.CHOICE)
    counted = (
        answers.filter(whole & (gate | decision))
        .order_by()
        .values_list(key)
        .annotate(
            failed=Count("pk", filter=gate & Q(value=GateAnswer.FAIL)),
            unsure=Count("pk", filter=gate & Q(value=GateAnswer.UNSURE)),
            gates=Count("pk", filter=gate),
            kept=Count("pk", filter=decision & Q(value=KEEP)),
        )
    )
    return {
        row: failed == 0 if gates else kept > 0 for row, failed, unsure, gates, kept in counted if failed or not unsure
    }


# --- What was flagged -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlagRow:
    """A flag as a lead reads it; `rater` is empty until the item is settled."""

    uid: UUID
    item: UUID
    title: str
    rater: str
    verdict: str
    rationale: str
    probability: float
    at: datetime
    settled: bool


@dataclass(frozen=True)
class Rationales:
    """What waits to be looked at, and how often those who looked found that words and verdict really part."""

    rows: list[FlagRow]
    listed_of: int
    kept_back: int
    precision: Estimate
    watch: RationaleWatch | None


def flag_by_uid(uid: Any) -> RationaleFlag | None:
    rows = RationaleFlag.objects.select_related("judgment__queue__project", "judgment__item")
    return rows.filter(uid=uid).first()


def open_flags(queue: Queue) -> QuerySet[RationaleFlag]:
    """Nobody has looked, and the judgment still stands as it was."""
    return RationaleFlag.objects.filter(judgment__in=_latest(queue).values("pk"), look__isnull=True)


def flags_for(queue: Queue, lead: Any) -> QuerySet[RationaleFlag]:
    """Those this lead may read."""
    there = QueueItem.objects.filter(queue=queue, item=OuterRef("judgment__item"))
    own = own_work(lead, OuterRef("judgment__item"))
    flags = open_flags(queue).annotate(item_state=Subquery(there.values("state")[:1]))
    unanswered = unanswered_by(lead).filter(queue=queue).values("item")
    flags = flags.exclude(item_state=QueueItemState.COLLECTING).exclude(judgment__item__in=unanswered)
    return flags.filter(~Exists(own))


def rationales_page(queue: Queue, lead: Any) -> Rationales:
    """What waits for this lead, the most striking first."""
    flags = flags_for(queue, lead)
    looked = RationaleFlag.objects.filter(judgment__queue=queue, look__isnull=False)
    right, n = looked.filter(look__parts=True).count(), looked.count()
    listed = flags.select_related("judgment__rater", "judgment__item__trajectory__task", "judgment__item__task")
    shown = list(listed.order_by("-probability", "pk")[:MOST_LISTED])
    said = _verdicts(Rating.objects.filter(judgment__in=[flag.judgment_id for flag in shown]), "judgment")
    return Rationales(
        rows=[_row(flag, said) for flag in shown],
        listed_of=flags.count(),
        kept_back=open_flags(queue).count() - flags.count(),
        precision=wilson(right, n, statistic="flags that were right"),
        watch=RationaleWatch.objects.filter(queue=queue).first(),
    )


def _row(flag: Any, said: dict[int, bool]) -> FlagRow:
    judgment = flag.judgment
    settled = flag.item_state == QueueItemState.SETTLED
    return FlagRow(
        uid=flag.uid,
        item=judgment.item.uid,
        title=str(judgment.item.subject),
        rater=str(judgment.rater) if settled else "",
        verdict="pass" if said[judgment.pk] else "fail",
        rationale=judgment.rationale,
        probability=flag.probability,
        at=judgment.submitted_at,
        settled=settled,
    )
