"""Brings files of runs in: starts an import, works it off in batches, cancels it, and gives its receipt.

How an import survives (`run_import`):
1. A batch is one transaction: its runs, its refusals and the job's new position go in together or not at all.
2. The position is written by compare-and-set. Whoever cancelled the job, or took it over after a kill, has moved the
   state or the position, and the one who comes late rolls back and stops.
   No batch waits for the disk, only the end does: what a crash of the server takes back, it takes with its position.
3. A job that is found running is taken up where its last batch ended. A run that came in twice would be there already.
4. A row that cannot be read or stored is a refusal with its place; the rows around it go in.
"""

import shutil
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.db import DataError, OperationalError, transaction
from django.utils import timezone

from reviews.actions.events import record
from reviews.actions.own_criteria import mistakes_in
from reviews.actions.queueing import add_items
from reviews.actions.routing import route
from reviews.actions.scoring import ALREADY_THERE, CREATED, store_scores
from reviews.actions.storing import Placing, Stored, policy_document, store_runs
from reviews.enums import ImportState, ItemKind, Provenance, QueueState, Split, Verb
from reviews.errors import AssayError, Conflict, Invalid
from reviews.models import ImportJob, ImportNote, ImportRefusal, Project, Queue
from reviews.queries.arrivals import redaction_rules
from reviews.queries.statements import commit_soon
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.trajectories.detect import AUTO, FORMATS
from reviews.trajectories.preparing import Order, ReaderEnded, ReadRow, batches
from reviews.trajectories.reading import size_of
from reviews.trajectories.schema import ReadOptions

BATCH_ROWS = 1000
BATCH_BYTES = 8 * 1024 * 1024
MAX_REFUSALS_KEPT = 1000  # of one import; the rest is counted
MAX_POLICY_CHARACTERS = 1_000_000
OVERLOOKED_AFTER = timedelta(minutes=10)
# What `settings` may say: versions shown beside the run, with how its environment is reset and what in it is left to
# chance; how its items count; and under which licence the file may be used. `slice.NAME` cuts reports.
VERSION_SETTINGS = ("environment", "tools", "data", "prompt", "reset", "stochasticity")
SLICE_PREFIX = "slice."
LICENCE, MAX_LICENCE = "licence", 120


class _Overtaken(Exception):
    """The job was cancelled, or another worker goes on with it."""


def start_import(
    *,
    actor: Any,
    project: Project,
    name: str,
    file: File | BinaryIO | None = None,
    path: Path | None = None,
    format: str = AUTO,  # noqa: A002  the word every door uses
    queue: Queue | None = None,
    family: str = "",
    domain: str = "",
    model: str = "",
    policy: str = "",
    policy_title: str = "",
    settings: dict[str, str] | None = None,
    preview: bool = False,
) -> ImportJob:
    """A job that waits to be worked off by `run_import`. Give either an upload, which is kept, or a path on the server,
    which may be a folder. With `preview` it waits for `confirm_import` first, and somebody looks at it.

    Raises Forbidden, or Invalid with a sentence per field. `settings` may hold versions, slices, provenance, split
    and the file's licence.
    """
    check(actor, "import", project)
    placing = check_placing(
        project=project,
        format=format,
        queue=queue,
        family=family,
        domain=domain,
        model=model,
        policy=policy,
        settings=settings or {},
    )
    stored = path if path is not None else _keep(file)
    try:
        return _create_job(
            actor=actor,
            project=project,
            queue=queue,
            name=jsontext.clean(Path(name).name)[:300] or "runs",
            path=str(stored.resolve()),
            format=format,
            state=ImportState.PREVIEW if preview else ImportState.WAITING,
            bytes_total=_size_of(stored),
            options={
                "domain": jsontext.clean(domain.strip()),
                "model": jsontext.clean(model.strip()),
                "family": jsontext.clean(family.strip() or domain.strip()),
                **placing,
                **({"policy": jsontext.clean(policy), "policy_title": jsontext.clean(policy_title)} if policy else {}),
            },
        )
    except BaseException:
        if path is None:
            stored.unlink(missing_ok=True)
        raise


