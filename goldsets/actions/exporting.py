"""Exports: what leaves is chosen once, written by a worker part by part, and final once it is finished.

How an export survives (`run_export`):
1. Which labels leave is chosen in one transaction, before anything is written; a later try keeps to the choice.
2. Each part of `PART` labels is marked when it is done. Whoever takes up an export that was killed goes on behind it.
3. A lock on the working folder, which the system lets go of when its process dies, keeps a second worker away.
4. The finished folder takes its final name in the transaction that finishes the version: there is never half a version.
5. A finished version is never written again; the database refuses it. A cancelled one is dropped within a batch.
"""

import json
import logging
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from django.db import OperationalError, connection, transaction
from django.db.models import Max
from django.utils import timezone

from goldsets.actions.alone import alone_in
from goldsets.actions.defining import complete
from goldsets.actions.leaks import check_for_leaks
from goldsets.actions.splitting import deal_families
from goldsets.enums import DATASET_MOVES, DatasetPurpose, DatasetState, DuplicatePolicy, GoldVerb
from goldsets.models import Dataset, DatasetRow, DatasetVersion
from goldsets.queries.datasets import folder_of
from goldsets.queries.differences import difference_of
from goldsets.queries.groups import count_groups, groups_told
from goldsets.queries.label_documents import Besides, documents, words_of
from goldsets.queries.leaving import conflicting_items, held_out_families, leaving, left_out, rows_of, settled
from goldsets.queries.releases import licences_of, withdrawal_of
from goldsets.stats.quotas import within_quotas
from goldsets.writers import card, manifest
from goldsets.writers.catalogue import FORMATS
from goldsets.writers.document import Document, Words
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.files import Told, parts_done, put_together, report, write_part
from goldsets.writers.label_row import UnfitRow
from goldsets.writers.tally import Tally
from reviews.actions.events import record
from reviews.errors import AssayError, Conflict, NotFound
from reviews.garbage import collecting_less
from reviews.queries.statements import hash_long_lists
from reviews.rules import check

PART = 20_000
OVERLOOKED_AFTER = timedelta(minutes=10)
# What of the project's labels leaves in the version, numbered in an order that never changes.
CHOOSE = """
    INSERT INTO goldsets_datasetrow (version_id, position, queue_item_id, label_id)
    SELECT %s, row_number() OVER (ORDER BY item_id, queue_id), id, label_id FROM ({chosen}) chosen
"""
LATEST = """
    SELECT DISTINCT ON (chosen.item_id) chosen.* FROM ({chosen}) chosen
    JOIN reviews_label label ON label.id = chosen.label_id
    ORDER BY chosen.item_id, label.created_at DESC, chosen.id
"""
# Of what was chosen, so many of each source, drawn by the hash of the item's public id: the same in every version.
SOURCES = """
    SELECT item.provenance, count(*) FROM ({chosen}) chosen JOIN reviews_item item ON item.id = chosen.item_id
    GROUP BY item.provenance
"""
WITHIN_QUOTAS = """
    SELECT id, label_id, item_id, queue_id FROM (
        SELECT chosen.*, item.provenance, row_number() OVER (
            PARTITION BY item.provenance ORDER BY md5(item.uid::text), chosen.id
        ) AS place
        FROM ({chosen}) chosen JOIN reviews_item item ON item.id = chosen.item_id
    ) drawn WHERE place <= (%s::jsonb ->> provenance)::bigint
"""

log = logging.getLogger(__name__)


class _Stopped(Exception):
    """Somebody cancelled the version."""


@transaction.atomic
def start_export(*, actor: Any, dataset: Dataset) -> DatasetVersion:
    """The data set's next version, waiting to be worked off by `run_export`.

    Raises Forbidden, or Conflict with the reason when there is nothing that may leave.
    """
    check(actor, "export", dataset.project)
    hash_long_lists()
    dataset = Dataset.objects.select_for_update(of=("self",)).select_related("project", "queue").get(pk=dataset.pk)
    deal_families(project=dataset.project)
    total = leaving(dataset).count()
    if total == 0:
        raise Conflict(_nothing(dataset))
    number = dataset.versions.aggregate(latest=Max("number"))["latest"] or 0
    version = DatasetVersion.objects.create(
        dataset=dataset,
        number=number + 1,
        previous=dataset.versions.filter(state=DatasetState.FINISHED).first(),
        definition=definition_of(dataset),
        rows_total=total,
        created_by=actor,
    )
    record(
        project=dataset.project,
        actor=actor,
        verb=GoldVerb.DATASET_STARTED,
        target=version,
        dataset=dataset.name,
        version=version.number,
    )
    return version


