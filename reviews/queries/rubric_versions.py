"""What differs between two versions of a rubric, what a change does to open work, and how criteria drift."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from reviews.enums import LAID_ASIDE, QueueItemState, QueueState
from reviews.models import Guideline, Judgment, Project, Queue, Rubric
from reviews.queries.rubrics import rubric_as_written

# What is compared, and how a reader calls it.
OF_RUBRIC = {
    "item_kind": "what is judged",
    "unsure_allowed": "whether a gate may be unsure",
    "correction": "corrections",
    "audits": "whether raters check what graders said",
}
OF_CRITERION = {
    "title": "title",
    "question": "question",
    "hint": "hint",
    "kind": "kind",
    "scope": "asked of",
    "block": "grade",
    "evidence": "evidence",
    "condition": "condition",
    "required": "required",
    "weight": "weight",
    "settings": "settings",
    "principle": "principle",
}
OF_LEVEL = {"name": "name", "anchor": "anchor", "example": "example"}
ADDED, REMOVED, CHANGED = "added", "removed", "changed"


# --- The difference ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Change:
    """One thing that differs. `criterion` is its key, empty for the rubric itself; `what` is a field or a level."""

    criterion: str
    title: str
    how: str
    what: str = ""
    before: str = ""
    after: str = ""

    @property
    def words(self) -> str:
        if not self.what:
            return f"“{self.title}” is {'new' if self.how == ADDED else 'gone'}."
        place = f"“{self.title}”, {self.what}" if self.criterion else self.what.capitalize()
        if self.how == ADDED:
            return f"{place} is new: {self.after}."
        if self.how == REMOVED:
            return f"{place} is gone: {self.before}."
        return f"{place}: from {self.before or 'nothing'} to {self.after or 'nothing'}."


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Every change from one rubric as written to another: the rubric's own, then criterion by criterion."""
    return [
        *_fields("", "", OF_RUBRIC, before, after),
        *_words(before.get("step_labels") or {}, after.get("step_labels") or {}),
        *_marks(before.get("marks") or [], after.get("marks") or []),
        *_criteria(_by_key(before), _by_key(after)),
        *_order(list(_by_key(before)), list(_by_key(after))),
    ]


