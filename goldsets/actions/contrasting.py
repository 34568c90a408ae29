"""Contrasts: pair a success with a failure of one task where they go together the furthest, and name the difference."""

from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db import transaction

from goldsets.enums import GoldVerb
from goldsets.models import Contrast
from goldsets.queries.contrasts import passed_and_failed
from reviews.actions.events import record
from reviews.actions.pairing import ALREADY_THERE, make_comparison, name_difference
from reviews.enums import Provenance
from reviews.errors import Conflict, Invalid
from reviews.models import Label, Project, Queue
from reviews.queries.pairing import fingerprints_of
from reviews.rules import check
from reviews.trajectories.alignment import Fingerprint, shared_start

MOST_PER_TASK = 10
MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Built:
    """What building has brought. Of `apart` tasks no pair had a step in common."""

    created: int
    already_there: int
    tasks: int
    apart: int


@transaction.atomic
def build_contrasts(*, actor: Any, project: Project, queue: Queue | None = None, most: int = 1) -> Built:
    """Of every task with runs that passed and runs that failed, up to `most` pairs, each run in at most one.

    Those are taken that share most of their way: what is left to differ is least. Raises Forbidden or Invalid.
    """
    check(actor, "compare", project)
    if not 1 <= most <= MOST_PER_TASK:
        raise Invalid({"most": f"Ask for 1 to {MOST_PER_TASK} pairs of a task."})
    created = there = tasks = apart = 0
    for passed, failed in passed_and_failed(project, queue):
        tasks += 1
        pairs = _furthest_together(passed, failed)[:most]
        apart += not pairs
        for shared, one, other in pairs:
            if created + there >= MOST_AT_ONCE:
                break
            if _make(actor, project, shared, one, other):
                created += 1
            else:
                there += 1
    counts = {"created": created, "already_there": there, "tasks": tasks, "apart": apart}
    record(project=project, actor=actor, verb=GoldVerb.CONTRASTS_BUILT, target=project, **counts)
    return Built(**counts)


def _furthest_together(passed: list[Label], failed: list[Label]) -> list[tuple[int, Label, Label]]:
    """Pairs with what they share, the largest part of the shorter run first; ties by content, so always the same."""
    steps = {label.pk: fingerprints_of(label.item.run) for label in (*passed, *failed)}
    found = []
    for one, other in product(passed, failed):
        shared = shared_start([steps[one.pk], steps[other.pk]])
        if shared and not _alike(steps[one.pk], steps[other.pk]):
            share = shared / min(len(steps[one.pk]), len(steps[other.pk]))
            order = (-share, one.item.run.content_hash, other.item.run.content_hash)
            found.append((order, shared, one, other))
    used: set[int] = set()
    chosen = []
    for _order, shared, one, other in sorted(found, key=lambda row: row[0]):
        if not {one.pk, other.pk} & used:
            used |= {one.pk, other.pk}
            chosen.append((shared, one, other))
    return chosen


def _alike(one: list[Fingerprint], other: list[Fingerprint]) -> bool:
    return [step.key for step in one] == [step.key for step in other]


def _make(actor: Any, project: Project, shared: int, passing: Label, failing: Label) -> bool:
    """Whether the contrast is new. Which side comes first follows from content alone, so that place tells nothing."""
    items = sorted((passing.item, failing.item), key=lambda item: item.run.content_hash[::-1])
    made = make_comparison(actor=actor, project=project, items=items, provenance=Provenance.CONTRASTIVE)
    if made.item is None:
        raise AssertionError("a comparison of two given items is made, was there, or is refused by an error")
    _contrast, new = Contrast.objects.get_or_create(
        item=made.item, defaults={"passing": passing, "failing": failing, "shared": shared}
    )
    return new or made.status != ALREADY_THERE


@transaction.atomic
def name_contrast(*, actor: Any, contrast: Contrast, differs_in: str) -> Contrast:
    """Say which one decision the two runs differ in. Said once; raises Forbidden, Invalid, or Conflict."""
    project = contrast.item.project
    check(actor, "name_contrast", project)
    if not differs_in.strip():
        raise Invalid({"differs_in": "Name the one decision in which they differ."})
    if not name_difference(item=contrast.item, differs_in=differs_in):
        raise Conflict(f"Somebody named it already: {contrast.item.differs_in}.", current=contrast.item.differs_in)
    record(
        project=project,
        actor=actor,
        verb=GoldVerb.CONTRAST_NAMED,
        target=contrast,
        differs_in=contrast.item.differs_in,
    )
    return contrast
