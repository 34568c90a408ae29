"""Gold among the rest: within its rate, unpredictable, once per rater, least used first, and never to be told apart."""

import threading
from collections import Counter
from datetime import timedelta
from statistics import mean

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from goldsets.actions.dealing import draw_first_gap, draw_gap
from goldsets.actions.gold import propose_gold, retire_gold, set_gold_rate
from goldsets.models import GoldItem, GoldPlacement, GoldPolicy, GoldSchedule
from reviews.actions import queueing
from reviews.actions.dealing import NothingToDeal, claim, expire_leases, release, skip
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.enums import QueueItemState, SlotState
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Assignment, Event, Label, QueueItem, Slot
from tests import factories as make
from tests.factories.training import judge, practice

pytestmark = pytest.mark.django_db


def queue_with_gold(project, *, gold=2, plain=20, rate="0.25", overlap=1):
    """A queue with so many gold items, each settled by a rater named Gwen, and so many plain ones."""
    queue = make.queue(project, items=gold, overlap=overlap)
    for number in range(overlap):
        gwen = make.expert(project, f"Gwen {number}")
        judge_all(queue, gwen)
    lead = make.lead_of(project)
    for queue_item in QueueItem.objects.filter(queue=queue):
        make.gold(queue_item)
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(plain)])
    set_gold_rate(actor=lead, queue=queue, rate=rate)
    return queue


def judge_all(queue, rater):
    """All the rater can get; for each item whether it was gold."""
    dealt = []
    while True:
        try:
            assignment = claim(actor=rater, queue=queue)
        except NothingToDeal:
            return dealt
        submit(actor=rater, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
        dealt.append(GoldPlacement.objects.filter(assignment=assignment).exists())


def test_alice_meets_each_gold_item_once_and_every_plain_item(project):
    queue = queue_with_gold(project, gold=2, plain=20, rate="0.25")
    dealt = judge_all(queue, make.expert(project, "Alice"))
    assert Counter(dealt) == {True: 2, False: 20}
    assert not dealt[0], "the first item is never gold"
    assert not dealt[-1], "gold alone is never dealt, so it never comes last"


def test_the_rate_is_kept_over_many_items(project):
    queue = queue_with_gold(project, gold=40, plain=160, rate="0.2")
    dealt = judge_all(queue, make.expert(project, "Alice"))
    # Gaps are uniform on [2, 6] with mean 4: of 160 plain items some 40 gaps, give or take four standard deviations.
    assert 30 <= sum(dealt) <= 40


@given(st.floats(min_value=0.02, max_value=0.5))
def test_gaps_stay_within_half_and_one_and_a_half_times_the_mean(rate):
    expected = (1 - rate) / rate
    gaps = [draw_gap(rate) for _ in range(50)]
    assert all(int(expected / 2) <= gap <= int(3 * expected / 2) + 1 for gap in gaps)
    assert all(draw_first_gap(rate) >= 1 for _ in range(50))


def test_the_mean_gap_is_what_the_rate_asks_for():
    # At a rate of .1 nine plain items come between two gold ones; the standard error of 4,000 draws is .04.
    assert mean(draw_gap(0.1) for _ in range(4000)) == pytest.approx(9, abs=0.25)


def test_the_least_used_gold_goes_first(project):
    queue = queue_with_gold(project, gold=2, plain=30, rate="0.5")
    fresh, used = GoldItem.objects.filter(queue=queue).order_by("pk")
    GoldItem.objects.filter(pk=used.pk).update(times_used=7)
    alice = make.expert(project, "Alice")
    judge_all(queue, alice)
    order = GoldPlacement.objects.filter(rater=alice).order_by("pk").values_list("gold_item", flat=True)
    assert list(order) == [fresh.pk, used.pk]


def test_nobody_gets_as_gold_what_they_met_in_practice(project):
    queue = queue_with_gold(project, gold=2, plain=12, rate="0.5")
    made, alice = practice(project, queue, items=1), make.expert(project, "Alice")
    judge(made, alice, make.passing())
    assert sum(judge_all(queue, alice)) == 1
    (dealt,) = GoldPlacement.objects.filter(rater=alice)
    assert dealt.assignment.item != made.queue_items.get().item


def test_nobody_gets_as_gold_what_they_judged_themselves(project):
    queue = queue_with_gold(project, gold=2, plain=12, rate="0.5")
    gwen = GoldItem.objects.filter(queue=queue).first().queue_item.item.judgments.first().rater
    assert sum(judge_all(queue, gwen)) == 0


def test_a_retired_gold_item_is_dealt_no_more(project):
    queue = queue_with_gold(project, gold=1, plain=12, rate="0.5")
    retire_gold(actor=make.lead_of(project), gold_item=GoldItem.objects.get(queue=queue))
    assert sum(judge_all(queue, make.expert(project, "Alice"))) == 0


def test_leads_are_told_once_when_a_rater_has_met_all_gold(project):
    queue = queue_with_gold(project, gold=1, plain=12, rate="0.5")
    alice = make.expert(project, "Alice")
    judge_all(queue, alice)
    assert Event.objects.filter(verb="gold.used_up", actor=alice).count() == 1
    assert GoldSchedule.objects.get(queue=queue, rater=alice).used_up_at is not None


def test_gold_changes_neither_slots_nor_label_nor_state_of_its_item(project):
    queue = queue_with_gold(project, gold=1, plain=8, rate="0.5")
    gold = GoldItem.objects.get(queue=queue)
    alice = make.expert(project, "Alice")
    before = (
        list(Slot.objects.filter(queue_item=gold.queue_item).values()),
        list(Label.objects.filter(item=gold.queue_item.item).values()),
        QueueItem.objects.filter(pk=gold.queue_item_id).values().get(),
    )
    while not GoldPlacement.objects.filter(rater=alice).exists():
        assignment = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=assignment.uid, payload=make.failing(), idempotency_key="k")
    own_slot = GoldPlacement.objects.get(rater=alice).assignment.slot_id
    after = (
        list(Slot.objects.filter(queue_item=gold.queue_item).exclude(pk=own_slot).values()),
        list(Label.objects.filter(item=gold.queue_item.item).values()),
        QueueItem.objects.filter(pk=gold.queue_item_id).values().get(),
    )
    assert after == before


