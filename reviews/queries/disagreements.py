"""What waits for a lead: the inbox of a queue in the order of its worth, and one item with its raters side by side."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, prefetch_related_objects
from django.db.models.functions import Coalesce

from reviews.enums import (
    PASSED_ON,
    AssignmentState,
    CriterionKind,
    FailureCause,
    FailureWho,
    GateAnswer,
    QueueItemState,
    Verb,
)
from reviews.models import (
    Assignment,
    Criterion,
    Event,
    Evidence,
    Judgment,
    Label,
    Queue,
    QueueItem,
    Rating,
    Rubric,
    RunScore,
    StepLabel,
    Trajectory,
)
from reviews.models.base import Said
from reviews.queries.criteria import criteria_asked
from reviews.queries.judging import (
    FieldView,
    StepView,
    StepWindow,
    field_piece,
    gap_over,
    run_map,
    steps_window,
)
from reviews.queries.own_work import own_work
from reviews.queries.payloads import payload_of, values_given
from reviews.queries.referrals import asked_by, unanswered_by
from reviews.queries.rubric_view import (
    Labelling,
    Question,
    RubricView,
    StepWord,
    labelling_of,
    rubric_view,
    step_words_of,
)
from reviews.trajectories.marks import Span

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FAILURE_STEP = "failure_step"
STEP_LABELS = "step_labels"
# Cited steps outside the first window that are shown at once, and marks that the map draws.
MOST_CITED_STEPS = 60
MOST_MARKS = 400
WHO_IN_MAP = {"system": "system", "user": "requester", "agent": "agent", "tool": "tool call"}
NOT_ASKED = "\N{EN DASH}"
CONFIDENCE = {1: "not sure", 2: "fairly sure", 3: "sure"}


def waiting_count(queue: Queue) -> int:
    """What waits for leads; not what was sent back to raters or set apart."""
    waiting = QueueItem.objects.filter(queue=queue, state=QueueItemState.WAITING)
    return waiting.exclude(waits_for__in=PASSED_ON).count()


# --- The inbox --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class InboxRow:
    """An item that waits, the gates on which a rater failed it, and the criteria on which they differ.

    `doubt` is how undecided graders are about its run, from 0 (none, or none asked) to 1 (halves say the opposite).
    """

    queue_item: QueueItem
    failed_gates: tuple[Criterion, ...] = ()
    differing: tuple[Criterion, ...] = ()
    steps_differ: bool = False
    labels_differ: bool = False
    doubt: float = 0.0

    @property
    def other_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.differing if criterion not in self.failed_gates)

    @property
    def worth(self) -> tuple[Any, ...]:
        """What was put first, then failed gates, the number of differing criteria, how unsure graders are, and age."""
        differing = len(self.differing) + self.labels_differ
        doubt = -round(self.doubt, 1)
        first = not self.queue_item.decide_first
        return (first, not self.failed_gates, -differing, doubt, self.queue_item.waiting_since, self.queue_item.pk)

    @property
    def age(self) -> tuple[Any, ...]:
        return (self.queue_item.waiting_since, self.queue_item.pk)

    def rank(self, filters: Filters) -> tuple[Any, ...]:
        """What stands before it in the order that is asked for has a smaller one."""
        return self.age if filters.order == "age" else self.worth


@dataclass(frozen=True)
class Inbox:
    """The rows a lead may decide, in the order of their worth; `own` counts those that they judged themselves.

    `elsewhere` counts those sent back to raters or set apart, `asked` those for which this lead asked a second one.
    """

    rows: list[InboxRow]
    own: int
    elsewhere: int
    asked: int
    oldest: datetime | None

    def place_of(self, uid: Any) -> int | None:
        """The item's place from 0, None where it does not wait for this lead."""
        return next((place for place, row in enumerate(self.rows) if row.queue_item.uid == uid), None)

    def around(self, uid: Any) -> tuple[QueueItem | None, QueueItem | None]:
        """The items before and after this one."""
        place = self.place_of(uid)
        if place is None:
            return None, self.rows[0].queue_item if self.rows else None
        before = self.rows[place - 1].queue_item if place else None
        after = self.rows[place + 1].queue_item if place + 1 < len(self.rows) else None
        return before, after


