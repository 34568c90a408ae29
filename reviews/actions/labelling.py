"""Labels: made by the queue's rule when raters agree, from a lead's decision, or without raters (see `taking`).

A new one supersedes the last.

The rule looks once the last wanted judgment of an item is in (`settle_by_rule`), in the worker and never in the answer
to a rater (`settling`):
1. Judgments with an unsure gate do not count; the item goes to another rater for each, twice at most, then to a lead.
2. Gates must be unanimous. A failed gate settles only with one failure step.
3. Other values must be unanimous, or have a strict majority where the queue says so. A tie never breaks silently.
4. Where raters differ and the queue has an overlap cap, one more is asked at a time, up to so many sure judgments.
   Where they agree and the queue wants an answer to be probable, the worker looks how probable it is by the raters'
   own errors (`settle_weighed`), which takes all of the queue's judgments; below that one more is asked as well.
5. Everything else waits for a lead.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from reviews.actions.dealing import place_in_front, send_to_lead
from reviews.actions.events import record
from reviews.actions.payloads import Answer, gate_fails
from reviews.enums import (
    Basis,
    CriterionKind,
    GateAnswer,
    QueueItemState,
    SettleRule,
    SlotState,
    Verb,
    WaitsFor,
)
from reviews.models import (
    Adjudication,
    Criterion,
    Judgment,
    Label,
    LabelStep,
    LabelValue,
    Outcome,
    Queue,
    QueueItem,
    Slot,
)
from reviews.queries.consensus import certainty_of_items
from reviews.queries.resting import counting_judgments

EXTRA_RATERS = 2
FAILURE_FIELDS = ["failure_step", "failure_who", "failure_cause", "failure_note"]
# The last that any value of a label rests on is what the label rests on.
WEAKEST_LAST = [Basis.UNANIMOUS, Basis.AGGREGATED, Basis.ADJUDICATED, Basis.REVIEWER]


@dataclass(frozen=True)
class Agreed:
    """What the raters' judgments of an item come to."""

    values: list[tuple[Answer, Basis]]
    steps: list[tuple[int, int, Basis]]
    failure: dict[str, Any]
    judgment_count: int


@transaction.atomic(savepoint=False)
def settle_by_rule(*, queue_item_id: int) -> Label | None:
    """Settle an item whose judgments are all in, or pass it on as the module says. None when it stays unsettled."""
    queue_item = _locked(queue_item_id)
    if queue_item.state != QueueItemState.COLLECTING:
        return None
    slots = Counter(Slot.objects.filter(queue_item=queue_item).values_list("state", flat=True))
    if slots[SlotState.OPEN] or slots[SlotState.LEASED]:
        return None
    sure = _sure_judgments(queue_item)
    if len(sure) < queue_item.queue.overlap:
        _ask_another(queue_item, slot_count=sum(slots.values()))
        return None
    if queue_item.queue.settle_rule == SettleRule.LEAD:
        send_to_lead(queue_item=queue_item, why=WaitsFor.RULE)
        return None
    agreed = _agreed(queue_item, sure)
    if agreed and queue_item.queue.sure_from:
        QueueItem.objects.filter(pk=queue_item.pk).update(to_weigh=True)
        return None
    if agreed:
        return _label_of(queue_item, agreed)
    if len(sure) < queue_item.queue.overlap_cap:
        _ask_another(queue_item, slot_count=sum(slots.values()))
    else:
        send_to_lead(queue_item=queue_item, why=WaitsFor.DISAGREEMENT)
    return None


@transaction.atomic(savepoint=False)
def settle_weighed(*, queue_item_id: int, certainty: float | None) -> Label | None:
    """Settle an item whose raters agree if their answer is probable enough, else ask one more, or a lead at the cap.

    `certainty` is the probability of the least probable of its answers, or None where too little was judged to say.
    """
    queue_item = _locked(queue_item_id)
    if not queue_item.to_weigh:
        return None
    QueueItem.objects.filter(pk=queue_item.pk).update(to_weigh=False)
    if queue_item.state != QueueItemState.COLLECTING:
        return None
    sure = _sure_judgments(queue_item)
    # Somebody may have corrected their judgment meanwhile.
    agreed = _agreed(queue_item, sure) if len(sure) >= queue_item.queue.overlap else None
    if agreed and (certainty is None or certainty >= queue_item.queue.sure_from):
        return _label_of(queue_item, agreed, certainty=certainty)
    if len(sure) < max(queue_item.queue.overlap, queue_item.queue.overlap_cap):
        _ask_another(queue_item, slot_count=Slot.objects.filter(queue_item=queue_item).count())
    else:
        send_to_lead(queue_item=queue_item, why=WaitsFor.IMPROBABLE if agreed else WaitsFor.DISAGREEMENT)
    return None


