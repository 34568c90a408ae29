"""Items that wait for a lead, with what each rater said. Who the raters are stays hidden until the item is settled."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Q

from reviews.enums import CriterionKind
from reviews.models import Criterion, Judgment, Queue, QueueItem
from reviews.queries.payloads import payload_of
from reviews.queries.referrals import unanswered_by


def queue_item_by_uid(uid: Any) -> QueueItem | None:
    return QueueItem.objects.select_related("queue__project", "queue__rubric", "item").filter(uid=uid).first()


def judgments_on(rows: Iterable[QueueItem], lead: Any) -> dict[int, list[dict[str, Any]]]:
    """What was said on each queue item, by its key: judgments under letters, as the pages give them to this lead.

    Where leads answer first, only of those that this one has answered.
    """
    return {
        row: [{"rater": letter(n), **payload_of(judgment)} for n, judgment in enumerate(ordered)]
        for row, ordered in _under_letters(rows, lead).items()
    }


def raters_of(row: QueueItem, lead: Any) -> list[tuple[str, Any]]:
    """Who stands behind each letter of `judgments_on`; nobody before this lead may see what was said."""
    ordered = _under_letters([row], lead).get(row.pk, [])
    return [(letter(n), judgment.rater) for n, judgment in enumerate(ordered)]


def _under_letters(rows: Iterable[QueueItem], lead: Any) -> dict[int, list[Judgment]]:
    """By queue item each rater's latest judgment, in the order of their letters. Two queries."""
    rows = list(rows)
    hidden = set(unanswered_by(lead).filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))
    of_item = {row.item_id: row for row in rows if row.pk not in hidden}
    queues = {row.queue_id for row in of_item.values()}
    judgments = (
        Judgment.objects.filter(queue__in=queues, item__in=of_item, occasion=1)
        .select_related("rater")
        .order_by("assignment", "-revision")
        .distinct("assignment")
    )
    found: dict[int, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        found[judgment.item_id].append(judgment)
    return {
        of_item[item].pk: sorted(said, key=lambda judgment: _turn(lead, of_item[judgment.item_id], judgment))
        for item, said in found.items()
    }


def _turn(lead: Any, row: QueueItem, judgment: Judgment) -> str:
    """A place that says neither who came first nor who is who on the next item."""
    return hashlib.sha256(f"{lead.pk} {row.uid} {judgment.uid}".encode()).hexdigest()


def letter(number: int) -> str:
    """A, B … Z, then AA, AB …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def differing_keys(judgments: list[dict[str, Any]], texts: Collection[str] = ()) -> list[str]:
    """Keys of the gates and criteria on which these judgments do not all say the same; leaving out is no difference.

    `texts` are the keys of those that are answered in words, which nobody compares.
    """
    said: dict[str, set[str]] = {}
    for judgment in judgments:
        for key, value in (*judgment["gates"].items(), *judgment["criteria"].items()):
            if key not in texts:
                said.setdefault(key, set()).add(json.dumps(value, sort_keys=True))
    return [key for key, values in said.items() if len(values) > 1]


def differing_steps(judgments: list[dict[str, Any]]) -> list[int]:
    """The steps that were labelled differently."""
    said: dict[int, set[int]] = {}
    for judgment in judgments:
        for number, value in judgment.get("steps", {}).items():
            said.setdefault(int(number), set()).add(value)
    return sorted(number for number, values in said.items() if len(values) > 1)


def text_keys(queue: Queue, rows: Iterable[QueueItem]) -> set[str]:
    """The keys of the questions answered in words, of the rubric and of these items."""
    asked = Criterion.objects.filter(Q(rubric=queue.rubric_id) | Q(item__in=[row.item_id for row in rows]))
    return set(asked.filter(kind=CriterionKind.TEXT).values_list("key", flat=True))
