"""What waits for this person's approval, for the pages of the room below."""

from collections.abc import Iterable
from typing import Any

from django import template

from goldsets.queries.gold import to_approve
from goldsets.rules import can_approve
from reviews.models import Project, Queue

register = template.Library()


@register.simple_tag
def proposals_to_approve(project: Project, person: Any) -> Iterable[Queue]:
    """The queues in which proposals wait for this person, counted as `proposals`. Costs two queries."""
    return to_approve(project, person) if can_approve(person, project) else ()
