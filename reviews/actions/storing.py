"""Puts runs into the tables, many at once: tasks, policies, trajectories with all that hangs on them, and items."""

import hashlib
import os
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from reviews.actions.comparisons import store_comparisons
from reviews.actions.own_criteria import keep_own
from reviews.actions.reviewed import store_reviews
from reviews.enums import ItemKind, Provenance, Split
from reviews.models import ContextDocument, Item, Original, Outcome, Project, Step, Task, Trajectory
from reviews.queries.arrivals import redaction_rules
from reviews.queries.statements import pairs
from reviews.trajectories.preparing import ReadyRun
from reviews.trajectories.redaction import redact_text

HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Placing:
    """What holds for all runs of one import; what a row says of itself goes before it."""

    source_name: str
    family: str = ""
    policy_id: int | None = None
    provenance: str = Provenance.MODEL
    split: str = Split.OPEN
    slices: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stored:
    """The items of the given runs: those made now, and those whose runs were in the project before.

    `items` has one for each run, in their order. Comparisons are of runs that are answers to one prompt; tasks to be
    reviewed with their runs are counted with them. `redactions` counts what was replaced in new runs, by kind.
    """

    created: list[Item] = field(default_factory=list)
    already_there: list[Item] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    new_comparisons: list[Item] = field(default_factory=list)
    other_comparisons: list[Item] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)

    def all_items(self) -> list[Item]:
        """Each item once, with the comparisons; a queue takes those of its kind."""
        items = {item.pk: item for item in (*self.items, *self.new_comparisons, *self.other_comparisons)}
        return list(items.values())


def store_runs(*, project: Project, runs: Sequence[ReadyRun], placing: Placing) -> Stored:
    """Store runs inside the caller's transaction.

    A run that is in the project already, by its content, is left as it is. Batches of one project follow each other,
    so that two imports of one file do not both find a run missing.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    items = _items_by_hash(project, [run.content_hash for run in runs])
    new: dict[str, ReadyRun] = {}
    known: list[str] = []
    for run in runs:
        if run.content_hash in items or run.content_hash in new:
            known.append(run.content_hash)
        else:
            new[run.content_hash] = run
    created = _create(project, list(new.values()), placing) if new else []
    items |= dict(zip(new, created, strict=True))
    keep_own({item.pk: run.criteria for item, run in zip(created, new.values(), strict=True) if run.criteria})
    compared, compared_before = store_comparisons(project=project, runs=runs, provenance=placing.provenance)
    carriers = [(_task_key(run), run) for run in runs if run.review]
    reviewed, reviewed_before = store_reviews(project=project, carriers=carriers, provenance=placing.provenance)
    return Stored(
        created=created,
        already_there=[items[content_hash] for content_hash in known],
        items=[items[run.content_hash] for run in runs],
        new_comparisons=[*compared, *reviewed],
        other_comparisons=[*compared_before, *reviewed_before],
        redactions=sum((Counter(run.redactions) for run in new.values() if run.redactions), Counter()),
    )


def policy_document(*, project: Project, text: str, title: str = "") -> int:
    """The id of the project's document with this text, made if it is new. It is redacted as runs are."""
    rules = redaction_rules(project)
    text, title = redact_text(text, rules), redact_text(title, rules)
    sha256 = _sha256(text)
    return _policies(project, {sha256: (title, text)})[sha256]


_KNOWN_RUNS = """
    SELECT run.content_hash, item.id FROM reviews_trajectory run JOIN reviews_item item ON item.trajectory_id = run.id
    WHERE run.project_id = %(project)s AND run.content_hash = ANY(%(hashes)s)
"""
_KNOWN_TASKS = "SELECT key, id FROM reviews_task WHERE project_id = %(project)s AND key = ANY(%(keys)s)"


def _items_by_hash(project: Project, hashes: list[str]) -> dict[str, Item]:
    known = pairs(_KNOWN_RUNS, project=project.pk, hashes=hashes)
    items = Item.objects.in_bulk(known.values())
    return {content_hash: items[key] for content_hash, key in known.items()}


