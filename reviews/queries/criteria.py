"""Which criteria are asked of an item: the one answer for pages, API and the check of what is submitted."""

from reviews.models import Criterion, Item, Principle, Rubric
from reviews.queries.statements import ModelStatement

ASKED = ModelStatement(
    """
    SELECT {columns} FROM reviews_criterion criterion
    LEFT JOIN reviews_principle principle ON principle.id = criterion.principle_id
    WHERE criterion.rubric_id = %(rubric)s OR criterion.item_id = %(item)s
    ORDER BY criterion.rubric_id NULLS LAST, criterion.position
    """,
    criterion=Criterion,
    principle=Principle,
)


def criteria_asked(rubric: Rubric, item: Item) -> list[Criterion]:
    """The rubric's criteria, then those that the item brought along. One query."""
    asked = []
    for criterion, principle in ASKED.all(rubric=rubric.pk, item=item.pk):
        criterion.principle = principle
        asked.append(criterion)
    return asked
