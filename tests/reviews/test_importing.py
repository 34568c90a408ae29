"""An import from start to receipt: what goes in, what is refused, what survives, and who may."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from reviews.actions import importing
from reviews.actions.importing import cancel_import, receipt_of, run_import, start_import
from reviews.actions.redacting import set_redaction
from reviews.enums import ImportState, Role, Verb
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import (
    ContextDocument,
    Event,
    ImportJob,
    ImportRefusal,
    Item,
    Original,
    Outcome,
    QueueItem,
    Slot,
    Step,
    Task,
    Trajectory,
)
from reviews.tasks import run_import as run_import_task
from reviews.trajectories import preparing
from reviews.trajectories.detect import FORMATS
from reviews.trajectories.schema import decode_step
from tests import factories

pytestmark = pytest.mark.django_db

SETTINGS = "environment, tools, data, prompt, reset, stochasticity, provenance, split, licence, slice.NAME"
POLICY = "# Desk policy\n\n1. Ask before you act."


def chat(number, **members):
    messages = [
        {"role": "user", "content": f"Ticket {number}: cancel my order."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order": "W1"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    return {"task_id": f"t-{number}", "messages": messages, **members}


def lines(*rows):
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


@pytest.fixture
def alice(project):
    """Alice, an engineer of the project."""
    user = factories.person("Alice")
    factories.member(project, user, Role.ENGINEER)
    return user


def start(actor, project, data, name="runs.jsonl", **options):
    file = SimpleUploadedFile(name, data)
    return start_import(actor=actor, project=project, file=file, name=name, **options)


def bring(actor, project, data, **options):
    return run_import(job_id=start(actor, project, data, **options).pk)


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def counts(job):
    return job.created, job.already_there, job.refused


def test_a_run_goes_in_with_steps_outcome_original_and_item(project, alice):
    row = chat(1, model="secret-model", reward=1.0, tools=[{"name": "cancel"}])
    job = bring(alice, project, lines(row), family="orders", policy=POLICY, settings={"environment": "desk 3"})
    assert (job.state, *counts(job)) == (ImportState.FINISHED, 1, 0, 0)
    item = Item.objects.get(project=project)
    run = item.trajectory
    assert (run.task.key, run.task.family, run.task.title) == ("t-1", "orders", "Ticket 1: cancel my order.")
    assert (run.source_format, run.source_name, run.source_place) == ("openai_chat", "runs.jsonl", "line 1")
    assert (run.step_count, run.tools, run.versions) == (2, [{"name": "cancel"}], {"environment": "desk 3"})
    assert (run.policy.title, run.policy.text) == ("Desk policy", POLICY)
    steps = [decode_step(step.body) for step in Step.objects.filter(trajectory=run)]
    assert [(step.role, step.text, step.result and step.result.text) for step in steps] == [
        ("user", "Ticket 1: cancel my order.", None),
        ("tool", "", "done"),
    ]
    assert (run.outcome.result, run.outcome.reward, run.outcome.model) == ("unknown", 1.0, "secret-model")
    assert json.loads(zstandard.decompress(bytes(run.original.compressed))) == row


def test_the_same_file_twice_changes_nothing(project, alice):
    data = lines(chat(1), chat(2), chat(1))
    assert counts(bring(alice, project, data)) == (2, 1, 0)
    before = [model.objects.count() for model in (Trajectory, Step, Original, Outcome, Item, Task)]
    assert counts(bring(alice, project, json.dumps([chat(2), chat(1)], indent=1).encode())) == (0, 2, 0)
    assert [model.objects.count() for model in (Trajectory, Step, Original, Outcome, Item, Task)] == before
    assert counts(bring(factories.lead_of(other := factories.project()), other, data)) == (2, 1, 0)


def test_runs_of_one_task_share_it_and_its_policy(project, alice):
    first, second = chat(1, policy={"text": POLICY}), chat(1, policy={"text": POLICY}, run_id=2)
    bring(alice, project, lines(first))
    bring(alice, project, lines(second))
    assert Task.objects.get(project=project).trajectories.count() == 2
    assert ContextDocument.objects.get(project=project).title == "Desk policy"


def test_a_bad_row_is_refused_alone_with_its_line_and_reason(project, alice):
    data = lines(chat(1), '{"messages": [', '{"a": 1}', chat(2)) + b'"caf\xe9"\n' + b'"\x00"\n' + lines(chat(3))
    job = bring(alice, project, data)
    assert counts(job) == (3, 0, 4)
    assert receipt_of(job) == {
        "import": str(job.uid),
        "file": "runs.jsonl",
        "state": "finished",
        "created": 3,
        "already_there": 0,
        "refused": 4,
        "refusals": [
            {"place": "line 2", "reason": "It is not valid JSON: it is cut off before its end."},
            {"place": "line 3", "reason": "It fits no known format. Its members are: a."},
            {"place": "line 5", "reason": "It is not UTF-8: byte 0xe9 at byte 5."},
            {"place": "line 6", "reason": "It holds a NUL byte (at byte 2)."},
        ],
        "refusals_not_listed": 0,
        "ending": "finished, 4 refused",
        "notes": [],
        "notes_not_listed": 0,
        "comparisons": 0,
        "tasks": 0,
        "scored": 0,
        "redactions": {},
        "queue": None,
        "error": None,
    }


def test_hostile_text_goes_in_harmlessly(project, alice):
    evil = "<script>alert(1)</script>\u202e\x00\ud800😀"
    row = chat(1, metadata={evil: [evil, 10**40, "x" * 100_000]}, title=evil, slices={evil: evil}, family=evil)
    row["messages"][0]["content"] = evil
    row["messages"][1]["tool_calls"][0]["function"] = {"name": evil, "arguments": json.dumps({evil: evil})}
    data = json.dumps(row).replace('"task_id": "t-1"', '"task_id": "t-0", "task_id": "t-1", "reward": NaN, "n": 1e999')
    job = bring(alice, project, data.encode(), settings={f"slice.{evil}": evil})
    assert counts(job) == (1, 0, 0)
    run = Trajectory.objects.get(project=project)
    shown = "<script>alert(1)</script>\u202e␀�😀"
    assert run.task.title == shown
    assert decode_step(run.steps.first().body).text == shown
    assert run.outcome.data["metadata"][shown][1] == 10**40
    assert (run.outcome.data["reward"], run.outcome.data["n"], run.outcome.reward) == ("NaN", "1e999", None)


def test_refusals_beyond_a_thousand_are_counted_and_not_kept(project, alice):
    job = bring(alice, project, b"nonsense\n" * 1500)
    assert counts(job) == (0, 0, 1500)
    assert ImportRefusal.objects.filter(job=job).count() == 1000
    assert receipt_of(job)["refusals_not_listed"] == 500


def test_runs_are_put_into_the_queue_and_those_already_there_too(project, alice):
    bring(alice, project, lines(chat(1)))
    queue = factories.queue(project, items=[], overlap=3)
    data = lines(chat(1), chat(2), chat(2))
    assert counts(bring(alice, project, data, queue=queue)) == (1, 2, 0)
    assert QueueItem.objects.filter(queue=queue).count() == 2
    assert Slot.objects.filter(queue=queue).count() == 6
    bring(alice, project, data, queue=queue)
    assert Slot.objects.filter(queue=queue).count() == 6


def test_a_queue_that_closes_on_the_way_ends_the_import_with_a_sentence(project, alice):
    queue = factories.queue(project, items=[])
    job = start(alice, project, lines(chat(1)), queue=queue)
    queue.state = "closed"
    queue.save(update_fields=["state"])
    job = run_import(job_id=job.pk)
    assert (job.state, job.error) == (ImportState.FAILED, "This queue is closed. Open it again to put items in.")
    assert not Item.objects.filter(project=project).exists()
    assert Event.objects.filter(project=project, verb=Verb.IMPORT_FAILED).count() == 1
    queue.state = "open"
    queue.save(update_fields=["state"])
    job = run_import(job_id=job.pk)
    assert (job.state, job.error, *counts(job)) == (ImportState.FINISHED, "", 1, 0, 0)


def test_it_goes_on_after_a_kill_where_the_last_batch_ended(project, alice, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    job = start(alice, project, lines(*(chat(number) for number in range(7))))

    class Killed(BaseException):
        pass

    def die_after_two_batches(job):
        if job.rows_done == 4:
            raise Killed

    with pytest.raises(Killed):
        run_import(job_id=job.pk, progress=die_after_two_batches)
    job.refresh_from_db()
    assert (job.state, job.rows_done, job.created) == (ImportState.RUNNING, 4, 4)
    assert 0 < job.percent < 100
    job = run_import(job_id=job.pk)
    assert (job.state, *counts(job), job.percent) == (ImportState.FINISHED, 7, 0, 0, 100)


def test_two_workers_on_one_job_bring_nothing_in_twice(project, alice, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    job = start(alice, project, lines(*(chat(number) for number in range(6))))
    others = []

    def another_worker_takes_over(job):
        if not others:
            others.append(run_import(job_id=job.pk))

    late = run_import(job_id=job.pk, progress=another_worker_takes_over)
    assert (late.state, *counts(late)) == (ImportState.FINISHED, 6, 0, 0)
    assert Trajectory.objects.filter(project=project).count() == 6
    assert Event.objects.filter(project=project, verb=Verb.IMPORT_FINISHED).count() == 1


def test_a_cancelled_import_stops_and_keeps_what_came_in(project, alice, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    job = start(alice, project, lines(*(chat(number) for number in range(6))))
    done = run_import(
        job_id=job.pk, progress=lambda job: cancel_import(actor=alice, job=ImportJob.objects.get(pk=job.pk))
    )
    assert (done.state, *counts(done)) == (ImportState.CANCELLED, 2, 0, 0)
    assert run_import(job_id=job.pk).state == ImportState.CANCELLED
    with pytest.raises(Conflict, match="This import is over: it is cancelled"):
        cancel_import(actor=alice, job=job)


def test_a_large_file_is_read_by_a_process_beside_and_nothing_else_changes(project, alice, monkeypatch):
    data = lines(*(chat(number) for number in range(5)), "{broken", chat(5), chat(5))
    bob = factories.project()
    here = bring(factories.lead_of(bob), bob, data)
    monkeypatch.setattr(preparing, "APART_FROM_BYTES", 1)
    monkeypatch.setattr(importing, "BATCH_ROWS", 3)
    beside = bring(alice, project, data)
    assert (beside.state, *counts(beside)) == (here.state, *counts(here)) == (ImportState.FINISHED, 6, 1, 1)
    assert [refusal.place for refusal in beside.refusals.all()] == ["line 6"]
    same = ("content_hash", "source_place", "outline", "original__compressed", "outcome__data", "steps__body")
    order = ("content_hash", "steps__position")
    assert list(Trajectory.objects.filter(project=project).order_by(*order).values_list(*same)) == list(
        Trajectory.objects.filter(project=bob).order_by(*order).values_list(*same)
    )


def test_a_reader_that_dies_leaves_the_import_to_be_run_again(project, alice, monkeypatch):
    monkeypatch.setattr(preparing, "APART_FROM_BYTES", 1)
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    job = start(alice, project, lines(*(chat(number, filler="word " * 20_000) for number in range(20))))

    def kill_the_reader(job):
        if job.rows_done == 4:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            (reader,) = (pid for pid in children if b"preparing" in Path(f"/proc/{pid}/cmdline").read_bytes())
            os.kill(int(reader), signal.SIGKILL)

    job = run_import(job_id=job.pk, progress=kill_the_reader)
    assert (job.state, 4 <= job.created < 20) == (ImportState.FAILED, True)
    assert job.error == "The process that reads the file ended before its end, with the code -9."
    again = run_import(job_id=job.pk)
    assert (again.state, *counts(again)) == (ImportState.FINISHED, 20, 0, 0)


@pytest.mark.parametrize("apart_from", [1, preparing.APART_FROM_BYTES])
def test_rows_read_ahead_are_read_again_when_the_project_comes_to_redact(project, alice, monkeypatch, apart_from):
    monkeypatch.setattr(preparing, "APART_FROM_BYTES", apart_from)
    monkeypatch.setattr(importing, "BATCH_ROWS", 2)
    lead = factories.lead_of(project)
    job = start(alice, project, lines(*(chat(number, context={"request": "a@b.org"}) for number in range(6))))

    def redact_from_now_on(job):
        if job.rows_done == 2:
            set_redaction(actor=lead, project=project, kinds=["e-mail"])

    done = run_import(job_id=job.pk, progress=redact_from_now_on)
    assert (done.state, *counts(done), done.redactions) == (ImportState.FINISHED, 6, 0, 0, {"e-mail": 4})
    contexts = Task.objects.filter(project=project).order_by("pk").values_list("context__request", flat=True)
    assert list(contexts) == ["a@b.org"] * 2 + ["⟦e-mail 1⟧"] * 4


def test_every_import_writes_its_beginning_and_its_end_into_the_log(project, alice):
    job = bring(alice, project, lines(chat(1), "{}"))
    events = Event.objects.filter(project=project, target_type="importjob", target_id=job.pk).order_by("pk")
    assert [(event.verb, event.actor) for event in events] == [
        (Verb.IMPORT_STARTED, alice),
        (Verb.IMPORT_FINISHED, alice),
    ]
    assert events[1].data == {"created": 1, "already_there": 0, "refused": 1}


def test_an_upload_is_kept_until_it_is_no_longer_needed(project, alice, settings, django_capture_on_commit_callbacks):
    def kept():
        return [path.read_bytes() for path in (settings.MEDIA_ROOT / "imports").iterdir()]

    data = lines(chat(1))
    job = start(alice, project, data, name="../../etc/passwd\x00")
    assert job.name == "passwd␀"
    assert kept() == [data]
    with django_capture_on_commit_callbacks(execute=True):
        run_import(job_id=job.pk)
    assert kept() == []
    with django_capture_on_commit_callbacks(execute=True):
        bring(alice, project, lines("nonsense"))
    assert kept() == [b"nonsense\n"]


def test_a_file_on_the_server_stays_where_it_is(project, alice, tmp_path, django_capture_on_commit_callbacks):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(chat(1)))
    with django_capture_on_commit_callbacks(execute=True):
        run_import(job_id=start_import(actor=alice, project=project, name=path.name, path=path).pk)
    assert path.exists()


def test_a_file_that_went_away_is_a_sentence(project, alice, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(chat(1)))
    job = start_import(actor=alice, project=project, name=path.name, path=path)
    path.unlink()
    job = run_import(job_id=job.pk)
    assert (job.state, job.error) == (ImportState.FAILED, "The file is no longer where it was. Import it again.")


@pytest.mark.parametrize(
    ("options", "field", "sentence"),
    [
        ({"format": "csv"}, "format", f"The format must be one of {', '.join(('auto', *FORMATS))}."),
        ({"family": "f" * 101}, "family", "The family has at most 100 characters."),
        (
            {"settings": {"model": "m"}},
            "settings",
            f"There is no setting called model. Known are: {SETTINGS}.",
        ),
        ({"settings": {"split": "test"}}, "settings", "The split must be one of open, held_out."),
        ({"policy": "p" * 1_000_001}, "policy", "The policy has at most 1,000,000 characters."),
    ],
)
def test_options_are_checked_before_anything_is_kept(project, alice, settings, options, field, sentence):
    with pytest.raises(Invalid) as refused:
        start(alice, project, lines(chat(1)), **options)
    assert refused.value.errors == {field: sentence}
    assert not (settings.MEDIA_ROOT / "imports").exists()
    assert not ImportJob.objects.exists()


def test_a_foreign_or_closed_queue_is_refused(project, alice):
    foreign = factories.queue(factories.project(), items=[])
    with pytest.raises(Invalid, match="belongs to another project"):
        start(alice, project, b"", queue=foreign)
    closed = factories.queue(project, items=[])
    closed.state = "closed"
    with pytest.raises(Invalid, match="The queue is closed"):
        start(alice, project, b"", queue=closed)


def test_no_file_at_all_is_refused(project, alice, tmp_path):
    with pytest.raises(Invalid, match="Choose a file"):
        start_import(actor=alice, project=project, name="")
    with pytest.raises(Invalid, match="There is no file"):
        start_import(actor=alice, project=project, name="x", path=tmp_path / "x")


def test_experts_and_strangers_may_not_import_or_cancel(project, alice):
    job = start(alice, project, lines(chat(1)))
    bob, charlie = factories.expert(project, "Bob"), factories.person("Charlie")
    for user, error in ((bob, Forbidden), (charlie, NotFound)):
        with pytest.raises(error):
            start(user, project, lines(chat(2)))
        with pytest.raises(error):
            cancel_import(actor=user, job=job)


def test_settings_reach_tasks_and_items(project, alice):
    settings = {"provenance": "synthetic", "split": "held_out", "slice.ticket": "refund", "tools": "7"}
    settings["reset"] = "from snapshot 12"
    bring(alice, project, lines(chat(1, slices={"depth": 2})), settings=settings, family="refunds")
    item = Item.objects.get(project=project)
    assert (item.provenance, item.trajectory.versions) == ("synthetic", {"tools": "7", "reset": "from snapshot 12"})
    task = item.trajectory.task
    assert (task.split, task.slices) == ("held_out", {"ticket": "refund", "depth": 2})


def test_numbers_of_thousands_of_digits_go_in(project, alice):
    assert counts(bring(alice, project, lines(chat(1, metadata={"n": 10**4000})))) == (1, 0, 0)
    assert Outcome.objects.get(trajectory__project=project).data["metadata"]["n"] == 10**4000


def test_rows_the_database_refuses_are_refusals_each_with_its_place(project, alice):
    job = start(alice, project, lines(chat(1), chat(2)))
    ImportJob.objects.filter(pk=job.pk).update(options={"provenance": "too long for its column"})
    job = run_import(job_id=job.pk)
    assert (job.state, *counts(job)) == (ImportState.FINISHED, 0, 0, 2)
    assert [refusal.place for refusal in job.refusals.all()] == ["line 1", "line 2"]
    assert job.refusals.first().reason.startswith("It could not be stored: value too long")
    assert not Trajectory.objects.exists()


def test_a_task_works_the_job_off(project, alice):
    job = start(alice, project, lines(chat(1)))
    run_import_task(job.pk)
    job.refresh_from_db()
    assert job.state == ImportState.FINISHED


@pytest.mark.django_db(transaction=True)
def test_a_worker_works_it_off(project, alice, worker):
    job = start(alice, project, lines(chat(1), chat(2)))
    run_import_task.delay(job.pk)
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).state == ImportState.FINISHED)
    assert Item.objects.filter(project=project).count() == 2


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_or_doubled_when_the_process_is_killed(project, alice):
    """A process that imports is killed with -9 between two batches or in one; another goes on with the same job."""
    job = start(alice, project, lines(*(chat(number, filler="word " * 500) for number in range(4_000))))
    database_url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    work = f"from reviews.actions.importing import run_import; run_import(job_id={job.pk})"
    process = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", work],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "DATABASE_URL": database_url},
    )
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).rows_done > 0)
    process.kill()
    process.wait()
    killed = ImportJob.objects.get(pk=job.pk)
    assert killed.state == ImportState.RUNNING
    assert 0 < killed.created < 4_000
    done = run_import(job_id=job.pk)
    assert (done.state, *counts(done)) == (ImportState.FINISHED, 4_000, 0, 0)
    assert Trajectory.objects.filter(project=project).count() == 4_000
    assert Step.objects.filter(trajectory__project=project).count() == 8_000


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_make_each_run_once(project, alice):
    data = lines(*(chat(number) for number in range(600)))
    jobs = [start(alice, project, data) for _ in range(2)]

    def work(job):
        run_import(job_id=job.pk)
        connection.close()

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for job in jobs:
        job.refresh_from_db()
    assert [job.state for job in jobs] == [ImportState.FINISHED] * 2
    assert jobs[0].created + jobs[1].created == Trajectory.objects.filter(project=project).count() == 600


def test_every_tau_bench_file_goes_in(project, alice, pytestconfig):
    folder = pytestconfig.rootpath.parent / "shared" / "data" / "trajectories" / "tau-bench"
    if not folder.is_dir():
        pytest.skip(f"no real files here: {folder} does not exist")
    expected = {
        "retail_gpt-4o.json": (80, 51),
        "retail_gpt-4o-mini.json": (80, 33),
        "retail_gpt-4o_guarded.json": (80, 42),
        "airline_gpt-4o_4trials.json": (140, 60),
        "retail_error_entry.json": (1, 0),
    }
    for name, (runs, successes) in expected.items():
        domain = name.partition("_")[0]
        job = start_import(actor=alice, project=project, name=name, path=folder / name, domain=domain)
        job = run_import(job_id=job.pk)
        assert (job.state, *counts(job)) == (ImportState.FINISHED, runs, 0, 0)
        assert Outcome.objects.filter(trajectory__source_name=name, result="success").count() == successes
    assert Task.objects.filter(project=project).count() == 115
    assert ContextDocument.objects.filter(project=project).count() == 2
    crash = Trajectory.objects.get(source_name="retail_error_entry.json")
    assert (crash.outcome.result, crash.step_count, crash.task.key) == ("crash", 1, "retail-1")
    outcome = msgspec.json.encode(crash.outcome.data).decode()
    assert "Traceback" in outcome
    assert "Traceback" not in crash.steps.get().body


def test_any_binary_stream_will_do(project, alice):
    job = start_import(actor=alice, project=project, file=io.BytesIO(lines(chat(1))), name="runs.jsonl")
    assert counts(run_import(job_id=job.pk)) == (1, 0, 0)
