"""What the pages of the room below say of what was flagged here, to leads."""

from typing import Any

from django import template

from goldsets.queries.rationales import flags_for
from reviews.models import Queue

register = template.Library()


@register.simple_tag
def flagged_rationales(queue: Queue, lead: Any) -> int:
    """How many judgments wait to be looked at because their words speak for the other verdict. Costs a query."""
    return flags_for(queue, lead).count()
