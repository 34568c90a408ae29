"""What experts found of a grader's reasons: which of its verdicts are right, and which places it cites show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Q, QuerySet, Value, When

from goldsets.enums import ScoreOrder
from goldsets.models import GraderAudit, GraderScore, GraderVersion
from reviews.enums import ItemKind
from reviews.models import VerdictsShown
from reviews.queries.auditing import GraderChecked, checked_grader
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate

ALL, PASSED, FAILED = WHICH = ("all", "passed", "failed")


def audit_name(version: GraderVersion) -> str:
    """Under which name raters are shown what the version said."""
    return f"{version.grader.name}, version {version.number}"


def auditable(version: GraderVersion, which: str) -> QuerySet[Any]:
    """Its first scores of single runs, each with `cites`: whether it cites anything."""
    scores = GraderScore.objects.filter(
        version=version,
        criterion=version.grader.criterion,
        attempt=1,
        order=ScoreOrder.AS_SHOWN,
        item__kind=ItemKind.TRAJECTORY,
    )
    if which != ALL:
        passes = Q(value__gte=version.passes_from) if version.passes_from is not None else Q(pk__in=[])
        scores = scores.filter(passes if which == PASSED else ~passes & Q(value__isnull=version.passes_from is None))
    return scores.annotate(cites=Case(When(evidence=[], then=Value(False)), default=Value(True)))


@dataclass(frozen=True)
class AuditQueue:
    """A queue of audits, with how many items it has, and how many verdicts were shown in it."""

    audit: GraderAudit
    items: int
    shown: int


@dataclass(frozen=True)
class Reasons:
    """`checked` has the shares of verdicts right and of evidence valid; `reasoned` is how many of the right verdicts
    rest on evidence that is valid throughout: right for the reasons it gives."""

    checked: GraderChecked
    reasoned: Estimate
    queues: tuple[AuditQueue, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.checked.as_dict(),
            "reasoned": self.reasoned.as_dict(),
            "queues": [
                {"queue": row.audit.queue.uid, "name": row.audit.queue.name, "items": row.items, "shown": row.shown}
                for row in self.queues
            ],
        }


def reasons_of(version: GraderVersion, *, reader: Any) -> Reasons:
    """What raters said of its verdicts, the last word of each. Six queries."""
    checked, audits = checked_grader(version.grader.project, audit_name(version), reader=reader)
    right = [audit for audit in audits if audit.right and audit.evidence]
    reasoned = wilson(
        sum(all(audit.evidence) for audit in right),
        len(right),
        statistic="Right verdicts with valid evidence throughout",
    )
    rows = GraderAudit.objects.filter(version=version).select_related("queue__project", "opened_by")
    rows = rows.annotate(items=Count("queue__queue_items"))
    shown = dict(
        VerdictsShown.objects.filter(assignment__queue__in=[row.queue_id for row in rows])
        .values_list("assignment__queue")
        .annotate(n=Count("pk"))
        .order_by()
    )
    queues = tuple(AuditQueue(row, row.items, shown.get(row.queue_id, 0)) for row in rows)
    return Reasons(checked, reasoned, queues)
