"""Webhooks: set up and switched off by people, delivered by the worker, tried again with ever longer pauses.

A delivery is taken by moving its due time ahead, so that two workers never send it at once and a killed worker's is
sent again: receivers may hear of an event twice, and know it by its id.
"""

import json
import secrets
import time
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from reviews.actions.events import record
from reviews.enums import DeliveryState, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Delivery, DeliveryTry, Project, Webhook
from reviews.outgoing import BACK_OFF, PATIENCE, Answer, NotSent, post, problem_with_url, signature
from reviews.queries.holding import held
from reviews.queries.webhooks import described, names_of_events, next_due
from reviews.rules import check

log = structlog.get_logger(__name__)

MOST_WEBHOOKS = 20
# Whoever sends holds this; seconds for which one worker sends before it does something else.
SENDING, ROUND = "sending-webhooks", 20


@transaction.atomic
def create_webhook(*, actor: Any, project: Project, url: str, events: list[str]) -> Webhook:
    """Tell an address of some kinds of events from now on. Its `secret` is made here. Raises Forbidden or Invalid."""
    check(actor, "manage_webhooks", project)
    url = url.strip() if isinstance(url, str) else ""
    _check(url=url, events=events)
    if Webhook.objects.filter(project=project).count() >= MOST_WEBHOOKS:
        raise Conflict(f"A project has at most {MOST_WEBHOOKS} webhooks.")
    webhook = Webhook.objects.create(
        project=project,
        url=url,
        events=sorted(set(events)),
        secret=f"whsec_{secrets.token_urlsafe(32)}",
        created_by=actor,
    )
    record(project=project, actor=actor, verb=Verb.WEBHOOK_CREATED, target=webhook, url=url, events=webhook.events)
    return webhook


@transaction.atomic
def change_webhook(
    *, actor: Any, webhook: Webhook, events: list[str] | None = None, active: bool | None = None
) -> Webhook:
    """Change what it hears of, or switch it off or on. While it is off nothing is put on its way."""
    check(actor, "manage_webhooks", webhook.project)
    webhook = Webhook.objects.select_for_update().select_related("project").get(pk=webhook.pk)
    if events is not None:
        _check(url=webhook.url, events=events)
        webhook.events = sorted(set(events))
    if active is not None:
        webhook.active = active
    webhook.save(update_fields=["events", "active"])
    changed = {"events": webhook.events, "active": webhook.active}
    record(project=webhook.project, actor=actor, verb=Verb.WEBHOOK_CHANGED, target=webhook, **changed)
    return webhook


@transaction.atomic
def replay(*, actor: Any, delivery: Delivery) -> Delivery:
    """Send an event once more, under the same id. Raises Conflict while it is still on its way."""
    check(actor, "manage_webhooks", delivery.webhook.project)
    Webhook.objects.select_for_update().get(pk=delivery.webhook_id)
    delivery = Delivery.objects.select_related("webhook__project", "event", "replays").get(pk=delivery.pk)
    if not delivery.webhook.active:
        raise Conflict("This webhook is switched off. Switch it on first.")
    first = delivery.replays or delivery
    same = Delivery.objects.filter(webhook=delivery.webhook, event=delivery.event)
    if same.filter(state=DeliveryState.WAITING).exists():
        raise Conflict("This event is on its way there already.")
    again = Delivery.objects.create(webhook=delivery.webhook, event=delivery.event, name=delivery.name, replays=first)
    record(project=delivery.webhook.project, actor=actor, verb=Verb.WEBHOOK_REPLAYED, target=again, event=delivery.name)
    return again


def send_due() -> int:
    """Send what is due, one after another, for `ROUND` seconds or a little longer; 0 where another worker is at it.

    A receiver who does not answer costs `PATIENCE` seconds once: what else is due to them waits a little. A delivery
    that breaks holds up no other either; it comes again once it is held no more.
    """
    with held(SENDING, seconds=ROUND + 2 * PATIENCE) as mine:
        until, sent = time.monotonic() + ROUND, 0
        while mine and time.monotonic() < until and (due := next_due(timezone.now())):
            try:
                deliver(delivery_id=due, now=timezone.now())
            except Exception:
                log.exception("webhooks.delivery_broke", delivery=due)
            sent += 1
        return sent


def deliver(*, delivery_id: int, now: datetime) -> DeliveryTry | None:
    """Try once to send what is due; None where it is not due any more."""
    held_until = now + timedelta(seconds=4 * PATIENCE)
    due = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.WAITING, due_at__lte=now)
    if not due.update(due_at=held_until):
        return None
    delivery = Delivery.objects.select_related("webhook", "event__project", "replays").get(pk=delivery_id)
    if not delivery.webhook.active:
        Delivery.objects.filter(pk=delivery_id).update(state=DeliveryState.GIVEN_UP)
        return None
    answer, problem = _sent(delivery)
    return _noted(delivery, answer, problem)


def _sent(delivery: Delivery) -> tuple[Answer | None, str]:
    """What came of one request: the answer, or why there is none; a redirect is no answer that counts."""
    body = json.dumps(described(delivery), separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Assay-Webhooks/1",
        "Assay-Event": delivery.name,
        "Assay-Delivery": str(delivery.uid),
        "Assay-Signature": signature(delivery.webhook.secret, body=body, at=int(timezone.now().timestamp())),
    }
    try:
        answer = post(
            delivery.webhook.url, body=body, headers=headers, private_allowed=settings.WEBHOOKS_MAY_REACH_PRIVATE
        )
    except NotSent as error:
        return None, str(error)
    if 300 <= answer.status < 400:
        return answer, "It answered with a redirect, which is not followed."
    return answer, "" if answer.taken else f"It answered {answer.status}."


@transaction.atomic
def _noted(delivery: Delivery, answer: Answer | None, problem: str) -> DeliveryTry:
    tries = delivery.tries.count()
    made = DeliveryTry.objects.create(
        delivery=delivery,
        number=tries + 1,
        status=answer.status if answer else None,
        milliseconds=answer.milliseconds if answer else None,
        problem=problem[:300],
    )
    rows = Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING)
    if answer and answer.taken:
        rows.update(state=DeliveryState.DELIVERED)
    elif tries < len(BACK_OFF):
        rows.update(due_at=timezone.now() + timedelta(seconds=BACK_OFF[tries]))
    else:
        rows.update(state=DeliveryState.GIVEN_UP)
    if answer is None:
        others = Delivery.objects.filter(webhook=delivery.webhook, state=DeliveryState.WAITING)
        again = timezone.now() + timedelta(seconds=BACK_OFF[1])
        others.filter(due_at__lte=timezone.now()).update(due_at=again)
    return made


def _check(*, url: str, events: Any) -> None:
    errors = {}
    if problem := problem_with_url(url, private_allowed=settings.WEBHOOKS_MAY_REACH_PRIVATE):
        errors["url"] = problem
    known = names_of_events()
    if not isinstance(events, list) or not events or any(name not in known for name in events):
        errors["events"] = f"Choose at least one of {', '.join(known)}."
    if errors:
        raise Invalid(errors)
