"""Law 1 over HTTP: what a rater gets of a gold item is byte for byte as of a plain one, ids and times apart."""

import re

import pytest
import time_machine
from django.utils import timezone

from goldsets.models import GoldPlacement, GoldSchedule
from reviews.actions.queueing import add_items
from reviews.models import Assignment, Item
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


@pytest.fixture
def queue():
    """A queue with one gold item, and plain ones whose runs read the same."""
    project = make.project()
    queue = make.queue(project, items=1, overlap=1)
    bob = by(make.expert(project, "Bob"))
    say(bob, "post", f"assignments/{claim(bob, queue)}/judgment/", make.passing())
    lead = make.lead_of(project)
    make.gold(queue.queue_items.get())
    by(lead).put(f"/api/v1/queues/{queue.uid}/gold/", {"rate": 0.3}, format="json")
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(3)])
    return queue


def say(client, method, address, body=None):
    headers = {"Idempotency-Key": "k"}
    return getattr(client, method)(f"/api/v1/{address}", body, format="json", headers=headers)


def claim(client, queue):
    return say(client, "post", f"queues/{queue.uid}/claim/").json()["uid"]


def seen(response):
    """Status, headers and body with every id and time masked; the length follows from the body."""
    body = TIME.sub(b"<time>", UUID.sub(b"<id>", response.content))
    headers = {name: TIME.sub(b"<time>", value.encode()).decode() for name, value in response.headers.items()}
    headers.pop("Content-Length", None)
    return response.status_code, sorted(headers.items()), body


def everything(client, queue, *, end):
    """All that a rater can ask about one item, from the claim to its end."""
    claimed = say(client, "post", f"queues/{queue.uid}/claim/")
    uid = claimed.json()["uid"]
    answers = [
        claimed,
        say(client, "post", f"queues/{queue.uid}/claim/"),
        say(client, "get", f"assignments/{uid}/"),
        say(client, "get", f"assignments/{uid}/steps/?from=2"),
        say(client, "get", f"assignments/{uid}/judgment/"),
        say(client, "put", f"assignments/{uid}/draft/", {"version": 0, "data": {"confidence": 1}}),
        say(client, "put", f"assignments/{uid}/draft/", {"version": 0, "data": {"confidence": 2}}),
        say(client, "get", f"assignments/{uid}/draft/"),
        say(client, "post", f"assignments/{uid}/renew/"),
        say(client, "post", f"assignments/{uid}/judgment/", {"gates": {}}),
        *end(client, uid),
        say(client, "get", f"assignments/{uid}/"),
        say(client, "get", f"queues/{queue.uid}/"),
        say(client, "get", "queues/"),
    ]
    return uid, [seen(answer) for answer in answers]


def submitting(client, uid):
    return [say(client, "post", f"assignments/{uid}/judgment/", make.failing()) for _ in range(2)] + [
        say(client, "get", f"assignments/{uid}/judgment/"),
        say(client, "post", f"assignments/{uid}/skip/", {"reason": "conflict"}),
    ]


def skipping(client, uid):
    return [say(client, "post", f"assignments/{uid}/skip/", {"reason": "conflict"}) for _ in range(2)]


def releasing(client, uid):
    return [
        say(client, "post", f"assignments/{uid}/release/"),
        say(client, "post", f"assignments/{uid}/judgment/", make.passing()),
    ]


@pytest.mark.parametrize("end", [submitting, skipping, releasing])
def test_gold_and_plain_look_the_same_to_alice_from_claim_to_end(queue, end):
    alice = make.expert(queue.project, "Alice")
    client = by(alice)
    GoldSchedule.objects.create(queue=queue, rater=alice, plain_left=1)
    # The clock stands, or a slow machine would count a second of work more on one of them.
    with time_machine.travel(timezone.now(), tick=False):
        plain_uid, plain = everything(client, queue, end=end)
        GoldSchedule.objects.filter(queue=queue, rater=alice).update(plain_left=0)
        gold_uid, gold = everything(client, queue, end=end)
    assert list(GoldPlacement.objects.values_list("assignment__uid", flat=True).filter(rater=alice)) == [
        Assignment.objects.get(uid=gold_uid).uid
    ]
    assert plain_uid != gold_uid
    assert plain == gold


def test_no_id_of_an_item_ever_reaches_alice(queue):
    client = by(make.expert(queue.project, "Alice"))
    items = [str(uid).encode() for uid in Item.objects.filter(project=queue.project).values_list("uid", flat=True)]
    places = [str(uid).encode() for uid in queue.queue_items.values_list("uid", flat=True)]
    for _ in range(3):
        claimed = say(client, "post", f"queues/{queue.uid}/claim/")
        uid = claimed.json()["uid"]
        for answer in (claimed, *submitting(client, uid), say(client, "get", f"assignments/{uid}/")):
            assert not any(known in answer.content for known in (*items, *places))
