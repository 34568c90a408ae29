"""A queue's settings: changed, paused, closed, filled; and what stays as it is."""

import pytest
from django.urls import reverse

from reviews.enums import QueueState, Role
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return make.queue(project, items=1)


def place(queue, name="queue_settings"):
    return reverse(f"reviews:{name}", args=[queue.uid])


def lead(queue):
    return enter(make.lead_of(queue.project))


def test_name_lease_and_rule_may_change(queue):
    lead(queue).post(place(queue), {"name": "Late orders", "lease_minutes": "10", "settle_rule": "majority"})
    queue.refresh_from_db()
    assert (queue.name, queue.lease_minutes, queue.settle_rule) == ("Late orders", 10, "majority")


def test_a_lease_of_no_time_is_refused_at_its_field(queue):
    answer = lead(queue).post(place(queue), {"name": "Late", "lease_minutes": "0", "settle_rule": "majority"})
    assert answer.status_code == 422
    assert answer.context["form"].errors["lease_minutes"]
    assert "Late" in answer.content.decode()


def test_a_queue_is_paused_closed_and_opened(queue):
    client = lead(queue)
    for state in (QueueState.PAUSED, QueueState.CLOSED, QueueState.OPEN):
        client.post(place(queue, "queue_move"), {"state": state})
        queue.refresh_from_db()
        assert queue.state == state
    page = client.post(place(queue, "queue_move"), {"state": "melted"}, follow=True).content.decode()
    assert "The state must be one of" in page


def test_items_of_a_family_are_put_in(queue):
    for family in ("returns", "returns", "invoices"):
        make.item(queue.project, family=family)
    page = lead(queue).post(place(queue, "queue_fill"), {"family": "returns", "most": "100"}, follow=True)
    assert "2 items put in." in page.content.decode()
    assert queue.queue_items.count() == 3


def test_no_more_are_put_in_than_asked_for(queue):
    for _ in range(3):
        make.item(queue.project)
    lead(queue).post(place(queue, "queue_fill"), {"family": "", "most": "2"})
    assert queue.queue_items.count() == 3


def test_a_closed_queue_takes_nothing_in(queue):
    make.item(queue.project)
    lead(queue).post(place(queue, "queue_move"), {"state": "closed"})
    page = lead(queue).post(place(queue, "queue_fill"), {"family": "", "most": "2"}, follow=True).content.decode()
    assert "This queue is closed." in page
    assert queue.queue_items.count() == 1


def test_only_leads_change_a_queue(queue):
    eli = make.person("Eli")
    make.member(queue.project, eli, Role.ENGINEER)
    for person in (eli, make.expert(queue.project, "Alice")):
        client = enter(person)
        assert client.get(place(queue)).status_code == 403
        assert client.post(place(queue, "queue_move"), {"state": "closed"}).status_code == 403
        assert client.post(place(queue, "queue_fill"), {"most": "1"}).status_code == 403
    queue.refresh_from_db()
    assert queue.state == QueueState.OPEN
