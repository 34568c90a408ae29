"""A lead decides an item: one value per criterion, a reason code where raters differ, and a label comes of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from reviews.actions.events import record
from reviews.actions.labelling import FAILURE_FIELDS, make_label
from reviews.actions.payloads import (
    Answer,
    Failure,
    gate_fails,
    read_answers,
    read_failure,
    read_failures,
    read_steps,
    read_text,
    subject_of,
)
from reviews.actions.referring import close_referral
from reviews.actions.settling import settle
from reviews.enums import Basis, QueueItemState, ReasonCode, Verb, WaitsFor
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import (
    AdjudicatedFailure,
    AdjudicatedStep,
    AdjudicatedValue,
    Adjudication,
    Criterion,
    DecisionDraft,
    FirstAnswer,
    Judgment,
    Label,
    Queue,
    QueueItem,
)
from reviews.models.base import Said
from reviews.queries.alike import MOST_ALIKE, batches
from reviews.queries.disagreements import inbox, names_are_open, uncontested
from reviews.queries.own_work import own_work
from reviews.queries.payloads import values_given
from reviews.queries.referrals import first_answer, open_referral, unanswered_by
from reviews.queries.resting import judgments_before_label
from reviews.rules import check, check_decides, check_not_own
from reviews.trajectories import jsontext

KNOWN = {"gates", "criteria", "candidates", "steps", "failure", "reasons", "notes", "note", "ambiguous"}
LONGEST_DRAFT = 200_000


@transaction.atomic
def adjudicate(*, actor: Any, queue_item: QueueItem, payload: Any, seen_revision: int | None = None) -> Label:
    """Settle an item that waits, or decide a settled one anew; the label made supersedes the one before.

    `payload` is {"gates", "criteria", "candidates", "steps", "failure"} as in a judgment, {"reasons": {key: code}} for
    every criterion on which the raters differ, {"notes": {key: text}} and {"note": text}; or {"ambiguous": true} with a
    note, where no value is right. `seen_revision` is the
    label's revision that the lead was looking at (0 where there was none): another decision in between is a Conflict
    and nothing is overwritten. Raises Forbidden, Conflict or Invalid.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    settle(queue_item_id=queue_item.pk)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__rubric", "item__trajectory", "label")
        .get(pk=queue_item.pk)
    )
    if queue_item.state == QueueItemState.COLLECTING:
        raise Conflict("Judgments of this item are still coming in. It can be settled once they are complete.")
    check_not_own(actor, queue_item)
    if seen_revision is not None and seen_revision != (queue_item.label.revision if queue_item.label else 0):
        raise Conflict("Somebody settled this item while you looked at it. Read their decision before you change it.")
    check_decides(actor, open_referral(queue_item))
    waits = queue_item.state == QueueItemState.WAITING
    if waits and queue_item.queue.lead_answers_first and first_answer(queue_item, actor) is None:
        raise Conflict("Answer this item yourself first. What its raters said is shown after that.")
    label = _decide(actor, queue_item, payload, judgments_before_label(queue_item))
    close_referral(queue_item)
    DecisionDraft.objects.filter(queue_item=queue_item, lead=actor).delete()
    return label


@transaction.atomic
def answer_first(*, actor: Any, queue_item: QueueItem, payload: Any) -> FirstAnswer:
    """Keep what a lead says of an item before they see what its raters said. Said once, it stays.

    `payload` is as for `adjudicate`, without reasons. Raises Forbidden, Conflict or Invalid.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    settle(queue_item_id=queue_item.pk)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__rubric", "item__trajectory", "label")
        .get(pk=queue_item.pk)
    )
    check_not_own(actor, queue_item)
    if queue_item.state != QueueItemState.WAITING:
        raise Conflict("This item does not wait for a lead just now.")
    if first_answer(queue_item, actor):
        raise Conflict("You have answered this item already.")
    _read(payload, queue_item=queue_item, differing=set())
    answer = FirstAnswer.objects.create(queue_item=queue_item, lead=actor, payload=jsontext.clean_value(payload))
    DecisionDraft.objects.filter(queue_item=queue_item, lead=actor).delete()
    record(project=queue_item.queue.project_id, actor=actor, verb=Verb.FIRST_ANSWERED, target=queue_item)
    return answer


@transaction.atomic
def save_draft(
    *, actor: Any, queue_item: QueueItem, given: dict[str, Any], seen_revision: int | None = None
) -> DecisionDraft:
    """Keep what a lead has entered so far, as it is. Nothing of it is checked but its shape, and no Event is written.

    Raises Conflict where the item was decided after `seen_revision`: a draft that comes late is no draft of the next.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    queue_item = QueueItem.objects.select_for_update(of=("self",)).select_related("label").get(pk=queue_item.pk)
    if seen_revision is not None and seen_revision != (queue_item.label.revision if queue_item.label else 0):
        raise Conflict("This item was decided in between.")
    if len(json.dumps(given)) > LONGEST_DRAFT:
        raise Invalid({"given": "This draft is too long to be kept."})
    odd = [name for name in ("reasons", "notes") if not isinstance(given.get(name) or {}, Mapping)]
    if odd:
        raise Invalid({f"given.{name}": "This is an object with one entry per question." for name in odd})
    values = {"given": jsontext.clean_value(given), "saved_at": timezone.now()}
    draft, _created = DecisionDraft.objects.update_or_create(queue_item=queue_item, lead=actor, defaults=values)
    return draft