def weigh(*, queue: Queue) -> int:
    """Settle what raters of a queue agree on, or ask more, by how probable each answer is. Returns how many items."""
    waiting = list(QueueItem.objects.filter(queue=queue, to_weigh=True).values_list("pk", "item__uid"))
    certainty = certainty_of_items(queue) if waiting else {}
    for queue_item, uid in waiting:
        settle_weighed(queue_item_id=queue_item, certainty=certainty.get(uid))
    return len(waiting)


@transaction.atomic(savepoint=False)
def look_again(*, queue_item_id: int, since: datetime) -> None:
    """Let the rule look once more after a correction.

    An item that waits because raters differed settles if they no longer do. A label that the rule made since `since`
    is superseded, or, where raters now differ, no longer stands and the item waits for a lead.
    """
    queue_item = _locked(queue_item_id)
    label = queue_item.label
    by_this = label is not None and label.adjudication_id is None and label.created_at >= since
    if not by_this and (queue_item.state, queue_item.waits_for) != (QueueItemState.WAITING, WaitsFor.DISAGREEMENT):
        return
    sure = _sure_judgments(queue_item)
    agreed = _agreed(queue_item, sure) if len(sure) >= queue_item.queue.overlap else None
    if agreed and label and _is_the_same(label, agreed):
        return
    now = timezone.now()
    if label:
        QueueItem.objects.filter(pk=queue_item.pk).update(reopened_at=now)
        record(project=queue_item.queue.project_id, actor=None, verb=Verb.ITEM_REOPENED, target=queue_item)
    if agreed:
        _label_of(queue_item, agreed)
    elif label:
        QueueItem.objects.filter(pk=queue_item.pk).update(
            state=QueueItemState.WAITING, waits_for=WaitsFor.DISAGREEMENT, waiting_since=now, label=None
        )


def _locked(queue_item_id: int) -> QueueItem:
    locked = QueueItem.objects.select_for_update(of=("self",), no_key=True).select_related("queue__rubric", "label")
    return locked.get(pk=queue_item_id)


def _sure_judgments(queue_item: QueueItem) -> list[Judgment]:
    return [judgment for judgment in counting_judgments(queue_item) if not _is_unsure(judgment)]


def _agreed(queue_item: QueueItem, judgments: list[Judgment]) -> Agreed | None:
    """What the queue's rule makes of the judgments; None where a lead has to decide."""
    majority = queue_item.queue.settle_rule == SettleRule.MAJORITY
    values = _agreed_values(judgments, majority=majority)
    steps = _agreed_steps(judgments, majority=majority) if queue_item.queue.rubric.step_labels else []
    if values is None or steps is None:
        return None
    return Agreed(values, steps, _agreed_failure(judgments), len(judgments))


def _label_of(queue_item: QueueItem, agreed: Agreed, *, certainty: float | None = None) -> Label:
    return make_label(
        queue_item=queue_item,
        values=agreed.values,
        steps=agreed.steps,
        judgment_count=agreed.judgment_count,
        certainty=certainty,
        failure=agreed.failure,
    )


def _is_the_same(label: Label, agreed: Agreed) -> bool:
    """Whether a new label would say what this one says."""
    values = {(value.criterion_id, value.candidate, value.said) for value in label.values.select_related("criterion")}
    return (
        values == {(answer.criterion.pk, answer.candidate, answer.said) for answer, _basis in agreed.values}
        and {(step.step, step.value) for step in label.steps.all()} == {step[:2] for step in agreed.steps}
        and all(getattr(label, name) == value for name, value in agreed.failure.items())
    )


def _is_unsure(judgment: Judgment) -> bool:
    return any(rating.criterion.is_gate and rating.value == GateAnswer.UNSURE for rating in judgment.ratings.all())


def _ask_another(queue_item: QueueItem, *, slot_count: int) -> None:
    """One more slot, in front of every cursor; a lead where raters stay unsure."""
    if slot_count >= max(queue_item.queue.overlap, queue_item.queue.overlap_cap) + EXTRA_RATERS:
        send_to_lead(queue_item=queue_item, why=WaitsFor.UNSURE)
        return
    Slot.objects.create(
        queue=queue_item.queue,
        item_id=queue_item.item_id,
        queue_item=queue_item,
        number=slot_count + 1,
        place=place_in_front(queue_item.queue_id),
    )


def _agreed_values(judgments: Sequence[Judgment], *, majority: bool) -> list[tuple[Answer, Basis]] | None:
    """The value and basis of each criterion, or None when raters differ by more than the rule allows."""
    votes: dict[tuple[Criterion, int | None], list[Answer]] = {}
    for judgment in judgments:
        for rating in judgment.ratings.all():
            if rating.criterion.is_comparable:
                votes.setdefault((rating.criterion, rating.candidate), []).append(Answer.of(rating))
    agreed = []
    for (criterion, _candidate), answers in votes.items():
        settled = _settled(criterion, answers, len(judgments), majority=majority)
        if settled is None:
            return None
        agreed.append(settled)
    if gate_fails(answer for answer, _basis in agreed):
        steps = {judgment.failure_step for judgment in judgments}
        return agreed if len(steps) == 1 else None
    return agreed


