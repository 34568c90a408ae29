"""Webhooks against a real server on this machine that is well, slow, failing, or sends elsewhere."""

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from reviews import outgoing
from reviews.actions.pausing import pause_rater
from reviews.actions.webhooks import SENDING, change_webhook, create_webhook, deliver, replay, send_due
from reviews.enums import DeliveryState
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Delivery, DeliveryTry, Event
from reviews.outgoing import BACK_OFF, verified
from reviews.queries.holding import held
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.api.talking import by
from tests.reviews.receiver import Authority, receiving
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings):
    settings.WEBHOOKS_MAY_REACH_PRIVATE = True
    with receiving() as server:
        yield server


@pytest.fixture
def project():
    return make.project(make.person("Lea"))


def told(project, lead, receiver, *events):
    return create_webhook(actor=lead, project=project, url=receiver.url, events=list(events) or ["label.settled"])


def settle_one(project):
    """Alice alone settles an item."""
    queue = make.queue(project, items=1, overlap=1)
    judge(queue, make.expert(project, "Alice"), make.passing())
    return queue.queue_items.get()


def send(when=None):
    """Everything that is due, as the worker sends it."""
    now = when or timezone.now()
    due = list(Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now).order_by("due_at"))
    return [deliver(delivery_id=delivery.pk, now=now) for delivery in due]


def test_a_settled_label_is_told_with_a_signature_that_holds(project, lead, receiver):
    webhook = told(project, lead, receiver)
    row = settle_one(project)
    (tried,) = send()
    ((path, headers, body),) = receiver.heard
    assert path == "/hook"
    assert verified(webhook.secret, body=body, header=headers["Assay-Signature"], now=int(timezone.now().timestamp()))
    said = json.loads(body)
    assert (said["event"], said["project"]) == ("label.settled", project.slug)
    row.refresh_from_db()
    label = row.label
    assert said["data"] == {
        "basis": "unanimous",
        "queue": str(row.queue.uid),
        "item": str(row.item.uid),
        "queue_item": str(row.uid),
        "label": str(label.uid),
        "revision": 1,
    }
    assert tried.status == 200
    assert Delivery.objects.get().state == DeliveryState.DELIVERED
    assert send() == []


def test_a_finished_version_and_a_paused_rater_are_told_of_without_names(project, lead, receiver):
    told(project, lead, receiver, "version.published", "rater.paused")
    row = settle_one(project)
    alice = row.queue.judgments.get().rater
    pause_rater(actor=lead, queue=row.queue, rater=alice, words="Have a word with me.")
    dataset = define_dataset(actor=lead, project=project, name="Labels", formats=["jsonl"])
    run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    send()
    said = {json.loads(body)["event"]: json.loads(body)["data"] for _path, _headers, body in receiver.heard}
    assert set(said) == {"version.published", "rater.paused"}
    assert said["rater.paused"]["rater"] == project.memberships.get(user=alice).pseudonym
    assert b"Alice" not in b"".join(body for _path, _headers, body in receiver.heard)