@pytest.mark.parametrize("end", ["skip", "release", "expire"])
def test_gold_that_is_not_answered_is_dealt_to_nobody_as_a_plain_item(project, end):
    queue = queue_with_gold(project, gold=1, plain=6, rate="0.5")
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    assignment = None
    while not GoldPlacement.objects.filter(rater=alice).exists():
        assignment = claim(actor=alice, queue=queue)
        if not GoldPlacement.objects.filter(assignment=assignment).exists():
            submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    if end == "skip":
        skip(actor=alice, uid=assignment.uid, reason="not_my_field")
    elif end == "release":
        release(actor=alice, uid=assignment.uid)
    else:
        expire_leases(now=timezone.now() + timedelta(hours=2))
    set_gold_rate(actor=make.lead_of(project), queue=queue, rate=0)
    judge_all(queue, bob)
    assert not Assignment.objects.filter(rater=bob, item=assignment.item_id).exists()
    assert not Slot.objects.filter(queue=queue, item=assignment.item_id, state=SlotState.OPEN).exists()


def test_gold_given_back_comes_again_as_the_same_assignment(project):
    queue = queue_with_gold(project, gold=1, plain=10, rate="0.5")
    alice = make.expert(project, "Alice")
    seen = []
    for _ in range(11):
        assignment = claim(actor=alice, queue=queue)
        placement = GoldPlacement.objects.filter(assignment=assignment).first()
        if placement and not seen:
            seen.append(assignment.pk)
            release(actor=alice, uid=assignment.uid)
            continue
        if placement:
            seen.append(assignment.pk)
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert GoldItem.objects.get(queue=queue).times_used == 1


def test_only_a_settled_item_can_be_gold_and_only_a_lead_makes_it_so(project):
    queue = make.queue(project, items=1, overlap=1)
    queue_item = QueueItem.objects.get(queue=queue)
    with pytest.raises(Conflict, match="settled"):
        propose_gold(actor=make.lead_of(project), queue_item=queue_item)
    judge_all(queue, make.expert(project, "Alice"))
    queue_item.refresh_from_db()
    assert queue_item.state == QueueItemState.SETTLED
    with pytest.raises(Forbidden):
        propose_gold(actor=make.expert(project, "Bob"), queue_item=queue_item)


@pytest.mark.parametrize("rate", ["", "much", -0.1, 0.51, "nan", "inf", None])
def test_a_rate_that_is_none_is_refused_at_its_field(project, rate):
    queue = make.queue(project, items=1)
    with pytest.raises(Invalid) as refused:
        set_gold_rate(actor=make.lead_of(project), queue=queue, rate=rate)
    assert "gold_rate" in refused.value.errors


def beside(done, work, *arguments):
    """Does the work on a connection of its own, and keeps what came of it."""

    def run():
        try:
            done.append(work(*arguments))
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def somebody_waits():
    """Until a statement waits for a lock that another transaction holds."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return


@pytest.mark.django_db(transaction=True)
def test_raters_go_on_while_a_queue_is_shuffled_and_get_no_gold_before_it_is(monkeypatch):
    """Of six items the shuffle has drawn the last two, and waits for somebody who just takes the third."""
    monkeypatch.setattr(queueing, "BATCH", 2)
    project = make.project()
    queue = make.queue(project, items=6, overlap=1)
    slots = list(Slot.objects.filter(queue=queue).order_by("place"))
    alice, lead, items = make.expert(project, "Alice"), make.lead_of(project), [make.item(project)]
    dealt, put_in, rated = [], [], []
    with transaction.atomic():
        Slot.objects.select_for_update().get(pk=slots[2].pk)
        setting = beside(rated, lambda: set_gold_rate(actor=lead, queue=queue, rate="0.5"))
        somebody_waits()
        for done, work in (
            (dealt, lambda: claim(actor=alice, queue=queue)),
            (put_in, lambda: add_items(actor=lead, queue=queue, items=items)),
        ):
            beside(done, work).join(timeout=30)
        assert (dealt[0].slot_id, put_in, rated) == (slots[0].pk, [1], [])
        assert not GoldPolicy.objects.exists()
    setting.join(timeout=30)
    queue.refresh_from_db()
    assert (queue.order, float(rated[0].rate)) == ("shuffled", 0.5)
    before = {slot.pk: slot.place for slot in slots}
    after = dict(Slot.objects.filter(queue=queue).values_list("pk", "place"))
    assert [pk for pk, place in before.items() if after[pk] == place] == [slots[0].pk], "all that waited were drawn"
    assert after[Slot.objects.get(item=items[0]).pk] != queue.last_place, "and so was what came in meanwhile"