@dataclass(frozen=True)
class Filters:
    """What of the inbox is wanted: `gates` is "failed" or "passed", `order` is "age" or else by worth."""

    criterion: str = ""
    gates: str = ""
    family: str = ""
    waits_for: str = ""
    order: str = ""

    def takes(self, row: InboxRow) -> bool:
        waits_for = row.queue_item.waits_for
        return (
            (self.waits_for == waits_for or (not self.waits_for and waits_for not in PASSED_ON))
            and self.family in ("", row.queue_item.item.subject.family)
            and (self.gates not in ("failed", "passed") or bool(row.failed_gates) == (self.gates == "failed"))
            and self._differs(row)
        )

    def _differs(self, row: InboxRow) -> bool:
        if self.criterion == FAILURE_STEP:
            return row.steps_differ
        if self.criterion == STEP_LABELS:
            return row.labels_differ
        return not self.criterion or self.criterion in (criterion.key for criterion in row.differing)


EVERYTHING = Filters()


def inbox(queue: Queue, lead: Any, *, filters: Filters = EVERYTHING, only: Collection[int] | None = None) -> Inbox:
    """What waits for this lead; `only` has ids of items. A few queries, whatever the number of items.

    On what raters differ is not told of items that the lead is to answer first.
    """
    own = own_work(lead, OuterRef("item"))
    waiting = QueueItem.objects.filter(queue=queue, state=QueueItemState.WAITING)
    others = waiting.filter(~Exists(own), ~Exists(asked_by(lead))).select_related(
        "queue", "item__trajectory__task", "item__task"
    )
    items = [row for row in others if only is None or row.item_id in only]
    told = waiting.exclude(pk__in=unanswered_by(lead).filter(queue=queue).values("pk"))
    facts, doubts = _facts_of(queue, told), doubts_about([row.item.trajectory_id for row in items])
    rows = [
        InboxRow(
            queue_item, doubt=doubts.get(queue_item.item.trajectory_id or 0, 0.0), **facts.get(queue_item.item_id, {})
        )
        for queue_item in items
    ]
    rows = [row for row in rows if filters.takes(row)]
    rows.sort(key=lambda row: row.rank(filters))
    return Inbox(
        rows=rows,
        own=waiting.filter(Exists(own)).count(),
        elsewhere=waiting.filter(waits_for__in=PASSED_ON).count(),
        asked=waiting.filter(Exists(asked_by(lead))).count(),
        oldest=min((row.queue_item.waiting_since for row in rows if row.queue_item.waiting_since), default=None),
    )


def families_waiting(queue: Queue) -> list[str]:
    """The families of which something waits."""
    rows = QueueItem.objects.filter(queue=queue, state=QueueItemState.WAITING)
    names = rows.annotate(family=Coalesce("item__trajectory__task__family", "item__task__family"))
    return list(names.exclude(family="").values_list("family", flat=True).distinct().order_by("family"))


def doubts_about(runs: Sequence[int | None]) -> dict[int, float]:
    """By run, how undecided its graders are: 1 where as many say yes as no, 0 where they agree.

    Every grader's latest verdict from 0 to 1 counts once, p is their mean, and doubt is 1 - |2p - 1|: the margin by
    which a sure verdict is missed (Lewis and Gale 1994, uncertainty sampling). Fewer than two graders give none.
    """
    verdicts: dict[int, dict[str, float]] = {}
    for score in RunScore.objects.filter(trajectory__in=[run for run in runs if run]).order_by("pk"):
        if isinstance(score.value, bool | int | float) and 0 <= score.value <= 1:
            verdicts.setdefault(score.trajectory_id, {})[score.grader] = float(score.value)
    return {run: 1 - abs(2 * sum(given.values()) / len(given) - 1) for run, given in verdicts.items() if len(given) > 1}


