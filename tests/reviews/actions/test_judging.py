"""Judging: gates before quality, evidence that stands, one judgment however often it is sent, and nothing lost."""

import threading
from copy import deepcopy
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.db.utils import InternalError, NotSupportedError, ProgrammingError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.dealing import claim, expire_leases, release
from reviews.actions.judging import save_draft, submit
from reviews.actions.payloads import read_judgment, subject_of_assignment
from reviews.enums import AssignmentState
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Draft, Evidence, Judgment, Rating
from reviews.trajectories.schema import Step as StepBody
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment(project, alice):
    return claim(actor=alice, queue=make.queue(project, items=2))


def errors_of(assignment, payload):
    """The fields that a submission is refused for."""
    with pytest.raises(Invalid) as refused:
        submit(actor=assignment.rater, uid=assignment.uid, payload=payload, idempotency_key="k")
    assert not Judgment.objects.filter(assignment=assignment).exists()
    return refused.value.errors


def test_a_judgment_keeps_every_value_and_citation(assignment, alice):
    receipt = submit(actor=alice, uid=assignment.uid, payload=make.failing(), idempotency_key="k")
    judgment = Judgment.objects.get(pk=receipt.judgment.pk)
    assert {r.criterion.key: r.value for r in judgment.ratings.all()} == {"authorised": 0, "consent": 1}
    assert (judgment.failure_step, judgment.failure_who, judgment.failure_cause) == (3, "agent", "unauthorised_access")
    evidence = judgment.evidence.get()
    assert (evidence.criterion.key, evidence.step, evidence.field, evidence.quote) == (
        "authorised", 3, "arguments/account_id", "A-5071",
    )  # fmt: skip
    assert judgment.rubric_id == assignment.queue.rubric_id
    assert judgment.guideline_id == assignment.queue.guideline_id


def test_quality_is_refused_while_a_gate_is_unanswered(assignment):
    payload = make.passing()
    del payload["gates"]["consent"]
    errors = errors_of(assignment, payload)
    assert "gates.consent" in errors
    assert errors["criteria.success"] == "Quality is not scored until every gate passes."


def test_quality_is_refused_when_a_gate_failed(assignment):
    payload = {**make.failing(), "criteria": {"success": 3, "process": 3}}
    assert set(errors_of(assignment, payload)) == {"criteria.success", "criteria.process"}


def test_a_failed_gate_asks_for_the_failure_point_and_for_evidence(assignment):
    payload = make.failing()
    del payload["failure"], payload["evidence"]
    errors = errors_of(assignment, payload)
    assert set(errors) == {"failure", "gates.authorised"}
    assert "evidence" in errors["gates.authorised"]


def test_unsure_is_refused_unless_the_rubric_allows_it(assignment):
    payload = make.passing(gates={"authorised": "unsure", "consent": "pass"}, criteria={})
    assert "gates.authorised" in errors_of(assignment, payload)


def test_unsure_locks_quality_as_a_failure_does(project, alice):
    assignment = claim(actor=alice, queue=make.queue(project, items=1, unsure_allowed=True))
    gates = {"authorised": "unsure", "consent": "pass"}
    assert "criteria.success" in errors_of(assignment, make.passing(gates=gates))
    assert submit(
        actor=alice, uid=assignment.uid, payload=make.passing(gates=gates, criteria={}), idempotency_key="k"
    ).created


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"quote": "A-5017"}, "not “A-5017”"),
        ({"start": 1, "end": 7}, "behind the end"),
        ({"start": 4, "end": 4}, "empty"),
        ({"field": "result/balance"}, "no field"),
        ({"step": 9}, "Cite a step from 1 to 4"),
        ({"start": True}, "needs field"),
        ({"criterion": "kindness"}, "no such criterion"),
    ],
)
def test_a_quote_that_does_not_stand_at_its_place_is_refused(assignment, change, sentence):
    payload = make.failing()
    payload["evidence"].append({**payload["evidence"][0], **change})
    assert sentence in errors_of(assignment, payload)["evidence.1"]


