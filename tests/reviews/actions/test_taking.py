"""Settling an item without raters: only one that nobody has begun, with a label that says so; and the way back."""

import threading

import pytest
from django.db import connection, transaction

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.gold import propose_gold
from goldsets.queries.contrasts import judged_labels
from reviews.actions.adjudicating import adjudicate, decide_ahead, undo
from reviews.actions.dealing import claim, release
from reviews.actions.judging import submit
from reviews.actions.queueing import change_queue
from reviews.actions.taking import give_back, take
from reviews.errors import Conflict, NothingToDeal
from reviews.models import Assignment, Event, Label, LabelValue, QueueItem, Slot
from reviews.queries.training import fit_to_train
from tests import factories as make

pytestmark = pytest.mark.django_db

KEEP = [{"key": "keep", "title": "Keep", "kind": "gate"}]
PASSES = {"gates": {"keep": "pass"}, "confidence": 3}


@pytest.fixture
def queue():
    return make.queue(make.project(), items=2, criteria=KEEP, overlap=2)


@pytest.fixture
def row(queue):
    return QueueItem.objects.filter(queue=queue).order_by("pk").first()


def test_an_untouched_item_settles_and_its_label_says_that_no_person_made_it(queue, row):
    label = take(queue_item_id=row.pk, values={"keep": 1})
    row.refresh_from_db()
    assert (row.state, row.label) == ("settled", label)
    assert (label.basis, label.judgment_count, label.versions["environment"]) == ("reviewer", 0, "desk 3.2")
    value = LabelValue.objects.get(label=label)
    assert (value.criterion.key, value.value, value.basis) == ("keep", 1, "reviewer")
    assert set(Slot.objects.filter(queue_item=row).values_list("state", flat=True)) == {"withdrawn"}
    event = Event.objects.order_by("-pk").first()
    assert (event.verb, event.actor, event.data["basis"]) == ("item.taken", None, "reviewer")
    alice = make.expert(queue.project, "Alice")
    assert claim(actor=alice, queue=queue).item != row.item


def test_once_taken_it_is_not_taken_again(row):
    assert take(queue_item_id=row.pk, values={"keep": 1})
    assert take(queue_item_id=row.pk, values={"keep": 0}) is None
    assert Label.objects.filter(item=row.item).count() == 1


def test_what_somebody_has_or_had_in_hand_is_left_to_people(queue, row):
    alice = make.expert(queue.project, "Alice")
    mine = claim(actor=alice, queue=queue)
    assert mine.item == row.item
    assert take(queue_item_id=row.pk, values={"keep": 1}) is None
    release(actor=alice, uid=mine.uid)
    assert take(queue_item_id=row.pk, values={"keep": 1}) is None
    assert not Label.objects.exists()


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_nothing_is_taken_from_a_queue_that_is_not_open(queue, row, state):
    change_queue(actor=make.lead_of(queue.project), queue=queue, state=state)
    assert take(queue_item_id=row.pk, values={"keep": 1}) is None


@pytest.mark.django_db(transaction=True)
def test_an_item_that_is_just_being_dealt_goes_to_the_rater(queue, row):
    alice = make.expert(queue.project, "Alice")
    found = []

    def elsewhere():
        found.append(take(queue_item_id=row.pk, values={"keep": 1}))
        connection.close()

    with transaction.atomic():
        mine = claim(actor=alice, queue=queue)
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
    assert (mine.item, found) == (row.item, [None])


def test_given_back_an_item_collects_as_if_nothing_had_been(queue, row):
    lead, alice, bob = make.lead_of(queue.project), *(make.expert(queue.project, name) for name in ("Alice", "Bob"))
    other = QueueItem.objects.exclude(pk=row.pk).get(queue=queue)
    for rater in (alice, bob):
        mine = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=mine.uid, payload=PASSES, idempotency_key="k")
    row.refresh_from_db()
    assert row.state == "settled"
    take(queue_item_id=other.pk, values={"keep": 1})
    with pytest.raises(NothingToDeal):
        claim(actor=alice, queue=queue)

    assert give_back(actor=lead, queue=queue, queue_items=[row.pk, other.pk]) == 1
    for rater in (alice, bob):
        mine = claim(actor=rater, queue=queue)
        assert mine.item == other.item
        submit(actor=rater, uid=mine.uid, payload=PASSES, idempotency_key="k2")
    other.refresh_from_db()
    assert (other.state, other.label.basis, other.label.revision) == ("settled", "unanimous", 2)
    assert give_back(actor=lead, queue=queue, queue_items=[other.pk]) == 0


def test_what_a_lead_has_decided_since_is_not_given_back_and_undone_it_is_no_person_s_again(queue, row):
    lead = make.lead_of(queue.project)
    take(queue_item_id=row.pk, values={"keep": 1})
    row.refresh_from_db()
    adjudicate(actor=lead, queue_item=row, payload={"gates": {"keep": "pass"}})
    assert give_back(actor=lead, queue=queue, queue_items=[row.pk]) == 0
    row.refresh_from_db()
    assert undo(actor=lead, queue_item=row).basis == "reviewer"
    assert give_back(actor=lead, queue=queue, queue_items=[row.pk]) == 1


def test_it_is_no_gold_no_practice_and_no_success_to_be_paired(queue, row):
    lead = make.lead_of(queue.project)
    take(queue_item_id=row.pk, values={"keep": 1})
    row.refresh_from_db()
    with pytest.raises(Conflict, match="No person has said"):
        propose_gold(actor=lead, queue_item=row)
    assert not fit_to_train(queue).exists()
    assert not judged_labels(queue.project, queue).exists()


def test_it_leaves_only_where_the_data_set_asks_for_it(queue, row, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    lead, others = make.lead_of(queue.project), QueueItem.objects.filter(queue=queue).exclude(pk=row.pk)
    take(queue_item_id=row.pk, values={"keep": 1})
    decide_ahead(actor=lead, queue_item=others.get(), payload={"gates": {"keep": "pass"}})

    def counts(name, **asked):
        made = define_dataset(actor=lead, project=queue.project, name=name, formats=["jsonl"], **asked)
        version = start_export(actor=lead, dataset=made)
        run_export(version_id=version.pk)
        version.refresh_from_db()
        left_out = version.manifest["left_out"]
        return version.manifest["counts"]["labels_by_basis"], left_out["reviewer_rows"], left_out["filtered_rows"]

    assert counts("As it is") == ({"adjudicated": 1}, 1, 0)
    assert counts("Asked for", filter={"basis": ["reviewer"]}) == ({"reviewer": 1}, 0, 1)
    assert not Assignment.objects.exists()
