"""Lays runs beside each other: a comparison of two to eight runs that answer one request, made once, however often.

The runs are read as a rater will read them: what all of them begin with is found and shown once, and two that read
alike from the first step to the last are no comparison.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from typing import Any

from django.db import IntegrityError, transaction

from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.actions.queueing import add_items
from reviews.enums import ItemKind, Provenance, StepRole, Verb
from reviews.errors import AssayError, Conflict, Invalid
from reviews.models import Candidate, Item, Project, Queue, Trajectory
from reviews.queries.pairing import fingerprints_of, items_named, runs_by_task, runs_of_items
from reviews.rules import check
from reviews.trajectories.alignment import Fingerprint, shared_start

FEWEST, MOST = 2, 8
# What one request makes at most, as rows named or as tuples of a task.
MOST_ROWS = 1_000
MOST_PER_TASK = 50
# Of a task with very many runs, so many are laid beside each other.
MOST_RUNS_OF_A_TASK = 40
DIFFERS_IN_LENGTH = 200

CREATED, ALREADY_THERE, REFUSED = STATUSES = ("created", "already_there", "refused")


@dataclass(frozen=True)
class Made:
    """A comparison, and whether it is new; a refused row has the reason instead."""

    status: str
    item: Item | None = None
    reason: str = ""


@transaction.atomic
def make_comparison(
    *,
    actor: Any,
    project: Project,
    items: Sequence[Item],
    shared: int | None = None,
    provenance: str = Provenance.MODEL,
    differs_in: str = "",
) -> Made:
    """The comparison of these items' runs, in this order. The same runs again, in whatever order, are there already.

    `shared` says how many first steps are shown once; left out, it is as many as all runs have in common. `differs_in`
    names for leads the one decision in which the runs part. Raises Forbidden or Invalid.
    """
    check(actor, "compare", project)
    made = _make(project, items, _Reading(), shared=shared, provenance=provenance, differs_in=differs_in)
    if made.status == CREATED and made.item:
        record(project=project, actor=actor, verb=Verb.COMPARISON_MADE, target=made.item, candidates=len(items))
    return made


@transaction.atomic
def make_comparisons(
    *, actor: Any, project: Project, rows: Sequence[Mapping[str, Any]], queue: Queue | None = None
) -> list[Made]:
    """A comparison per row of {"items", "shared", "provenance", "differs_in"}, and a receipt for each, in order.

    Items are named by their ids. A row that cannot be taken is refused in its receipt and hinders no other. With
    `queue`, what is made or was there already is put into it. Raises Forbidden, Conflict or Invalid.
    """
    check(actor, "compare", project)
    if len(rows) > MOST_ROWS:
        raise Invalid({"comparisons": f"At most {MOST_ROWS:,} comparisons are made at once. Send them in parts."})
    return _made(actor, project, [partial(_make_named, project, row) for row in rows], queue)


@transaction.atomic
def make_comparisons_by_task(
    *, actor: Any, project: Project, size: int = 2, most: int = 1, family: str = "", queue: Queue | None = None
) -> list[Made]:
    """Of every task, up to `most` comparisons of `size` of its runs. The same runs give the same comparisons.

    Which of a task's pairs are taken follows from the runs' content and from nothing else, so that neither the first
    nor the longest run is in more of them. Raises Forbidden, Conflict or Invalid.
    """
    check(actor, "compare", project)
    errors = {}
    if not FEWEST <= size <= MOST:
        errors["size"] = f"A comparison has {FEWEST} to {MOST} candidates."
    if not 1 <= most <= MOST_PER_TASK:
        errors["most"] = f"Ask for 1 to {MOST_PER_TASK} comparisons of a task."
    if errors:
        raise Invalid(errors)
    groups = (
        group
        for runs in runs_by_task(project, at_least=size, family=family)
        for group in _groups(runs[:MOST_RUNS_OF_A_TASK], size, most)
    )
    chosen = list(islice(groups, MOST_ROWS + 1))
    if len(chosen) > MOST_ROWS:
        raise Invalid({"most": f"That would make more than {MOST_ROWS:,} comparisons. Ask for fewer, or one family."})
    return _made(actor, project, [partial(_make, project, group) for group in chosen], queue)


def name_difference(*, item: Item, differs_in: str) -> bool:
    """Write down what a comparison's runs differ in, where nothing was said yet, and whether it was written.

    For actions that check who may, and record it. Raises Invalid.
    """
    if wrong := _wrong_name(differs_in):
        raise Invalid({"differs_in": wrong})
    written = Item.objects.filter(pk=item.pk, kind=ItemKind.COMPARISON, differs_in="").update(
        differs_in=differs_in.strip()
    )
    item.refresh_from_db(fields=["differs_in"])
    return written == 1


def _make_named(project: Project, row: Mapping[str, Any], reading: "_Reading") -> Made:
    options = {name: value for name, value in row.items() if name != "items"}
    return _make(project, items_named(project, row["items"]), reading, **options)


def _groups(items: Sequence[Item], size: int, most: int) -> Iterator[list[Item]]:
    """Some of the groups of a task's runs, in an order that only their content decides."""
    groups = ([item.run.content_hash for item in group] for group in combinations(items, size))
    by_hash = {item.run.content_hash: item for item in items}
    chosen = sorted(groups, key=lambda hashes: _hash_of("order", *sorted(hashes)))[:most]
    return ([by_hash[content] for content in sorted(hashes, key=lambda h: _hash_of("place", h))] for hashes in chosen)


