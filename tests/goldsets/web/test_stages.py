"""The tab on which a lead puts a reviewer to work, follows it, and takes it out."""

import pytest
from django.test import Client

from goldsets.actions.staging import run_stage
from goldsets.models import Stage
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from tests import factories as make
from tests.factories import stages
from tests.factories.stages import OTHER, REFUND

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    return stages.keeping_queue(make.project())


@pytest.fixture
def lead(queue):
    client = Client()
    client.force_login(make.lead_of(queue.project))
    return client


def page(client, queue):
    return client.get(f"/queues/{queue.uid}/stages/").content.decode()


def settle(queue, count, said=True):
    alice = make.expert(queue.project)
    for _ in range(count):
        mine = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=mine.uid, payload={"criteria": {"keep": said}, "confidence": 3}, idempotency_key="k")


def test_a_lead_begins_in_shadow_and_lets_it_decide_once_live_items_bear_it_out(queue, lead):
    assert "There is no signed reviewer" in page(lead, queue)
    reviewer = stages.signed(queue)
    at = f"/queues/{queue.uid}/stages/"
    wrong = lead.post(at, {"reviewer": str(reviewer.uid), "audit_share": "0", "work": "keep"})
    assert (wrong.status_code, "0.01 to 1" in wrong.content.decode()) == (422, True)
    lead.post(at, {"reviewer": str(reviewer.uid), "audit_share": "0.2", "work": "requeue"})
    stage = Stage.objects.get()
    stages.more(queue, *[REFUND] * 13, OTHER)
    run_stage(stage_id=stage.pk)
    seen = page(lead, queue)
    assert "13 more without an error would bear it out" in seen
    assert "Let it decide" not in seen
    settle(queue, 13)
    assert "Let it decide" in page(lead, queue)
    lead.post(f"{at}{stage.uid}/", {"do": "decide"})
    stage.refresh_from_db()
    assert (stage.state, stage.takes, stage.audit_share) == ("deciding", [1], 0.2)
    seen = page(lead, queue)
    assert "decided without people" in seen
    lead.post(f"{at}{stage.uid}/", {"do": "change", "audit_share": "0.3", "work": "keep"})
    lead.post(f"{at}{stage.uid}/", {"do": "roll_back", "why": "Experts complain.", "work": "keep"})
    stage.refresh_from_db()
    assert (stage.state, stage.audit_share) == ("rolled_back", 0.3)
    assert "Experts complain." in page(lead, queue)


def test_what_it_says_of_an_item_is_on_no_page_before_people_have_settled_it(queue, lead):
    (row,) = stages.more(queue, REFUND)
    stage = stages.shadow(queue)
    run_stage(stage_id=stage.pk)
    assert str(row.item.uid) not in page(lead, queue)
    settle(queue, 1, said=False)
    assert str(row.item.uid) in page(lead, queue)


def test_audits_and_gold_are_drawn_and_listed(queue, lead):
    stage = stages.deciding(queue, audit_share=1)
    stages.more(queue, REFUND, REFUND)
    run_stage(stage_id=stage.pk)
    settle(queue, 2)
    seen = page(lead, queue)
    assert seen.count(">right</span>") == 2
    assert "ends at" in seen


def test_it_is_no_page_for_others(queue, lead):
    stage = stages.shadow(queue)
    alice = Client()
    alice.force_login(make.expert(queue.project))
    assert alice.get(f"/queues/{queue.uid}/stages/").status_code == 403
    assert alice.post(f"/queues/{queue.uid}/stages/{stage.uid}/", {"do": "retire", "why": "No."}).status_code == 403
    elsewhere = stages.shadow(stages.keeping_queue(queue.project))
    assert lead.post(f"/queues/{queue.uid}/stages/{elsewhere.uid}/", {"do": "retire", "why": "No."}).status_code == 404
