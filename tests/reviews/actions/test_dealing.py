"""Dealing: overlap holds, nobody gets an item twice, what is given back comes again, and a claim never waits."""

import threading
from collections import Counter
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from reviews.actions.dealing import NothingToDeal, claim, count_active_time, expire_leases, release, renew, skip
from reviews.actions.judging import save_draft, submit
from reviews.enums import AssignmentState, QueueItemState, QueueState, SlotState, WaitsFor
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Assignment, Event, Queue, QueueItem, Slot
from tests import factories as make

pytestmark = pytest.mark.django_db


def judge_all(queue, rater):
    """Everything the rater can get, judged; the items in order."""
    items = []
    while True:
        try:
            assignment = claim(actor=rater, queue=queue)
        except NothingToDeal:
            return items
        submit(actor=rater, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
        items.append(assignment.item_id)


def test_alice_gets_each_item_once_in_the_order_of_arrival(project):
    queue = make.queue(project, items=4, overlap=2)
    alice = make.expert(project, "Alice")
    arrived = list(QueueItem.objects.filter(queue=queue).order_by("pk").values_list("item_id", flat=True))
    assert judge_all(queue, alice) == arrived


def test_with_overlap_two_the_third_person_finds_nothing(project):
    queue = make.queue(project, items=3, overlap=2)
    alice, bob, charlie = (make.expert(project, name) for name in ("Alice", "Bob", "Charlie"))
    assert len(judge_all(queue, alice)) == 3
    assert len(judge_all(queue, bob)) == 3
    with pytest.raises(NothingToDeal, match="Nothing is waiting for you"):
        claim(actor=charlie, queue=queue)


def test_a_second_claim_gives_the_item_already_held(project):
    queue = make.queue(project, items=3)
    alice = make.expert(project, "Alice")
    assert claim(actor=alice, queue=queue) == claim(actor=alice, queue=queue)
    assert Slot.objects.filter(queue=queue, state=SlotState.LEASED).count() == 1


def test_a_shuffled_queue_deals_every_item_all_the_same(project):
    queue = make.queue(project, items=12, overlap=1, order="shuffled")
    alice = make.expert(project, "Alice")
    arrived = list(QueueItem.objects.filter(queue=queue).order_by("pk").values_list("item_id", flat=True))
    judged = judge_all(queue, alice)
    assert sorted(judged) == arrived
    assert judged != arrived


def test_what_bob_gives_back_comes_to_alice_who_has_passed_it_and_to_bob_again(project):
    queue = make.queue(project, items=2, overlap=1)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    first = claim(actor=bob, queue=queue)
    save_draft(actor=bob, uid=first.uid, data={"rationale": "half a thought"}, version=0)
    second = claim(actor=alice, queue=queue)
    release(actor=bob, uid=first.uid)
    again = claim(actor=bob, queue=queue)
    assert again == first, "one row per rater and item, with its draft"
    assert again.draft.data == {"rationale": "half a thought"}
    release(actor=bob, uid=first.uid)
    submit(actor=alice, uid=second.uid, payload=make.passing(), idempotency_key="k")
    assert claim(actor=alice, queue=queue).item_id == first.item_id


def test_an_item_given_back_is_not_the_very_next_one(project):
    queue = make.queue(project, items=3, overlap=1)
    alice = make.expert(project, "Alice")
    first = claim(actor=alice, queue=queue)
    release(actor=alice, uid=first.uid)
    assert claim(actor=alice, queue=queue).item_id != first.item_id


def test_a_skip_is_final_for_that_rater_and_needs_a_reason(project):
    queue = make.queue(project, items=1, overlap=1)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    assignment = claim(actor=alice, queue=queue)
    with pytest.raises(Invalid) as refused:
        skip(actor=alice, uid=assignment.uid, reason="")
    assert "reason" in refused.value.errors
    skip(actor=alice, uid=assignment.uid, reason="not_my_field")
    with pytest.raises(NothingToDeal):
        claim(actor=alice, queue=queue)
    assert claim(actor=bob, queue=queue).item_id == assignment.item_id


def test_the_third_skip_brings_the_item_to_a_lead(project):
    queue = make.queue(project, items=1, overlap=1)
    for name in ("Alice", "Bob", "Charlie"):
        rater = make.expert(project, name)
        skip(actor=rater, uid=claim(actor=rater, queue=queue).uid, reason="cannot_read")
    queue_item = QueueItem.objects.get(queue=queue)
    assert (queue_item.state, queue_item.waits_for) == (QueueItemState.WAITING, WaitsFor.SKIPS)
    with pytest.raises(NothingToDeal):
        claim(actor=make.expert(project, "Dora"), queue=queue)


def test_a_lease_that_ran_out_goes_to_bob_and_alice_cannot_submit_over_him(project):
    queue = make.queue(project, items=1, overlap=1)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    assignment = claim(actor=alice, queue=queue)
    expire_leases(now=timezone.now() + timedelta(hours=2))
    assert claim(actor=bob, queue=queue).item_id == assignment.item_id
    with pytest.raises(Conflict, match="ran out"):
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")


def test_after_her_lease_ran_out_alice_may_still_submit_while_nobody_has_the_item(project):
    queue = make.queue(project, items=1, overlap=1)
    alice = make.expert(project, "Alice")
    assignment = claim(actor=alice, queue=queue)
    expire_leases(now=timezone.now() + timedelta(hours=2))
    assert submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k").created
    assert not Slot.objects.filter(queue=queue, state=SlotState.OPEN).exists()


def test_bob_need_not_wait_for_the_sweep_when_the_last_item_has_run_out(project):
    queue = make.queue(project, items=1, overlap=1)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    assignment = claim(actor=alice, queue=queue)
    Assignment.objects.filter(pk=assignment.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert claim(actor=bob, queue=queue).item_id == assignment.item_id


def test_a_sign_of_life_prolongs_the_lease_and_counts_at_most_a_minute(project):
    queue = make.queue(project, items=1, lease_minutes=5)
    alice = make.expert(project, "Alice")
    assignment = claim(actor=alice, queue=queue)
    Assignment.objects.filter(pk=assignment.pk).update(seen_at=timezone.now() - timedelta(hours=3))
    renewed = renew(actor=alice, uid=assignment.uid)
    assert renewed.active_seconds == 60
    assert timedelta(minutes=4) < renewed.expires_at - timezone.now() <= timedelta(minutes=5)


def leased(project, *, since, **settings):
    """Alice's item, last heard of so long ago."""
    alice = make.expert(project, "Alice")
    assignment = claim(actor=alice, queue=make.queue(project, items=1, **settings))
    Assignment.objects.filter(pk=assignment.pk).update(seen_at=timezone.now() - since)
    return alice, assignment.uid


def test_what_a_page_says_was_worked_counts_breaks_left_out(project):
    alice, uid = leased(project, since=timedelta(minutes=10))
    assert renew(actor=alice, uid=uid, worked=240).active_seconds == 240


@pytest.mark.parametrize("worked", [61, 3600, 10**9])
def test_a_page_that_boasts_counts_no_more_than_has_passed_by_our_clock(project, worked):
    with time_machine.travel(timezone.now(), tick=False):
        alice, uid = leased(project, since=timedelta(seconds=60, milliseconds=300))
        assert renew(actor=alice, uid=uid, worked=worked).active_seconds == 60
        assert renew(actor=alice, uid=uid, worked=worked).active_seconds == 60


def test_a_second_counts_for_one_item_however_many_queues_a_rater_has_items_of(project):
    """Three items in hand for five minutes are five minutes of work, in whatever order the pages tell of it."""
    alice, began = make.expert(project, "Alice"), timezone.now()
    with time_machine.travel(began, tick=False):
        held = [claim(actor=alice, queue=make.queue(project, items=2)) for _ in range(3)]
    for minutes, order in ((3, held), (4, held[::-1]), (5, held[1:] + held[:1])):
        with time_machine.travel(began + timedelta(minutes=minutes), tick=False):
            for mine in order:
                renew(actor=alice, uid=mine.uid, worked=86_400)
    counted = Assignment.objects.filter(rater=alice).values_list("active_seconds", flat=True)
    assert sum(counted) == 300
    with time_machine.travel(began + timedelta(minutes=6), tick=False):
        submit(actor=alice, uid=held[0].uid, payload=make.passing(), idempotency_key="k", worked=86_400)
        renew(actor=alice, uid=held[1].uid, worked=86_400)
    assert sum(counted.all()) == 360


def test_an_item_that_is_leased_again_takes_no_time_from_another(project):
    """Alice gives the first back, and has worked on the second for ten minutes when the first comes again."""
    alice, began = make.expert(project, "Alice"), timezone.now()
    first, second = (make.queue(project, items=1) for _ in range(2))
    with time_machine.travel(began, tick=False):
        held = claim(actor=alice, queue=first)
    with time_machine.travel(began + timedelta(minutes=2), tick=False):
        renew(actor=alice, uid=held.uid, worked=86_400)
        release(actor=alice, uid=held.uid)
        other = claim(actor=alice, queue=second)
    with time_machine.travel(began + timedelta(minutes=12), tick=False):
        again = claim(actor=alice, queue=first)
        assert renew(actor=alice, uid=other.uid, worked=86_400).active_seconds == 600
    again.refresh_from_db()
    assert (again, again.active_seconds) == (held, 120)


@pytest.mark.django_db(transaction=True)
def test_nor_does_it_count_twice_where_pages_tell_of_it_at_once(project):
    alice, began = make.expert(project, "Alice"), timezone.now() - timedelta(minutes=10)
    held = [claim(actor=alice, queue=make.queue(project, items=2)) for _ in range(4)]
    Assignment.objects.filter(rater=alice).update(seen_at=began)

    def tell(mine):
        try:
            renew(actor=alice, uid=mine.uid, worked=86_400)
        finally:
            connection.close()

    at_once = [threading.Thread(target=tell, args=(mine,)) for mine in held]
    for thread in at_once:
        thread.start()
    for thread in at_once:
        thread.join()
    assert 595 <= sum(Assignment.objects.filter(rater=alice).values_list("active_seconds", flat=True)) <= 660


def test_no_sign_counts_for_more_than_a_lease(project):
    alice, uid = leased(project, since=timedelta(days=2), lease_minutes=30)
    assert renew(actor=alice, uid=uid, worked=2 * 24 * 3600).active_seconds == 30 * 60


def test_two_tabs_at_once_count_the_time_once(project):
    with time_machine.travel(timezone.now(), tick=False):
        alice, uid = leased(project, since=timedelta(seconds=20, milliseconds=300))
        assert renew(actor=alice, uid=uid, worked=20).active_seconds == 20
        assert renew(actor=alice, uid=uid, worked=20).active_seconds == 20


def test_a_page_at_which_nobody_works_counts_nothing_and_leaves_the_time_to_the_other(project):
    alice, uid = leased(project, since=timedelta(seconds=50))
    assert renew(actor=alice, uid=uid, worked=0).active_seconds == 0
    assert renew(actor=alice, uid=uid, worked=50).active_seconds == 50


def test_frequent_signs_lose_no_seconds(project):
    """Each counts whole seconds only; what is left of one stays for the next."""
    assignment = Assignment(queue=Queue(lease_minutes=30), seen_at=timezone.now())
    began = assignment.seen_at
    for tenths in range(1, 101, 7):
        count_active_time(assignment, began + timedelta(seconds=tenths / 10))
    count_active_time(assignment, began + timedelta(seconds=10))
    assert assignment.active_seconds == 10


@given(st.lists(st.tuples(st.floats(0, 400), st.none() | st.integers(0, 10**6)), max_size=30))
def test_never_more_than_has_passed_whatever_is_claimed(signs):
    now = began = timezone.now()
    assignment = Assignment(queue=Queue(lease_minutes=30), seen_at=began)
    for pause, worked in signs:
        now += timedelta(seconds=pause)
        count_active_time(assignment, now, worked)
    assert 0 <= assignment.active_seconds <= (now - began).total_seconds()


def test_another_persons_assignment_does_not_exist(project):
    queue = make.queue(project, items=1)
    assignment = claim(actor=make.expert(project, "Alice"), queue=queue)
    bob = make.expert(project, "Bob")
    for act in (renew, release):
        with pytest.raises(NotFound):
            act(actor=bob, uid=assignment.uid)


@pytest.mark.parametrize("role", ["engineer", "admin"])
def test_who_knows_the_outcomes_does_not_judge(project, role):
    queue = make.queue(project, items=1)
    user = make.person("Eve")
    make.member(project, user, role)
    with pytest.raises(Forbidden):
        claim(actor=user, queue=queue)


def test_a_stranger_is_told_nothing_and_a_former_member_neither(project):
    queue = make.queue(project, items=1)
    former = make.person("Fay")
    make.member(project, former, active=False)
    for user in (make.person("Sam"), former):
        with pytest.raises(NotFound):
            claim(actor=user, queue=queue)


def test_a_paused_queue_deals_nothing_and_says_so(project):
    queue = make.queue(project, items=1)
    queue.state = QueueState.PAUSED
    queue.save()
    with pytest.raises(NothingToDeal, match="paused"):
        claim(actor=make.expert(project), queue=queue)


def test_every_move_leaves_one_event(project):
    queue = make.queue(project, items=2)
    alice = make.expert(project, "Alice")
    first = claim(actor=alice, queue=queue)
    release(actor=alice, uid=first.uid)
    second = claim(actor=alice, queue=queue)
    skip(actor=alice, uid=second.uid, reason="other", note="I wrote this agent.")
    verbs = Event.objects.filter(target_type="assignment", actor=alice).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["assignment.claimed", "assignment.released", "assignment.claimed", "assignment.skipped"]


@pytest.mark.django_db(transaction=True)
def test_eight_people_at_once_never_exceed_overlap_nor_meet_an_item_twice():
    project = make.project()
    queue = make.queue(project, items=12, overlap=3)
    raters = [make.expert(project, f"Rater {number}") for number in range(8)]
    failures: list[BaseException] = []

    def work(rater):
        try:
            judge_all(queue, rater)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(rater,)) for rater in raters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not failures
    done = Assignment.objects.filter(queue=queue, state=AssignmentState.SUBMITTED)
    assert set(Counter(done.values_list("item_id", flat=True)).values()) == {3}
    assert max(Counter(done.values_list("item_id", "rater_id")).values()) == 1
    assert QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED).count() == 12


@pytest.mark.django_db(transaction=True)
def test_one_person_clicking_twice_at_once_holds_one_item():
    project = make.project()
    queue = make.queue(project, items=6)
    alice = make.expert(project, "Alice")
    got: list[Assignment] = []

    def click():
        got.append(claim(actor=alice, queue=queue))
        connection.close()

    threads = [threading.Thread(target=click) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(got) == 6
    assert len(set(got)) == 1