def test_offsets_are_code_points_so_emoji_and_arabic_do_not_shift_them(project, alice):
    text = "👩🏽‍⚕️ مرحبا, take 5 mg"
    item = make.item(project, steps=(StepBody(role="agent", text=text),))
    assignment = claim(actor=alice, queue=make.queue(project, items=[item]))
    start = text.index("5 mg")
    payload = make.failing(step=1)
    payload["evidence"][0].update(step=1, field="text", start=start, end=start + 4, quote="5 mg")
    assert submit(actor=alice, uid=assignment.uid, payload=payload, idempotency_key="k").created


def test_a_policy_line_can_be_cited_and_must_exist(assignment, alice):
    payload = make.failing()
    payload["evidence"] = [{"criterion": "authorised", "policy_line": 3}]
    assert "evidence.0" in errors_of(assignment, payload)
    payload["evidence"] = [{"criterion": "authorised", "policy_line": 1}]
    assert submit(actor=alice, uid=assignment.uid, payload=payload, idempotency_key="k").created


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"confidence": 0}, "confidence"),
        ({"confidence": 4}, "confidence"),
        ({"confidence": "3"}, "confidence"),
        ({"confidence": None}, "confidence"),
        ({"criteria": {"success": 4, "process": 2}}, "criteria.success"),
        ({"criteria": {"success": True, "process": 2}}, "criteria.success"),
        ({"criteria": {"success": 2}}, "criteria.process"),
        ({"criteria": {"success": 2, "process": 2, "beauty": 1}}, "criteria.beauty"),
        ({"criteria": [1, 2]}, "criteria"),
        ({"gates": {"authorised": "pass", "consent": "pass", "nice": "pass"}}, "gates.nice"),
        ({"gates": {"authorised": ["pass"], "consent": "pass"}}, "gates.authorised"),
        ({"rationale": "x" * 20_001}, "rationale"),
        ({"rationale": "a\x00b"}, "rationale"),
        ({"rationale": "\ud800"}, "rationale"),
        ({"rationale": 7}, "rationale"),
        ({"failure": {"step": 99, "who": "agent", "cause": "other"}}, "failure.step"),
        ({"failure": {"step": 1, "who": "moon", "cause": "other"}}, "failure.who"),
        ({"failure": {"step": 1, "who": "agent", "cause": "bad luck"}}, "failure.cause"),
        ({"evidence": "step 3"}, "evidence"),
        ({"evidence": [3]}, "evidence.0"),
        ({"reward": 1}, "reward"),
    ],
)
def test_each_mistake_is_named_at_its_field(assignment, change, field):
    assert field in errors_of(assignment, make.passing(**change))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


FIELDS = ["gates", "criteria", "failure", "evidence", "rationale", "confidence", "extra"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(payload=st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, json_values)) | json_values)
def test_whatever_is_sent_is_taken_or_refused_by_field_and_never_crashes(assignment, payload):
    errors, answers = {}, None
    try:
        answers = read_judgment(payload, subject=subject_of_assignment(assignment))
    except Invalid as refused:
        errors = refused.errors
    assert bool(errors) != bool(answers), "either it holds, or each mistake has its field"
    assert all(isinstance(sentence, str) and sentence for sentence in errors.values())


def test_sending_twice_gives_one_judgment_and_the_same_receipt(assignment, alice):
    first = submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    again = submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    other_tab = submit(actor=alice, uid=assignment.uid, payload=make.passing(success=0), idempotency_key="other")
    assert first.created
    assert not again.created
    assert first.judgment == again.judgment == other_tab.judgment
    assert Rating.objects.get(judgment=first.judgment, criterion__key="success").value == 3


