"""Labels by rule: unanimity settles, difference goes to a lead, a tie never breaks silently, unsure asks another."""

import pytest

from reviews.actions.dealing import NothingToDeal, claim
from reviews.actions.judging import submit
from reviews.enums import Basis, QueueItemState, WaitsFor
from reviews.models import Label, QueueItem
from tests import factories as make

pytestmark = pytest.mark.django_db


def judged(project, *payloads, **settings):
    """One item judged by as many people as there are payloads; how it stands then."""
    queue = make.queue(project, items=1, overlap=len(payloads), **settings)
    for number, payload in enumerate(payloads):
        judge(queue, make.expert(project, f"Rater {number}"), payload)
    return QueueItem.objects.select_related("label", "queue").get(queue=queue)


def judge(queue, rater, payload):
    assignment = claim(actor=rater, queue=queue)
    return submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key="k")


def values_of(label):
    return {value.criterion.key: (value.value, value.basis) for value in label.values.all()}


def test_two_who_agree_on_everything_settle_the_item(project):
    queue_item = judged(project, make.passing(3, 2), make.passing(3, 2))
    assert queue_item.state == QueueItemState.SETTLED
    assert values_of(queue_item.label) == {
        "authorised": (1, Basis.UNANIMOUS),
        "consent": (1, Basis.UNANIMOUS),
        "success": (3, Basis.UNANIMOUS),
        "process": (2, Basis.UNANIMOUS),
    }
    assert queue_item.label.judgment_count == 2


def test_a_label_says_under_which_versions_it_was_made(project):
    label = judged(project, make.passing()).label
    assert label.versions == {"environment": "desk 3.2", "model": "secret-model-9"}
    assert (label.rubric.version, label.guideline.version) == (1, 1)


def test_two_who_differ_by_one_level_wait_for_a_lead(project):
    queue_item = judged(project, make.passing(3, 2), make.passing(3, 1))
    assert (queue_item.state, queue_item.waits_for) == (QueueItemState.WAITING, WaitsFor.DISAGREEMENT)
    assert queue_item.label is None


def test_the_item_is_not_settled_before_the_last_judgment(project):
    queue = make.queue(project, items=1, overlap=3)
    for name in ("Alice", "Bob"):
        judge(queue, make.expert(project, name), make.passing())
    assert QueueItem.objects.get(queue=queue).state == QueueItemState.COLLECTING


def test_a_majority_of_three_settles_a_level_and_says_aggregated(project):
    queue_item = judged(project, make.passing(3, 2), make.passing(3, 1), make.passing(3, 2), settle_rule="majority")
    assert values_of(queue_item.label)["process"] == (2, Basis.AGGREGATED)
    assert queue_item.label.basis == Basis.AGGREGATED


def test_a_tie_of_two_never_breaks_silently(project):
    assert judged(project, make.passing(3, 2), make.passing(3, 1), settle_rule="majority").label is None


def test_three_different_levels_have_no_majority(project):
    payloads = [make.passing(3, level) for level in (0, 1, 2)]
    assert judged(project, *payloads, settle_rule="majority").state == QueueItemState.WAITING


def test_a_gate_needs_unanimity_even_where_a_majority_settles(project):
    queue_item = judged(project, make.failing(), make.passing(), make.passing(), settle_rule="majority")
    assert queue_item.waits_for == WaitsFor.DISAGREEMENT


def test_a_gate_that_all_fail_at_one_step_settles_with_its_failure_point(project):
    label = judged(project, make.failing(), make.failing()).label
    assert (label.failure_step, label.failure_cause) == (3, "unauthorised_access")
    assert set(values_of(label)) == {"authorised", "consent"}, "no quality value where a gate failed"


def test_a_gate_that_all_fail_at_different_steps_waits_for_a_lead(project):
    assert judged(project, make.failing(step=3), make.failing(step=4)).state == QueueItemState.WAITING


