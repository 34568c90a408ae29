"""A classifier that is given all that a rater can see of the answer to a claim cannot tell gold from plain items."""

import json
import random
import time
from datetime import datetime
from importlib import import_module

import numpy as np
import pytest
from django.db import connection
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from goldsets.actions.gold import set_gold_rate
from goldsets.models import GoldPlacement
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.actions.routing import create_rule
from reviews.actions.settling import settle_marked
from reviews.models import Event, Queue, QueueItem, Slot
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.reviews.api.talking import by

# The worker works in a process of its own, not in that which answers.
pytestmark = [pytest.mark.django_db, pytest.mark.worker_away]

GOLD, PLAIN, RATE = 14, 42, "0.25"


def some_item(project, rng):
    """A run of some length, as long and as short as any other."""
    words = [Step(role="user" if n % 2 == 0 else "agent", text="word " * rng.randrange(3, 60)) for n in range(4)]
    return make.item(project, steps=(*make.STEPS[:3], *words[: rng.randrange(1, 5)]))


def a_queue(rng):
    project = make.project()
    # Each plain item waits for one judgment, so Alice is the last to judge it; gold is settled long before.
    queue = make.queue(project, items=[some_item(project, rng) for _ in range(GOLD)], overlap=1)
    judged(queue, make.expert(project, "Gwen"))
    settle_marked()
    for row in QueueItem.objects.filter(queue=queue):
        make.gold(row)
    add_items(actor=make.lead_of(project), queue=queue, items=[some_item(project, rng) for _ in range(PLAIN)])
    set_gold_rate(actor=make.lead_of(project), queue=queue, rate=RATE)
    return project, queue


def judged(queue, rater):
    """Everything the rater can get, with what they see of each claim."""
    client, seen = by(rater), []
    while True:
        asked = time.perf_counter()
        answer = client.post(f"/api/v1/queues/{queue.uid}/claim/")
        waited = [time.perf_counter() - asked]
        if answer.status_code == 204:
            return seen
        body = answer.json()
        place = f"/api/v1/assignments/{body['uid']}/"
        asked = time.perf_counter()
        sent = client.post(
            f"{place}judgment/", make.passing(), format="json", headers={"Idempotency-Key": f"k-{body['uid']}"}
        )
        waited.append(time.perf_counter() - asked)
        seen.append((body["uid"], [*waited, *features(len(seen), answer, sent, body)]))


def features(place, answer, sent, body):
    """All of it as numbers: place, sizes, headers, ids, times, and what stands in the answers."""
    uid = bytes.fromhex(body["uid"].replace("-", ""))
    until = datetime.fromisoformat(body["expires_at"])
    return [
        place,
        *(place % n for n in (2, 3, 5, 7, 8, 10)),
        len(answer.content),
        len(sent.content),
        len(answer.headers),
        len(sent.headers),
        *(hash(tuple(sorted(of.headers.items()))) % 1000 for of in (answer, sent)),
        len(body),
        len(body["item"]["steps"]),
        len(str(body["item"])),
        body["draft"]["version"],
        until.microsecond,
        until.second,
        *uid[:8],
        sent.status_code,
    ]


def test_no_better_than_chance():
    """All together by a forest of trees, and one by one, so that a single give-away is not drowned by the rest."""
    project, queue = a_queue(random.Random(1))  # noqa: S311
    seen = judged(queue, make.expert(project, "Alice"))
    placed = GoldPlacement.objects.filter(rater__name="Alice").values_list("assignment__uid", flat=True)
    gold = np.isin([uid for uid, _features in seen], [str(uid) for uid in placed])
    assert gold.sum() >= 6
    x = np.array([row for _uid, row in seen], dtype=float)
    # Several ways to part what is learnt from what is tried, so that no single one decides.
    chances = [
        cross_val_predict(
            RandomForestClassifier(100, min_samples_leaf=3, random_state=seed),
            x,
            gold,
            cv=StratifiedKFold(4, shuffle=True, random_state=seed),
            method="predict_proba",
        )[:, 1]
        for seed in range(5)
    ]
    # The area's standard error where there is no signal, by Hanley and McNeil.
    n, m = gold.sum(), (~gold).sum()
    error = ((n + m + 1) / (12 * n * m)) ** 0.5
    areas = [roc_auc_score(gold, chance) for chance in chances]
    assert sum(areas) / len(areas) <= 0.5 + 3 * error
    areas = [roc_auc_score(gold, column) for column in x.T if column.std()]
    assert max(abs(area - 0.5) for area in areas) <= 4 * error


def numbered(count):
    """Requests with a number that grows, as tickets and orders have it, by uid of the item."""
    project = make.project()
    items = [
        make.item(project, steps=(Step(role="user", text=f"Ticket {20_000 + n}"), *make.STEPS[1:]))
        for n in range(count)
    ]
    return project, items


