"""Takes one task to be reviewed, from a page or the API, with runs that are new or that are there already.

Many tasks come in as a file does: see `importing`. Either way the same again is the item that is there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from msgspec.structs import replace

from reviews.actions.events import record
from reviews.actions.queueing import add_items
from reviews.actions.reviewed import Attached, review_item, task_called
from reviews.actions.routing import route
from reviews.actions.storing import Placing, store_runs
from reviews.enums import ItemKind, Provenance, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Item, Project, Queue
from reviews.queries.arrivals import redaction_rules
from reviews.queries.pairing import items_named, runs_of_items
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.trajectories.assay_task import MOST_RUNS, read_task, read_verdict, task_facts
from reviews.trajectories.detect import read_runs
from reviews.trajectories.preparing import ready_runs, redacted, redacted_task
from reviews.trajectories.redaction import Rules
from reviews.trajectories.schema import ReadOptions, RowError, TaskText

SOURCE_NAME = "posted"


@dataclass(frozen=True)
class PostedTask:
    """The item, and whether it is new."""

    item: Item
    new: bool


@transaction.atomic
def post_task(
    *,
    actor: Any,
    project: Project,
    task: Mapping[str, Any],
    runs: Sequence[Mapping[str, Any]],
    queue: Queue | None = None,
    provenance: str = Provenance.MODEL,
) -> PostedTask:
    """The item of this version of a task with these runs, put into `queue`; a task is named by its "key".

    A run is {"role", "result"} with either the "item" that it is already, or what an import takes as a run. Raises
    Forbidden, Conflict or Invalid with a sentence per field, such as "runs.2".
    """
    check(actor, "import", project)
    if queue and (queue.project_id != project.pk or queue.rubric.item_kind != ItemKind.TASK):
        raise Conflict(f"The queue “{queue.name}” takes no tasks: its rubric is for another kind of item.")
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    rules = redaction_rules(project)
    text, facts = _task(task)
    attached = _attached(actor, project, runs, task, rules)
    stands = task_called(project, **facts)
    item, new = review_item(task=stands, text=redacted_task(text, rules), attached=attached, provenance=provenance)
    if new:
        route(actor=actor, project=project, items=[item])
        number = item.task_version.number if item.task_version else None
        record(
            project=project,
            actor=actor,
            verb=Verb.TASK_WRITTEN,
            target=item,
            task=stands.key,
            version=number,
            runs=len(attached),
        )
    if queue:
        add_items(actor=actor, queue=queue, items=[item])
    return PostedTask(item, new)


def _task(given: Mapping[str, Any]) -> tuple[TaskText, dict[str, Any]]:
    try:
        return read_task(dict(given)), task_facts(dict(given))
    except RowError as refused:
        raise Invalid({"task": str(refused)}) from None


def _attached(
    actor: Any, project: Project, runs: Sequence[Mapping[str, Any]], task: Mapping[str, Any], rules: Rules
) -> list[Attached]:
    """The runs in their order, those that are new stored."""
    if not 1 <= len(runs) <= MOST_RUNS:
        raise Invalid({"runs": f"A task is reviewed with its runs: 1 to {MOST_RUNS} of them."})
    errors: dict[str, str] = {}
    attached: list[Attached] = []
    for number, given in enumerate(runs):
        try:
            item = _existing(project, given["item"]) if "item" in given else _stored(actor, project, task, given, rules)
            verdict = read_verdict(dict(given))
        except RowError as refused:
            errors[f"runs.{number}"] = str(refused)
            continue
        if any(other.run.pk == item.run.pk for other in attached):
            errors[f"runs.{number}"] = "This run stands here already."
        attached.append(Attached(item.run, verdict.role, redacted(verdict.result, rules)))
    if errors:
        raise Invalid(errors)
    return attached


def _existing(project: Project, uid: Any) -> Item:
    try:
        UUID(str(uid))
        (item,) = runs_of_items(project, items_named(project, [uid]))
    except (Invalid, ValueError):
        raise RowError("There is no such item.") from None
    if item.kind != ItemKind.TRAJECTORY:
        raise RowError("This item is no run.")
    return item


def _stored(actor: Any, project: Project, task: Mapping[str, Any], given: Mapping[str, Any], rules: Rules) -> Item:
    """The item of a run that stands here in full: read as if it were the only one in a file."""
    row = jsontext.dump({"task": task, "runs": [given]}).encode("utf-8", "surrogatepass")
    try:
        (run,) = read_runs(row, ReadOptions(format="assay_task", name=SOURCE_NAME))
    except RowError as refused:
        raise RowError(str(refused).removeprefix("Run 1: ")) from None
    ready = ready_runs([replace(run, task=None)], place=SOURCE_NAME, rules=rules)
    stored = store_runs(project=project, runs=ready, placing=Placing(source_name=SOURCE_NAME))
    route(actor=actor, project=project, items=stored.created)
    return stored.items[0]