def test_where_a_lead_decides_every_item_agreement_does_not_settle(project):
    queue_item = judged(project, make.passing(), make.passing(), settle_rule="lead")
    assert queue_item.waits_for == WaitsFor.RULE


UNSURE = make.passing(gates={"authorised": "unsure", "consent": "pass"}, criteria={})


def test_unsure_brings_in_another_rater_and_does_not_count(project):
    queue_item = judged(project, UNSURE, make.passing(), unsure_allowed=True)
    assert queue_item.state == QueueItemState.COLLECTING
    judge(queue_item.queue, make.expert(project, "Charlie"), make.passing())
    queue_item.refresh_from_db()
    assert queue_item.state == QueueItemState.SETTLED
    assert queue_item.label.judgment_count == 2


def test_when_two_more_are_unsure_a_lead_decides(project):
    queue_item = judged(project, UNSURE, unsure_allowed=True)
    for name in ("Bob", "Charlie"):
        judge(queue_item.queue, make.expert(project, name), UNSURE)
    queue_item.refresh_from_db()
    assert queue_item.waits_for == WaitsFor.UNSURE
    with pytest.raises(NothingToDeal):
        claim(actor=make.expert(project, "Dora"), queue=queue_item.queue)


def test_no_item_has_two_labels_of_one_revision(project):
    queue_item = judged(project, make.passing())
    assert Label.objects.filter(item=queue_item.item).count() == 1


# --- More people where raters differ ----------------------------------------------------------------------------------
def differing(project, *payloads, **settings):
    """One item judged by Alice and Bob, and by more people as long as it asks for somebody."""
    queue = make.queue(project, items=1, overlap=2, **settings)
    for number, payload in enumerate(payloads):
        judge(queue, make.expert(project, f"Rater {number}"), payload)
    return QueueItem.objects.select_related("label", "queue").get(queue=queue)


def test_where_two_differ_a_third_is_asked_and_decides(project):
    queue_item = differing(project, make.passing(3), make.passing(1), settle_rule="majority", overlap_cap=4)
    assert (queue_item.state, queue_item.slots.count()) == (QueueItemState.COLLECTING, 3)
    judge(queue_item.queue, make.expert(project, "Charlie"), make.passing(3))
    queue_item.refresh_from_db()
    assert queue_item.state == QueueItemState.SETTLED
    assert values_of(queue_item.label)["success"] == (3, Basis.AGGREGATED)
    assert queue_item.label.judgment_count == 3


def test_two_who_agree_are_enough_whatever_the_cap(project):
    queue_item = differing(project, make.passing(), make.passing(), overlap_cap=5)
    assert (queue_item.state, queue_item.slots.count()) == (QueueItemState.SETTLED, 2)


def test_at_the_cap_a_lead_decides(project):
    levels = [make.passing(level) for level in (0, 1, 2, 3)]
    queue_item = differing(project, *levels, settle_rule="majority", overlap_cap=4)
    assert (queue_item.state, queue_item.waits_for) == (QueueItemState.WAITING, WaitsFor.DISAGREEMENT)
    with pytest.raises(NothingToDeal):
        claim(actor=make.expert(project, "Eve"), queue=queue_item.queue)


def test_whoever_is_unsure_does_not_count_towards_the_cap(project):
    unsure = {"gates": {"authorised": "unsure", "consent": "pass"}, "rationale": "I cannot tell.", "confidence": 1}
    queue_item = differing(
        project,
        make.passing(3),
        unsure,
        make.passing(1),
        make.passing(3),
        settle_rule="majority",
        overlap_cap=3,
        unsure_allowed=True,
    )
    assert queue_item.state == QueueItemState.SETTLED


def test_a_queue_that_leaves_all_to_a_lead_asks_nobody_more(project):
    queue_item = differing(project, make.passing(3), make.passing(1), settle_rule="lead", overlap_cap=4)
    assert queue_item.waits_for == WaitsFor.RULE
