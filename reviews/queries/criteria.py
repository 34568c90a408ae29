"""Which criteria are asked of an item: the one answer for pages, API and the check of what is submitted."""

from django.db.models import F, Q

from reviews.models import Criterion, Item, Rubric


def criteria_asked(rubric: Rubric, item: Item) -> list[Criterion]:
    """The rubric's criteria, then those that the item brought along. One query."""
    asked = Criterion.objects.filter(Q(rubric=rubric) | Q(item=item)).select_related("principle")
    return list(asked.order_by(F("rubric").asc(nulls_last=True), "position"))