def _facts_of(queue: Queue, waiting: Any) -> dict[int, dict[str, Any]]:
    """Per item that waits: the gates failed by somebody, the criteria with two values, whether the steps differ."""
    asked = Criterion.objects.filter(Q(rubric=queue.rubric_id) | Q(item__in=waiting.values("item")))
    criteria = {criterion.pk: criterion for criterion in asked}
    latest = latest_judgments(queue).filter(item__in=waiting.values("item"))
    said = ("value", "number", "choices", "ranks", "tie")
    ratings: Any = (
        Rating.objects.filter(judgment__in=latest)
        .values("judgment__item", "criterion", "candidate")
        .annotate(**{f"{column}s": Count(column, distinct=True) for column in said})
        .annotate(failed=Count("pk", filter=Q(value=GateAnswer.FAIL)))
        .order_by("criterion__position", "criterion")
    )
    facts: dict[int, dict[str, Any]] = {}
    for row in ratings:
        known = facts.setdefault(row["judgment__item"], {"failed_gates": (), "differing": ()})
        criterion = criteria[row["criterion"]]
        if criterion.is_gate and row["failed"] and criterion not in known["failed_gates"]:
            known["failed_gates"] += (criterion,)
        # Reasons of a preference may differ.
        counted = [column for column in said if column != "choices" or criterion.kind != CriterionKind.PREFERENCE]
        if any(row[f"{column}s"] > 1 for column in counted) and criterion not in known["differing"]:
            known["differing"] += (criterion,)
    steps = latest.values("item").annotate(steps=Count("failure_step", distinct=True)).filter(steps__gt=1)
    for item in steps.values_list("item", flat=True):
        facts[item]["steps_differ"] = True
    if queue.rubric.step_labels:
        labels = StepLabel.objects.filter(judgment__in=latest).values("judgment__item", "step")
        labels = labels.annotate(values=Count("value", distinct=True)).filter(values__gt=1)
        for item in labels.values_list("judgment__item", flat=True).distinct():
            facts.setdefault(item, {})["labels_differ"] = True
    return facts


def latest_judgments(queue: Queue) -> Any:
    """Each rater's latest revision on each item."""
    later = Judgment.objects.filter(assignment=OuterRef("assignment"), revision__gt=OuterRef("revision"))
    return Judgment.objects.filter(~Exists(later), queue=queue, assignment__state=AssignmentState.SUBMITTED).order_by()


def queue_item_by_uid(queue: Queue, uid: Any) -> QueueItem | None:
    return (
        QueueItem.objects.filter(queue=queue, uid=uid)
        .select_related("queue__rubric", "queue__guideline", "queue__project", "label")
        .select_related("item__trajectory__task", "item__trajectory__policy", "item__trajectory__outcome")
        .first()
    )


def names_are_open(queue_item: QueueItem, lead: Any) -> bool:
    """Whether this lead has asked for the raters' names, or may see them because the item is settled."""
    if queue_item.state == QueueItemState.SETTLED:
        return True
    return Event.objects.filter(
        verb=Verb.NAMES_OPENED, target_type="queueitem", target_id=queue_item.pk, actor=lead
    ).exists()


# --- One item ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RaterView:
    """A rater as a letter; `name` is empty while names are hidden."""

    letter: str
    rationale: str
    confidence: str
    failure: str = ""
    failure_values: dict[str, Any] = field(default_factory=dict)
    failure_citations: tuple[Citation, ...] = ()
    name: str = ""
    simulated: bool = False

    @property
    def css(self) -> str:
        return f"by-{self.letter.lower()}"


@dataclass(frozen=True)
class Citation:
    """One piece of evidence: a span or a whole step of the run, or a line of the policy."""

    letter: str
    number: int
    step: int | None
    policy_line: int | None
    quote: str

    @property
    def name(self) -> str:
        return f"{self.letter}{self.number}"

    @property
    def anchor(self) -> str:
        """Where the citation stands on the page."""
        if self.policy_line:
            return f"policy-{self.policy_line}"
        return f"{self.name.lower()}" if self.quote else f"step-{self.step}"

    @property
    def place(self) -> str:
        return f"policy {self.policy_line}" if self.policy_line else f"step {self.step}"