def definition_of(dataset: Dataset) -> dict[str, Any]:
    """What the data set says now, as a version keeps it."""
    return {
        "purpose": dataset.purpose,
        "formats": dataset.formats,
        "queue": {"uid": str(dataset.queue.uid), "name": dataset.queue.name} if dataset.queue else None,
        "filter": dataset.filter,
        "policies": complete(dataset.policies),
    }


def _nothing(dataset: Dataset) -> str:
    where = f"the queue “{dataset.queue.name}”" if dataset.queue else "this project"
    if not settled(dataset.project, dataset.queue).exists():
        return f"There is nothing to export: no item of {where} has a label yet."
    if dataset.purpose == DatasetPurpose.HELD_OUT:
        return f"There is nothing to export: no label of {where} is of a held-out task or family and fits the filter."
    if dataset.filter:
        return f"There is nothing to export: no label of {where} that may leave fits the filter."
    why = "is of a held-out task or family, or of one not for training"
    return f"There is nothing to export: every label of {where} {why}."


@transaction.atomic
def cancel_export(*, actor: Any, version: DatasetVersion) -> DatasetVersion:
    """Stop a version that waits or is being written; its worker sees it within a batch and drops what it wrote.

    Raises Forbidden, or Conflict where it has ended.
    """
    check(actor, "export", version.dataset.project)
    stoppable = [state for state, following in DATASET_MOVES.items() if DatasetState.CANCELLED in following]
    moved = DatasetVersion.objects.filter(pk=version.pk, state__in=stoppable).update(
        state=DatasetState.CANCELLED, finished_at=timezone.now()
    )
    version.refresh_from_db()
    if not moved:
        raise Conflict(f"This version cannot be stopped: it is {version.get_state_display().lower()}.")
    record(
        project=version.dataset.project,
        actor=actor,
        verb=GoldVerb.DATASET_CANCELLED,
        target=version,
        dataset=version.dataset.name,
        version=version.number,
    )
    return version


def overlooked_exports(*, now: datetime) -> list[int]:
    """Ids of versions that wait or run for long: their task was perhaps never queued, or their worker was killed.

    Whoever takes up one that is being written all the same steps back at once.
    """
    unfinished = DatasetVersion.objects.filter(state__in=[DatasetState.WAITING, DatasetState.RUNNING])
    return list(unfinished.filter(created_at__lt=now - OVERLOOKED_AFTER).values_list("pk", flat=True))


def run_export(*, version_id: int, progress: Callable[[DatasetVersion], None] = lambda version: None) -> DatasetVersion:
    """Write a version's files and return it with its end. Nothing happens to one that is over, or that another writes.

    An error of the database that may pass (a server going down) is raised, so that the task is tried again.
    """
    begun = DatasetVersion.objects.filter(pk=version_id, state__in=[DatasetState.WAITING, DatasetState.RUNNING]).update(
        state=DatasetState.RUNNING
    )
    version = DatasetVersion.objects.select_related("dataset__project", "dataset__queue", "created_by", "previous").get(
        pk=version_id
    )
    if not begun:
        return version
    working = _working_folder(version)
    try:
        with alone_in(working) as alone, collecting_less():
            if alone:
                _export(version, working, progress)
    except OSError as error:
        _fail(version, f"The files could not be written: {error.strerror or error}.")
    version.refresh_from_db()
    return version


def _working_folder(version: DatasetVersion) -> Path:
    final = folder_of(version)
    return final.with_name(f".{final.name}")


def _export(version: DatasetVersion, working: Path, progress: Callable[[DatasetVersion], None]) -> None:
    out = working / f"whole-{uuid.uuid4().hex[:8]}"
    try:
        _finish(version, out, _write(version, working, out, progress))
    except OperationalError:
        # The parts that are done stay for the next try.
        raise
    except _Stopped:
        pass
    except (AssayError, UnfitRow) as error:
        _fail(version, str(error))
    except OSError:
        shutil.rmtree(working, ignore_errors=True)
        raise
    except Exception:
        _fail(version, "It stopped because of an error inside Assay. The log has it.")
        shutil.rmtree(working, ignore_errors=True)
        raise
    shutil.rmtree(working, ignore_errors=True)