@transaction.atomic
def undo(*, actor: Any, queue_item: QueueItem, seen_revision: int | None = None) -> Label | None:
    """Take the last decision back by a new one: the label before it stands again, as a new revision.

    Where there was none the item waits as before, and the answer is None. Raises Forbidden, or Conflict where no
    decision stands.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    settle(queue_item_id=queue_item.pk)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__rubric", "item__trajectory", "label__adjudication")
        .get(pk=queue_item.pk)
    )
    label = queue_item.label
    if label is None or label.adjudication is None or label.adjudication.undoes_id:
        raise Conflict("No lead's decision stands here that could be undone.")
    check_not_own(actor, queue_item)
    if seen_revision is not None and seen_revision != label.revision:
        raise Conflict("Somebody decided this item while you looked at it. Read their decision before you undo it.")
    judgments = judgments_before_label(queue_item)
    before = _label_before(queue_item, label)
    undoing = _new_adjudication(actor, queue_item, note="", undoes=label.adjudication)
    record(project=queue_item.queue.project_id, actor=actor, verb=Verb.DECISION_UNDONE, target=queue_item)
    if before is None:
        QueueItem.objects.filter(pk=queue_item.pk).update(
            state=QueueItemState.WAITING,
            waits_for=WaitsFor.DISAGREEMENT,
            waiting_since=undoing.created_at,
            reopened_at=undoing.created_at,
            label=None,
        )
        record(project=queue_item.queue.project_id, actor=actor, verb=Verb.ITEM_REOPENED, target=queue_item)
        # While it was settled, names and outcome were there to be read.
        for lead in {actor, label.adjudication.lead}:
            record(project=queue_item.queue.project_id, actor=lead, verb=Verb.NAMES_OPENED, target=queue_item)
        return None
    return make_label(
        queue_item=queue_item,
        values=[(Answer.of(value), Basis(value.basis)) for value in before.values.select_related("criterion")],
        steps=[(step.step, step.value, Basis(step.basis)) for step in before.steps.all()],
        judgment_count=len(judgments),
        failure={name: getattr(before, name) for name in FAILURE_FIELDS},
        adjudication=undoing,
        ambiguous=before.basis == Basis.AMBIGUOUS,
        actor=actor,
    )


def _label_before(queue_item: QueueItem, label: Label) -> Label | None:
    """The revision that stood before this one, if the item was not opened again in between."""
    earlier = Label.objects.filter(queue=queue_item.queue, item=queue_item.item, revision__lt=label.revision)
    if queue_item.reopened_at:
        earlier = earlier.filter(created_at__gt=queue_item.reopened_at)
    return earlier.order_by("-revision").first()


def _new_adjudication(actor: Any, queue_item: QueueItem, **fields: Any) -> Adjudication:
    number = queue_item.adjudications.aggregate(n=Max("number"))["n"] or 0
    return Adjudication.objects.create(queue_item=queue_item, number=number + 1, lead=actor, **fields)


@transaction.atomic
def decide_ahead(*, actor: Any, queue_item: QueueItem, payload: Any) -> Label:
    """Settle an item that nobody has judged yet by what is known of it, so that no slot of it is dealt any more.

    `payload` is as for `adjudicate`. Raises Forbidden, also where the actor judges it in another queue; Invalid; or
    Conflict where a judgment has come in.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    queue_item = (
        QueueItem.objects.select_for_update(of=("self",))
        .select_related("queue__rubric", "item__trajectory", "label")
        .get(pk=queue_item.pk)
    )
    if Judgment.objects.filter(queue=queue_item.queue, item=queue_item.item).exists():
        raise Conflict("Somebody has judged this item by now. It settles by its judgments, or a lead decides it then.")
    if own_work(actor, queue_item.item_id).exists():
        raise Forbidden("Whoever says what is right here judged the item themselves. Another lead says it.")
    return _decide(actor, queue_item, payload, [])


