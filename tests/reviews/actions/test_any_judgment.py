"""Whatever raters send and in whatever order, no quality gets in beside a failed gate, and no second value anywhere."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from reviews.actions.correcting import correct
from reviews.actions.judging import save_draft, submit
from reviews.actions.payloads import Subject, read_judgment, subject_of_assignment
from reviews.enums import GateAnswer
from reviews.errors import Conflict, Invalid
from reviews.models import Assignment, Draft, Judgment, Label
from reviews.queries.payloads import payload_of
from tests.factories.answering import KINDS, broken, holding, scopes, values_of
from tests.reviews.actions.test_judging import json_values

pytestmark = pytest.mark.django_db


def holds(rows: Any, subject: Subject) -> None:
    """The law, of answers read, of ratings and of a label's values alike: each gate once, and quality behind gates."""
    values = {(row.criterion.key, row.candidate): row for row in rows}
    assert len(values) == len(rows), "two values for one criterion"
    failing = set()
    for candidate in (None, *subject.order):
        scope = "candidate" if candidate else "item"
        gates = [values[gate.key, candidate].value for gate in subject.of(scope, gate=True)]
        graded = [c.key for c in subject.of(scope, gate=False) if (c.key, candidate) in values]
        if any(value != GateAnswer.PASS for value in gates):
            failing.add(candidate)
        if failing & {None, candidate}:
            assert not graded, "quality beside a gate that does not pass, its own or the whole item's"
        else:
            asked = {c.key for c in subject.of(scope, gate=False) if c.required and not c.condition}
            assert asked <= set(graded)
    assert {(key, candidate) for key, candidate in values if key not in {c.key for c in subject.criteria}} == set()
    preference = values.get(("better", None))
    if preference and failing:
        ranks = dict(enumerate(preference.ranks, 1))
        last = {rank for candidate, rank in ranks.items() if candidate in failing}
        assert len(last) == 1, "those that fail tie"
        assert all(rank < max(last) for candidate, rank in ranks.items() if candidate not in failing)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_what_holds_is_taken_and_what_is_broken_is_refused_by_field(project, kind, data):
    mine = Assignment.objects.filter(queue__project=project).first() or KINDS[kind](project)
    subject = subject_of_assignment(mine)
    holds(read_judgment(data.draw(holding(subject)), subject=subject).values, subject)
    with pytest.raises(Invalid) as refused:
        read_judgment(data.draw(broken(subject)), subject=subject)
    assert refused.value.errors
    assert all(isinstance(sentence, str) and sentence for sentence in refused.value.errors.values())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_stands_in_the_place_of_one_part_the_law_holds(project, kind, data):
    mine = Assignment.objects.filter(queue__project=project).first() or KINDS[kind](project)
    subject = subject_of_assignment(mine)
    payload = data.draw(holding(subject))
    scope, name = data.draw(st.sampled_from(scopes(payload)))
    part = data.draw(st.sampled_from(sorted(scope)))
    if isinstance(scope[part], dict) and scope[part] and data.draw(st.booleans()):
        scope, part = scope[part], data.draw(st.sampled_from(sorted(scope[part])))
    scope[part] = data.draw(json_values | values_of(data.draw(st.sampled_from(subject.of(name, gate=False)))))
    try:
        answers = read_judgment(payload, subject=subject)
    except Invalid:
        return
    holds(answers.values, subject)