def _settled(
    criterion: Criterion, answers: list[Answer], judgment_count: int, *, majority: bool
) -> tuple[Answer, Basis] | None:
    """What the raters' answers to one criterion come to. Numbers within its tolerance give their median."""
    if criterion.kind == CriterionKind.NUMBER and len(answers) == judgment_count:
        numbers = [answer.number for answer in answers if answer.number is not None]
        if max(numbers) - min(numbers) <= criterion.settings.get("tolerance", 0):
            basis = Basis.UNANIMOUS if len(set(numbers)) == 1 else Basis.AGGREGATED
            return replace(answers[0], number=median(numbers)), basis
    said, count = Counter(answer.said for answer in answers).most_common(1)[0]
    answer = next(answer for answer in answers if answer.said == said)
    if count == judgment_count:
        return answer, Basis.UNANIMOUS
    if majority and not criterion.is_gate and count * 2 > judgment_count:
        return answer, Basis.AGGREGATED
    return None


def _agreed_steps(judgments: Sequence[Judgment], *, majority: bool) -> list[tuple[int, int, Basis]] | None:
    """Step, value and basis of every step that all raters labelled, or None when they differ by more than allowed."""
    votes: dict[int, Counter[int]] = {}
    for judgment in judgments:
        for label in judgment.step_labels.all():
            votes.setdefault(label.step, Counter())[label.value] += 1
    agreed = []
    for step, counts in votes.items():
        value, count = counts.most_common(1)[0]
        if counts.total() < len(judgments):
            continue
        if count < len(judgments) and not (majority and count * 2 > len(judgments)):
            return None
        agreed.append((step, value, Basis.UNANIMOUS if count == len(judgments) else Basis.AGGREGATED))
    return agreed


def _agreed_failure(judgments: Sequence[Judgment]) -> dict[str, Any]:
    """The failure point as the raters gave it, each part only where they gave the same."""
    failure = {}
    for name in FAILURE_FIELDS:
        given = {getattr(judgment, name) for judgment in judgments}
        if len(given) == 1:
            failure[name] = given.pop()
    return failure


def make_label(
    *,
    queue_item: QueueItem,
    values: Sequence[tuple[Answer, Basis]],
    steps: Iterable[tuple[int, int, Basis]] = (),
    judgment_count: int,
    failure: Mapping[str, Any],
    certainty: float | None = None,
    adjudication: Adjudication | None = None,
    ambiguous: bool = False,
    actor: Any = None,
) -> Label:
    """The item's next label, with every version it was made under, and the item settled. Call it in a transaction.

    One that is `ambiguous` says that no value is right, and has none.
    """
    queue = queue_item.queue
    latest = Label.objects.filter(queue=queue, item=queue_item.item_id).aggregate(n=Max("revision"))["n"] or 0
    steps = list(steps)
    bases = {Basis.UNANIMOUS, *(basis for _answer, basis in values), *(basis for _step, _value, basis in steps)}
    basis = max(bases, key=WEAKEST_LAST.index)
    # Where a lead takes a decision back, what no person had said before is still said by no person.
    if adjudication and basis != Basis.REVIEWER:
        basis = Basis.AMBIGUOUS if ambiguous else Basis.ADJUDICATED
    label = Label.objects.create(
        queue=queue,
        item_id=queue_item.item_id,
        revision=latest + 1,
        basis=basis,
        rubric_id=queue.rubric_id,
        guideline_id=queue.guideline_id,
        adjudication=adjudication,
        rationale=adjudication.note if adjudication else "",
        versions=_versions(queue_item),
        judgment_count=judgment_count,
        certainty=certainty,
        **failure,
    )
    LabelValue.objects.bulk_create(
        LabelValue(label=label, basis=basis, **answer.as_fields()) for answer, basis in values
    )
    LabelStep.objects.bulk_create(
        LabelStep(label=label, step=step, value=value, basis=basis) for step, value, basis in steps
    )
    QueueItem.objects.filter(pk=queue_item.pk).update(state=QueueItemState.SETTLED, waits_for="", label=label)
    Slot.objects.filter(queue_item=queue_item, state=SlotState.OPEN).update(state=SlotState.WITHDRAWN)
    verb = Verb.ITEM_TAKEN if basis == Basis.REVIEWER else Verb.ITEM_SETTLED
    verb = Verb.ITEM_ADJUDICATED if adjudication else verb
    record(project=queue.project_id, actor=actor, verb=verb, target=queue_item, label=label.pk, basis=label.basis)
    return label


def _versions(queue_item: QueueItem) -> dict[str, Any]:
    """Environment, tools and data of the run, and the model that made it. A comparison's runs keep their own."""
    trajectory = queue_item.item.trajectory
    if trajectory is None:
        return {}
    model = Outcome.objects.filter(trajectory=trajectory).values_list("model", flat=True).first()
    return {**trajectory.versions, **({"model": model} if model else {})}