def _made(
    actor: Any, project: Project, makers: Iterable[Callable[["_Reading"], Made]], queue: Queue | None
) -> list[Made]:
    reading, receipts = _Reading(), []
    for make in makers:
        try:
            receipts.append(make(reading))
        except AssayError as error:
            receipts.append(Made(REFUSED, reason=error.message))
    counts = {status: sum(made.status == status for made in receipts) for status in STATUSES}
    record(project=project, actor=actor, verb=Verb.COMPARISONS_MADE, target=project, **counts)
    if queue:
        _put_in(actor, queue, [made.item for made in receipts if made.item])
    return receipts


def _put_in(actor: Any, queue: Queue, items: list[Item]) -> None:
    if queue.rubric.item_kind != ItemKind.COMPARISON:
        raise Conflict(f"The queue “{queue.name}” does not take comparisons: its rubric is for another kind of item.")
    if items:
        add_items(actor=actor, queue=queue, items={item.pk: item for item in items}.values())


# --- One comparison ---------------------------------------------------------------------------------------------------
class _Reading:
    """What was read of runs, once each."""

    def __init__(self) -> None:
        self.read: dict[int, list[Fingerprint]] = {}

    def of(self, run: Trajectory) -> list[Fingerprint]:
        if run.pk not in self.read:
            self.read[run.pk] = fingerprints_of(run)
        return self.read[run.pk]


def _make(
    project: Project,
    items: Sequence[Item],
    reading: _Reading,
    *,
    shared: int | None = None,
    provenance: str = Provenance.MODEL,
    differs_in: str = "",
) -> Made:
    items = runs_of_items(project, items)
    _refuse_group(items)
    runs = [item.run for item in items]
    content_hash = _hash_of(*sorted(run.content_hash for run in runs))
    there = Item.objects.filter(project=project, content_hash=content_hash).first()
    if there:
        return Made(ALREADY_THERE, there)
    common = _common_start(runs, reading)
    _refuse(runs, reading, common, shared, provenance, differs_in)
    try:
        with transaction.atomic():
            item = Item.objects.create(
                project=project,
                kind=ItemKind.COMPARISON,
                task=items[0].subject,
                content_hash=content_hash,
                provenance=provenance,
                differs_in=differs_in.strip(),
            )
            Candidate.objects.bulk_create(
                Candidate(item=item, position=position, trajectory=run, shared=common if shared is None else shared)
                for position, run in enumerate(runs, start=1)
            )
    except IntegrityError:  # somebody made it in this moment
        return Made(ALREADY_THERE, Item.objects.get(project=project, content_hash=content_hash))
    return Made(CREATED, item)


def _hash_of(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _refuse_group(items: Sequence[Item]) -> None:
    """What is wrong with the items as a group, before any of their steps are read."""
    if not FEWEST <= len(items) <= MOST:
        raise Invalid({"items": f"A comparison has {FEWEST} to {MOST} candidates; these are {len(items)}."})
    if len({item.pk for item in items}) < len(items):
        raise Invalid({"items": "One and the same run stands here twice."})
    if any(item.kind != ItemKind.TRAJECTORY for item in items):
        raise Invalid({"items": "Only runs are laid beside each other, not comparisons or tasks."})


def _common_start(runs: Sequence[Trajectory], reading: _Reading) -> int:
    return shared_start([reading.of(run) for run in runs])


def _refuse(
    runs: Sequence[Trajectory],
    reading: _Reading,
    common: int,
    shared: int | None,
    provenance: str,
    differs_in: str,
) -> None:
    errors = {}
    if len({run.task_id for run in runs}) > 1 and not _begin_with_a_request(reading.of(runs[0])[:common]):
        errors["items"] = "These runs are of several tasks and do not begin with the same request."
    elif alike := _alike(runs, reading):
        errors["items"] = f"Candidates {alike[0]} and {alike[1]} read alike from the first step to the last."
    if shared is not None and not 0 <= shared <= common:
        errors["shared"] = f"The runs have their first {common} steps in common, so no more than these are shared."
    if provenance not in Provenance.values:
        errors["provenance"] = f"The provenance must be one of {', '.join(Provenance.values)}."
    if wrong := _wrong_name(differs_in):
        errors["differs_in"] = wrong
    if errors:
        raise Invalid(errors)


def _wrong_name(differs_in: Any) -> str:
    """What is wrong with what runs are said to differ in, or nothing."""
    if not isinstance(differs_in, str) or len(differs_in) > DIFFERS_IN_LENGTH or not storable(differs_in):
        return f"Say what they differ in, in at most {DIFFERS_IN_LENGTH} characters."
    return ""


def _begin_with_a_request(steps: Sequence[Fingerprint]) -> bool:
    return any(step.kind[0] == StepRole.USER for step in steps)


def _alike(runs: Sequence[Trajectory], reading: _Reading) -> tuple[int, int] | None:
    """The places, from 1, of two runs in which a reader would see no difference."""
    seen: dict[tuple[bytes, ...], int] = {}
    for place, run in enumerate(runs, start=1):
        first = seen.setdefault(tuple(step.key for step in reading.of(run)), place)
        if first != place:
            return first, place
    return None
