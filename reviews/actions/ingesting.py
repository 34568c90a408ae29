"""Takes runs as they finish, without a file: a few rows in, a receipt for each, all in one transaction.

The rows go the way of a file's rows: read, hashed, redacted, stored and routed by the same code. So a run that is sent
twice, or comes again in a file, is there once.
"""

import io
from dataclasses import dataclass
from typing import Any

from django.db import DataError, transaction

from reviews.actions.events import record
from reviews.actions.importing import LICENCE, check_placing
from reviews.actions.own_criteria import mistakes_in
from reviews.actions.queueing import add_items
from reviews.actions.routing import route
from reviews.actions.storing import Placing, Stored, store_runs
from reviews.enums import Verb
from reviews.errors import Invalid
from reviews.models import ArrivalRule, Item, Project, Queue
from reviews.queries.arrivals import redaction_rules
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.trajectories.detect import AUTO
from reviews.trajectories.layouts import rows_of
from reviews.trajectories.preparing import ReadyRun, read_row, ready_runs
from reviews.trajectories.reading import BadRow, RawRow
from reviews.trajectories.redaction import Rules
from reviews.trajectories.schema import ReadOptions

MOST_ROWS = 500
MOST_BYTES = 16 * 1024 * 1024
SOURCE_NAME = "posted"
CREATED, ALREADY_THERE, REFUSED = STATUSES = ("created", "already_there", "refused")


@dataclass(frozen=True)
class RunReceipt:
    """What became of one run. `rules` are those on arrival that put it into queues."""

    place: str
    status: str
    item: Item | None = None
    reason: str = ""
    redactions: dict[str, int] | None = None
    queue: Queue | None = None
    rules: tuple[ArrivalRule, ...] = ()


def ingest_runs(
    *,
    actor: Any,
    project: Project,
    body: bytes,
    format: str = AUTO,  # noqa: A002  the word every door uses
    queue: Queue | None = None,
    family: str = "",
    domain: str = "",
    model: str = "",
    settings: dict[str, str] | None = None,
) -> list[RunReceipt]:
    """Store the runs in a body of JSON: one row, a list of rows, or a row per line. One receipt for each, in order.

    A row that cannot be taken is refused in its receipt and hinders no other. Raises Forbidden, or Invalid where
    nothing at all can be taken: a body too large, too many rows, an unknown format or setting.
    """
    check(actor, "import", project)
    placing = check_placing(
        project=project, format=format, queue=queue, family=family, domain=domain, model=model, settings=settings or {}
    )
    if LICENCE in placing:
        words = "Runs that are posted share one source. State its licence among the licences of the project."
        raise Invalid({"settings": words})
    placing["family"] = jsontext.clean(family.strip() or domain.strip())
    options = ReadOptions(format=format, name=SOURCE_NAME, domain=domain.strip(), model=model.strip())
    read = _read(body, options, redaction_rules(project))
    with transaction.atomic():
        receipts = _stored(actor, project, queue, read, Placing(source_name=SOURCE_NAME, **placing))
        counts = {status: sum(each.status == status for each in receipts) for status in STATUSES}
        record(project=project, actor=actor, verb=Verb.RUNS_POSTED, target=project, **counts)
    return receipts


def _read(body: bytes, options: ReadOptions, rules: Rules) -> list[tuple[str, ReadyRun] | BadRow]:
    """The runs of a body, redacted, and the rows that gave none, in their order."""
    if len(body) > MOST_BYTES:
        raise Invalid({"body": f"A body has at most {MOST_BYTES // 1024**2} MiB. Send fewer runs, or send a file."})
    read: list[tuple[str, ReadyRun] | BadRow] = []
    for number, row in enumerate(rows_of(lambda: io.BytesIO(body), SOURCE_NAME)):
        if number >= MOST_ROWS:
            raise Invalid({"body": f"A body has at most {MOST_ROWS} rows. Send them in parts, or send a file."})
        runs = read_row(row, options) if isinstance(row, RawRow) else row
        if isinstance(runs, BadRow):
            read.append(runs)
        elif reason := next(filter(None, (mistakes_in(run.criteria) for run in runs)), ""):
            read.append(BadRow(row.place, reason))
        else:
            read += [(row.place, run) for run in ready_runs(runs, place=row.place, rules=rules)]
    return read


def _stored(
    actor: Any, project: Project, queue: Queue | None, read: list[tuple[str, ReadyRun] | BadRow], placing: Placing
) -> list[RunReceipt]:
    """All runs stored at once; where the database refuses a value, one after the other."""
    placed = [each for each in read if not isinstance(each, BadRow)]
    runs = [run for _, run in placed]
    try:
        with transaction.atomic():
            stored = store_runs(project=project, runs=runs, placing=placing) if runs else Stored()
            routed = route(actor=actor, project=project, items=[*stored.created, *stored.new_comparisons])
            if queue and stored.items:
                add_items(actor=actor, queue=queue, items=stored.all_items())
    except DataError as error:
        if len(read) == 1:
            return [_refused(BadRow(placed[0][0], f"It could not be stored: {str(error).splitlines()[0]}."))]
        return [receipt for each in read for receipt in _stored(actor, project, queue, [each], placing)]
    return _receipts(read, stored, routed, queue)


def _receipts(
    read: list[tuple[str, ReadyRun] | BadRow], stored: Stored, routed: dict[int, list[ArrivalRule]], queue: Queue | None
) -> list[RunReceipt]:
    new = {item.pk for item in stored.created}
    items = iter(stored.items)
    receipts: list[RunReceipt] = []
    for each in read:
        if isinstance(each, BadRow):
            receipts.append(_refused(each))
            continue
        place, run = each
        item = next(items)
        if item.pk in new:
            new.remove(item.pk)  # the same run once more in this body is there already
            rules = tuple(routed.get(item.pk, ()))
            receipts.append(RunReceipt(place, CREATED, item, redactions=run.redactions, queue=queue, rules=rules))
        else:
            receipts.append(RunReceipt(place, ALREADY_THERE, item, queue=queue))
    return receipts


def _refused(bad: BadRow) -> RunReceipt:
    return RunReceipt(bad.place, REFUSED, reason=jsontext.clean(bad.reason))
