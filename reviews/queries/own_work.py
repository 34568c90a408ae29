"""What a person judges, or has judged, themselves: the item is the same in whatever queue it lies."""

from typing import Any

from django.db.models import QuerySet

from reviews.enums import AssignmentState
from reviews.models import Assignment

# A judgment that was set aside was made all the same.
IN_HAND = (AssignmentState.LEASED, AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE)


def own_work(person: Any, item: Any) -> QuerySet[Assignment]:
    """Assignments by which the person has, or had, the item in hand; each of the two may be an `OuterRef`."""
    return Assignment.objects.filter(rater=person, item=item, state__in=IN_HAND)