def _write(
    version: DatasetVersion, working: Path, out: Path, progress: Callable[[DatasetVersion], None]
) -> dict[str, Any]:
    """The data files, the card and the manifest, in `out`."""
    dataset = version.dataset
    total = _choose(version)
    if total == 0:
        raise Conflict(_nothing(dataset))
    near = check_for_leaks(version, rows_of(version))
    formats = [FORMATS[name] for name in version.definition["formats"]]
    policies = Policies(**version.definition["policies"])
    words = words_of(dataset.project, version)
    parts = parts_done(working)
    besides = Besides(graded=any(form.graded for form in formats), grouped=any(form.grouped for form in formats))
    batches = documents(version, words, after=len(parts) * PART, last=total, part=PART, besides=besides)
    for number, of_part in groupby(_with_signs(batches, version, progress), key=_part_of):
        parts.append(write_part(of_part, formats, words, policies, working, number, _tally_of(dataset)))
    whole, told = _tally_of(dataset), {form.name: Told() for form in formats}
    for part in parts:
        whole.add(part.tally)
        for name, found in part.told.items():
            told[name].add(found)
    _check(version, whole, told)
    out.mkdir()
    reading = _readings(words, policies, told)
    files = put_together(working, out, formats, len(parts), told, reading)
    document = _manifest(version, whole, told, files)
    document["leak_check"]["near_duplicates"] = near
    card.write(document, files, dataset.purpose, out)
    described = [report(out / name, 0) for name in (card.CARD_NAME, card.CROISSANT_NAME)]
    document["described_in"] = [msgspec.to_builtins(file) for file in described]
    manifest.write(document, out)
    return document


def _part_of(batch: list[Document]) -> int:
    return (batch[0].position - 1) // PART


def _tally_of(dataset: Dataset) -> Tally:
    families = set(held_out_families(dataset.project))
    return Tally(held_out=dataset.purpose == DatasetPurpose.HELD_OUT, sealed_families=families)


def _readings(words: Words, policies: Policies, told: dict[str, Told]) -> Callable[[str], Reading]:
    """For what stands beside the rows: a format's words with all that it counted."""
    return lambda name: Reading(words, policies, Counter(told[name].left_out), Counter(told[name].counts))


@transaction.atomic
def _choose(version: DatasetVersion) -> int:
    """How many labels leave, once it is written down which; a later try keeps to the choice."""
    hash_long_lists()
    dataset = version.dataset
    if not DatasetRow.objects.filter(version=version).exists():
        rows, policy = leaving(dataset), version.definition["policies"]["duplicates"]
        if policy == DuplicatePolicy.AGREEING:
            rows = rows.exclude(item__in=conflicting_items(rows))
        chosen, given = rows.order_by().values("id", "label_id", "item_id", "queue_id").query.sql_with_params()
        if policy != DuplicatePolicy.ALL:
            chosen = LATEST.format(chosen=chosen)
        with connection.cursor() as cursor:
            if quotas := dataset.filter.get("quotas"):
                cursor.execute(SOURCES.format(chosen=chosen), given)
                fit = dict(cursor.fetchall())
                allowed = within_quotas(fit, quotas)
                version.drawn = {source: {"fit": fit[source], "drawn": allowed[source]} for source in sorted(fit)}
                chosen, given = WITHIN_QUOTAS.format(chosen=chosen), (*given, json.dumps(allowed))
            cursor.execute(CHOOSE.format(chosen=chosen), [version.pk, *given])
        if any(FORMATS[name].grouped for name in version.definition["formats"]):
            count_groups(version)
    version.rows_total = DatasetRow.objects.filter(version=version).count()
    DatasetVersion.objects.filter(pk=version.pk, state=DatasetState.RUNNING).update(
        rows_total=version.rows_total, drawn=version.drawn
    )
    return version.rows_total


