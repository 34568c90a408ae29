"""What of a guideline makes raters differ: leads' reasons and everybody's words, grouped, with the line they are about.

A decision counts once a criterion: as it stands now, where its reason is no rater's error. Its text is the lead's note
and what raters wrote, and where nobody wrote anything, the criterion's title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from django.db.models import F, QuerySet

from reviews.enums import QueueItemState, ReasonCode
from reviews.models import (
    AdjudicatedValue,
    Assignment,
    Guideline,
    GuidelineChange,
    Judgment,
    Label,
    Project,
    Queue,
    QueueItem,
)
from reviews.queries.agreement import CriterionAgreement, agreement
from reviews.queries.disagreements import latest_judgments
from reviews.stats.texts import MOST_TEXTS, text_groups
from reviews.trajectories.guideline import guideline_lines

# Of a rater's error the guideline is not the cause.
CAUSES = [code for code in ReasonCode.values if code != ReasonCode.RATER_ERROR]


@dataclass(frozen=True)
class Signal:
    """One criterion of one decided item on which raters differed, with what was written about it and by whom."""

    queue_item: QueueItem
    criterion: str
    reason: str
    said: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return " ".join(words for _who, words in self.said) or self.criterion


@dataclass(frozen=True)
class Cause:
    """Disagreements that are about one thing. `line` is the number of the guideline's line that they are nearest to."""

    signals: tuple[Signal, ...]
    terms: tuple[str, ...]
    line: int | None
    clause: str

    @property
    def items(self) -> list[QueueItem]:
        return list({signal.queue_item.pk: signal.queue_item for signal in self.signals}.values())

    @property
    def criteria(self) -> list[tuple[str, int]]:
        return Counter(signal.criterion for signal in self.signals).most_common()

    @property
    def reasons(self) -> list[tuple[str, int]]:
        return [(str(ReasonCode(code).label), n) for code, n in Counter(s.reason for s in self.signals).most_common()]

    @property
    def examples(self) -> list[tuple[tuple[str, str], ...]]:
        """What was written, as (who, words), where somebody wrote anything."""
        return [signal.said for signal in self.signals if signal.said][:3]


def causes(guideline: Guideline) -> list[Cause]:
    """The causes among the decisions in the queues that judge by this version, the most frequent first."""
    signals = _signals(guideline)
    lines = guideline_lines(guideline.text)
    groups = text_groups([signal.text for signal in signals], [line.text for line in lines])
    return [
        Cause(
            signals=tuple(signals[place] for place in group.members),
            terms=group.terms,
            line=lines[group.line].number if group.line is not None else None,
            clause=lines[group.line].words if group.line is not None else "",
        )
        for group in groups
    ]


def _signals(guideline: Guideline) -> list[Signal]:
    decided = list(
        AdjudicatedValue.objects.filter(
            adjudication__label__in=Label.objects.filter(guideline=guideline),
            adjudication__queue_item__label__adjudication=F("adjudication"),
            reason_code__in=CAUSES,
        )
        .select_related("criterion", "adjudication__queue_item__queue__rubric")
        .select_related("adjudication__queue_item__item__trajectory__task", "adjudication__queue_item__item__task")
        .order_by("-adjudication_id", "pk")[:MOST_TEXTS]
    )
    said = _words_of_raters([value.adjudication.queue_item for value in decided])
    return [
        Signal(
            queue_item=value.adjudication.queue_item,
            criterion=value.criterion.title,
            reason=value.reason_code,
            said=tuple(_said(value, said)),
        )
        for value in decided
    ]


def _said(value: AdjudicatedValue, of_raters: dict[tuple[int, int], list[str]]) -> Iterator[tuple[str, str]]:
    row = value.adjudication.queue_item
    for words in filter(None, [value.note, value.adjudication.note]):
        yield "Lead", words
    for words in filter(None, [*of_raters.get((row.pk, value.criterion_id), []), *of_raters.get((row.pk, 0), [])]):
        yield "Rater", words


