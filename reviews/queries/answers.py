"""The judgments that count for agreement, as arrays: who answered what on which item before a lead decided anything.

Of each rater's revisions of a judgment the latest counts, but none that came after the item's first adjudication: from
then on a rater may know the lead's answer. Whoever asks may hand in assignments to leave out, and need not say why.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from uuid import UUID

import numpy as np
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, F, Func, OuterRef, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, ExtractIsoYear, ExtractWeek

from reviews.enums import AssignmentState, CriterionKind, ItemKind
from reviews.models import (
    Adjudication,
    Candidate,
    CandidateFailure,
    Evidence,
    Item,
    Judgment,
    Queue,
    QueueItem,
    Rating,
    StepLabel,
)

# Stands for no value where a column has whole numbers; no level, option or step is as low.
NO_VALUE = -(2**15)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Codes stand for items and raters.

    `item_of`, `rater_of`, `week`, `order` and `failure_step` have one entry per judgment; a step is 0 where no failure
    point is named, a week is year * 100 + number, and `order` the positions of candidates as they were shown, such as
    "2,1". `judgment` (its place among those), `criterion` (its id), `candidate` (0 for the whole item), `value`,
    `number` and `said` (a set or ranks as "1,3") have one entry per rating; the last two are empty where no question of
    the rubric has such answers. `step_labels` is (labels, 3) of judgment, step, value; `candidate_failures` the same of
    judgment, candidate, step; `citations` (citations, 4) of judgment, criterion, candidate, step.
    """

    item_uids: list[UUID]
    task_of_item: np.ndarray
    family_of_item: list[str]
    slices_of_item: list[dict[str, Any]]
    length_of: dict[tuple[int, int], int]
    rater_ids: list[int]
    item_of: np.ndarray
    rater_of: np.ndarray
    week: np.ndarray
    order: np.ndarray
    failure_step: np.ndarray
    judgment: np.ndarray
    criterion: np.ndarray
    candidate: np.ndarray
    value: np.ndarray
    number: np.ndarray
    said: np.ndarray
    step_labels: np.ndarray
    candidate_failures: np.ndarray
    citations: np.ndarray
    n_left_out: int
    n_items_in_queue: int

    @property
    def n_judgments(self) -> int:
        return len(self.item_of)

    def uids(self, items: Sequence[int] | np.ndarray) -> tuple[UUID, ...]:
        """The public ids of items by their codes."""
        return tuple(self._uids[np.asarray(items, dtype=np.int64)].tolist())

    @cached_property
    def _uids(self) -> np.ndarray:
        return np.array(self.item_uids, dtype=object)

    def of(self, criterion_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Items, raters and values of one criterion, one entry per rating."""
        rows = self.criterion == criterion_id
        judgments = self.judgment[rows]
        return self.item_of[judgments], self.rater_of[judgments], self.value[rows]


def ratings(queue: Queue, *, leave_out: Iterable[int] | Any = ()) -> Answers:
    """Everything that counts in a queue, in a number of queries that does not grow.

    `leave_out` has ids of assignments, or is a query for them.
    """
    of_queue = Judgment.objects.filter(queue=queue, assignment__state=AssignmentState.SUBMITTED)
    counting = _before_decisions(queue, of_queue.exclude(assignment__in=leave_out))
    n_left_out = of_queue.filter(assignment__in=leave_out).values("assignment").distinct().count()
    return answers_in(queue, counting, n_left_out=n_left_out)


def answers_in(queue: Queue, counting: QuerySet[Judgment], *, few: bool = False, n_left_out: int = 0) -> Answers:
    """What these judgments of the queue say, of each assignment the latest.

    Where they are few of the queue's, only what belongs to them is read; of nearly all, asking for each takes longer.
    """
    theirs = {"judgment__in": counting.values("pk")} if few else {"judgment__queue": queue}
    items = Item.objects.filter(**{"pk__in": counting.values("item")} if few else {"queue_items__queue": queue})
    compares = queue.rubric.item_kind != ItemKind.TRAJECTORY
    judgments = _columns(
        counting,
        pk=F("pk"),
        assignment=F("assignment"),
        revision=F("revision"),
        item=F("item"),
        rater=F("rater"),
        failure_step=Coalesce("failure_step", 0),
        week=ExtractIsoYear("submitted_at") * 100 + ExtractWeek("submitted_at"),
        **({"order": _joined("assignment__candidate_order")} if compares else {}),
    )
    latest = _latest(judgments)
    judgments = {name: column[latest] for name, column in judgments.items()}
    pk = judgments["pk"]
    item_ids, item_of = np.unique(judgments["item"], return_inverse=True)
    rater_ids, rater_of = np.unique(judgments["rater"], return_inverse=True)
    rated = _rated(queue, pk, theirs)
    about = _about(items)
    return Answers(
        item_uids=[about[item][0] for item in item_ids.tolist()],
        task_of_item=np.unique([about[item][1] for item in item_ids.tolist()], return_inverse=True)[1],
        family_of_item=[about[item][2] for item in item_ids.tolist()],
        slices_of_item=[about[item][3] for item in item_ids.tolist()],
        length_of=_lengths(queue, items, item_ids, about),
        rater_ids=rater_ids.tolist(),
        item_of=item_of,
        rater_of=rater_of,
        week=judgments["week"],
        order=judgments.get("order", np.full(len(pk), "")),
        failure_step=judgments["failure_step"],
        judgment=rated["judgment"],
        criterion=rated["criterion"],
        candidate=rated["candidate"],
        value=rated["value"],
        number=rated.get("number", np.zeros(0)),
        said=rated.get("said", np.zeros(0, dtype=str)),
        step_labels=_of_judgments(StepLabel, pk, theirs, "step", "value") if queue.rubric.step_labels else _none(3),
        candidate_failures=(
            _of_judgments(CandidateFailure, pk, theirs, "candidate", "failure_step") if compares else _none(3)
        ),
        citations=_of_judgments(
            Evidence, pk, theirs, "criterion", "candidate", "step", criterion__isnull=False, step__isnull=False
        ),
        n_left_out=n_left_out,
        n_items_in_queue=QueueItem.objects.filter(queue=queue).count(),
    )


def _rated(queue: Queue, pk: np.ndarray, theirs: dict[str, Any]) -> dict[str, np.ndarray]:
    """The ratings of these judgments; texts and numbers only where the rubric has questions for them."""
    kinds = set(queue.rubric.criteria.values_list("kind", flat=True))
    more: dict[str, Any] = {}
    if CriterionKind.NUMBER in kinds:
        more["number"] = F("number")
    if kinds & {CriterionKind.MULTI_CHOICE, CriterionKind.PREFERENCE}:
        # A preference's choices are its reasons, on which nobody has to agree.
        more["said"] = Coalesce(_joined("ranks"), _joined("choices"), Value(""), output_field=TextField())
    rated = _columns(
        Rating.objects.filter(**theirs),
        judgment=F("judgment"),
        criterion=F("criterion"),
        candidate=Coalesce("candidate", 0),
        value=Coalesce("value", NO_VALUE),
        **more,
    )
    counts = np.isin(rated["judgment"], pk)
    rated = {name: column[counts] for name, column in rated.items()}
    return rated | {"judgment": np.searchsorted(pk, rated["judgment"])}


def _about(items: QuerySet[Item]) -> dict[int, tuple[UUID, int, str, dict[str, Any], int]]:
    """Per item: its public id, its task with family and slices, and its number of steps."""
    rows = items.values_list(
        "pk",
        "uid",
        Coalesce("trajectory__task", "task"),
        Coalesce("trajectory__task__family", "task__family"),
        # Few slices are distinct, and each is read once.
        Cast(Coalesce("trajectory__task__slices", "task__slices"), TextField()),
        Coalesce("trajectory__step_count", 0),
    )
    read = cache(json.loads)
    return {
        item: (uid, task, family, read(slices), steps)
        for item, uid, task, family, slices, steps in rows.iterator(chunk_size=10_000)
    }


def _lengths(
    queue: Queue, items: QuerySet[Item], item_ids: np.ndarray, about: dict[int, Any]
) -> dict[tuple[int, int], int]:
    """Steps by (item's code, candidate), the candidate 0 being the item's only run."""
    code = {item: at for at, item in enumerate(item_ids.tolist())}
    found = {(at, 0): about[item][4] for item, at in code.items()}
    if queue.rubric.item_kind != ItemKind.TRAJECTORY:
        runs = Candidate.objects.filter(item__in=items.values("pk"))
        for item, position, steps in runs.values_list("item", "position", "trajectory__step_count"):
            if item in code:
                found[code[item], position] = steps
    return found


def _of_judgments(model: Any, pk: np.ndarray, theirs: dict[str, Any], *fields: str, **where: Any) -> np.ndarray:
    """(rows, 1 + fields): the place of the judgment, then these columns, 0 where one is empty."""
    rows = _columns(
        model.objects.filter(**theirs, **where),
        judgment_id=F("judgment"),
        **{f"{name}_or_0": Coalesce(name, 0) for name in fields},
    )
    counts = np.isin(rows["judgment_id"], pk)
    judgment, *columns = (column[counts] for column in rows.values())
    return np.column_stack([np.searchsorted(pk, judgment), *columns]).astype(np.int64)


def _none(width: int) -> np.ndarray:
    return np.zeros((0, width), dtype=np.int64)


def _before_decisions(queue: Queue, judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    decided = Adjudication.objects.filter(
        queue_item__queue=queue, queue_item__item=OuterRef("item"), created_at__lte=OuterRef("submitted_at")
    )
    return judgments.exclude(Exists(decided))


def _latest(judgments: dict[str, np.ndarray]) -> np.ndarray:
    """Of each assignment the row of its latest revision, in the order of primary keys."""
    by_assignment = np.lexsort((judgments["revision"], judgments["assignment"]))
    last = np.append(np.diff(judgments["assignment"][by_assignment]) != 0, True)[: len(by_assignment)]
    rows = by_assignment[last]
    return rows[np.argsort(judgments["pk"][rows])]


def _joined(field: str) -> Func:
    """An array as text, such as "1,3"."""
    return Func(F(field), Value(","), function="array_to_string", output_field=TextField())


DTYPES: dict[str, Any] = {"number": float, "said": str, "order": str}


def _columns(rows: QuerySet[Any], **fields: Any) -> dict[str, np.ndarray]:
    """One array per field. Postgres gathers each column, which is far faster than fetching row by row."""
    gathered = rows.aggregate(**{f"column_{name}": ArrayAgg(field, default=[]) for name, field in fields.items()})
    return {
        name: _as_array(column, DTYPES.get(name, np.int64))
        for name, column in zip(fields, gathered.values(), strict=True)
    }


def _as_array(column: list[Any], dtype: Any) -> np.ndarray:
    return np.array(["" if one is None else one for one in column] if dtype is str else column, dtype=dtype)