@dataclass(frozen=True)
class Answer:
    """What one rater said on one criterion: `said` is None where it was not asked, `full` has what may be long."""

    rater: RaterView
    said: Said | None
    words: str
    css: str
    citations: tuple[Citation, ...] = ()
    full: str = ""
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One criterion: the raters' answers, the lead's choice so far, and what is wrong with it."""

    criterion: Criterion
    question: Question
    answers: tuple[Answer, ...]
    differs: bool
    agreed: str = ""
    reason: str = ""
    note: str = ""
    error: str = ""

    @property
    def open(self) -> bool:
        """Whether the lead must choose: raters differ, or none of them gave a value that can stand."""
        return self.differs or (not self.agreed and self.criterion.is_gate)


@dataclass(frozen=True)
class StepSaid:
    """What the raters said of one step: a word for each, None where a rater gave none, and the word of most."""

    number: int
    words: tuple[tuple[RaterView, StepWord | None], ...]
    majority: int | None

    @property
    def differs(self) -> bool:
        return len({word.value for _rater, word in self.words if word}) > 1


@dataclass(frozen=True)
class MapMark:
    number: int
    css: str
    words: str
    letters: str


@dataclass(frozen=True)
class Decision:
    """Everything about one item that a lead decides on."""

    raters: tuple[RaterView, ...]
    rows: tuple[Row, ...]
    windows: tuple[StepWindow, ...]
    marks: tuple[MapMark, ...]
    policy_letters: dict[int, str]
    form: RubricView
    steps_differ: bool
    reason: str
    note: str
    errors: dict[str, str]
    said_of_steps: tuple[StepSaid, ...] = ()
    labelling: Labelling | None = None

    @property
    def differing(self) -> int:
        return sum(row.differs for row in self.rows)

    @property
    def differing_steps(self) -> list[StepSaid]:
        return [said for said in self.said_of_steps if said.differs]


def decision(
    queue_item: QueueItem,
    judgments: Sequence[Judgment],
    *,
    lead: Any,
    names: bool,
    given: dict[str, Any] | None = None,
    errors: dict[str, str] | None = None,
) -> Decision:
    """The item with its raters as letters, in an order that this lead always sees and that says nothing.

    `given` is what the lead entered so far as an adjudication payload with `reason`; without it, values on which the
    raters agree are chosen, or those of the label that stands.
    """
    prefetch_related_objects(judgments, "ratings__criterion", "evidence__criterion", "rater", "step_labels")
    ordered = sorted(judgments, key=lambda judgment: shuffled(lead, queue_item, judgment))
    citations = {judgment.pk: _citations(letter, judgment) for letter, judgment in zip(LETTERS, ordered, strict=False)}
    raters = [
        _rater(letter, judgment, citations[judgment.pk], names, queue_item)
        for letter, judgment in zip(LETTERS, ordered, strict=False)
    ]
    sides = list(zip(raters, ordered, strict=False))
    given = _start(queue_item, ordered) if given is None else given
    rubric, item = queue_item.queue.rubric, queue_item.item
    form = rubric_view(rubric, given, errors, item)
    criteria = {criterion.key: criterion for criterion in criteria_asked(rubric, item)}
    all_citations = [citation for cited in citations.values() for _evidence, citation in cited]
    said_of_steps = _said_of_steps(sides, step_words_of(rubric))
    return Decision(
        raters=tuple(raters),
        rows=tuple(
            _row(criteria[question.key], question, sides, citations, form, given)
            for question in (*form.gates, *form.qualities)
        ),
        windows=tuple(
            _windows(
                item.run,
                [pair for cited in citations.values() for pair in cited],
                also=[said.number for said in said_of_steps if said.differs],
            )
        ),
        marks=tuple(_marks(item.run, all_citations)),
        policy_letters=_letters_by((c.policy_line, c.letter) for c in all_citations if c.policy_line),
        form=form,
        steps_differ=len({judgment.failure_step for judgment in ordered if judgment.failure_step}) > 1,
        reason=str(given.get("reason") or ""),
        note=str(given.get("note") or ""),
        errors=errors or {},
        said_of_steps=said_of_steps,
        labelling=_labelling(rubric, form, said_of_steps),
    )


def _said_of_steps(sides: list[tuple[RaterView, Judgment]], words: tuple[StepWord, ...]) -> tuple[StepSaid, ...]:
    """Each step that somebody labelled, with the word of each rater."""
    by_value = {word.value: word for word in words}
    given = [(rater, {label.step: label.value for label in judgment.step_labels.all()}) for rater, judgment in sides]
    found = []
    for number in sorted({step for _rater, labels in given for step in labels}):
        votes = Counter(labels[number] for _rater, labels in given if number in labels)
        value, count = votes.most_common(1)[0]
        said = tuple((rater, by_value.get(labels[number]) if number in labels else None) for rater, labels in given)
        found.append(StepSaid(number, said, value if count * 2 > votes.total() else None))
    return tuple(found)


def _labelling(rubric: Rubric, form: RubricView, said: tuple[StepSaid, ...]) -> Labelling | None:
    """What the steps on the lead's page show: the words to decide on, beside those of the raters."""
    labelling = labelling_of(rubric, form.steps)
    return replace(labelling, form="decision", said={one.number: one for one in said}) if labelling else None


