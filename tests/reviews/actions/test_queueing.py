"""Queues: settings checked at their fields, items put in once, and moves that are allowed."""

import pytest

from reviews.actions.queueing import add_items, change_queue, create_queue
from reviews.enums import QueueState
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Slot
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_each_item_gets_as_many_slots_as_the_overlap_asks_for(project, lead):
    queue = make.queue(project, items=5, overlap=3)
    assert Slot.objects.filter(queue=queue).count() == 15


def test_putting_an_item_in_again_changes_nothing(project, lead):
    item = make.item(project)
    queue = make.queue(project, items=[item])
    assert add_items(actor=lead, queue=queue, items=[item, make.item(project)]) == 1
    assert add_items(actor=lead, queue=queue, items=[item]) == 0


def test_items_of_another_project_stay_out(project, lead):
    queue = make.queue(project, items=0)
    assert add_items(actor=lead, queue=queue, items=[make.item(make.project())]) == 0


def test_a_closed_queue_takes_nothing(project, lead):
    queue = change_queue(actor=lead, queue=make.queue(project, items=1), state="closed")
    with pytest.raises(Conflict, match="closed"):
        add_items(actor=lead, queue=queue, items=[make.item(project)])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"overlap": 0}, "overlap"),
        ({"overlap": 21}, "overlap"),
        ({"overlap": "2"}, "overlap"),
        ({"lease_minutes": 0}, "lease_minutes"),
        ({"order": "by mood"}, "order"),
        ({"settle_rule": "coin"}, "settle_rule"),
        ({"overlap_cap": 2}, "overlap_cap"),
        ({"overlap_cap": 21}, "overlap_cap"),
    ],
)
def test_a_setting_out_of_range_is_named(project, change, field):
    with pytest.raises(Invalid) as refused:
        make.queue(project, **change)
    assert field in refused.value.errors


def test_rubric_and_guideline_must_be_the_projects_own(project, lead):
    foreign = make.queue(make.project(), items=0)
    with pytest.raises(Invalid) as refused:
        create_queue(actor=lead, project=project, name="Q", rubric=foreign.rubric, guideline=foreign.guideline)
    assert set(refused.value.errors) == {"rubric", "guideline"}


def test_a_queue_pauses_and_opens_again_and_only_a_lead_does_it(project, lead):
    queue = make.queue(project, items=1)
    assert change_queue(actor=lead, queue=queue, state="paused").state == QueueState.PAUSED
    assert change_queue(actor=lead, queue=queue, state="open", lease_minutes=10).lease_minutes == 10
    with pytest.raises(Forbidden):
        change_queue(actor=make.expert(project), queue=queue, state="paused")


def test_a_state_that_does_not_exist_is_refused(project, lead):
    with pytest.raises(Invalid):
        change_queue(actor=lead, queue=make.queue(project, items=1), state="on fire")