@pytest.mark.django_db(transaction=True)
def test_six_clicks_at_once_give_one_judgment():
    project = make.project()
    alice = make.expert(project, "Alice")
    assignment = claim(actor=alice, queue=make.queue(project, items=1))
    receipts = []

    def click():
        receipts.append(submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k"))
        connection.close()

    threads = [threading.Thread(target=click) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len({receipt.judgment.pk for receipt in receipts}) == 1
    assert sum(receipt.created for receipt in receipts) == 1
    assert Judgment.objects.count() == 1


def test_a_refused_submission_leaves_draft_and_lease_as_they_were(assignment, alice):
    save_draft(actor=alice, uid=assignment.uid, data={"rationale": "so far"}, version=0)
    errors_of(assignment, {})
    assignment.refresh_from_db()
    assert assignment.state == AssignmentState.LEASED
    assert assignment.draft.data == {"rationale": "so far"}


def test_a_draft_counts_its_versions_and_the_second_tab_is_told(assignment, alice):
    assert save_draft(actor=alice, uid=assignment.uid, data={"rationale": "one"}, version=0).version == 1
    with pytest.raises(Conflict) as refused:
        save_draft(actor=alice, uid=assignment.uid, data={"rationale": "two"}, version=0)
    assert refused.value.current.data == {"rationale": "one"}
    assert save_draft(actor=alice, uid=assignment.uid, data={"rationale": "both"}, version=1).version == 2


def test_the_same_save_again_after_a_lost_answer_is_no_conflict(assignment, alice):
    first = save_draft(actor=alice, uid=assignment.uid, data={"rationale": "one"}, version=0)
    again = save_draft(actor=alice, uid=assignment.uid, data={"rationale": "one"}, version=0)
    assert (first.version, again.version) == (1, 1)


def test_the_draft_goes_when_the_judgment_stands(assignment, alice):
    save_draft(actor=alice, uid=assignment.uid, data={"rationale": "one"}, version=0)
    submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    assert not Draft.objects.filter(assignment=assignment).exists()
    with pytest.raises(Conflict, match="submitted"):
        save_draft(actor=alice, uid=assignment.uid, data={}, version=1)


@pytest.mark.parametrize("data", [[], "text", None, {"a": "x" * 600_000}, {"a": "\x00"}])
def test_a_draft_that_cannot_be_kept_is_refused_with_its_field(assignment, alice, data):
    with pytest.raises(Invalid) as refused:
        save_draft(actor=alice, uid=assignment.uid, data=data, version=0)
    assert "data" in refused.value.errors


def test_a_draft_can_still_be_saved_after_the_lease_ran_out(assignment, alice):
    expire_leases(now=timezone.now() + timedelta(hours=2))
    assert save_draft(actor=alice, uid=assignment.uid, data={"rationale": "late"}, version=0).version == 1


def test_nobody_submits_for_somebody_else_nor_what_they_gave_back(project, assignment, alice):
    with pytest.raises(NotFound):
        submit(actor=make.expert(project, "Bob"), uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    release(actor=alice, uid=assignment.uid)
    with pytest.raises(Conflict, match="gave this item back"):
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")


@pytest.mark.parametrize("change", ["update", "delete"])
def test_postgres_refuses_to_change_what_was_submitted(assignment, alice, change):
    judgment = submit(actor=alice, uid=assignment.uid, payload=make.failing(), idempotency_key="k").judgment
    for rows in (
        Judgment.objects.filter(pk=judgment.pk),
        Rating.objects.filter(judgment=judgment),
        Evidence.objects.filter(judgment=judgment),
    ):
        with pytest.raises((InternalError, NotSupportedError, ProgrammingError)), transaction.atomic():
            rows.update(id=F("id")) if change == "update" else rows._raw_delete(rows.db)


def test_postgres_refuses_a_second_value_for_a_criterion(assignment, alice):
    judgment = submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k").judgment
    rating = deepcopy(judgment.ratings.first())
    rating.pk, rating._state.adding = None, True
    with pytest.raises(IntegrityError), transaction.atomic():
        rating.save()