def shuffled(lead: Any, queue_item: QueueItem, judgment: Judgment) -> str:
    return hashlib.sha256(f"{lead.pk} {queue_item.uid} {judgment.uid}".encode()).hexdigest()


def _rater(
    letter: str, judgment: Judgment, cited: list[tuple[Evidence, Citation]], names: bool, queue_item: QueueItem
) -> RaterView:
    failure, words = {}, ""
    if judgment.failure_step:
        failure = payload_of(judgment)["failure"]
        who, cause = FailureWho(judgment.failure_who).label, FailureCause(judgment.failure_cause).label
        words = f"{who}: {cause.lower()}" + (f". {judgment.failure_note}" if judgment.failure_note else "")
    membership = judgment.rater.memberships.filter(project=queue_item.queue.project_id).first() if names else None
    return RaterView(
        letter=letter,
        rationale=judgment.rationale,
        confidence=CONFIDENCE[judgment.confidence],
        failure=words,
        failure_values=failure,
        failure_citations=tuple(citation for evidence, citation in cited if evidence.criterion_id is None),
        name=str(judgment.rater) if names else "",
        simulated=bool(membership and membership.simulated),
    )


def _citations(letter: str, judgment: Judgment) -> list[tuple[Evidence, Citation]]:
    return [
        (evidence, Citation(letter, number, evidence.step, evidence.policy_line, evidence.quote))
        for number, evidence in enumerate(judgment.evidence.all(), start=1)
    ]


def uncontested(queue_item: QueueItem, judgments: Sequence[Judgment]) -> list[Any]:
    """The values of the label that stands; where there is none, one of each on which all raters who answered agree."""
    label = queue_item.label
    rows: list[Any] = list(label.values.select_related("criterion")) if label else []
    if not label:
        rows = [rating for judgment in judgments for rating in judgment.ratings.all()]
    said: dict[Any, set[Any]] = {}
    for row in rows:
        said.setdefault((row.criterion_id, row.candidate), set()).add(row.said)
    agreed = {
        (row.criterion_id, row.candidate): row
        for row in rows
        if len(said[row.criterion_id, row.candidate]) == 1
        and not (row.criterion.is_gate and row.value == GateAnswer.UNSURE)
    }
    return list(agreed.values())


def _start(queue_item: QueueItem, judgments: Sequence[Judgment]) -> dict[str, Any]:
    """What the form starts with: the label that stands, or every value that nobody contradicts."""
    label = queue_item.label
    failures = [label] if label and label.failure_step else [j for j in judgments if j.failure_step]
    return {
        **values_given(uncontested(queue_item, judgments)),
        "steps": _agreed_steps([label] if label else judgments),
        "failure": common_failure(failures),
        **said_before(label),
    }


