"""Where a lead decided otherwise than a rater judged, as far as the rater may read it now: see `reviews.digest`.

It tells what was decided, why, and under which guideline version; never when, by whom, or what anybody else said.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db.models import DateTimeField, OuterRef, Prefetch, Subquery
from django.utils import timezone

from reviews.digest import Judged, readable, speaks_of_raters
from reviews.enums import ReasonCode, Role
from reviews.models import (
    AdjudicatedValue,
    Adjudication,
    Guideline,
    Judgment,
    Label,
    Membership,
    Preferences,
    Project,
)
from reviews.queries.history import TITLE, Value, judged_ratings, value_of
from reviews.queries.masking import title_of
from reviews.queries.payloads import order_of

KEPT_SECONDS = 600

# The reasons as whoever judged otherwise reads them: of the item, and never of a person.
WHY = {
    ReasonCode.RATER_ERROR: "Easy to overlook or misread.",
    ReasonCode.GUIDELINE_UNCLEAR: "The guideline was unclear here.",
    ReasonCode.RUBRIC_GAP: "The rubric had no place for it.",
    ReasonCode.ITEM_AMBIGUOUS: "The run can be read both ways.",
    ReasonCode.BOTH_ACCEPTABLE: "Both can be accepted.",
}


@dataclass(frozen=True)
class Difference:
    """One criterion on which the decision is another than what the rater said."""

    said: Value
    decided: Value
    why: str
    note: str

    @property
    def title(self) -> str:
        return self.said.title


@dataclass(frozen=True)
class Decided:
    """One item in the digest. `withheld` says that the lead's note speaks of raters and is not shown."""

    judgment: Judgment
    differences: list[Difference]
    note: str
    withheld: bool
    guideline: Guideline

    @property
    def title(self) -> str:
        return title_of(self.judgment.item)


def projects_with_digest(person: Any) -> list[Project]:
    """Those in which the person judges and the leads let raters read what was decided."""
    judging = Membership.objects.filter(user=person, active=True, role__in=[Role.EXPERT, Role.LEAD])
    return list(Project.objects.filter(pk__in=judging.values("project"), digest=True).order_by("name"))


def digest_of(
    person: Any, projects: list[Project], *, now: datetime | None = None, since: datetime | None = None
) -> list[Decided]:
    """What the person may read now, in the order of their own judgments, the latest first.

    With `since` only what they could not read then.
    """
    now = now or timezone.now()
    found = [decided for project in projects for decided in _of_project(person, project, now, since)]
    return sorted(found, key=lambda decided: decided.judgment.pk, reverse=True)


def unread(person: Any, projects: list[Project]) -> int:
    """How much of it has opened since they last looked. Kept for a while: it takes all of their judgments to tell."""
    known = Preferences.objects.filter(user=person).values_list("decisions_read_at", flat=True).first()
    of = hashlib.sha256(f"{person.pk} {known} {[project.pk for project in projects]}".encode()).hexdigest()
    count = cache.get(f"unread:{of}")
    if count is None:
        count = len(digest_of(person, projects, since=known))
        cache.set(f"unread:{of}", count, KEPT_SECONDS)
    return int(count)


def _of_project(person: Any, project: Project, now: datetime, since: datetime | None) -> list[Decided]:
    first_label = Label.objects.filter(queue=OuterRef("queue"), item=OuterRef("item"), revision=1).values("created_at")
    settled = Subquery(first_label[:1], output_field=DateTimeField())
    first_said = Judgment.objects.filter(rater=person, queue__project=project, revision=1, occasion=1).annotate(
        settled=settled
    )
    judged = [Judged(*row) for row in first_said.values_list("assignment", "queue", "submitted_at", "settled")]
    secret = project.digest_key.bytes
    before = set(readable(judged, secret=secret, now=since)) if since else set()
    shown = [assignment for assignment in readable(judged, secret=secret, now=now) if assignment not in before]
    if not shown:
        return []
    names = [name for name in project.memberships.values_list("user__name", flat=True) if name]
    return [decided for judgment in _with_decision(shown) if (decided := _decided(judgment, names))]


def _with_decision(assignments: list[int]) -> list[Judgment]:
    """The last judgment on each assignment, where a lead decided its item."""
    values = AdjudicatedValue.objects.select_related("criterion").order_by("criterion__position")
    label = "assignment__slot__queue_item__label"
    return list(
        Judgment.objects.filter(**{"assignment__in": assignments, f"{label}__adjudication__isnull": False})
        .select_related(f"{label}__adjudication", f"{label}__guideline", "queue__project", *TITLE)
        .prefetch_related(Prefetch(f"{label}__adjudication__values", queryset=values), judged_ratings())
        .order_by("assignment", "-revision")
        .distinct("assignment")
    )


def _decided(judgment: Judgment, names: list[str]) -> Decided | None:
    """The judgment beside the decision, or None where they do not differ."""
    label = judgment.assignment.slot.queue_item.label
    if label is None or label.adjudication is None:
        return None
    differences = _differences(judgment, label.adjudication, names)
    if not differences:
        return None
    note = label.adjudication.note
    withheld = speaks_of_raters(note, names)
    return Decided(judgment, differences, "" if withheld else note, withheld, label.guideline)


def _differences(judgment: Judgment, adjudication: Adjudication, names: list[str]) -> list[Difference]:
    decided = {(value.criterion_id, value.candidate): value for value in adjudication.values.all()}
    order = order_of(judgment.assignment)
    found = []
    for rating in judgment.ratings.all():
        value = decided.get((rating.criterion_id, rating.candidate))
        if value is None or value.said == rating.said:
            continue
        said, theirs = value_of(rating, order), value_of(value, order)
        note = "" if speaks_of_raters(value.note, names) else value.note
        found.append(
            Difference(said, theirs, WHY.get(ReasonCode(value.reason_code), "") if value.reason_code else "", note)
        )
    if judgment.failure_step and adjudication.failure_step not in (None, judgment.failure_step):
        said = Value("First decisive step", f"step {judgment.failure_step}")
        theirs = Value("First decisive step", f"step {adjudication.failure_step}")
        found.append(Difference(said, theirs, "", ""))
    return found
