"""Folders, archives and logs with many runs, imported by the same action: places, hints, and going on after a kill."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.actions import importing
from reviews.actions.importing import receipt_of, run_import, start_import
from reviews.enums import ImportState, Role
from reviews.errors import Invalid
from reviews.models import Outcome, Trajectory
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(project):
    """Alice, an engineer of the project."""
    user = factories.person("Alice")
    factories.member(project, user, Role.ENGINEER)
    return user


def sample(number, epoch=1):
    return {
        "id": number,
        "epoch": epoch,
        "input": "x",
        "target": "SECRET",
        "messages": [{"role": "user", "content": f"Question {number}, asked {epoch} times"}],
        "scores": {"match": {"value": "C", "explanation": "SECRET"}},
    }


def log(samples):
    """The bytes of an .eval."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "sums", "model": "m-1"}, "plan": {}}))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return buffer.getvalue()


def rollout(reward):
    prompt, answer = [{"role": "user", "content": "2 + 2?"}], [{"role": "assistant", "content": f"{reward}"}]
    return json.dumps({"example_id": 1, "prompt": prompt, "completion": answer, "reward": reward})


def counts(job):
    return job.created, job.already_there, job.refused


def test_the_samples_of_a_log_go_in_with_places_scores_and_one_task_for_all_epochs(project, alice):
    file = SimpleUploadedFile("log.eval", log([sample(1), sample(1, epoch=2), sample(2)]))
    job = run_import(job_id=start_import(actor=alice, project=project, file=file, name="log.eval").pk)
    assert (job.state, *counts(job)) == (ImportState.FINISHED, 3, 0, 0)
    runs = Trajectory.objects.filter(project=project).order_by("pk")
    assert [(run.source_place, run.task.key, run.source_format) for run in runs] == [
        ("samples/1_epoch_1.json, epoch 1", "sums-1", "inspect_log"),
        ("samples/1_epoch_2.json, epoch 2", "sums-1", "inspect_log"),
        ("samples/2_epoch_1.json, epoch 1", "sums-2", "inspect_log"),
    ]
    outcome = Outcome.objects.get(trajectory=runs[0])
    assert (outcome.result, outcome.reward, outcome.model) == ("success", 1.0, "m-1")
    assert outcome.data["scores"] == [{"grader": "match", "value": "C", "explanation": "SECRET"}]


def test_a_log_goes_on_after_a_kill_where_its_last_batch_ended(project, alice, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    file = SimpleUploadedFile("log.eval", log([sample(number) for number in range(12)]))
    job = start_import(actor=alice, project=project, file=file, name="log.eval")

    class Killed(BaseException):
        pass

    def die_after_two_batches(job):
        if job.rows_done == 4:
            raise Killed

    with pytest.raises(Killed):
        run_import(job_id=job.pk, progress=die_after_two_batches)
    job = run_import(job_id=job.pk)
    assert (job.state, *counts(job), job.percent) == (ImportState.FINISHED, 12, 0, 0, 100)
    assert Trajectory.objects.filter(project=project).count() == 12


def test_a_folder_goes_in_and_what_it_says_of_its_files_is_used(project, alice, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "results.jsonl").write_text(f"{rollout(1.0)}\n{rollout(0.0)}\nnonsense\n")
    (tmp_path / "a" / "metadata.json").write_text(json.dumps({"env": "sums", "model": "m-2"}))
    (tmp_path / "log.eval").write_bytes(log([sample(1)]))
    (tmp_path / "notes.txt").write_text("Notes")
    job = run_import(job_id=start_import(actor=alice, project=project, name=tmp_path.name, path=tmp_path).pk)
    assert counts(job) == (3, 0, 2)
    assert receipt_of(job)["refusals"] == [
        {"place": "a/results.jsonl, line 3", "reason": "It is not valid JSON: expecting value at column 1."},
        {"place": "notes.txt", "reason": "By its name this is no file of runs. It was not read."},
    ]
    runs = Trajectory.objects.filter(project=project, source_format="verifiers")
    assert {run.outcome.model for run in runs} == {"m-2"}
    (key,) = {run.task.key for run in runs}
    assert key.startswith("sums-1-")
    again = run_import(job_id=start_import(actor=alice, project=project, name="x", path=tmp_path / "a").pk)
    assert counts(again) == (0, 2, 1)


def test_a_path_that_leads_nowhere_is_refused(project, alice, tmp_path):
    with pytest.raises(Invalid, match="There is no file"):
        start_import(actor=alice, project=project, name="x", path=tmp_path / "gone")