def _agreed_steps(labelled: Sequence[Any]) -> dict[str, int]:
    """The steps on which all who labelled them say the same."""
    said: dict[int, set[int]] = {}
    for one in labelled:
        for label in one.steps.all() if isinstance(one, Label) else one.step_labels.all():
            said.setdefault(label.step, set()).add(label.value)
    return {str(step): values.pop() for step, values in sorted(said.items()) if len(values) == 1}


def said_before(label: Label | None) -> dict[str, Any]:
    """The note, reasons and notes of the decision that stands; `reason` is the one given most often."""
    if label is None or label.adjudication is None:
        return {"note": label.rationale if label else ""}
    values = list(label.adjudication.values.select_related("criterion"))
    reasons = {value.criterion.key: value.reason_code for value in values if value.reason_code}
    return {
        "note": label.rationale,
        "reasons": reasons,
        "reason": Counter(reasons.values()).most_common(1)[0][0] if reasons else "",
        "notes": {value.criterion.key: value.note for value in values if value.note},
    }


def common_failure(failures: Sequence[Any]) -> dict[str, Any]:
    """Each part of the failure point on which all who gave one agree."""
    common = {}
    for part in ("step", "who", "cause"):
        given = {getattr(failure, f"failure_{part}") for failure in failures}
        if len(given) == 1:
            common[part] = given.pop()
    if len(failures) == 1:
        common["note"] = failures[0].failure_note
    return common


def _row(
    criterion: Criterion,
    question: Question,
    sides: list[tuple[RaterView, Judgment]],
    citations: dict[int, list[tuple[Evidence, Citation]]],
    form: RubricView,
    given: dict[str, Any],
) -> Row:
    answers = tuple(_answer(criterion, rater, judgment, citations[judgment.pk]) for rater, judgment in sides)
    said = {answer.said for answer in answers if answer.said is not None}
    unsure = criterion.is_gate and {answer.css for answer in answers} <= {"unsure", "none"}
    agreed = len(said) == 1 and criterion.is_comparable and not unsure
    return Row(
        criterion=criterion,
        question=replace(question, choices=tuple(choice for choice in question.choices if choice.value != "unsure")),
        answers=answers,
        differs=criterion.is_comparable and len(said) > 1,
        agreed=next(answer.words for answer in answers if answer.said is not None) if agreed else "",
        reason=str((given.get("reasons") or {}).get(criterion.key, "")),
        note=str((given.get("notes") or {}).get(criterion.key, "")),
        error=" ".join(filter(None, [question.error, form.errors.get(f"reasons.{criterion.key}", "")])),
    )


# Kinds whose answers may be longer than the place under a rater's letter.
LONG_KINDS = (CriterionKind.CHOICE, CriterionKind.MULTI_CHOICE, CriterionKind.TEXT)


def _answer(criterion: Criterion, rater: RaterView, judgment: Judgment, cited: list[Any]) -> Answer:
    ratings = judgment.ratings.all()
    rating = next((r for r in ratings if r.criterion_id == criterion.pk and r.candidate is None), None)
    own = tuple(citation for evidence, citation in cited if evidence.criterion_id == criterion.pk)
    if rating is None:
        return Answer(rater, None, NOT_ASKED, "none", own)
    if criterion.is_gate:
        answer = GateAnswer(rating.value or 0)
        return Answer(rater, rating.said, answer.label, answer.name.lower(), own, note=rating.note)
    words = str(rating.value) if criterion.kind == CriterionKind.ORDINAL else rating.words
    long = criterion.kind in LONG_KINDS
    return Answer(rater, rating.said, words, "level", own, full=rating.words if long else "", note=rating.note)


