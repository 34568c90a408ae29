"""Examples for judges: settled runs with what experts said and cited, kept apart from all that a judge is proven on.

1. A label counts that everybody or a lead settled, under the very rubric and guideline that the judge asks by, with a
   verdict that cannot be read in two ways. Gold is none.
2. Families are those of the training split, or without a plan all that are not held out; never one of a probe of the
   same grader. In turn, whatever the judge is held against leaves out the families of its examples.
3. Half of them pass. Families with both come first, else the order is that of a hash of their names; of each at most
   one run passes and one fails. The same labels give the same examples.
4. A fail has words of the run that an expert cited, and every example a reason in an expert's words. For a judge of one
   criterion no other gate fails, so that those words are about this one.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from goldsets.enums import DatasetPurpose
from goldsets.models import Grader, Probe, RationaleFlag
from goldsets.queries.judges import document_of
from goldsets.queries.leaving import settled, supporting_judgments
from goldsets.queries.probes import Known, clearly_settled
from goldsets.queries.splits import dealt_as, tasks_apart_from, tasks_with_split
from goldsets.reviewing.judge_answer import standing
from goldsets.reviewing.judge_prompt import Document, asked_of
from reviews.enums import Basis, CriterionKind, GateAnswer, ItemKind, Purpose
from reviews.models import Evidence, Guideline, LabelValue, Rating, Rubric, Task
from reviews.queries.blind_item import rubric_of
from reviews.queries.masking import mask_of

# Every question carries the examples, so long runs are none.
LONGEST_EXAMPLE = 20_000
LONGEST_REASON = 1_000
MOST_QUOTES = 3
GATE: dict[int, str] = {GateAnswer.PASS: "pass", GateAnswer.FAIL: "fail", GateAnswer.UNSURE: "unsure"}


@dataclass(frozen=True)
class Example:
    """What an example is, and what a judge reads of it, both as `JudgeSetup` keeps them."""

    told: dict[str, Any]
    shown: dict[str, Any]


def chosen_examples(grader: Grader, rubric: Rubric, guideline: Guideline, number: int) -> list[Example]:
    """Up to so many, half of them passing."""
    families: dict[str, dict[bool, list[Known]]] = defaultdict(dict)
    for known in _known(grader, rubric, guideline):
        families[dealt_as(known.item.run.task)].setdefault(known.passes, []).append(known)
    asked = asked_of(rubric_of(rubric), grader.criterion)
    wanting = {False: number // 2, True: number // 2}
    found = []
    for family in sorted(families, key=lambda name: (len(families[name]) < 2, _hash(name))):
        for passes in (False, True):
            candidates = families[family].get(passes, []) if wanting[passes] else []
            if example := _first_fitting(candidates, grader, asked):
                wanting[passes] -= 1
                found.append(example)
    return found


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _known(grader: Grader, rubric: Rubric, guideline: Guideline) -> list[Known]:
    """The settled runs that may stand as examples."""
    project = grader.project
    attacked = Task.objects.filter(trajectories__item__in=Probe.objects.filter(grader=grader).values("parent"))
    kin = tasks_with_split(project).filter(dealt_as__in={dealt_as(task) for task in attacked})
    rows = settled(project, None).filter(
        queue__purpose=Purpose.WORK,
        item__kind=ItemKind.TRAJECTORY,
        label__basis__in=[Basis.UNANIMOUS, Basis.ADJUDICATED],
        label__rubric=rubric,
        label__guideline=guideline,
    )
    apart = tasks_apart_from(project, DatasetPurpose.TRAIN)
    return clearly_settled(grader, rows.exclude(item__trajectory__task__in=kin.values("pk")), apart)


def _first_fitting(candidates: Iterable[Known], grader: Grader, asked: Sequence[Document]) -> Example | None:
    for known in candidates:
        document = document_of(known.item)
        if len(json.dumps(document)) > LONGEST_EXAMPLE:
            continue
        said = _Said(known, grader.criterion)
        answers = said.in_form(document, asked)
        reasoned = any(one["reason"] for one in answers)
        shown = known.passes or any(one["evidence"] for one in answers)
        if reasoned and shown and not said.fails_elsewhere:
            label, task = known.label, known.item.run.task
            told = {"item": str(known.item.uid), "label": str(label.uid), "family": dealt_as(task)}
            return Example(told | {"passes": known.passes}, {"document": document, "answers": answers})
    return None


class _Said:
    """What a label says, with the words and quotes of one expert who said the same of what decides."""

    def __init__(self, known: Known, criterion: str):
        self.known = known
        values = LabelValue.objects.filter(label=known.label, candidate=None).select_related("criterion")
        self.values = {value.criterion.key: value for value in values}
        gates = [value for value in self.values.values() if value.criterion.kind == CriterionKind.GATE]
        others = [gate for gate in gates if gate.criterion.key != criterion]
        self.fails_elsewhere = bool(criterion) and any(gate.value == GateAnswer.FAIL for gate in others)
        self.judgment = self._agreeing([self.values[criterion]] if criterion else gates)
        self.mask = mask_of(known.item.run)

    def _agreeing(self, deciding: Sequence[LabelValue]) -> Any:
        """The first judgment under the label that says what it says, and whose words do not speak against it."""
        flags = RationaleFlag.objects.filter(judgment=OuterRef("pk"))
        judgments = supporting_judgments([self.known.row.queue_id], [self.known.item.pk]).exclude(Exists(flags))
        for judgment in judgments.order_by("pk"):
            ratings = Rating.objects.filter(judgment=judgment, candidate=None)
            said = {rating.criterion_id: (rating.value, rating.number) for rating in ratings}
            if all(said.get(one.criterion_id) == (one.value, one.number) for one in deciding):
                return judgment
        return None

    def in_form(self, document: Document, asked: Sequence[Document]) -> list[dict[str, Any]]:
        """The answers as a judge is asked for them."""
        steps = {row["number"]: row["fields"] for row in document["steps"]["rows"]}
        return [
            {
                "criterion": row["key"],
                "evidence": self._evidence(self.values[row["key"]], steps),
                "reason": self._reason(self.values[row["key"]]),
                "answer": _answer(self.values[row["key"]]),
            }
            for row in asked
            if row["key"] in self.values
        ]

    def _evidence(self, value: LabelValue, steps: Mapping[int, Any]) -> list[dict[str, Any]]:
        """The quotes that stand where the expert cites them, as the run is read now."""
        cited = Evidence.objects.filter(judgment=self.judgment, criterion=value.criterion_id, step__isnull=False)
        places = [(one.step or 0, self.mask.text(one.quote)) for one in cited]
        there = [(step, quote) for step, quote in places if standing(quote, steps.get(step, ()))]
        return [{"step": step, "quote": quote} for step, quote in there[:MOST_QUOTES]]

    def _reason(self, value: LabelValue) -> str:
        """The note on the criterion, else the rationale, which in a fail is about the gate that fails."""
        rating = Rating.objects.filter(judgment=self.judgment, criterion=value.criterion_id, candidate=None).first()
        words = rating.note if rating else ""
        gate = value.criterion.kind == CriterionKind.GATE
        if not words and (self.known.passes or not gate or value.value == GateAnswer.FAIL):
            # A lead writes about what raters differ on, an expert about what they cite.
            words = (self.judgment.rationale if self.judgment else "") or self.known.label.rationale
        return self.mask.text(words)[:LONGEST_REASON]


def _answer(value: LabelValue) -> Any:
    kind = value.criterion.kind
    if kind == CriterionKind.GATE:
        return GATE[value.value or GateAnswer.FAIL]
    if kind == CriterionKind.BINARY:
        return bool(value.value)
    return value.number if kind == CriterionKind.NUMBER else value.value