def numbers_met(queue, rater, most):
    """The numbers in the order in which the rater meets them, and which of them were gold."""
    met = []
    for _ in range(most):
        mine = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=mine.uid, payload=make.passing(), idempotency_key=f"k-{mine.uid}")
        number = int(json.loads(mine.item.trajectory.steps.get(position=1).body)["text"].split()[1])
        met.append((number, GoldPlacement.objects.filter(assignment=mine).exists()))
    return met


def test_a_number_that_grows_does_not_tell_gold():
    """Whoever takes every step backwards for gold is wrong about most of the plain items too.

    Of so many numbers in random order some four are the highest yet; in the order of arrival each plain one is.
    """
    project, items = numbered(56)
    queue = make.queue(project, items=items, overlap=1, order="shuffled")
    gwen = make.expert(project, "Gwen")
    numbers_met(queue, gwen, 14)
    settle_marked()
    for row in QueueItem.objects.filter(queue=queue, state="settled"):
        make.gold(row)
    set_gold_rate(actor=make.lead_of(project), queue=queue, rate=RATE)
    met = numbers_met(queue, make.expert(project, "Alice"), 40)
    backwards = [
        number < max((before for before, _ in met[:place]), default=0) for place, (number, _) in enumerate(met)
    ]
    plain = [back for back, (_, gold) in zip(backwards, met, strict=True) if not gold]
    assert sum(gold for _, gold in met) >= 6
    assert sum(plain) / len(plain) > 0.5


def migrated(queue):
    """As it was left by the migration that shuffled queues with gold in them, and by the one that came after."""
    Queue.objects.filter(pk=queue.pk).update(order="shuffled")
    with connection.cursor() as cursor:
        cursor.execute(import_module("goldsets.migrations.0022_shuffle_what_rules_brought").DRAW_PLACES)


def mixed_with_gold(queue):
    set_gold_rate(actor=queue.created_by, queue=queue, rate=RATE)


def test_a_queue_in_order_of_arrival_is_shuffled_once_gold_is_mixed_in():
    project, items = numbered(30)
    queue = make.queue(project, items=items, overlap=2)
    taken = claim(actor=make.expert(project, "Gwen"), queue=queue)
    lead = make.lead_of(project)
    set_gold_rate(actor=lead, queue=queue, rate=0)
    assert in_turn(queue) == [item.pk for item in items]
    set_gold_rate(actor=lead, queue=queue, rate=RATE)
    turn = in_turn(queue)
    assert sorted(turn) == sorted(item.pk for item in items)
    assert turn != [item.pk for item in items]
    assert all(slots.values("place").distinct().count() == 1 for slots in waiting(queue) if slots.count() == 2)
    assert Slot.objects.get(pk=taken.slot_id).state == "leased"
    queue.refresh_from_db()
    assert queue.order == "shuffled"
    assert Event.objects.get(verb="queue.changed").data == {"order": "shuffled"}
    set_gold_rate(actor=lead, queue=queue, rate="0.2")
    assert in_turn(queue) == turn


@pytest.mark.parametrize("shuffled_by", [mixed_with_gold, migrated])
def test_what_rules_brought_to_take_its_turn_is_shuffled_too_and_what_they_put_in_front_is_not(shuffled_by):
    project, items = numbered(24)
    lead = make.lead_of(project)
    queue = make.queue(project, items=items[:2], overlap=2)
    ordinary, urgent = (
        create_rule(actor=lead, project=project, queue=queue, name=name, priority=priority)
        for name, priority in (("All", 0), ("Urgent", 5))
    )
    add_items(actor=lead, queue=queue, items=items[2:22], rule=ordinary)
    add_items(actor=lead, queue=queue, items=items[22:], rule=urgent)
    arrived = [item.pk for item in (*items[22:], *items[:22])]
    assert in_turn(queue) == arrived
    shuffled_by(queue)
    turn = in_turn(queue)
    brought = [item.pk for item in items[2:22]]
    assert sorted(turn) == sorted(arrived)
    assert turn[:2] == arrived[:2]
    assert [pk for pk in turn if pk in brought] != brought
    assert all(slots.values("place").distinct().count() == 1 for slots in waiting(queue))


def test_what_a_rule_brings_into_a_shuffled_queue_gets_a_place_that_is_drawn():
    project, items = numbered(20)
    lead = make.lead_of(project)
    queue = make.queue(project, items=0, overlap=2, order="shuffled")
    ordinary = create_rule(actor=lead, project=project, queue=queue, name="All", priority=0)
    add_items(actor=lead, queue=queue, items=items, rule=ordinary)
    assert in_turn(queue) != [item.pk for item in items]


def in_turn(queue):
    """The items in the order of their turn."""
    slots = Slot.objects.filter(queue=queue, number=2).order_by("place", "id")
    return list(slots.values_list("item_id", flat=True))


def waiting(queue):
    return [Slot.objects.filter(queue_item=row, state="open") for row in QueueItem.objects.filter(queue=queue)]