def _words_of_raters(rows: Sequence[QueueItem]) -> dict[tuple[int, int], list[str]]:
    """What raters wrote, by queue item and criterion; their rationales stand under 0."""
    words: dict[tuple[int, int], list[str]] = {}
    by_queue: dict[Queue, dict[int, int]] = {}
    for row in rows:
        by_queue.setdefault(row.queue, {})[row.item_id] = row.pk
    for queue, of_item in by_queue.items():
        for judgment in latest_judgments(queue).filter(item__in=of_item).prefetch_related("ratings"):
            row_id = of_item[judgment.item_id]
            words.setdefault((row_id, 0), []).append(judgment.rationale)
            for rating in judgment.ratings.all():
                if rating.note:
                    words.setdefault((row_id, rating.criterion_id), []).append(rating.note)
    return words


# --- Changes ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class BeforeAfter:
    """Agreement on one question on the sample, as it was and as it is under the change."""

    before: CriterionAgreement
    after: CriterionAgreement


@dataclass(frozen=True)
class ChangePage:
    """A change with what it changes, which items it touches, and what came of trying it."""

    change: GuidelineChange
    diff: str
    touched: list[QueueItem]
    judged: int
    wanted: int
    compared: tuple[BeforeAfter, ...]


def changes_of(project: Project) -> QuerySet[GuidelineChange]:
    return GuidelineChange.objects.filter(base__project=project).select_related(
        "base__project", "queue__rubric", "queue__project", "guideline", "trial", "created_by"
    )


def change_by_uid(uid: Any) -> GuidelineChange | None:
    rows = GuidelineChange.objects.select_related(
        "base__project", "queue__rubric", "queue__project", "guideline", "trial__rubric", "trial__project", "created_by"
    )
    return rows.filter(uid=uid).first()


def change_page(change: GuidelineChange) -> ChangePage:
    touched = change.touched.select_related("queue", "item__trajectory__task", "item__task").order_by("pk")
    judged, wanted = 0, 0
    compared: tuple[BeforeAfter, ...] = ()
    if change.trial:
        items = set(QueueItem.objects.filter(queue=change.trial).values_list("item", flat=True))
        judged = Judgment.objects.filter(queue=change.trial).values("assignment").distinct().count()
        wanted = len(items) * change.trial.overlap
        compared = _compared(change.queue, change.trial, items)
    diff = unified_diff(
        change.base.text.splitlines(), change.text.splitlines(), str(change.base), "changed", lineterm="", n=2
    )
    return ChangePage(change, "\n".join(diff), list(touched), judged, wanted, compared)


def _compared(queue: Queue, trial: Queue, items: set[int]) -> tuple[BeforeAfter, ...]:
    before, after = agreement(queue, leave_out=_not_before(queue, items)), agreement(trial)
    later = {entry.key: entry for entry in after.criteria}
    return tuple(BeforeAfter(entry, later[entry.key]) for entry in before.criteria if entry.key in later)


def _not_before(queue: Queue, items: set[int]) -> list[int]:
    """Assignments of other items, and those that ended once an item was settled: these changed nothing."""
    labels = Label.objects.filter(queue=queue, item__in=items).order_by("-revision")
    first = dict(labels.values_list("item", "created_at"))
    rows = Assignment.objects.filter(queue=queue).values_list("pk", "item", "ended_at")
    return [pk for pk, item, ended in rows if item not in items or (ended and item in first and ended > first[item])]


def decided_items(guideline: Guideline, uids: Sequence[Any]) -> list[QueueItem]:
    """Those of the settled items of this guideline's queues that have these ids."""
    return list(
        QueueItem.objects.filter(queue__guideline=guideline, uid__in=uids, state=QueueItemState.SETTLED)
        .select_related("queue__rubric", "queue__guideline", "queue__project", "item")
        .order_by("pk")
    )


def guideline_for(project: Project, uid: Any) -> Guideline | None:
    return Guideline.objects.filter(project=project, uid=uid).first()
