"""The history of an item's label in a queue: every revision, the judgments behind each, and what it may be used for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects

from reviews.enums import Basis, CriterionKind, GateAnswer, QueueItemState, Role, Split
from reviews.models import Judgment, Label, LabelValue, Membership, Project, QueueItem
from reviews.queries.disagreements import CONFIDENCE
from reviews.queries.items import letter_of, with_words
from reviews.queries.listings import labels_of, role_in
from reviews.queries.resting import judgments_behind


@dataclass(frozen=True)
class Line:
    """One value of a revision: what stands, on what it rests, and how many of the raters asked gave it."""

    title: str
    words: str
    css: str
    basis: str
    same: int
    asked: int
    changed: bool
    reason: str = ""


@dataclass(frozen=True)
class Behind:
    """One judgment behind a revision; once the item is settled, its rater by name for leads, else by pseudonym."""

    rater: str
    revision: int
    confidence: str
    rationale: str
    said: str
    submitted_at: Any


@dataclass(frozen=True)
class Revision:
    """One version of the label as it was made."""

    label: Label
    stands: bool
    lines: tuple[Line, ...]
    behind: tuple[Behind, ...]

    @property
    def by(self) -> str:
        if self.label.basis == Basis.REVIEWER:
            return "a stage of the queue"
        return str(self.label.adjudication.lead) if self.label.adjudication else "the rule of the queue"


@dataclass(frozen=True)
class LabelHistory:
    """All revisions, the latest first. `purpose` says in words what the item's family may be used for."""

    queue_item: QueueItem
    revisions: tuple[Revision, ...]
    purpose: str


PURPOSES = {
    Split.OPEN: "Training, calibration and release checks: its family is open.",
    Split.HELD_OUT: "Held-out evidence only: its family is sealed and never trains.",
}


def label_history(project: Project, uid: Any, *, reader: Any) -> LabelHistory | None:
    """The history that this label is part of; None where the reader may not see it or there is none."""
    visible = labels_of(project, reader=reader)
    label = visible.filter(uid=uid).first()
    if label is None:
        return None
    labels = list(
        visible.filter(queue=label.queue_id, item=label.item_id)
        .select_related("adjudication__lead", "item__trajectory__task", "item__task")
        .order_by("revision")
    )
    queue_item = QueueItem.objects.select_related("queue__rubric", "item__trajectory__task", "item__task").get(
        queue=label.queue_id, item=label.item_id
    )
    behind = judgments_behind(queue_item, labels)
    judgments = [judgment for given in behind.values() for judgment in given]
    prefetch_related_objects(judgments, "rater")
    names = _names(project, reader) if queue_item.state == QueueItemState.SETTLED else {}
    made: list[Revision] = []
    for before, one in zip([None, *labels], labels, strict=False):
        made.append(
            Revision(
                label=with_words(one),
                stands=bool(one.stands),
                lines=tuple(_lines(one, before, behind[one.pk])),
                behind=tuple(
                    sorted((_behind(judgment, names) for judgment in behind[one.pk]), key=lambda row: row.rater)
                ),
            )
        )
    return LabelHistory(queue_item, tuple(reversed(made)), PURPOSES[Split(queue_item.item.subject.split)])


def project_of_label(uid: Any) -> Project | None:
    return Project.objects.filter(queues__labels__uid=uid).first()


def _names(project: Project, reader: Any) -> dict[int, str]:
    members = Membership.objects.filter(project=project).select_related("user")
    if role_in(reader, project) == Role.LEAD:
        return {member.user_id: str(member.user) for member in members}
    return {member.user_id: member.pseudonym for member in members}


def _lines(label: Label, before: Label | None, judgments: Sequence[Judgment]) -> list[Line]:
    earlier = {(value.criterion_id, value.candidate): value.said for value in before.values.all()} if before else {}
    decided = label.adjudication.values.all() if label.adjudication else ()
    reasons = {value.criterion_id: value.get_reason_code_display() for value in decided if value.reason_code}
    values = sorted(label.values.all(), key=lambda value: (value.candidate or 0, value.criterion.position))
    return [_line(value, earlier, reasons, judgments, revised=before is not None) for value in values]


def _line(
    value: LabelValue, earlier: dict[Any, Any], reasons: dict[int, str], judgments: Sequence[Judgment], *, revised: bool
) -> Line:
    criterion = value.criterion
    said = [
        rating.said
        for judgment in judgments
        for rating in judgment.ratings.all()
        if (rating.criterion_id, rating.candidate) == (value.criterion_id, value.candidate)
    ]
    return Line(
        title=f"{letter_of(value.candidate)}, {criterion.title}" if value.candidate else criterion.title,
        words=value.words,
        css=GateAnswer(value.value or 0).name.lower() if criterion.kind == CriterionKind.GATE else "",
        basis=value.get_basis_display(),
        same=said.count(value.said),
        asked=len(said),
        changed=revised and earlier.get((value.criterion_id, value.candidate)) != value.said,
        reason=reasons.get(value.criterion_id, ""),
    )


def _behind(judgment: Judgment, names: dict[int, str]) -> Behind:
    ratings = sorted(judgment.ratings.all(), key=lambda rating: (rating.candidate or 0, rating.criterion.position))
    return Behind(
        rater=names.get(judgment.rater_id, "A rater"),
        revision=judgment.revision,
        confidence=CONFIDENCE[judgment.confidence],
        rationale=judgment.rationale,
        said="; ".join(f"{_of(rating)}{rating.criterion.title}: {rating.words}" for rating in ratings),
        submitted_at=judgment.submitted_at,
    )


def _of(rating: Any) -> str:
    return f"{letter_of(rating.candidate)} " if rating.candidate else ""