@transaction.atomic
def adjudicate_alike(
    *, actor: Any, queue: Queue, items: Sequence[Any], criterion: str, value: Any, reason: str, note: str = ""
) -> list[Label]:
    """Settle several items on which raters differ in this criterion alone, all by one value: all of them or none.

    `items` are ids of the queue's items, which must stand in one batch of `queries.alike`; what nobody contradicts
    stays. Raises Forbidden, Conflict or Invalid.
    """
    check(actor, "adjudicate", queue.project)
    if not 0 < len(items) <= MOST_ALIKE:
        raise Invalid({"items": f"Choose 1 to {MOST_ALIKE} items."})
    wanted = {str(uid) for uid in items}
    batch = next(
        (
            batch
            for batch in batches(queue, inbox(queue, actor).rows)
            if batch.criterion.key == criterion and wanted <= {str(row.queue_item.uid) for row in batch.rows}
        ),
        None,
    )
    if batch is None:
        raise Conflict("These items are not alike any more. Look at what waits now.", field="items")
    labels = []
    for row in sorted(batch.rows, key=lambda row: row.queue_item.pk):
        if str(row.queue_item.uid) in wanted:
            agreed = values_given(uncontested(row.queue_item, judgments_before_label(row.queue_item)))
            agreed["criteria"][criterion] = value
            payload = {"gates": agreed["gates"], "criteria": agreed["criteria"], "note": note}
            payload["reasons"] = {criterion: reason}
            labels.append(adjudicate(actor=actor, queue_item=row.queue_item, payload=payload, seen_revision=0))
    return labels


def _decide(actor: Any, queue_item: QueueItem, payload: Any, judgments: list[Judgment]) -> Label:
    if isinstance(payload, Mapping) and payload.get("ambiguous"):
        return _decide_ambiguous(actor, queue_item, payload, judgments)
    read = _read(payload, queue_item=queue_item, differing=differing(judgments))
    failure = read.failure.as_fields() if read.failure else {}
    adjudication = _new_adjudication(actor, queue_item, note=read.note, **failure)
    values, steps, reasons, notes = read.values, read.steps, read.reasons, read.notes
    AdjudicatedFailure.objects.bulk_create(
        AdjudicatedFailure(adjudication=adjudication, candidate=candidate, **point.as_fields())
        for candidate, point in read.failures.items()
    )
    AdjudicatedValue.objects.bulk_create(
        AdjudicatedValue(
            adjudication=adjudication,
            reason_code=reasons.get(answer.criterion.key, ""),
            note=notes.get(answer.criterion.key, ""),
            **answer.as_fields(),
        )
        for answer in values
    )
    AdjudicatedStep.objects.bulk_create(
        AdjudicatedStep(adjudication=adjudication, step=step, value=value) for step, value in steps.items()
    )
    return make_label(
        queue_item=queue_item,
        values=[(answer, Basis.ADJUDICATED) for answer in values],
        steps=[(step, value, Basis.ADJUDICATED) for step, value in steps.items()],
        judgment_count=len(judgments),
        failure=failure,
        adjudication=adjudication,
        actor=actor,
    )


def _decide_ambiguous(
    actor: Any, queue_item: QueueItem, payload: Mapping[str, Any], judgments: list[Judgment]
) -> Label:
    """The label that says that no value is right. It has none, and so is neither a training row nor a measure."""
    errors: dict[str, str] = {}
    if payload["ambiguous"] is not True:
        errors["ambiguous"] = "Say true, or leave it out."
    note = read_text(payload.get("note"), "note", errors)
    if not note.strip() and "note" not in errors:
        errors["note"] = "Say in the note what can be read in more than one way."
    if errors:
        raise Invalid(errors)
    return make_label(
        queue_item=queue_item,
        values=[],
        judgment_count=len(judgments),
        failure={},
        adjudication=_new_adjudication(actor, queue_item, note=note),
        ambiguous=True,
        actor=actor,
    )


