"""The worker settles what raters marked: late, twice, two at once, killed half-way; nothing is lost or doubled."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from reviews.actions.adjudicating import adjudicate
from reviews.actions.correcting import correct
from reviews.actions.dealing import claim, skip
from reviews.actions.judging import submit
from reviews.actions.settling import settle_marked
from reviews.enums import QueueItemState, WaitsFor
from reviews.errors import Conflict, NothingToDeal
from reviews.models import Assignment, Event, Label, QueueItem, SettlingMark
from reviews.queries.listings import queues_of
from reviews.tasks import settle_marked as by_the_clock
from tests import factories as make
from tests.reviews.actions.test_correcting import minutes_pass

pytestmark = [pytest.mark.django_db, pytest.mark.worker_away]


@pytest.fixture
def bob(project):
    return make.expert(project, "Bob")


def judged(rater, queue, payload=None):
    mine = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=mine.uid, payload=payload or make.passing(), idempotency_key=f"k-{mine.uid}")
    return Assignment.objects.get(pk=mine.pk)


def corrected(mine, payload, *, seen=1):
    return correct(actor=mine.rater, uid=mine.uid, payload=payload, idempotency_key=f"c-{seen}", seen_revision=seen)


def decision(**values):
    payload = make.passing(**values)
    return {"gates": payload["gates"], "criteria": payload["criteria"]}


def row_of(queue):
    return QueueItem.objects.select_related("label", "queue__project").get(queue=queue)


def success_of(label):
    return label.values.get(criterion__key="success").value


def test_an_item_settles_with_the_next_round_and_only_once(project, alice):
    queue = make.queue(project, items=1, overlap=1)
    judged(alice, queue)
    assert (row_of(queue).state, SettlingMark.objects.count()) == (QueueItemState.COLLECTING, 1)
    assert by_the_clock() == 1
    assert row_of(queue).state == QueueItemState.SETTLED
    assert by_the_clock() == 0
    assert Label.objects.count() == Event.objects.filter(verb="item.settled").count() == 1
    assert Event.objects.get(verb="item.settled").actor is None


def test_judging_goes_on_while_no_worker_is_there_and_all_of_it_settles_later(project, alice, bob):
    queue = make.queue(project, items=3, overlap=2)
    for rater in (alice, bob):
        for success in (3, 3, 3 if rater is alice else 2):
            judged(rater, queue, make.passing(success))
    assert set(QueueItem.objects.values_list("state", flat=True)) == {QueueItemState.COLLECTING}
    assert settle_marked() == 3
    states = QueueItem.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == [QueueItemState.SETTLED, QueueItemState.SETTLED, QueueItemState.WAITING]


def test_a_worker_that_dies_half_way_leaves_the_mark(project, alice):
    queue = make.queue(project, items=1, overlap=1)
    judged(alice, queue)
    with pytest.raises(KeyboardInterrupt):
        killed_before_it_commits()
    assert (row_of(queue).state, Label.objects.count(), SettlingMark.objects.count()) == ("collecting", 0, 1)
    settle_marked()
    assert row_of(queue).state == QueueItemState.SETTLED


@transaction.atomic
def killed_before_it_commits():
    settle_marked()
    assert Label.objects.exists()
    raise KeyboardInterrupt


def test_an_item_that_cannot_be_settled_holds_up_no_other_and_keeps_its_mark(project, alice):
    """The database refuses the label of one."""
    broken, sound = make.queue(project, items=1, overlap=1), make.queue(project, items=1, overlap=1)
    judged(alice, broken)
    judged(alice, sound)
    refuse = f"ALTER TABLE reviews_label ADD CONSTRAINT none_for_it CHECK (item_id <> {row_of(broken).item_id})"
    with connection.cursor() as cursor:
        cursor.execute(refuse)
    with pytest.raises(IntegrityError, match="none_for_it"):
        settle_marked()
    assert (row_of(broken).state, row_of(sound).state) == (QueueItemState.COLLECTING, QueueItemState.SETTLED)
    assert [mark.queue_item for mark in SettlingMark.objects.all()] == [row_of(broken)]


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_settle_every_item_once():
    project = make.project()
    queue = make.queue(project, items=12, overlap=1)
    alice = make.expert(project, "Alice")
    for _ in range(12):
        judged(alice, queue)

    def work(_number):
        try:
            return settle_marked()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as workers:
        list(workers.map(work, range(2)))
    settle_marked()
    assert (Label.objects.count(), SettlingMark.objects.count()) == (12, 0)
    assert Event.objects.filter(verb="item.settled").count() == 12


@pytest.mark.django_db(transaction=True)
def test_what_comes_in_while_the_worker_looks_is_looked_at_in_the_next_round():
    """Bob has submitted, and his transaction does not stand yet when the worker comes for Alice's mark."""
    project = make.project()
    queue = make.queue(project, items=1, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    judged(alice, queue)
    with transaction.atomic():
        judged(bob, queue)
        with ThreadPoolExecutor(1) as worker:
            assert worker.submit(_round).result() == 1
    assert (row_of(queue).state, SettlingMark.objects.count()) == (QueueItemState.COLLECTING, 1)
    settle_marked()
    assert row_of(queue).state == QueueItemState.SETTLED


def _round():
    try:
        return settle_marked()
    finally:
        connection.close()


# --- Corrections ------------------------------------------------------------------------------------------------------
def test_what_is_taken_back_before_the_worker_comes_settles_as_it_then_stands(project, alice):
    queue = make.queue(project, items=1, overlap=1)
    corrected(judged(alice, queue, make.passing(3)), make.passing(0))
    settle_marked()
    label = row_of(queue).label
    assert (label.revision, success_of(label)) == (1, 0)


def test_what_is_taken_back_after_the_worker_came_supersedes_the_label(project, alice):
    queue = make.queue(project, items=1, overlap=1)
    mine = judged(alice, queue, make.passing(3))
    settle_marked()
    corrected(mine, make.passing(0))
    assert success_of(row_of(queue).label) == 3
    settle_marked()
    label = row_of(queue).label
    assert (label.revision, success_of(label)) == (2, 0)


def test_a_later_correction_does_not_hide_that_one_was_in_time(project, alice):
    """Both wait for the worker: the first takes the submission back, the second, two minutes later, no more."""
    queue = make.queue(project, items=1, overlap=1)
    mine = judged(alice, queue, make.passing(3))
    settle_marked()
    corrected(mine, make.passing(0))
    minutes_pass(mine, 3)
    corrected(mine, make.passing(1), seen=2)
    settle_marked()
    assert success_of(row_of(queue).label) == 1


def test_a_correction_of_what_the_worker_settled_minutes_ago_changes_nothing(project, alice):
    queue = make.queue(project, items=1, overlap=1)
    mine = judged(alice, queue, make.passing(3))
    settle_marked()
    minutes_pass(mine, 3)
    corrected(mine, make.passing(0))
    settle_marked()
    assert (Label.objects.count(), success_of(row_of(queue).label)) == (1, 3)


# --- Further raters and leads -----------------------------------------------------------------------------------------
def test_a_queue_that_has_run_dry_deals_again_once_one_more_is_asked(project, alice, bob):
    queue = make.queue(project, items=1, overlap=2, overlap_cap=3)
    judged(alice, queue, make.passing(3))
    judged(bob, queue, make.passing(1))
    charlie = make.expert(project, "Charlie")
    with pytest.raises(NothingToDeal):
        claim(actor=charlie, queue=queue)
    settle_marked()
    assert claim(actor=charlie, queue=queue).item == row_of(queue).item


def test_the_third_skip_brings_an_item_to_a_lead(project):
    queue = make.queue(project, items=1, overlap=1)
    for number in range(3):
        rater = make.expert(project, f"Rater {number}")
        skip(actor=rater, uid=claim(actor=rater, queue=queue).uid, reason="not_my_field")
        assert row_of(queue).state == QueueItemState.COLLECTING
    settle_marked()
    assert (row_of(queue).state, row_of(queue).waits_for) == (QueueItemState.WAITING, WaitsFor.SKIPS)


def test_a_lead_who_decides_before_the_worker_comes_decides_on_all_that_was_said(project, alice, bob):
    queue = make.queue(project, items=1, overlap=2)
    judged(alice, queue, make.passing(3))
    judged(bob, queue, make.passing(1))
    payload = decision(success=1) | {"reasons": {"success": "rater_error"}}
    label = adjudicate(actor=make.lead_of(project), queue_item=row_of(queue), payload=payload, seen_revision=0)
    assert (label.judgment_count, SettlingMark.objects.count()) == (2, 0)
    assert settle_marked() == 0
    assert row_of(queue).label == label


def test_a_lead_never_decides_what_settles_by_itself(project, alice, bob):
    queue = make.queue(project, items=1, overlap=2)
    judged(alice, queue, make.passing(3))
    corrected(judged(bob, queue, make.passing(1)), make.passing(3))
    with pytest.raises(Conflict, match="Somebody settled this item"):
        adjudicate(actor=make.lead_of(project), queue_item=row_of(queue), payload=decision(success=1), seen_revision=0)
    settle_marked()
    assert success_of(row_of(queue).label) == 3


def test_what_leads_count_is_what_has_settled(project, alice):
    queue = make.queue(project, items=2, overlap=1)
    judged(alice, queue)

    def counted():
        (row,) = queues_of([project])
        return row.collecting, row.settled

    assert counted() == (2, 0)
    settle_marked()
    assert counted() == (1, 1)