# --- The run with what is cited in it ---------------------------------------------------------------------------------
def _windows(
    trajectory: Trajectory, cited: list[tuple[Evidence, Citation]], also: Sequence[int] = ()
) -> list[StepWindow]:
    """The first window, then each step behind it that is cited or in `also`, with the gaps between.

    Citations are marked in their fields.
    """
    first = steps_window(trajectory, reveal=True)
    shown = first.steps[-1].number if first.steps else 0
    windows = [StepWindow(steps=first.steps)]
    for number in sorted(n for n in {*also, *(c.step or 0 for _e, c in cited)} if n > shown)[:MOST_CITED_STEPS]:
        gap = gap_over(range(shown + 1, number))
        windows.append(
            StepWindow(steps=steps_window(trajectory, first=number, last=number, reveal=True).steps, before=gap)
        )
        shown = number
    if shown < trajectory.step_count:
        windows.append(StepWindow(steps=[], after=gap_over(range(shown + 1, trajectory.step_count + 1))))
    spans = _spans(cited)
    return [
        replace(window, steps=[_with_spans(step, trajectory, spans) for step in window.steps]) for window in windows
    ]


def _spans(cited: list[tuple[Evidence, Citation]]) -> dict[tuple[int, str], tuple[Span, ...]]:
    """The quotations by step and field."""
    spans: dict[tuple[int, str], tuple[Span, ...]] = {}
    for evidence, citation in cited:
        if not citation.quote or citation.step is None:
            continue
        span = Span(
            start=evidence.start or 0,
            end=evidence.end or 0,
            css=f"by-{citation.letter.lower()}",
            id=citation.anchor,
            name=citation.name,
            back=f"chip-{citation.anchor}",
            words=f"Rater {citation.letter}, citation {citation.number}",
        )
        place = (citation.step, evidence.field)
        spans[place] = (*spans.get(place, ()), span)
    return spans


def _with_spans(step: StepView, trajectory: Trajectory, spans: dict[Any, tuple[Span, ...]]) -> StepView:
    def mark(part: FieldView | None) -> FieldView | None:
        found = spans.get((step.number, part.path)) if part else None
        if part is None or not found:
            return part
        if part.next is not None and max(span.end for span in found) > part.next:
            rest = field_piece(trajectory, number=step.number, path=part.path, start=part.next, reveal=True)
            part = replace(part, text=part.text + rest.text, next=rest.next)
        return replace(part, spans=found)

    return replace(
        step,
        text=mark(step.text),
        reasoning=mark(step.reasoning),
        arguments=tuple(mark(part) for part in step.arguments),  # type: ignore[misc]
        pairs=tuple(tuple(mark(part) for part in pair) for pair in step.pairs),  # type: ignore[misc]
        result=tuple(mark(part) for part in step.result),  # type: ignore[misc]
    )


def _marks(trajectory: Trajectory, citations: list[Citation]) -> Iterable[MapMark]:
    """The map: every step of a run that is not too long, otherwise the cited ones."""
    letters = _letters_by((citation.step, citation.letter) for citation in citations if citation.step)
    marks = run_map(trajectory, reveal=True).read()
    for number, mark in enumerate(marks, start=1):
        if len(marks) > MOST_MARKS and number not in letters:
            continue
        css = "error" if mark.error else "write" if mark.writes else mark.role
        name = mark.name or WHO_IN_MAP[mark.role]
        by = letters.get(number, "")
        yield MapMark(number, css, f"{number} {name}" + (f", cited by {_listed(by)}" if by else ""), by)


def _letters_by(pairs: Iterable[tuple[int, str]]) -> dict[int, str]:
    """The letters of the raters at each place, in order, each once."""
    letters: dict[int, str] = {}
    for place, letter in pairs:
        if letter not in letters.get(place, ""):
            letters[place] = "".join(sorted(letters.get(place, "") + letter))
    return letters


def _listed(letters: str) -> str:
    return letters if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"


# --- What was decided -------------------------------------------------------------------------------------------------
def labels_of_item(queue_item: QueueItem) -> list[Label]:
    """Every label the item ever had in its queue, the latest first."""
    return list(
        Label.objects.filter(queue=queue_item.queue_id, item=queue_item.item_id)
        .select_related("adjudication__lead")
        .prefetch_related("values__criterion")
        .order_by("-revision")
    )


def skips_of(queue_item: QueueItem) -> list[Assignment]:
    """Who passed the item on and why; names are for whoever may see them."""
    return list(
        Assignment.objects.filter(
            queue=queue_item.queue_id, item=queue_item.item_id, state=AssignmentState.SKIPPED
        ).order_by("ended_at")
    )
