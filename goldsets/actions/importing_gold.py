"""Gold from outside: expected values in JSON or JSON lines, each row proposed as gold for an item of the queue.

A row is {"item": the id of a queue item or item, or "task": a task's key, "gates", "criteria", "candidates", "steps"
and "failure" as in a judgment, "also": {key: [values as good]}, "tolerance": number or {key: number}, "note": text}.
A failure is needed where a gate fails and the item has no label yet. Whatever is wrong with a row is said beside its
place, and the other rows are taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from goldsets.actions.gold import add_key, read_terms, start_gold
from goldsets.enums import GoldVerb, KeySource
from goldsets.queries.values import values_of, values_of_steps
from reviews.actions.adjudicating import read_decision
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.enums import QueueItemState
from reviews.errors import AssayError, Conflict, Invalid, NotFound
from reviews.models import Judgment, Queue, QueueItem
from reviews.rules import check
from reviews.trajectories import jsontext

MAX_BYTES = 5 * 1024 * 1024
MAX_ROWS = 2000
DECISION = ("gates", "criteria", "candidates", "steps", "failure", "note")
KNOWN = {"item", "task", "also", "tolerance", *DECISION}


@dataclass
class GoldReceipt:
    """How many rows became proposals, and for every other one its place and why not."""

    proposed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def import_gold(*, actor: Any, queue: Queue, content: bytes) -> GoldReceipt:
    """Propose every row of a file as gold. Raises Forbidden, or Invalid where the file as a whole cannot be read."""
    check(actor, "manage_queue", queue.project)
    return import_gold_rows(actor=actor, queue=queue, rows=list(_rows(content)))


def import_gold_rows(*, actor: Any, queue: Queue, rows: list[tuple[str, Any]]) -> GoldReceipt:
    """The same for rows that are read already, each with its place. Every row is proposed or refused for itself."""
    check(actor, "manage_queue", queue.project)
    if len(rows) > MAX_ROWS:
        raise Invalid({"file": f"There are {len(rows):,} rows; {MAX_ROWS:,} are taken at once."})
    receipt = GoldReceipt()
    for place, row in rows:
        try:
            with transaction.atomic():
                if isinstance(row, AssayError):
                    raise row
                _propose(actor, queue, row)
        except AssayError as error:
            receipt.refused.append((place, error.message))
        else:
            receipt.proposed += 1
    record(
        project=queue.project_id,
        actor=actor,
        verb=GoldVerb.GOLD_IMPORTED,
        target=queue,
        proposed=receipt.proposed,
        refused=len(receipt.refused),
    )
    return receipt


def _rows(content: bytes) -> Iterator[tuple[str, Any]]:
    """Each row with its place; a line that is no JSON comes as the Invalid that says so."""
    if len(content) > MAX_BYTES:
        raise Invalid({"file": f"The file is larger than {MAX_BYTES // 1024 // 1024} MB. Send it in parts."})
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid({"file": "The file is not UTF-8 text."}) from None
    if not text.strip():
        raise Invalid({"file": "The file is empty."})
    if not storable(text):
        raise Invalid({"file": "The file holds characters that cannot be stored."})
    whole = text.lstrip().startswith("[")
    if whole:
        rows = _parsed(text)
        if isinstance(rows, AssayError):
            raise rows
        pairs = [(f"row {number}", row) for number, row in enumerate(rows, start=1)]
    else:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        pairs = [(f"line {number}", _parsed(line)) for number, line in lines]
    yield from pairs


def _parsed(text: str) -> Any:
    try:
        return jsontext.parse(text.encode())
    except ValueError as error:
        return Invalid({"file": f"This is not valid JSON: {error}"})


def _propose(actor: Any, queue: Queue, row: Any) -> None:
    if not isinstance(row, Mapping):
        raise Invalid({"row": "A row is a JSON object."})
    if unknown := sorted(str(name) for name in row.keys() - KNOWN):
        raise Invalid({"row": f"A row has no field “{unknown[0][:60]}”. It may have {', '.join(sorted(KNOWN))}."})
    queue_item = _found(queue, row)
    payload = {name: row[name] for name in DECISION if name in row}
    settled = queue_item.state == QueueItemState.SETTLED
    answers, steps = read_decision(payload, queue_item=queue_item, needs_failure=not settled)
    values = values_of(answers) | values_of_steps(steps)
    if not settled and Judgment.objects.filter(queue=queue, item=queue_item.item_id).exists():
        raise Conflict("Raters are judging this item. It can be gold once it is settled.")
    expected = read_terms(queue_item, values, also=row.get("also"), tolerance=row.get("tolerance", 1))
    gold = start_gold(actor=actor, queue_item=queue_item)
    add_key(
        actor=actor,
        gold=gold,
        expected=expected,
        guideline=queue.guideline,
        source=KeySource.IMPORT,
        note=row.get("note") or "",
        settles=None if settled else payload,
    )


def _found(queue: Queue, row: Mapping[str, Any]) -> QueueItem:
    """The one queue item that the row names, locked."""
    rows = QueueItem.objects.select_for_update(of=("self",)).select_related(
        "queue__rubric", "queue__guideline", "item__trajectory", "item__task", "label"
    )
    rows = rows.filter(queue=queue)
    item, task = row.get("item"), row.get("task")
    if isinstance(item, str) and _is_uid(item):
        found = list(rows.filter(Q(uid=item) | Q(item__uid=item))[:2])
    elif isinstance(task, str) and item is None:
        found = list(rows.filter(Q(item__trajectory__task__key=task) | Q(item__task__key=task))[:2])
    else:
        raise Invalid({"item": "Name the item by its id, or the task by its key."})
    if not found:
        raise NotFound("There is no such item in this queue.")
    if len(found) > 1:
        raise Conflict("Several items of this queue are of that task. Name the item by its id.")
    return found[0]


def _is_uid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