def _check(version: DatasetVersion, tally: Tally, told: dict[str, Told]) -> None:
    """Raises Conflict for what must not leave, and for what nobody could train on."""
    if tally.leaks:
        raise Conflict(f"The leak check refused this export: {tally.leaks} rows come from held-out tasks or families.")
    empty = [name for name, found in told.items() if not found.rows]
    if len(empty) == len(told):
        reasons = Counter[str]()
        for found in told.values():
            reasons.update(found.left_out)
        why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        raise Conflict(f"No label fits {', '.join(empty)}. Left out: {why or 'nothing was there'}.")
    for name in ("trl_kto", "llama_factory_kto"):
        if name in told and told[name].rows and not _both_classes(told[name]):
            raise Conflict(
                f"Every run in {name} is of one class, and KTO needs runs that pass and runs that fail. "
                "Leave the format out, or add labels of the other kind."
            )


def _both_classes(told: Told) -> bool:
    return bool(told.counts.get("every gate passes") and told.counts.get("a gate fails"))


@transaction.atomic
def _manifest(version: DatasetVersion, tally: Tally, told: dict[str, Told], files: list[Any]) -> dict[str, Any]:
    hash_long_lists()
    dataset = version.dataset
    return manifest.manifest(
        tally,
        told,
        files,
        dataset={
            "uid": str(dataset.uid),
            "name": dataset.name,
            "version": version.number,
            "version_uid": str(version.uid),
            "project": dataset.project.slug,
        },
        definition=version.definition,
        left_out=asdict(left_out(version)),
        difference=difference_of(version),
        licences=licences_of(dataset.project),
        groups=groups_told(version),
        created_at=timezone.now().isoformat(),
    )


def _with_signs(
    batches: Iterator[list[Document]], version: DatasetVersion, progress: Callable[[DatasetVersion], None]
) -> Iterator[list[Document]]:
    """The batches, with a word after each on how far it is. Raises _Stopped once the version is cancelled."""
    for batch in batches:
        yield batch
        version.rows_done = batch[-1].position
        running = DatasetVersion.objects.filter(pk=version.pk, state=DatasetState.RUNNING)
        if not running.update(rows_done=version.rows_done):
            raise _Stopped
        progress(version)


@transaction.atomic
def _finish(version: DatasetVersion, out: Path, document: dict[str, Any]) -> None:
    """Give the folder its final name and make the version final, both or neither."""
    final, rows = folder_of(version), document["counts"]["rows"]
    moved = DatasetVersion.objects.filter(pk=version.pk, state=DatasetState.RUNNING).update(
        state=DatasetState.FINISHED,
        path=f"datasets/{final.name}",
        manifest=document,
        rows_done=rows,
        rows_total=rows,
        finished_at=timezone.now(),
    )
    if not moved:
        return
    record(
        project=version.dataset.project,
        actor=version.created_by,
        verb=GoldVerb.DATASET_FINISHED,
        target=version,
        dataset=version.dataset.name,
        version=version.number,
        rows=rows,
        files={file["name"]: file["sha256"] for file in document["files"]},
    )
    # What a worker left that died between the renaming and its commit.
    shutil.rmtree(final, ignore_errors=True)
    out.rename(final)


@transaction.atomic
def _fail(version: DatasetVersion, reason: str) -> None:
    moved = DatasetVersion.objects.filter(pk=version.pk, state=DatasetState.RUNNING).update(
        state=DatasetState.FAILED, error=reason, finished_at=timezone.now()
    )
    if moved:
        record(
            project=version.dataset.project,
            actor=version.created_by,
            verb=GoldVerb.DATASET_FAILED,
            target=version,
            dataset=version.dataset.name,
            error=reason,
        )


@transaction.atomic
def read_file(*, actor: Any, version: DatasetVersion, name: str) -> Path:
    """Where a file of a finished version lies, once it is noted that the actor reads it.

    Raises Forbidden, Conflict while the version is not finished, or NotFound.
    """
    check(actor, "export", version.dataset.project)
    if version.state != DatasetState.FINISHED:
        raise Conflict(f"This version has no files: it is {version.get_state_display().lower()}.")
    if withdrawn := withdrawal_of(version):
        raise Conflict(f"This version is withdrawn and is given out no more: {withdrawn.reason}")
    told = version.manifest
    known = {file["name"] for file in [*told["files"], *told.get("described_in", ())]} | {manifest.MANIFEST_NAME}
    if name not in known:
        raise NotFound(f"This version has no file called that. It has {', '.join(sorted(known))}.")
    path = folder_of(version) / name
    if not path.is_file():
        raise NotFound("The file is no longer on the server. Start a new version.")
    record(project=version.dataset.project, actor=actor, verb=GoldVerb.DATASET_READ, target=version, file=name)
    return path
