"""Writes the audit log."""

from typing import Any

from django.db.models import Model

from reviews.actions.announcing import announce
from reviews.models import Event, Project


def record(*, project: Project | int, actor: Any, verb: str, target: Model, **data: Any) -> Event:
    """One Event, to be written in the transaction of the deed itself. `actor` is None when a rule did it.

    Webhooks that hear of it are told once the transaction stands.
    """
    event = Event.objects.create(
        project_id=project if isinstance(project, int) else project.pk,
        actor=actor,
        verb=verb,
        target_type=target._meta.model_name or "",
        target_id=target.pk,
        data=data,
    )
    announce(event)
    return event
