"""Asking more where raters agree on an answer that is not probable, by the errors each of them makes."""

import pytest

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.labelling import settle_weighed, weigh
from reviews.actions.queueing import add_items, change_queue
from reviews.enums import QueueItemState, SlotState, WaitsFor
from reviews.errors import Invalid
from reviews.models import QueueItem, Slot
from reviews.queries.consensus import certainty_of_items
from reviews.tasks import weigh_answers
from tests import factories as make

pytestmark = pytest.mark.django_db

ONE = [{"key": "right", "title": "Right", "kind": "binary"}]
ITEMS = 24


def answer(queue, rater, said):
    mine = claim(actor=rater, queue=queue)
    return submit(
        actor=rater, uid=mine.uid, payload={"criteria": {"right": said}, "confidence": 2}, idempotency_key="k"
    )


def world(project, **settings):
    """Ann and Ben are always right; Cleo and Dirk say yes to everything. All four judged; yes is right on every third.

    Then come two more items: one that Cleo and Dirk, one that Ann and Ben say yes to.
    """
    past = make.queue(project, items=ITEMS, criteria=ONE, overlap=4)
    people = [make.expert(project, name) for name in ("Ann", "Ben", "Cleo", "Dirk")]
    for number in range(ITEMS):
        for place, rater in enumerate(people):
            answer(past, rater, True if place >= 2 else number % 3 == 0)
    past.queue_items.update(state=QueueItemState.COLLECTING)
    for name, value in {"overlap": 2, "settle_rule": "unanimous", **settings}.items():
        setattr(past, name, value)
    past.save()
    items = [make.item(project) for _ in range(2)]
    for item, pair in zip(items, (people[2:], people[:2]), strict=True):
        add_items(actor=make.lead_of(project), queue=past, items=[item])
        for rater in pair:
            answer(past, rater, True)
    rows = {row.item_id: row for row in past.queue_items.filter(item__in=items)}
    return past, [rows[item.pk] for item in items]


def test_who_always_says_yes_makes_nothing_probable(project):
    queue, (careless, careful) = world(project)
    certainty = certainty_of_items(queue)
    assert certainty[careful.item.uid] > 0.99
    assert certainty[careless.item.uid] < 0.6


def test_such_an_item_gets_another_rater_and_the_other_is_settled(project):
    queue, (careless, careful) = world(project, overlap_cap=3, sure_from=0.9)
    assert careless.to_weigh
    assert careful.to_weigh
    assert careful.label is None
    weigh_answers()
    for row in (careless, careful):
        row.refresh_from_db()
        assert not row.to_weigh
    assert (careful.state, careful.label.basis) == (QueueItemState.SETTLED, "unanimous")
    assert careful.label.certainty > 0.99
    assert careless.state == QueueItemState.COLLECTING
    assert Slot.objects.filter(queue_item=careless, state=SlotState.OPEN).count() == 1
    assert weigh(queue=queue) == 0


@pytest.mark.parametrize(
    ("sure_from", "end"),
    [(0.2, (QueueItemState.SETTLED, "")), (0.999, (QueueItemState.WAITING, WaitsFor.IMPROBABLE))],
)
def test_at_the_cap_nobody_else_is_asked_and_what_is_still_improbable_goes_to_a_lead(project, sure_from, end):
    """The third agrees, and three is the cap."""
    queue, (careless, _careful) = world(project, overlap_cap=3, sure_from=sure_from)
    weigh(queue=queue)
    if careless.queue.slots.filter(queue_item=careless, state=SlotState.OPEN).exists():
        answer(queue, make.expert(project, "Eve"), True)
        weigh(queue=queue)
    careless.refresh_from_db()
    assert (careless.state, careless.waits_for) == end
    assert careless.label is None or careless.label.certainty >= sure_from


def test_without_the_setting_nothing_is_weighed(project):
    _queue, rows = world(project, overlap_cap=3)
    assert {(row.state, row.to_weigh) for row in rows} == {(QueueItemState.SETTLED, False)}


def test_where_too_little_was_judged_to_say_the_rule_stands(project):
    queue = make.queue(project, items=1, criteria=ONE, overlap=2, overlap_cap=3, sure_from=0.9)
    for name in ("Ann", "Ben"):
        answer(queue, make.expert(project, name), True)
    assert certainty_of_items(queue) == {}
    weigh(queue=queue)
    assert queue.queue_items.get().state == QueueItemState.SETTLED


def test_an_item_is_weighed_once(project):
    _queue, (careless, careful) = world(project, overlap_cap=3, sure_from=0.9)
    settle_weighed(queue_item_id=careless.pk, certainty=0.2)
    settle_weighed(queue_item_id=careless.pk, certainty=0.2)
    assert Slot.objects.filter(queue_item=careless, state=SlotState.OPEN).count() == 1
    assert settle_weighed(queue_item_id=careful.pk, certainty=None).basis == "unanimous"
    assert QueueItem.objects.filter(to_weigh=True).count() == 0


@pytest.mark.parametrize("sure_from", [0.3, 1, True, "0.9"])
def test_a_bound_that_is_none_is_refused(project, sure_from):
    queue = make.queue(project, overlap_cap=4)
    with pytest.raises(Invalid) as refused:
        change_queue(actor=make.lead_of(project), queue=queue, sure_from=sure_from)
    assert list(refused.value.errors) == ["sure_from"]


def test_a_bound_without_a_cap_is_refused(project):
    with pytest.raises(Invalid, match="up to how many"):
        make.queue(project, sure_from=0.9)