def check_placing(
    *,
    project: Project,
    format: str,  # noqa: A002
    queue: Queue | None,
    family: str,
    domain: str,
    model: str,
    settings: dict[str, str],
    policy: str = "",
) -> dict[str, Any]:
    """The settings sorted into versions, slices and the rest by name, or Invalid with what is wrong with any of it."""
    errors, placing = _placing_of(settings)
    if format != AUTO and format not in FORMATS:
        errors["format"] = f"The format must be one of {', '.join((AUTO, *FORMATS))}."
    if queue and queue.project_id != project.pk:
        errors["queue"] = "The queue belongs to another project."
    elif queue and queue.state == QueueState.CLOSED:
        errors["queue"] = "The queue is closed. Open it again to put items in."
    for field, value, most in (("family", family, 100), ("domain", domain, 100), ("model", model, 200)):
        if len(value) > most:
            errors[field] = f"The {field} has at most {most} characters."
    if len(policy) > MAX_POLICY_CHARACTERS:
        errors["policy"] = f"The policy has at most {MAX_POLICY_CHARACTERS:,} characters."
    if errors:
        raise Invalid(errors)
    return placing


@transaction.atomic
def _create_job(*, actor: Any, project: Project, **fields: Any) -> ImportJob:
    job = ImportJob.objects.create(project=project, created_by=actor, **fields)
    if job.state == ImportState.WAITING:
        _begin(actor, job)
    return job


@transaction.atomic
def confirm_import(*, actor: Any, job: ImportJob) -> ImportJob:
    """Let a job that was looked at wait to be worked off. Raises Conflict when that was done before."""
    check(actor, "import", job.project)
    if job.queue and job.queue.state == QueueState.CLOSED:
        raise Conflict("The queue is closed. Open it again to put items in.")
    moved = ImportJob.objects.filter(pk=job.pk, state=ImportState.PREVIEW).update(state=ImportState.WAITING)
    job.refresh_from_db()
    if not moved:
        raise Conflict(f"This import is past its preview: it is {job.get_state_display().lower()}.")
    _begin(actor, job)
    return job


def _begin(actor: Any, job: ImportJob) -> None:
    """What is written once an import is certain: the policy of its runs, and the Event."""
    text, title = job.options.pop("policy", ""), job.options.pop("policy_title", "")
    if text.strip():
        job.options["policy_id"] = policy_document(project=job.project, text=text, title=title)
    job.save(update_fields=["options"])
    record(
        project=job.project,
        actor=actor,
        verb=Verb.IMPORT_STARTED,
        target=job,
        file=job.name,
        bytes=job.bytes_total,
        format=job.format,
        queue=str(job.queue) if job.queue else None,
    )


