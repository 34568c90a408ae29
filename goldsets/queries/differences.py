"""What a version of a data set has that the one before did not, and why: added, removed, changed."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import connection

from goldsets.models import DatasetVersion

MOST_SHOWN = 200

# One side is empty where an item is in one of the two versions alone. Reasons are as things stand when it is asked.
DIFFERENCE = """
    WITH now AS (SELECT queue_item_id, label_id FROM goldsets_datasetrow WHERE version_id = %(version)s),
         before AS (SELECT queue_item_id, label_id FROM goldsets_datasetrow WHERE version_id = %(previous)s),
         differ AS (
            SELECT coalesce(now.queue_item_id, before.queue_item_id) AS queue_item_id,
                now.label_id AS new_id, before.label_id AS old_id
            FROM now FULL OUTER JOIN before ON before.queue_item_id = now.queue_item_id
            WHERE now.label_id IS DISTINCT FROM before.label_id),
         told AS (
            SELECT differ.*, item.uid AS item, queue.name AS queue, fresh.revision AS new_revision,
                stale.revision AS old_revision,
                CASE WHEN old_id IS NULL THEN 'added' WHEN new_id IS NULL THEN 'removed' ELSE 'changed' END AS what,
                CASE
                    WHEN old_id IS NULL AND fresh.created_at > %(previous_at)s THEN 'labelled since'
                    WHEN old_id IS NULL THEN 'fits the definition now'
                    WHEN new_id IS NOT NULL AND fresh.basis = 'adjudicated' THEN 'a lead decided anew'
                    WHEN new_id IS NOT NULL THEN 'labelled anew'
                    WHEN queue_item.label_id IS NULL THEN 'opened again'
                    ELSE 'does not fit the definition any more'
                END AS why
            FROM differ
            JOIN reviews_queueitem queue_item ON queue_item.id = differ.queue_item_id
            JOIN reviews_queue queue ON queue.id = queue_item.queue_id
            JOIN reviews_item item ON item.id = queue_item.item_id
            LEFT JOIN reviews_label fresh ON fresh.id = new_id
            LEFT JOIN reviews_label stale ON stale.id = old_id)
"""
COUNTS = "SELECT what, why, count(*) FROM told GROUP BY what, why ORDER BY what, why"
ROWS = "SELECT what, why, item, queue, old_revision, new_revision FROM told ORDER BY what, queue_item_id LIMIT %(most)s"


@dataclass(frozen=True)
class DifferingRow:
    """An item that differs; a revision of its label is None in the version that does not have it."""

    what: str
    why: str
    item: Any
    queue: str
    before: int | None
    now: int | None


def difference_of(version: DatasetVersion) -> dict[str, Any] | None:
    """How many were added, removed and changed since the version before, by reason; None for a first version."""
    found = _ask(COUNTS, version)
    if found is None:
        return None
    counts: Counter[str] = Counter()
    why: dict[str, dict[str, int]] = {}
    for what, reason, number in found:
        counts[what] += number
        why.setdefault(what, {})[reason] = number
    return {
        "since": version.previous.number if version.previous else None,
        **{what: counts[what] for what in ("added", "removed", "changed")},
        "why": why,
    }


def differing_rows(version: DatasetVersion, *, most: int = MOST_SHOWN) -> list[DifferingRow]:
    """The first of them, added ones first."""
    return [DifferingRow(*row) for row in _ask(ROWS, version, most=most) or ()]


def _ask(question: str, version: DatasetVersion, **more: Any) -> list[Any] | None:
    if version.previous is None:
        return None
    previous = version.previous
    given: dict[str, Any] = {"version": version.pk, "previous": previous.pk, "previous_at": previous.created_at}
    with connection.cursor() as cursor:
        cursor.execute(DIFFERENCE + question, given | more)
        return list(cursor.fetchall())
