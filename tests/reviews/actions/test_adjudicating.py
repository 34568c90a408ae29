"""Adjudication: a lead decides, says why raters differed, and never on an item of their own."""

import pytest

from reviews.actions.adjudicating import adjudicate, open_names
from reviews.enums import Basis, QueueItemState
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Adjudication, Event, Label, QueueItem
from tests import factories as make
from tests.reviews.actions.test_labelling import judge, judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(project):
    """Two who differ on the first gate."""
    return judged(project, make.failing(), make.passing())


def decision(**changes):
    return {
        "gates": {"authorised": "pass", "consent": "pass"},
        "criteria": {"success": 2, "process": 1},
        "reasons": {"authorised": "rater_error"},
        "note": "The account was the requester's own.",
        **changes,
    }


def test_the_decision_becomes_the_label_with_its_note_as_rationale(waiting, lead):
    label = adjudicate(actor=lead, queue_item=waiting, payload=decision())
    assert {value.criterion.key: value.value for value in label.values.all()} == {
        "authorised": 1, "consent": 1, "success": 2, "process": 1,
    }  # fmt: skip
    assert (label.basis, label.rationale, label.judgment_count) == (
        Basis.ADJUDICATED, "The account was the requester's own.", 2,
    )  # fmt: skip
    waiting.refresh_from_db()
    assert (waiting.state, waiting.label) == (QueueItemState.SETTLED, label)
    assert label.adjudication.values.get(criterion__key="authorised").reason_code == "rater_error"


def test_a_differing_criterion_needs_a_reason(waiting, lead):
    with pytest.raises(Invalid) as refused:
        adjudicate(actor=lead, queue_item=waiting, payload=decision(reasons={}))
    assert set(refused.value.errors) == {"reasons.authorised"}


def test_a_lead_who_fails_a_gate_gives_the_failure_point_and_no_quality(waiting, lead):
    failed = decision(gates={"authorised": "fail", "consent": "pass"})
    with pytest.raises(Invalid) as refused:
        adjudicate(actor=lead, queue_item=waiting, payload=failed)
    assert set(refused.value.errors) == {"criteria.success", "criteria.process", "failure"}
    failure = {"step": 3, "who": "agent", "cause": "unauthorised_access"}
    label = adjudicate(actor=lead, queue_item=waiting, payload={**failed, "criteria": {}, "failure": failure})
    assert label.failure_step == 3
    assert not label.values.filter(criterion__key="success").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"gates": {"authorised": "unsure", "consent": "pass"}, "criteria": {}}, "gates.authorised"),
        ({"reasons": {"authorised": "bad_mood"}}, "reasons.authorised"),
        ({"reasons": [1]}, "reasons"),
        ({"notes": {"authorised": 7}}, "notes.authorised"),
        ({"note": "a\x00"}, "note"),
        ({"winner": "Alice"}, "winner"),
        ({"criteria": {"success": 9, "process": 1}}, "criteria.success"),
    ],
)
def test_each_mistake_of_a_lead_is_named_at_its_field(waiting, lead, change, field):
    with pytest.raises(Invalid) as refused:
        adjudicate(actor=lead, queue_item=waiting, payload=decision(**change))
    assert field in refused.value.errors
    assert not Adjudication.objects.exists()


def test_a_lead_is_not_offered_to_be_unsure_where_raters_may_be(waiting, lead):
    rubric = waiting.queue.rubric
    rubric.unsure_allowed = True  # in this test's memory only: a rubric in the database never changes
    with pytest.raises(Invalid) as refused:
        adjudicate(actor=lead, queue_item=waiting, payload=decision(gates={"authorised": "unsure"}, criteria={}))
    assert refused.value.errors["gates.authorised"].endswith("with pass or fail.")


def test_deciding_again_supersedes_and_keeps_the_history(waiting, lead):
    first = adjudicate(actor=lead, queue_item=waiting, payload=decision())
    second = adjudicate(actor=lead, queue_item=waiting, payload=decision(criteria={"success": 0, "process": 1}))
    assert (first.revision, second.revision) == (1, 2)
    assert Label.objects.filter(item=waiting.item).count() == 2
    assert Label.objects.get(pk=first.pk).values.get(criterion__key="success").value == 2
    waiting.refresh_from_db()
    assert waiting.label == second


def test_an_item_that_is_still_collecting_waits(project, lead):
    queue = make.queue(project, items=1, overlap=2)
    with pytest.raises(Conflict, match="still coming in"):
        adjudicate(actor=lead, queue_item=QueueItem.objects.get(queue=queue), payload=decision())


def test_a_lead_who_judged_the_item_leaves_it_to_another(project, lead):
    queue = make.queue(project, items=1, overlap=2)
    judge(queue, lead, make.passing(3, 2))
    judge(queue, make.expert(project, "Bob"), make.passing(3, 1))
    queue_item = QueueItem.objects.get(queue=queue)
    with pytest.raises(Forbidden, match="another lead"):
        adjudicate(actor=lead, queue_item=queue_item, payload=decision(reasons={"process": "rater_error"}))
    second = make.person("Second lead")
    make.member(project, second, "lead")
    assert adjudicate(actor=second, queue_item=queue_item, payload=decision(reasons={"process": "rater_error"}))


@pytest.mark.parametrize("role", ["expert", "engineer", "admin"])
def test_nobody_but_a_lead_settles(project, waiting, role):
    user = make.person("Eve")
    make.member(project, user, role)
    with pytest.raises(Forbidden, match="Only leads"):
        adjudicate(actor=user, queue_item=waiting, payload=decision())


def test_opening_the_names_leaves_an_event(waiting, lead):
    open_names(actor=lead, queue_item=waiting)
    assert Event.objects.filter(verb="names.opened", actor=lead, target_id=waiting.pk).count() == 1
