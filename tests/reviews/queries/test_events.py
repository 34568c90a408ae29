"""The audit log and blindness: a lead learns who judged an item only once it is settled."""

import pytest

from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Membership, QueueItem
from reviews.queries.listings import events_of
from tests import factories as make

pytestmark = pytest.mark.django_db


def verbs_of(project, reader, actor):
    return set(events_of(project, reader=reader).filter(actor=actor).values_list("verb", flat=True))


def test_who_judged_appears_to_a_lead_when_the_item_is_settled(project):
    lead = make.lead_of(project)
    queue = make.queue(project, items=1, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for rater, payload in ((alice, make.passing(3, 2)), (bob, make.passing(3, 0))):
        submit(actor=rater, uid=claim(actor=rater, queue=queue).uid, payload=payload, idempotency_key="k")
    queue_item = QueueItem.objects.get(queue=queue)
    assert queue_item.state == "waiting"
    assert verbs_of(project, lead, alice) == set()
    decision = make.passing(3, 2)
    payload = {"gates": decision["gates"], "criteria": decision["criteria"], "reasons": {"process": "rater_error"}}
    adjudicate(actor=lead, queue_item=queue_item, payload=payload)
    assert verbs_of(project, lead, alice) == {"assignment.claimed", "judgment.submitted"}


def test_an_admin_reads_the_whole_log_all_along(project):
    queue = make.queue(project, items=1, overlap=2)
    alice = make.expert(project, "Alice")
    claim(actor=alice, queue=queue)
    admin = Membership.objects.get(project=project, role="admin").user
    assert verbs_of(project, admin, alice) == {"assignment.claimed"}