class Desk(RuleBasedStateMachine):
    """Alice at one item: she drafts, submits, corrects and takes back, with what holds and with what does not."""

    mine: Assignment
    subject: Subject

    def __init__(self) -> None:
        super().__init__()
        # Hidden from what looks for the end of a test's own block, so that labels settle within an example.
        self.block = transaction.atomic()
        self.block._from_testcase = True
        self.block.__enter__()
        self.kept: list[dict[str, Any]] = []
        self.drafted: dict[str, Any] | None = None
        self.is_late = False
        self.sent = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    @initialize(data=st.data(), is_judged=st.sampled_from([True, True, False]))
    def begin(self, data: st.DataObject, is_judged: bool) -> None:
        if is_judged:
            self.submit(data)

    @rule(data=st.data(), is_broken=st.booleans())
    def draft(self, data: st.DataObject, is_broken: bool) -> None:
        entered = data.draw(broken(self.subject) if is_broken else holding(self.subject))
        version = Draft.objects.filter(assignment=self.mine).values_list("version", flat=True).first() or 0

        def save() -> None:
            save_draft(actor=self.mine.rater, uid=self.mine.uid, data=entered, version=version, correcting=True)

        if self.is_late:
            with pytest.raises(Conflict):
                save()
        else:
            save()
            self.drafted = entered

    @rule(data=st.data())
    def submit(self, data: st.DataObject) -> None:
        entered = data.draw(holding(self.subject))
        receipt = submit(actor=self.mine.rater, uid=self.mine.uid, payload=entered, idempotency_key=self.key())
        assert receipt.created == (not self.kept)
        if receipt.created:
            self.stands(entered)
        assert receipt.judgment.revision == len(self.kept)

    @rule(data=st.data())
    def submit_what_is_broken(self, data: st.DataObject) -> None:
        entered = data.draw(broken(self.subject))

        def send() -> Any:
            return submit(actor=self.mine.rater, uid=self.mine.uid, payload=entered, idempotency_key=self.key())

        if self.kept:
            assert send().created is False
        else:
            with pytest.raises(Invalid):
                send()

    @rule(data=st.data())
    def correct(self, data: st.DataObject) -> None:
        self.send_correction(data.draw(holding(self.subject)))

    @rule()
    def take_back(self) -> None:
        """What stood before is sent again."""
        if len(self.kept) > 1:
            self.send_correction(self.kept[-2])

    @rule(data=st.data())
    def correct_with_what_is_broken(self, data: st.DataObject) -> None:
        with pytest.raises(Invalid if self.kept and not self.is_late else Conflict):
            self.change(data.draw(broken(self.subject)), seen=len(self.kept))

    @rule(data=st.data())
    def correct_what_another_tab_saw(self, data: st.DataObject) -> None:
        with pytest.raises(Conflict):
            self.change(data.draw(holding(self.subject)), seen=len(self.kept) - 1)

    @rule(hours=st.sampled_from([1, 1, 1, 25]))
    def time_passes(self, hours: int) -> None:
        if self.kept:
            ended = timezone.now() - timedelta(hours=hours)
            Assignment.objects.filter(pk=self.mine.pk).update(ended_at=ended)
            self.is_late = hours > 24

    def key(self) -> str:
        self.sent += 1
        return f"key {self.sent}"

    def change(self, entered: dict[str, Any], seen: int) -> Any:
        return correct(
            actor=self.mine.rater, uid=self.mine.uid, payload=entered, idempotency_key=self.key(), seen_revision=seen
        )

    def send_correction(self, entered: dict[str, Any]) -> None:
        if not self.kept or self.is_late:
            with pytest.raises(Conflict):
                self.change(entered, seen=len(self.kept))
        else:
            self.change(entered, seen=len(self.kept))
            self.stands(entered)

    def stands(self, entered: dict[str, Any]) -> None:
        self.kept.append(entered)
        self.drafted = None

    @invariant()
    def every_revision_is_what_was_sent_and_keeps_the_law(self) -> None:
        judgments = Judgment.objects.filter(assignment=self.mine).order_by("revision")
        assert [payload_of(judgment) for judgment in judgments] == self.kept
        for judgment in judgments:
            holds(judgment.ratings.select_related("criterion"), self.subject)

    @invariant()
    def the_draft_is_the_last_one_entered(self) -> None:
        draft = Draft.objects.filter(assignment=self.mine).first()
        assert (draft.data if draft else None) == self.drafted

    @invariant()
    def a_label_keeps_the_law(self) -> None:
        for label in Label.objects.filter(item=self.mine.item):
            holds(label.values.select_related("criterion"), self.subject)


@pytest.mark.parametrize("kind", KINDS)
def test_no_sequence_of_answers_lets_quality_in_beside_a_failed_gate_or_two_values_for_one_criterion(project, kind):
    mine = KINDS[kind](project)
    of_kind = type("Desk", (Desk,), {"mine": mine, "subject": subject_of_assignment(mine)})
    run_state_machine_as_test(
        of_kind,
        settings=settings(max_examples=12, stateful_step_count=10, suppress_health_check=list(HealthCheck)),
    )
