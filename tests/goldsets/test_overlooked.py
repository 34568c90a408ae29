"""Imports and exports whose task was never queued, because Redis was away at that moment: they are found and done."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import overlooked_exports, start_export
from goldsets.models import DatasetVersion
from goldsets.tasks import queue_overlooked_exports
from reviews.actions.dealing import claim
from reviews.actions.importing import overlooked_imports, start_import
from reviews.actions.judging import submit
from reviews.models import ImportJob
from reviews.tasks import queue_overlooked_imports
from tests import factories as make

LONG_AGO = timedelta(minutes=11)


def wait_until(holds, *, seconds=60):
    """Wait for the worker, which has a thread of its own."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "the worker did not do it"
        time.sleep(0.1)


@pytest.fixture
def desk(transactional_db, tmp_path):
    """A project with one settled item, an import and an export that nobody has taken up."""
    project = make.project()
    lead = make.lead_of(project)
    queue = make.queue(project, items=1, overlap=1)
    alice = make.expert(project, "Alice")
    submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=make.passing(), idempotency_key="k")
    file = tmp_path / "runs.jsonl"
    file.write_text('{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}\n')
    job = start_import(actor=lead, project=project, name="runs.jsonl", path=file)
    dataset = define_dataset(actor=lead, project=project, name="All", formats=["jsonl"])
    return job, start_export(actor=lead, dataset=dataset)


def test_what_has_only_just_been_asked_for_is_not_overlooked(desk):
    assert overlooked_imports(now=timezone.now()) == []
    assert overlooked_exports(now=timezone.now()) == []


@pytest.mark.usefixtures("worker")
def test_what_has_waited_long_is_queued_and_done(desk):
    job, version = desk
    ImportJob.objects.filter(pk=job.pk).update(created_at=timezone.now() - LONG_AGO)
    DatasetVersion.objects.filter(pk=version.pk).update(created_at=timezone.now() - LONG_AGO)
    queue_overlooked_imports()
    queue_overlooked_exports()
    wait_until(lambda: ImportJob.objects.filter(pk=job.pk, state="finished", created=1).exists())
    wait_until(lambda: DatasetVersion.objects.filter(pk=version.pk, state="finished").exists())