def _by_key(rubric: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The criteria in the order in which they are kept: gates first."""
    rows = sorted(rubric["criteria"], key=lambda row: row["kind"] != "gate")
    return {row["key"]: row for row in rows}


def _criteria(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            yield Change(key, (old or new or {})["title"] or key, ADDED if old is None else REMOVED)
        else:
            title = old["title"] or key
            yield from _fields(key, title, OF_CRITERION, old, new)
            yield from _levels(key, title, old["levels"], new["levels"])


def _fields(
    key: str, title: str, names: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Change]:
    for field, words in names.items():
        old, new = (_plain(field, row.get(field)) for row in (before, after))
        if old != new:
            yield Change(key, title, CHANGED, words, _shown(old), _shown(new))


def _plain(field: str, value: Any) -> Any:
    """The value, where nothing and empty are the same; whoever does not say so asks for an answer."""
    if field == "required":
        return value is not False
    return None if value in ("", [], {}, None) or (field == "correction" and value == "never") else value


def _levels(key: str, title: str, before: Iterable[Any], after: Iterable[Any]) -> Iterator[Change]:
    old, new = ({level["value"]: level for level in levels} for levels in (before, after))
    for value in [*old, *(value for value in new if value not in old)]:
        if value not in new:
            yield Change(key, title, REMOVED, f"level {value}", old[value]["name"])
        elif value not in old:
            yield Change(key, title, ADDED, f"level {value}", after=new[value]["name"])
        else:
            named = {field: f"level {value}, {words}" for field, words in OF_LEVEL.items()}
            yield from _fields(key, title, named, old[value], new[value])


def _words(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """What steps are labelled with."""
    old, new = (_label_words(labels) for labels in (before, after))
    if old != new:
        yield Change("", "", CHANGED, "step labels", old, new)


def _marks(before: Iterable[Any], after: Iterable[Any]) -> Iterator[Change]:
    old, new = (", ".join(mark["name"] for mark in marks) for marks in (before, after))
    if list(before) != list(after):
        yield Change("", "", CHANGED, "marks", old, new)


def _label_words(labels: Mapping[str, Any]) -> str:
    if not labels:
        return ""
    words = ", ".join(f"{word['value']} {word['name']}" for word in labels["words"])
    whose = "all steps" if labels.get("of") == "all" else "the agent's steps"
    return f"{words}, of {whose}{', until the first below zero' if labels.get('until_first') else ''}"


def _order(before: list[str], after: list[str]) -> Iterator[Change]:
    kept_before = [key for key in before if key in after]
    kept_after = [key for key in after if key in before]
    if kept_before != kept_after:
        yield Change("", "", CHANGED, "order", ", ".join(kept_before), ", ".join(kept_after))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_shown(part)}" for name, part in sorted(value.items()) if part not in ("", None))
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- Versions of one name ---------------------------------------------------------------------------------------------
def versions_of(project: Project, name: str) -> list[Rubric]:
    """Every version of this name, the latest first, with its criteria."""
    found = Rubric.objects.filter(project=project, name=name).prefetch_related("criteria__principle")
    return list(found.order_by("-version"))


def changes_between(before: Rubric, after: Rubric) -> list[Change]:
    return difference(rubric_as_written(before), rubric_as_written(after))


# --- Open work --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class OpenWork:
    """A queue that judges by some version of a rubric or guideline, and how far it is."""

    queue: Queue
    version: int
    collecting: int
    waiting: int
    settled: int
    judgments: int

    @property
    def can_move(self) -> bool:
        """Whether the queue itself can go over to another version: nothing was judged in it yet."""
        return not self.judgments

    @property
    def unfinished(self) -> int:
        return self.collecting + self.waiting


def open_work(project: Project, name: str, *, but: Rubric | None = None) -> list[OpenWork]:
    """Every queue that is not closed and judges by a rubric's version of this name, apart from one. Two queries."""
    queues = Queue.objects.filter(project=project, rubric__name=name).exclude(rubric=but)
    return [_work(queue, queue.rubric.version, judged) for queue, judged in _with_work(queues)]


def open_work_by_guideline(project: Project, name: str, *, but: Guideline) -> list[OpenWork]:
    """The same of a guideline."""
    queues = Queue.objects.filter(project=project, guideline__name=name).exclude(guideline=but)
    return [_work(queue, queue.guideline.version, judged) for queue, judged in _with_work(queues)]


def _work(queue: Any, version: int, judged: int) -> OpenWork:
    return OpenWork(queue, version, queue.collecting, queue.waiting, queue.settled, judged)


def _with_work(queues: QuerySet[Queue]) -> list[tuple[Queue, int]]:
    """Those that are not closed, with their items counted by state, each with how many judgments it has."""

    def in_state(state: QueueItemState) -> Count:
        aside = Q(queue_items__waits_for__in=LAID_ASIDE)
        return Count("queue_items", filter=Q(queue_items__state=state) & ~aside)

    queues = (
        queues.exclude(state=QueueState.CLOSED)
        .select_related("rubric", "guideline")
        .annotate(
            collecting=in_state(QueueItemState.COLLECTING),
            waiting=in_state(QueueItemState.WAITING),
            settled=in_state(QueueItemState.SETTLED),
        )
        .order_by("name")
    )
    judged = dict(
        Judgment.objects.filter(queue__in=queues.values("pk"), revision=1)
        .order_by()
        .values_list("queue")
        .annotate(number=Count("pk"))
    )
    return [(queue, judged.get(queue.pk, 0)) for queue in queues]
