"""What waits for this person's approval, for the pages of the room below."""

from collections import defaultdict
from typing import Any

from django import template

from goldsets.queries.gold import to_approve
from goldsets.rules import approved_by
from reviews.models import Queue

register = template.Library()


@register.simple_tag
def proposals_to_approve(person: Any) -> dict[int, list[Queue]]:
    """By project the queues in which proposals wait for this person, counted as `proposals`. Costs one query."""
    found = defaultdict(list)
    for queue in to_approve(person, approved_by(person)):
        found[queue.project_id].append(queue)
    return dict(found)
