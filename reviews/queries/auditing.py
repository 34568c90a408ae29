"""Graders' verdicts as raters check them after their own answer, and what leads read of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from reviews.enums import AssignmentState, QueueState
from reviews.models import Assignment, Project, Queue, VerdictAudit, VerdictsShown
from reviews.queries.masking import mask_of
from reviews.queries.referrals import unanswered_by
from reviews.queries.scores import scores_of
from reviews.stats.proportion import wilson
from reviews.stats.result import Estimate
from reviews.visibility import Phase, Thing, Viewer, visible

MOST_WRONG = 100


def verdicts_on(assignment: Assignment, *, until: datetime) -> list[dict[str, Any]]:
    """What graders said of the assignment's run until then, for its rater once they have answered."""
    run = assignment.item.trajectory
    if run is None or Thing.VERDICTS not in visible(Viewer.RATER, Phase.AUDITED):
        return []
    mask = mask_of(run)
    return [
        {
            "grader": mask.text(score["grader"]),
            "value": mask.value(score["value"]),
            "explanation": mask.text(score["explanation"]),
            "evidence": [{**cited, "quote": mask.text(cited["quote"])} for cited in score["evidence"]],
        }
        for score in scores_of(run, until=until)
    ]


def shown_to(assignment: Assignment) -> VerdictsShown | None:
    return VerdictsShown.objects.filter(assignment=assignment).first()


def latest_audits(shown: VerdictsShown) -> list[VerdictAudit]:
    """The last word on each verdict, by grader."""
    return list(shown.audits.order_by("grader", "-revision").distinct("grader"))


@dataclass(frozen=True)
class Place:
    """One piece of evidence as it is checked; `valid` is None where nothing is said yet."""

    number: int
    step: int
    quote: str
    valid: bool | None


@dataclass(frozen=True)
class VerdictAsked:
    """One verdict with what was answered so far; `error` is what is missing, in words."""

    number: int
    grader: str
    value: Any
    explanation: str
    places: tuple[Place, ...]
    right: bool | None
    note: str
    error: str


def verdicts_asked(shown: VerdictsShown, payload: Any, errors: dict[str, str]) -> list[VerdictAsked]:
    """The verdicts with the answers of a payload, which may be of any shape, or with the last that were kept."""
    kept: dict[str, dict[str, Any]] = {
        audit.grader: {"right": audit.right, "evidence": audit.evidence, "note": audit.note}
        for audit in latest_audits(shown)
    }
    given = {row["grader"]: row for row in payload["verdicts"]} if payload else kept
    asked = []
    for number, verdict in enumerate(shown.verdicts):
        answer = given.get(verdict["grader"], {})
        valid = answer.get("evidence") or []
        places = tuple(
            Place(place, cited["step"], cited["quote"], valid[place] if place < len(valid) else None)
            for place, cited in enumerate(verdict["evidence"])
        )
        wrong = " ".join(words for name, words in errors.items() if name.startswith(f"verdicts.{number}."))
        asked.append(
            VerdictAsked(
                number,
                verdict["grader"],
                verdict["value"],
                verdict["explanation"],
                places,
                answer.get("right"),
                answer.get("note") or "",
                wrong,
            )
        )
    return asked


def unchecked(person: Any, projects: list[int]) -> list[UUID]:
    """What the person judged in open queues of these projects without having checked what graders said, oldest first.

    Of what nobody graded it is known only once they have asked to see it.
    """
    said = VerdictsShown.objects.filter(Q(verdicts=[]) | Q(audits__isnull=False), assignment=OuterRef("pk"))
    mine = Assignment.objects.filter(rater=person, state=AssignmentState.SUBMITTED, queue__project__in=projects)
    mine = mine.filter(~Exists(said), queue__rubric__audits=True, item__trajectory__isnull=False)
    return list(mine.exclude(queue__state=QueueState.CLOSED).order_by("ended_at", "pk").values_list("uid", flat=True))


# --- For leads --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class GraderChecked:
    """One grader as raters found it: `right` of verdicts, `valid` of the evidence cited. `wrong` are the objections."""

    grader: str
    right: Estimate
    valid: Estimate
    wrong: tuple[VerdictAudit, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "grader": self.grader,
            "right": asdict(self.right),
            "valid": asdict(self.valid),
            "wrong": [
                {"item": audit.shown.judgment.item.uid, "note": audit.note, "evidence": audit.evidence}
                for audit in self.wrong
            ],
        }


@dataclass(frozen=True)
class Checked:
    n_shown: int
    n_audited: int
    graders: tuple[GraderChecked, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "n_shown": self.n_shown,
            "n_audited": self.n_audited,
            "graders": [one.as_dict() for one in self.graders],
        }


def checked(queue: Queue, *, reader: Any) -> Checked:
    """What raters of the queue found of graders' verdicts: the last word of each rater on each. Four queries."""
    shown = VerdictsShown.objects.filter(assignment__queue=queue)
    audits = _last_words(VerdictAudit.objects.filter(shown__in=shown))
    hidden = _hidden_from(reader, queue.project)
    of_grader: dict[str, list[VerdictAudit]] = defaultdict(list)
    for audit in audits:
        of_grader[audit.grader].append(audit)
    return Checked(
        n_shown=shown.count(),
        n_audited=len({audit.shown_id for rows in of_grader.values() for audit in rows}),
        graders=tuple(_checked(grader, rows, hidden) for grader, rows in sorted(of_grader.items())),
    )


def checked_grader(project: Project, grader: str, *, reader: Any) -> tuple[GraderChecked, list[VerdictAudit]]:
    """The same of one grader by its name, over every queue of the project, with the last words themselves."""
    audits = list(_last_words(VerdictAudit.objects.filter(shown__assignment__queue__project=project, grader=grader)))
    return _checked(grader, audits, _hidden_from(reader, project)), audits


def _hidden_from(reader: Any, project: Project) -> set[int]:
    """Items of which the reader, as a lead who answers first, is told nobody's word yet."""
    return set(unanswered_by(reader).filter(queue__project=project).values_list("item_id", flat=True))


def _last_words(audits: QuerySet[VerdictAudit]) -> QuerySet[VerdictAudit]:
    """Of each rater on each verdict."""
    audits = audits.select_related("shown__judgment__item__trajectory__task")
    return audits.order_by("shown", "grader", "-revision").distinct("shown", "grader")


def _checked(grader: str, audits: list[VerdictAudit], hidden: Collection[int]) -> GraderChecked:
    places = [valid for audit in audits for valid in audit.evidence]
    told = [audit for audit in audits if audit.shown.judgment.item_id not in hidden]
    wrong = [audit for audit in told if not audit.right or not all(audit.evidence)]
    return GraderChecked(
        grader=grader,
        right=wilson(sum(audit.right for audit in audits), len(audits), statistic="Verdicts found right"),
        valid=wilson(sum(places), len(places), statistic="Cited evidence found valid"),
        wrong=tuple(sorted(wrong, key=lambda audit: audit.submitted_at, reverse=True)[:MOST_WRONG]),
    )