def differing(judgments: list[Judgment]) -> set[str]:
    """Keys of the criteria on which these judgments do not all say the same; a value left out is no difference."""
    seen: dict[tuple[str, int | None], set[Said]] = {}
    for judgment in judgments:
        for rating in judgment.ratings.all():
            if rating.criterion.is_comparable:
                seen.setdefault((rating.criterion.key, rating.candidate), set()).add(rating.said)
    return {key for (key, _candidate), values in seen.items() if len(values) > 1}


def read_decision(
    payload: Any, *, queue_item: QueueItem, needs_failure: bool = True
) -> tuple[list[Answer], dict[int, int]]:
    """The answers and step labels of a decision, checked against the rubric but not made. Raises Invalid.

    Without `needs_failure` a failed gate may stand without the step it failed at.
    """
    read = _read(payload, queue_item=queue_item, differing=set(), needs_failure=needs_failure)
    return read.values, read.steps


@dataclass(frozen=True)
class Read:
    """A decision that holds. `failures` are by the candidate's position."""

    values: list[Answer]
    steps: dict[int, int]
    reasons: dict[str, str]
    notes: dict[str, str]
    failure: Failure | None
    failures: dict[int, Failure]
    note: str


def _read(payload: Any, *, queue_item: QueueItem, differing: set[str], needs_failure: bool = True) -> Read:
    if not isinstance(payload, Mapping):
        raise Invalid({"payload": "A decision is a JSON object."})
    errors = {str(name)[:60]: "A decision has no such field." for name in payload if name not in KNOWN}
    subject = subject_of(rubric=queue_item.queue.rubric, item=queue_item.item)
    subject.criteria = [criterion for criterion in subject.criteria if criterion.is_comparable]
    values = read_answers(payload, subject=subject, unsure_allowed=False, errors=errors)
    failure, failures = None, {}
    if not subject.has_candidates:
        failure = read_failure(payload.get("failure"), step_count=subject.step_count(), errors=errors)
        unnamed = needs_failure and failure is None and gate_fails(values)
        if unnamed and not any(name.startswith("failure") for name in errors):
            errors["failure"] = "A gate fails: name the first decisive step, who caused it and how."
    elif needs_failure:
        failures = read_failures(payload.get("candidates"), subject=subject, values=values, errors=errors)
    read = Read(
        values=values,
        steps=read_steps(payload.get("steps"), subject=subject, errors=errors),
        reasons=_read_reasons(payload.get("reasons"), needed=_of(values, differing), errors=errors),
        notes=_read_notes(payload.get("notes"), errors=errors),
        failure=failure,
        failures=failures,
        note=read_text(payload.get("note"), "note", errors),
    )
    if errors:
        raise Invalid(errors)
    return read


def _of(values: list[Answer], keys: set[str]) -> set[Criterion]:
    return {answer.criterion for answer in values if answer.criterion.key in keys}


def _read_reasons(reasons: Any, *, needed: set[Criterion], errors: dict[str, str]) -> dict[str, str]:
    reasons = {} if reasons is None else reasons
    if not isinstance(reasons, Mapping):
        errors["reasons"] = "Reasons are an object of criterion keys and codes."
        return {}
    for key, code in reasons.items():
        if code not in ReasonCode.values:
            errors[f"reasons.{str(key)[:60]}"] = f"A reason is one of {', '.join(ReasonCode.values)}."
    for criterion in needed:
        if criterion.key not in reasons:
            errors[f"reasons.{criterion.key}"] = f"Say why the raters differ on “{criterion.title}”."
    return dict(reasons)


def _read_notes(notes: Any, *, errors: dict[str, str]) -> dict[str, str]:
    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping):
        errors["notes"] = "Notes are an object of criterion keys and texts."
        return {}
    return {str(key): read_text(text, f"notes.{str(key)[:60]}", errors) for key, text in notes.items()}


@transaction.atomic
def open_names(*, actor: Any, queue_item: QueueItem) -> None:
    """Note that a lead looks at who judged an item before settling it; once is enough.

    Raises Forbidden where they judged it themselves, or Conflict where it does not wait, or they are to answer first.
    """
    check(actor, "adjudicate", queue_item.queue.project)
    check_not_own(actor, queue_item)
    if queue_item.state != QueueItemState.WAITING:
        raise Conflict("This item waits for no lead, so there are no names to open.")
    if unanswered_by(actor).filter(pk=queue_item.pk).exists():
        raise Conflict("Answer this item yourself first. Then you see what its raters said, and may open their names.")
    if names_are_open(queue_item, actor):
        return
    record(project=queue_item.queue.project, actor=actor, verb=Verb.NAMES_OPENED, target=queue_item)