def _create(project: Project, runs: list[ReadyRun], placing: Placing) -> list[Item]:
    """The items of runs that are new, in their order."""
    texts = {_sha256(run.policy_text): (run.policy_title, run.policy_text) for run in runs if run.policy_text}
    documents = _policies(project, texts)
    policies = [documents[_sha256(run.policy_text)] if run.policy_text else placing.policy_id for run in runs]
    tasks = _tasks(project, runs, policies, placing)
    ids, item_ids = _new_ids(Trajectory, len(runs)), _new_ids(Item, len(runs))
    now = timezone.now()
    _copy(
        Trajectory,
        "id uid project_id task_id policy_id content_hash source_format source_name source_place source_id step_count "
        "outline tools spent versions redactions created_at",
        (
            (
                key,
                uid,
                project.pk,
                tasks[_task_key(run)],
                policy,
                run.content_hash,
                run.source_format,
                placing.source_name,
                run.place,
                run.source_id[:100],
                len(run.steps),
                run.outline,
                run.tools,
                run.spent,
                dumps(placing.versions | run.versions),
                None if run.redactions is None else dumps(run.redactions),
                now,
            )
            for key, uid, run, policy in zip(ids, _new_uids(len(runs)), runs, policies, strict=True)
        ),
    )
    _copy_what_hangs_on(list(zip(ids, runs, strict=True)))
    columns = "id uid project_id kind trajectory_id provenance created_at"
    rows = [
        (key, uid, project.pk, ItemKind.TRAJECTORY.value, trajectory_id, str(placing.provenance), now)
        for key, uid, trajectory_id in zip(item_ids, _new_uids(len(runs)), ids, strict=True)
    ]
    _copy(Item, columns, rows)
    # As if read back from the table, which is many times as fast as by keywords.
    return [Item.from_db(None, columns.split(), row) for row in rows]


def _copy_what_hangs_on(runs: list[tuple[int, ReadyRun]]) -> None:
    """Steps, originals and outcomes: most of what an import writes."""
    _copy(
        Step,
        "trajectory_id position role body",
        ((key, position, role, body) for key, run in runs for position, (role, body) in enumerate(run.steps, start=1)),
    )
    _copy(Original, "trajectory_id compressed", ((key, run.original) for key, run in runs))
    _copy(
        Outcome,
        "trajectory_id result reward model data",
        ((key, run.result, run.reward, run.model[:200], run.data) for key, run in runs),
    )


def _new_ids(model: type[Model], count: int) -> list[int]:
    """Ids for rows that go in by COPY, which gives none back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [key for (key,) in cursor.fetchall()]


def _new_uids(count: int) -> list[uuid.UUID]:
    """As many as `uuid.uuid4` would give one by one, with one call of the system for all."""
    chance = os.urandom(16 * count)
    return [uuid.UUID(bytes=chance[at : at + 16], version=4) for at in range(0, len(chance), 16)]


def _copy(model: type[Model], columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Rows into a table by COPY. Defaults of the model do not apply, so every column without one of the database's
    must be given."""
    statement = f"COPY {model._meta.db_table} ({', '.join(columns.split())}) FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _policies(project: Project, texts: dict[str, tuple[str, str]]) -> dict[str, int]:
    """Ids of documents by the hash of their text."""
    there = ContextDocument.objects.filter(project=project, sha256__in=texts)
    ids = dict(there.values_list("sha256", "pk"))
    made = ContextDocument.objects.bulk_create(
        ContextDocument(project=project, sha256=sha256, title=_policy_title(title, text), text=text)
        for sha256, (title, text) in texts.items()
        if sha256 not in ids
    )
    return ids | {document.sha256: document.pk for document in made}


def _tasks(project: Project, runs: list[ReadyRun], policies: list[int | None], placing: Placing) -> dict[str, int]:
    """Ids of tasks by their keys. A task that is there stays as it is; a new one is made from its first run."""
    first: dict[str, tuple[ReadyRun, int | None]] = {}
    for run, policy in zip(runs, policies, strict=True):
        first.setdefault(_task_key(run), (run, policy))
    known = pairs(_KNOWN_TASKS, project=project.pk, keys=list(first))
    new = [key for key in first if key not in known]
    made = dict(zip(new, _new_ids(Task, len(new)), strict=True))
    _copy(
        Task,
        "id project_id key family title context slices split policy_id",
        (
            (
                made[key],
                project.pk,
                key,
                (run.family or placing.family)[:100],
                run.title[:200],
                run.context,
                dumps(placing.slices | run.slices),
                placing.split,
                policy,
            )
            for key, (run, policy) in first.items()
            if key in made
        ),
    )
    return known | made


def _task_key(run: ReadyRun) -> str:
    """The task's key, or one of its own for a run that names no task. Long keys are cut and stay apart."""
    key = run.key or f"run-{run.content_hash[:16]}"
    return key if len(key) <= 200 else f"{key[:180]}-{_sha256(key)[:16]}"


def _policy_title(title: str, text: str) -> str:
    """What the document is called: its own title, its first heading, or simply Policy."""
    heading = HEADING.search(text)
    return (title.strip() or (heading["text"].strip() if heading else "") or "Policy")[:120]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
