"""Correcting what was submitted: a new revision beside the old, for a day, and in the first minute it is taken back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from goldsets.queries.leaving import supporting_judgments
from reviews.actions.adjudicating import adjudicate
from reviews.actions.correcting import correct
from reviews.actions.dealing import claim, skip
from reviews.actions.judging import save_draft, submit
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Assignment, Draft, Event, Judgment, Label
from reviews.queries.answers import ratings
from reviews.queries.resting import judgments_before_label
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(project):
    return make.expert(project, "Bob")


def judged(person, queue, payload=None):
    mine = claim(actor=person, queue=queue)
    submit(actor=person, uid=mine.uid, payload=payload or make.passing(), idempotency_key="k")
    return Assignment.objects.get(pk=mine.pk)


def corrected(mine, payload, *, seen=1, key="c"):
    return correct(actor=mine.rater, uid=mine.uid, payload=payload, idempotency_key=key, seen_revision=seen)


def minutes_pass(mine, minutes):
    """Everything so far has happened so many minutes earlier; only what the rules look at can be moved."""
    Assignment.objects.filter(pk=mine.pk).update(ended_at=timezone.now() - timedelta(minutes=minutes))


def state_of(mine):
    row = mine.slot.queue_item
    row.refresh_from_db()
    return row.state


def test_a_correction_is_a_revision_and_the_first_stays(project, alice):
    mine = judged(alice, make.queue(project, items=1))
    receipt = corrected(mine, make.passing(success=1))
    assert (receipt.created, receipt.judgment.revision) == (True, 2)
    both = Judgment.objects.filter(assignment=mine).order_by("revision")
    assert [j.ratings.get(criterion__key="success").value for j in both] == [3, 1]
    assert Event.objects.filter(verb="judgment.corrected", actor=alice).count() == 1


def test_the_same_correction_sent_again_gives_the_same_receipt(project, alice):
    mine = judged(alice, make.queue(project, items=1))
    first = corrected(mine, make.passing(success=1))
    again = corrected(mine, make.passing(success=1))
    assert (again.created, again.judgment) == (False, first.judgment)


def test_another_tab_that_saw_the_first_revision_loses_nothing_and_changes_nothing(project, alice):
    mine = judged(alice, make.queue(project, items=1))
    first = corrected(mine, make.passing(success=1))
    with pytest.raises(Conflict) as refused:
        corrected(mine, make.passing(success=0), key="other")
    assert refused.value.current == first.judgment


def test_only_what_was_submitted_can_be_corrected_and_only_by_its_rater(project, alice, bob):
    queue = make.queue(project, items=2)
    mine = claim(actor=alice, queue=queue)
    with pytest.raises(Conflict, match="not submitted"):
        corrected(mine, make.passing())
    with pytest.raises(NotFound):
        correct(actor=bob, uid=mine.uid, payload=make.passing(), idempotency_key="c", seen_revision=1)
    skip(actor=alice, uid=mine.uid, reason="conflict")
    with pytest.raises(Conflict, match="skipped"):
        corrected(mine, make.passing())


def test_a_correction_is_held_to_the_rubric(project, alice):
    mine = judged(alice, make.queue(project, items=1))
    with pytest.raises(Invalid):
        corrected(mine, make.failing() | {"criteria": {"success": 3}})
    assert Judgment.objects.filter(assignment=mine).count() == 1


def test_after_a_day_it_is_too_late_whatever_became_of_the_item(project, alice, bob):
    settled = make.queue(project, items=1, overlap=1)
    open_still = make.queue(project, items=1, overlap=2)
    sentences = set()
    for queue in (settled, open_still):
        mine = judged(alice, queue)
        minutes_pass(mine, 24 * 60 + 1)
        with pytest.raises(Conflict) as refused:
            corrected(mine, make.passing(success=1))
        sentences.add(refused.value.message)
    assert len(sentences) == 1


def test_an_item_that_waits_settles_when_its_raters_no_longer_differ(project, alice, bob):
    queue = make.queue(project, items=1)
    mine = judged(alice, queue)
    judged(bob, queue, make.passing(success=2))
    assert state_of(mine) == "waiting"
    minutes_pass(mine, 30)
    corrected(mine, make.passing(success=2))
    assert state_of(mine) == "settled"
    assert Label.objects.get(item=mine.item).values.get(criterion__key="success").value == 2


def test_within_the_minute_the_rule_looks_again_at_what_it_settled(project, alice, bob):
    queue = make.queue(project, items=1)
    judged(alice, queue)
    mine = judged(bob, queue)
    assert state_of(mine) == "settled"
    corrected(mine, make.passing(success=1))
    row = mine.slot.queue_item
    row.refresh_from_db()
    assert (row.state, row.waits_for, row.label) == ("waiting", "disagreement", None)
    assert Label.objects.filter(item=mine.item).count() == 1, "history stays"
    assert Event.objects.filter(verb="item.reopened").count() == 1
    said = {j.rater: j.ratings.get(criterion__key="success").value for j in judgments_before_label(row)}
    assert said == {alice: 3, bob: 1}
    payload = {k: v for k, v in make.passing(success=1).items() if k in ("gates", "criteria")}
    adjudicate(actor=make.lead_of(project), queue_item=row, payload={**payload, "reasons": {"success": "rater_error"}})
    row.refresh_from_db()
    assert (row.label.revision, row.label.basis) == (2, "adjudicated")
    assert {j.rater: j.revision for j in judgments_before_label(row)} == {alice: 1, bob: 2}


def test_taking_back_and_saying_the_same_leaves_the_label(project, alice):
    mine = judged(alice, make.queue(project, items=1, overlap=1))
    corrected(mine, make.passing(rationale="In other words."))
    assert state_of(mine) == "settled"
    assert Label.objects.filter(item=mine.item).count() == 1


def test_one_who_judges_alone_and_corrects_at_once_has_the_label_superseded(project, alice):
    mine = judged(alice, make.queue(project, items=1, overlap=1))
    corrected(mine, make.passing(success=0))
    labels = Label.objects.filter(item=mine.item).order_by("revision")
    assert [label.values.get(criterion__key="success").value for label in labels] == [3, 0]
    assert mine.slot.queue_item.label_id in (None, labels[1].pk)


def test_later_a_correction_of_a_settled_item_is_kept_and_changes_nothing(project, alice, bob):
    queue = make.queue(project, items=1)
    judged(alice, queue)
    mine = judged(bob, queue)
    minutes_pass(mine, 5)
    receipt = corrected(mine, make.passing(success=1))
    assert receipt.judgment.revision == 2
    assert state_of(mine) == "settled"
    assert Label.objects.filter(item=mine.item).count() == 1
    assert len(judgments_before_label(mine.slot.queue_item)) == 2


def test_agreement_counts_the_latest_revision_once(project, alice, bob):
    queue = make.queue(project, items=1)
    mine = judged(alice, queue)
    judged(bob, queue, make.passing(success=2))
    corrected(mine, make.passing(success=2))
    answers = ratings(queue)
    assert answers.n_judgments == 2
    success = queue.rubric.criteria.get(key="success")
    assert sorted(answers.of(success.pk)[2].tolist()) == [2, 2]


def test_a_correction_has_a_draft_of_its_own(project, alice):
    mine = judged(alice, make.queue(project, items=1))
    with pytest.raises(Conflict, match="submitted this item already"):
        save_draft(actor=alice, uid=mine.uid, data={"rationale": "From a tab left behind."}, version=0)
    save_draft(actor=alice, uid=mine.uid, data={"rationale": "I was too kind."}, version=0, correcting=True)
    assert Draft.objects.get(assignment=mine).version == 1
    corrected(mine, make.passing(success=1))
    assert not Draft.objects.filter(assignment=mine).exists()
    minutes_pass(mine, 25 * 60)
    with pytest.raises(Conflict):
        save_draft(actor=alice, uid=mine.uid, data={}, version=0, correcting=True)


def test_a_label_leaves_with_what_it_rests_on_and_not_with_later_corrections(project, alice, bob):
    queue = make.queue(project, items=1)
    judged(alice, queue)
    mine = judged(bob, queue)
    minutes_pass(mine, 5)
    corrected(mine, make.passing(success=1))
    rests_on = supporting_judgments([queue.pk], [mine.item_id])
    assert {(judgment.rater, judgment.revision) for judgment in rests_on} == {(alice, 1), (bob, 1)}