def test_what_fails_is_tried_again_ever_later_and_in_the_end_given_up(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    receiver.status, now = 500, timezone.now()
    for pause in BACK_OFF:
        (tried,) = send(now)
        assert (tried.status, tried.problem) == (500, "It answered 500.")
        delivery = Delivery.objects.get()
        assert delivery.state == DeliveryState.WAITING
        assert abs((delivery.due_at - timezone.now()).total_seconds() - pause) < 5
        assert send(timezone.now()) == []
        now = delivery.due_at + timedelta(seconds=1)
    send(now)
    assert Delivery.objects.get().state == DeliveryState.GIVEN_UP
    assert [row.number for row in DeliveryTry.objects.all()] == list(range(1, len(BACK_OFF) + 2))


def test_a_receiver_who_does_not_answer_is_tried_once_and_holds_up_nobody(project, lead, receiver):
    """Three labels for an address at which nobody listens, and for one that is well: one try there, three here."""
    told(project, lead, receiver)
    with receiving() as gone:
        told(project, lead, gone)
    for _ in range(3):
        settle_one(project)
    assert send_due() == 4
    assert len(receiver.heard) == 3
    assert Delivery.objects.filter(state=DeliveryState.WAITING, due_at__gt=timezone.now()).count() == 3
    assert send_due() == 0


def test_others_for_a_receiver_who_did_not_answer_wait_a_minute_however_often_the_first_was_tried(
    project, lead, receiver
):
    with receiving() as gone:
        told(project, lead, gone)
    settle_one(project)
    first = Delivery.objects.get()
    for number in range(1, len(BACK_OFF) + 1):
        DeliveryTry.objects.create(delivery=first, number=number, status=500)
    settle_one(project)
    assert send_due() == 1
    second = Delivery.objects.exclude(pk=first.pk).get()
    assert 0 < (second.due_at - timezone.now()).total_seconds() <= 60


def test_a_delivery_that_breaks_holds_up_no_other(project, lead, receiver):
    """The item that its event tells of is gone."""
    webhook = told(project, lead, receiver)
    event = Event.objects.create(project=project, verb="label.settled", target_type="queueitem", target_id=10**9)
    Delivery.objects.create(webhook=webhook, event=event, name="label.settled")
    settle_one(project)
    assert send_due() == 2
    assert len(receiver.heard) == 1
    assert Delivery.objects.get(event=event).state == DeliveryState.WAITING


def test_whoever_is_late_leaves_alone_what_another_holds_by_now():
    with held("one-at-a-time", seconds=60) as mine:
        assert mine
        cache.set("one-at-a-time", "somebody else", 60)
    assert cache.get("one-at-a-time") == "somebody else"
    with held("one-at-a-time", seconds=60) as mine:
        assert not mine
    cache.delete("one-at-a-time")
    with held("one-at-a-time", seconds=60) as mine:
        assert mine
    assert cache.get("one-at-a-time") is None


def test_one_worker_at_a_time_sends_so_that_others_settle(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    cache.add(SENDING, True, 60)
    assert send_due() == 0
    cache.delete(SENDING)
    assert send_due() == 1


def test_a_receiver_that_recovers_gets_it_once(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    receiver.status = 503
    send()
    receiver.status = 204
    send(timezone.now() + timedelta(minutes=1))
    assert Delivery.objects.get().state == DeliveryState.DELIVERED
    assert len({body for _path, _headers, body in receiver.heard}) == 1


def test_a_slow_receiver_is_hung_up_on_although_it_keeps_talking(project, lead, receiver, monkeypatch):
    monkeypatch.setattr(outgoing, "PATIENCE", 0.3)
    told(project, lead, receiver)
    settle_one(project)
    receiver.slow = True
    (tried,) = send()
    assert tried.status is None
    assert tried.problem.startswith("No answer within")


def test_a_redirect_is_not_followed(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    with receiving() as other:
        receiver.status, receiver.location = 307, other.url
        (tried,) = send()
    assert (tried.status, tried.problem) == (307, "It answered with a redirect, which is not followed.")
    assert other.heard == []


def test_a_name_that_leads_to_a_private_address_is_refused_when_it_is_sent(project, lead, receiver, settings):
    told(project, lead, receiver)
    settle_one(project)
    settings.WEBHOOKS_MAY_REACH_PRIVATE = False
    webhook = Delivery.objects.get().webhook
    webhook.url = f"https://localhost:{receiver.server_port}/hook"
    webhook.save(update_fields=["url"])
    (tried,) = send()
    assert tried.problem == "This address is not on the public internet."
    assert receiver.heard == []


def test_a_certificate_that_nobody_vouches_for_is_said_and_tried_again_until_it_is_mended(
    project, lead, receiver, tmp_path, monkeypatch
):
    webhook = told(project, lead, receiver)
    settle_one(project)
    authority = Authority(tmp_path)
    with receiving(certificate=authority.certificate_for("localhost")) as behind_tls:
        webhook.url = f"https://localhost:{behind_tls.server_port}/hook"
        webhook.save(update_fields=["url"])
        (tried,) = send()
        assert "certificate verify failed" in tried.problem
        assert (tried.status, behind_tls.heard) == (None, [])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        (tried,) = send(timezone.now() + timedelta(minutes=1))
    assert (tried.number, tried.status) == (2, 200)
    ((_path, headers, body),) = behind_tls.heard
    assert verified(webhook.secret, body=body, header=headers["Assay-Signature"], now=int(timezone.now().timestamp()))


def test_a_private_address_is_refused_when_it_is_set_up(project, lead):
    with pytest.raises(Invalid) as refused:
        create_webhook(actor=lead, project=project, url="https://127.0.0.1/", events=["gold.approved"])
    assert set(refused.value.errors) == {"url", "events"}


def test_an_event_can_be_sent_again_under_the_same_id(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    with pytest.raises(Conflict):
        replay(actor=lead, delivery=Delivery.objects.get())
    send()
    replay(actor=lead, delivery=Delivery.objects.get())
    send()
    ids = [json.loads(body)["id"] for _path, _headers, body in receiver.heard]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_what_is_switched_off_hears_nothing(project, lead, receiver):
    webhook = told(project, lead, receiver)
    settle_one(project)
    change_webhook(actor=lead, webhook=webhook, active=False)
    settle_one(project)
    assert send() == [None]
    assert receiver.heard == []
    assert Delivery.objects.get().state == DeliveryState.GIVEN_UP


def test_what_is_taken_is_sent_by_nobody_else_and_what_a_killed_worker_held_comes_back(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    now, delivery = timezone.now(), Delivery.objects.get()
    Delivery.objects.filter(pk=delivery.pk).update(due_at=now + timedelta(seconds=40))
    assert deliver(delivery_id=delivery.pk, now=now) is None
    assert len(send(now + timedelta(seconds=41))) == 1


def test_tries_are_never_changed(project, lead, receiver):
    told(project, lead, receiver)
    settle_one(project)
    send()
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        DeliveryTry.objects.update(status=200)


def test_only_leads_and_engineers_set_up_webhooks(project):
    with pytest.raises(Forbidden):
        create_webhook(actor=make.expert(project), project=project, url="https://a.example.org/", events=[])


def test_the_secret_is_shown_once(project, lead):
    client, address = enter(lead), reverse("reviews:webhooks", args=[project.slug])
    made = client.post(address, {"url": "https://a.example.org/x", "events": ["label.settled"]})
    secret = project.webhooks.get().secret
    assert secret in made.content.decode()
    assert secret not in client.get(address).content.decode()
    assert "secret" not in by(lead).get(f"/api/v1/projects/{project.slug}/webhooks/").json()["results"][0]
    wrong = client.post(address, {"url": "http://a.example.org/x"})
    assert wrong.status_code == 422
    assert "https://" in wrong.content.decode()