def _placing_of(given: dict[str, str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Errors by field, and the settings sorted into versions, slices and the rest by name."""
    errors: dict[str, str] = {}
    placing: dict[str, Any] = {"versions": {}, "slices": {}}
    choices = {"provenance": Provenance.values, "split": Split.values}
    for key, value in given.items():
        if key in VERSION_SETTINGS:
            placing["versions"][key] = jsontext.clean(value)[:200]
        elif key.startswith(SLICE_PREFIX) and len(key) > len(SLICE_PREFIX):
            placing["slices"][jsontext.clean(key.removeprefix(SLICE_PREFIX))] = jsontext.clean(value)[:200]
        elif key == LICENCE:
            placing[key] = jsontext.clean(value).strip()
            if not 1 <= len(placing[key]) <= MAX_LICENCE:
                errors["settings"] = f"A licence has 1 to {MAX_LICENCE} characters."
        elif key not in choices:
            known = ", ".join((*VERSION_SETTINGS, *choices, LICENCE, f"{SLICE_PREFIX}NAME"))
            errors["settings"] = f"There is no setting called {jsontext.clean(key)[:60]}. Known are: {known}."
        elif value not in choices[key]:
            errors["settings"] = f"The {key} must be one of {', '.join(choices[key])}."
        else:
            placing[key] = value
    return errors, placing


def _keep(file: File | BinaryIO | None) -> Path:
    """The upload under a name of its own, where the worker finds it."""
    if file is None:
        raise Invalid({"file": "Choose a file."})
    folder = _folder()
    target = folder / uuid.uuid4().hex
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as kept:
            shutil.copyfileobj(file, kept, 1024 * 1024)
    except OSError as error:
        target.unlink(missing_ok=True)
        raise AssayError(f"The file could not be kept on the server: {error.strerror or error}.") from error
    return target


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "imports"


def _size_of(path: Path) -> int:
    try:
        if not path.is_file() and not path.is_dir():
            raise Invalid({"file": f"There is no file {path}."})
        return size_of(path)
    except OSError as error:
        raise Invalid({"file": f"{path} cannot be read: {error.strerror or error}."}) from error


@transaction.atomic
def cancel_import(*, actor: Any, job: ImportJob) -> ImportJob:
    """Stop a job. What has come in stays; the worker stops before its next batch is written."""
    check(actor, "import", job.project)
    running = [ImportState.PREVIEW, ImportState.WAITING, ImportState.RUNNING]
    moved = ImportJob.objects.filter(pk=job.pk, state__in=running).update(
        state=ImportState.CANCELLED, finished_at=timezone.now()
    )
    job.refresh_from_db()
    if not moved:
        raise Conflict(f"This import is over: it is {job.get_state_display().lower()}.")
    record(project=job.project, actor=actor, verb=Verb.IMPORT_CANCELLED, target=job, **_counts(job))
    _forget_upload(job)
    return job


def run_import(*, job_id: int, progress: Callable[[ImportJob], None] = lambda job: None) -> ImportJob:
    """Work a job off, from where it stands, and return it with its end. Nothing happens to one that is over.

    An error of the database that may pass (a server going down) is raised, so that the task is tried again.
    """
    begun = ImportJob.objects.filter(
        pk=job_id, state__in=[ImportState.WAITING, ImportState.RUNNING, ImportState.FAILED]
    ).update(state=ImportState.RUNNING, error="", finished_at=None)
    job = ImportJob.objects.select_related("project", "queue", "created_by").get(pk=job_id)
    if not begun:
        return job
    try:
        through = False
        while not through:
            through = _read_through(job, progress)
        _finish(job)
    except _Overtaken:
        job.refresh_from_db()
    except OperationalError:
        raise
    except FileNotFoundError:
        _fail(job, "The file is no longer where it was. Import it again.")
    except (AssayError, OSError, ReaderEnded) as error:
        _fail(job, str(error))
    except Exception:
        _fail(job, "It stopped because of an error inside Assay. The log has it.")
        raise
    return job


def _read_through(job: ImportJob, progress: Callable[[ImportJob], None]) -> bool:
    """Take the rows that are left. False where the project came to redact otherwise on the way: what was read ahead
    by the old rules is dropped, to be read again by the new."""
    rules = redaction_rules(job.project)
    order = Order(
        path=job.path,
        options=options_of(job),
        rules=rules,
        start=job.rows_done,
        batch_rows=BATCH_ROWS,
        batch_bytes=BATCH_BYTES,
    )
    with batches(order, size=job.bytes_total) as read:
        for batch in read:
            if redaction_rules(job.project) != rules:
                return False
            _take(job, batch.rows, bytes_done=batch.bytes_done)
            progress(job)
    return True


def options_of(job: ImportJob) -> ReadOptions:
    """How the job's rows are to be read."""
    domain, model = job.options.get("domain", ""), job.options.get("model", "")
    return ReadOptions(format=job.format, name=job.name, domain=domain, model=model)


def overlooked_imports(*, now: datetime) -> list[int]:
    """Ids of jobs that have waited for long: their task was perhaps never queued, because Redis was away."""
    waiting = ImportJob.objects.filter(state=ImportState.WAITING, created_at__lt=now - OVERLOOKED_AFTER)
    return list(waiting.values_list("pk", flat=True))


def _take(job: ImportJob, rows: list[ReadRow], *, bytes_done: int) -> None:
    """Store one batch. Where the database refuses a value, each row is tried alone."""
    try:
        _store(job, rows, bytes_done=bytes_done)
    except DataError as error:
        if len(rows) == 1:
            reason = f"It could not be stored: {str(error).splitlines()[0]}."
            _store(job, [ReadRow(rows[0].place, reason=jsontext.clean(reason))], bytes_done=bytes_done)
            return
        for row in rows:
            _take(job, [row], bytes_done=bytes_done)


@transaction.atomic
def _store(job: ImportJob, rows: list[ReadRow], *, bytes_done: int) -> None:
    """One batch with the job's new position, or nothing."""
    commit_soon()
    rows = [_with_right_criteria(row) for row in rows]
    runs = [run for row in rows for run in row.runs]
    refused = [row for row in rows if row.reason]
    stored = store_runs(project=job.project, runs=runs, placing=_placing(job)) if runs else Stored()
    route(actor=job.created_by, project=job.project, items=[*stored.created, *stored.new_comparisons])
    said = [(row.place, score) for row in rows for score in row.scores]
    scored = store_scores(actor=job.created_by, project=job.project, scores=[(None, score) for _, score in said])
    refused += [ReadRow(at, reason=each.reason) for (at, _), each in zip(said, scored, strict=True) if each.reason]
    if job.queue and runs:
        add_items(actor=job.created_by, queue=job.queue, items=stored.all_items())
    notes = [(row.place, note) for row in rows for run in row.runs for note in run.notes]
    _keep_words(job, refused, notes)
    position = {
        "rows_done": job.rows_done + len(rows),
        "bytes_done": bytes_done,
        "created": job.created + len(stored.created),
        "comparisons": job.comparisons + sum(item.kind == ItemKind.COMPARISON for item in stored.new_comparisons),
        "tasks": job.tasks + sum(item.kind == ItemKind.TASK for item in stored.new_comparisons),
        "already_there": job.already_there
        + len(stored.already_there)
        + sum(each.status == ALREADY_THERE for each in scored),
        "refused": job.refused + len(refused),
        "scored": job.scored + sum(each.status == CREATED for each in scored),
        "noted": job.noted + len(notes),
        "redactions": dict(Counter(job.redactions) + stored.redactions),
    }
    _move(job, ImportState.RUNNING, **position)


def _with_right_criteria(row: ReadRow) -> ReadRow:
    """The row, or its refusal where criteria that a run of it brings along are wrong."""
    reason = next(filter(None, (mistakes_in(run.criteria) for run in row.runs)), "")
    return ReadRow(row.place, reason=jsontext.clean(reason)) if reason else row


def _keep_words(job: ImportJob, refused: list[ReadRow], notes: list[tuple[str, str]]) -> None:
    """Refusals and notes with their places, as far as there is room; all are counted."""
    room, room_for_notes = max(0, MAX_REFUSALS_KEPT - job.refused), max(0, MAX_REFUSALS_KEPT - job.noted)
    ImportRefusal.objects.bulk_create(
        ImportRefusal(job=job, place=row.place[:60], reason=row.reason) for row in refused[:room]
    )
    ImportNote.objects.bulk_create(
        ImportNote(job=job, place=place[:60], note=note) for place, note in notes[:room_for_notes]
    )


def _move(job: ImportJob, state: ImportState, **changes: Any) -> None:
    """Compare-and-set of a running job, by its position. The object follows what was written."""
    moved = ImportJob.objects.filter(pk=job.pk, state=ImportState.RUNNING, rows_done=job.rows_done).update(
        state=state, **changes
    )
    if not moved:
        raise _Overtaken
    job.state = state
    for field, value in changes.items():
        setattr(job, field, value)


def _placing(job: ImportJob) -> Placing:
    names = ("family", "policy_id", "provenance", "split", "slices", "versions")
    return Placing(source_name=job.name, **{name: job.options[name] for name in names if name in job.options})


@transaction.atomic
def _finish(job: ImportJob) -> None:
    _move(job, ImportState.FINISHED, bytes_done=job.bytes_total, finished_at=timezone.now())
    record(project=job.project, actor=job.created_by, verb=Verb.IMPORT_FINISHED, target=job, **_counts(job))
    if not job.refused:
        _forget_upload(job)


@transaction.atomic
def _fail(job: ImportJob, reason: str) -> None:
    """End the job with a sentence, unless it was cancelled. It can be run again and goes on where it stopped."""
    job.refresh_from_db()
    if job.state != ImportState.RUNNING:
        return
    _move(job, ImportState.FAILED, error=jsontext.clean(reason), finished_at=timezone.now())
    record(project=job.project, actor=job.created_by, verb=Verb.IMPORT_FAILED, target=job, error=job.error)


def _forget_upload(job: ImportJob) -> None:
    """Remove an upload that is no longer needed, once that is certain. A file given by its path is not ours."""
    path = Path(job.path)
    if path.parent == _folder().resolve():
        transaction.on_commit(lambda: path.unlink(missing_ok=True))


def _counts(job: ImportJob) -> dict[str, int]:
    counts = {"created": job.created, "already_there": job.already_there, "refused": job.refused}
    more = {name: getattr(job, name) for name in ("comparisons", "tasks", "scored")}
    return counts | {name: count for name, count in more.items() if count}


def receipt_of(job: ImportJob) -> dict[str, Any]:
    """What became of a file, for people and programs. Costs two queries."""
    notes = [{"place": place, "note": note} for place, note in job.notes.values_list("place", "note")]
    refusals = [{"place": place, "reason": reason} for place, reason in job.refusals.values_list("place", "reason")]
    return {
        "import": str(job.uid),
        "file": job.name,
        "state": job.state,
        "ending": job.ending,
        **_counts(job),
        "comparisons": job.comparisons,
        "tasks": job.tasks,
        "scored": job.scored,
        "refusals": refusals,
        "refusals_not_listed": job.refused - len(refusals),
        "notes": notes,
        "notes_not_listed": job.noted - len(notes),
        "redactions": job.redactions,
        "queue": job.queue.slug if job.queue else None,
        "error": job.error or None,
    }
