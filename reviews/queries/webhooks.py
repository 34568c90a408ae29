"""What webhooks tell: the project's addresses, what went to each, and an event as it is written for others."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Prefetch, Q, QuerySet

from reviews.enums import DeliveryState
from reviews.models import Delivery, DeliveryTry, Event, Label, Membership, Project, QueueItem, RaterPause, Webhook

# What of an event's data stays here: people are named by pseudonym, rows by their public ids.
PRIVATE_DATA = {"rater", "label", "email"}


def names_of_events() -> list[str]:
    """The kinds of events that a webhook may hear of."""
    return list(settings.WEBHOOK_EVENTS)


def event_name(verb: str) -> str | None:
    """What webhooks call this deed, None where they do not hear of it."""
    return next((name for name, verbs in settings.WEBHOOK_EVENTS.items() if verb in verbs), None)


def listening(project: int, name: str) -> list[Webhook]:
    return list(Webhook.objects.filter(project=project, active=True, events__contains=[name]))


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    return Webhook.objects.filter(project=project).annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state=DeliveryState.WAITING)),
        failed=Count("deliveries", filter=Q(deliveries__state=DeliveryState.GIVEN_UP)),
        last_at=Max("deliveries__created_at"),
    )


def webhook_by_uid(uid: Any) -> Webhook | None:
    return Webhook.objects.select_related("project").filter(uid=uid).first()


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """What went there or is to go, the latest first, with every try."""
    tries = Prefetch("tries", queryset=DeliveryTry.objects.order_by("number"))
    return Delivery.objects.filter(webhook=webhook).select_related("event").prefetch_related(tries).order_by("-pk")


def delivery_by_uid(uid: Any) -> Delivery | None:
    return Delivery.objects.select_related("webhook__project", "event").filter(uid=uid).first()


def next_due(now: datetime) -> int | None:
    """The id of the delivery that has been due the longest."""
    due = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now).order_by("due_at")
    return due.values_list("pk", flat=True).first()


def described(delivery: Delivery) -> dict[str, Any]:
    """The event as its receiver reads it. The id is that of the first delivery, also where it is sent again."""
    event = delivery.event
    return {
        "id": str((delivery.replays or delivery).uid),
        "event": delivery.name,
        "at": event.at.isoformat(),
        "project": event.project.slug,
        "data": {**_scalars(event.data), **_about(event)},
    }


def _scalars(data: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in data.items()
        if name not in PRIVATE_DATA and isinstance(value, str | int | float | bool | None)
    }


def _about(event: Event) -> dict[str, Any]:
    if event.target_type == "queueitem":
        return _about_item(event)
    if event.target_type == "raterpause":
        return _about_pause(event)
    return {}


def _about_item(event: Event) -> dict[str, Any]:
    row = QueueItem.objects.select_related("queue", "item").get(pk=event.target_id)
    found: dict[str, Any] = {"queue": str(row.queue.uid), "item": str(row.item.uid), "queue_item": str(row.uid)}
    label = Label.objects.filter(pk=event.data.get("label")).first()
    return found | ({"label": str(label.uid), "revision": label.revision} if label else {})


def _about_pause(event: Event) -> dict[str, Any]:
    pause = RaterPause.objects.select_related("queue").get(pk=event.target_id)
    rater = Membership.objects.filter(project=event.project_id, user=pause.rater_id).first()
    return {"queue": str(pause.queue.uid), "rater": rater.pseudonym if rater else ""}
