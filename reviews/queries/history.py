"""What a rater has submitted, in the order in which they did, and one of these with its run to read again.

Whatever became of an item, its row here is the same: what is said comes from the rater's own judgment alone.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from reviews.enums import GateAnswer, Purpose
from reviews.models import Assignment, Judgment, Queue, Rating
from reviews.queries.judging import Context, Said, StepWindow, context_of, in_words, steps_window
from reviews.queries.masking import masked_payload, title_of
from reviews.queries.payloads import AnyRow, order_of, payload_of
from reviews.queries.questions import Asked, Notes, asked_on, notes_of
from reviews.visibility import Phase, Thing, Viewer, visible

VERDICTS = {"fail": GateAnswer.FAIL, "unsure": GateAnswer.UNSURE}


@dataclass(frozen=True)
class Value:
    """What somebody said of one criterion, as people read it."""

    title: str
    words: str
    css: str = ""


@dataclass(frozen=True)
class OwnRow:
    """A judgment in a list: gates that all pass are one word."""

    judgment: Judgment
    values: list[Value]

    @property
    def title(self) -> str:
        return title_of(self.judgment.item)


def own_judgments(person: Any, *, asked: dict[str, str] | None = None) -> QuerySet[Judgment]:
    """What the person last said of each item, the latest first; `asked` narrows it by queue, verdict or words."""
    asked = asked or {}
    later = Judgment.objects.filter(assignment=OuterRef("assignment"), revision__gt=OuterRef("revision"))
    found = Judgment.objects.filter(~Exists(later), rater=person, queue__purpose=Purpose.WORK)
    if asked.get("queue"):
        found = found.filter(queue__slug=asked["queue"])
    failed = Rating.objects.filter(judgment=OuterRef("pk"), criterion__kind="gate")
    if asked.get("said") in VERDICTS:
        found = found.filter(Exists(failed.filter(value=VERDICTS[asked["said"]])))
    if asked.get("said") == "pass":
        found = found.exclude(Exists(failed.exclude(value=GateAnswer.PASS)))
    if asked.get("q"):
        words = asked["q"]
        found = found.filter(Q(item__trajectory__task__title__icontains=words) | Q(item__task__title__icontains=words))
        found = found.exclude(pk__in=_not_read(found, words))
    return found.select_related("queue__project", "assignment", *TITLE).order_by("-pk")


def _not_read(found: QuerySet[Judgment], words: str) -> list[int]:
    """Those in whose titles the words stand where a mask hides them: who searches for a name must not find it."""
    masked = found.filter(queue__project__masking__isnull=False).select_related(*TITLE)
    return [judgment.pk for judgment in masked if words.casefold() not in title_of(judgment.item).casefold()]


# What an item's title needs.
TITLE = ("item__trajectory__task", "item__task")


def rows_of(judgments: list[Judgment]) -> list[OwnRow]:
    """With what was said; one query for all."""
    ratings: dict[int, list[Rating]] = {}
    rated = Rating.objects.filter(judgment__in=judgments).select_related("criterion").order_by("criterion__position")
    for rating in rated:
        ratings.setdefault(rating.judgment_id, []).append(rating)
    return [
        OwnRow(judgment, _short(ratings.get(judgment.pk, []), order_of(judgment.assignment))) for judgment in judgments
    ]


def _short(ratings: list[Rating], order: list[int]) -> list[Value]:
    values = [value_of(rating, order) for rating in ratings]
    telling = [value for value in values if value.css != "pass"]
    passed = not any(value.css in ("fail", "unsure") for value in telling)
    return ([Value("Gates", "pass", "pass")] if passed else []) + telling


def value_of(row: AnyRow, order: list[int]) -> Value:
    """The value as a rater reads it; `order` is that in which they saw the candidates, whose letters go by it."""
    letter = f"{chr(ord('A') + order.index(row.candidate))} " if row.candidate in order else ""
    title = letter + row.criterion.title
    if row.criterion.is_gate:
        return Value(title, row.words.lower(), GateAnswer(row.value or 0).name.lower())
    if (ranks := row.ranks) and order:
        row = copy(row)
        row.ranks = [ranks[position - 1] for position in order]
    return Value(title, row.words)


def own_queues(person: Any) -> list[tuple[str, str]]:
    """Address and name of every queue in which the person has submitted something."""
    mine = Assignment.objects.filter(rater=person, judgments__isnull=False)
    return list(Queue.objects.filter(pk__in=mine.values("queue")).order_by("name").values_list("slug", "name"))


@dataclass(frozen=True)
class ReadAgain:
    """A judged item: the run as it was judged, where it is one, and what the rater said and asked."""

    judgment: Judgment
    title: str
    said: list[Said]
    window: StepWindow | None
    context: Context | None
    asked: list[Asked]
    notes: Notes


def read_again(assignment: Assignment, *, first: int = 1, only: str = "") -> ReadAgain | None:
    """None where the rater has not judged the item."""
    judgment = Judgment.objects.filter(assignment=assignment).select_related("rubric").order_by("-revision").first()
    if judgment is None or Thing.RUN not in visible(Viewer.RATER, Phase.JUDGED):
        return None
    payload = masked_payload(payload_of(judgment), assignment)
    run = assignment.item.trajectory
    at = first + 3 if first > 1 else None
    return ReadAgain(
        judgment=judgment,
        title=title_of(assignment.item),
        said=[line for line in in_words(judgment.rubric, payload, judgment.item) if line.words],
        window=steps_window(run, at=at, only=only) if run else None,
        context=context_of(assignment) if run else None,
        asked=asked_on(assignment),
        notes=notes_of(assignment.queue.guideline, assignment.item.policy),
    )


def judged_ratings() -> Prefetch:
    """The values of judgments with their criteria, in the rubric's order."""
    return Prefetch("ratings", Rating.objects.select_related("criterion").order_by("criterion__position"))
