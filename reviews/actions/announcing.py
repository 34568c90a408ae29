"""Puts an event on its way to the webhooks that hear of it, in the transaction of the deed itself."""

from reviews.models import Delivery, Event
from reviews.queries.webhooks import event_name, listening


def announce(event: Event) -> None:
    """Costs a query for the few kinds of events that webhooks may hear of, and nothing for all others."""
    name = event_name(event.verb)
    if name:
        Delivery.objects.bulk_create(
            Delivery(webhook=webhook, event=event, name=name) for webhook in listening(event.project_id, name)
        )
