"""`manage.py import_items`: the same import as on the page, for the shell: receipts, JSON, and sentences on failure."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from reviews.enums import ImportState, Role
from reviews.models import ImportJob, Item, QueueItem
from tests import factories

pytestmark = pytest.mark.django_db


def chat(number, **members):
    return {"task_id": number, "messages": [{"role": "user", "content": f"Ticket {number}"}], **members}


@pytest.fixture
def runs(tmp_path):
    """A file with two runs and, between them, a line that is none."""
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([json.dumps(chat(1)), "nonsense", json.dumps(chat(2))]))
    return path


def run(capsys, *arguments):
    call_command("import_items", *map(str, arguments))
    return capsys.readouterr().out


def test_it_prints_the_receipt(project, runs, capsys):
    assert run(capsys, project.slug, runs) == (
        "runs.jsonl: 2 created, 0 already there, 1 refused\n"
        "  line 2: It is not valid JSON: expecting value at column 1.\n"
    )
    again = "runs.jsonl: 0 created, 2 already there, 1 refused (nothing new)\n"
    assert run(capsys, project.slug, runs).startswith(again)


def test_with_json_it_prints_receipts_for_programs(project, runs, tmp_path, capsys):
    other = tmp_path / "one.json"
    other.write_text(json.dumps(chat(3)))
    receipts = json.loads(run(capsys, project.slug, runs, other, "--json"))
    assert [(each["file"], each["state"], each["created"], each["refused"]) for each in receipts] == [
        ("runs.jsonl", "finished", 2, 1),
        ("one.json", "finished", 1, 0),
    ]


def test_options_arrive(project, runs, tmp_path, capsys):
    queue = factories.queue(project, items=[])
    policy = tmp_path / "policy.md"
    policy.write_text("# Desk policy\n\n1. Ask.")
    settings = ["--set", "environment=desk=3", "--set", "slice.ticket=refund"]
    options = ["--queue", queue.slug, "--family", "refunds", "--policy", policy, "--model", "m-1", *settings]
    run(capsys, project.slug, runs, *options)
    item = Item.objects.filter(project=project).first()
    assert item.trajectory.task.family == "refunds"
    assert item.trajectory.task.slices == {"ticket": "refund"}
    assert item.trajectory.policy.title == "Desk policy"
    assert item.trajectory.outcome.model == "m-1"
    assert item.trajectory.versions == {"environment": "desk=3"}
    assert QueueItem.objects.filter(queue=queue).count() == 2


def test_the_projects_engineer_imports_unless_somebody_else_is_named(project, runs, capsys):
    alice, bob = factories.person("Alice"), factories.person("Bob")
    factories.member(project, alice, Role.ENGINEER)
    factories.member(project, bob, Role.LEAD)
    run(capsys, project.slug, runs)
    run(capsys, project.slug, runs, "--as", bob.email.upper())
    assert [job.created_by for job in ImportJob.objects.order_by("pk")] == [alice, bob]


def test_it_fails_with_a_sentence(project, runs, tmp_path, capsys):
    charlie = factories.expert(project, "Charlie")
    binary = tmp_path / "binary.md"
    binary.write_bytes(b"\xff\xfe")
    for arguments, sentence in [
        (["nowhere", runs], "There is no project with the address “nowhere”."),
        ([project.slug, tmp_path / "no.jsonl"], f"{tmp_path}/no.jsonl: There is no file {tmp_path}/no.jsonl."),
        ([project.slug, runs, "--queue", "none"], "The project has no queue with the address “none”."),
        ([project.slug, runs, "--as", "x@example.com"], "There is nobody with the e-mail x@example.com."),
        ([project.slug, runs, "--as", charlie.email], f"{runs}: Only leads and engineers import runs."),
        ([project.slug, runs, "--set", "tools"], "--set takes KEY=VALUE, not “tools”."),
        ([project.slug, runs, "--set", "split=x"], f"{runs}: The split must be one of open, held_out."),
        ([project.slug, runs, "--policy", binary], f"The policy {binary} cannot be read:"),
    ]:
        with pytest.raises(CommandError) as failed:
            run(capsys, *arguments)
        assert str(failed.value).startswith(sentence)
    assert not Item.objects.exists()


def test_a_file_of_which_nothing_can_be_taken_is_a_failure(project, tmp_path, capsys):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    with pytest.raises(CommandError, match=r"Nothing could be taken from empty\.jsonl"):
        run(capsys, project.slug, path)
    assert "the file: The file is empty." in capsys.readouterr().out
    assert ImportJob.objects.get().state == ImportState.FINISHED


def command(folder, *arguments):
    """The command in a process of its own, on this test's database; what it prints goes to files in the folder."""
    database_url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    with (folder / "out").open("w") as out, (folder / "errors").open("w") as errors:
        return subprocess.Popen(
            [sys.executable, "manage.py", "import_items", *map(str, arguments)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "DATABASE_URL": database_url},
            stdout=out,
            stderr=errors,
            # A shell starts what it runs in the background deaf to Ctrl-C, and its children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )


def peak_memory(pid):
    """The most that the process has held so far, in bytes; 0 once it has ended."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 if found else 0


def many_runs(path, number, filler):
    with path.open("w") as file:
        for count in range(number):
            file.write(json.dumps(chat(count % 100, run_id=count, metadata={"filler": filler})) + "\n")
    return path


@pytest.mark.django_db(transaction=True)
def test_memory_does_not_grow_with_the_file(project, tmp_path):
    """60 MB of runs go in through a process that never holds 300 MB, all of Django with it."""
    path = many_runs(tmp_path / "big.jsonl", 6_000, "word " * 2_000)
    assert path.stat().st_size > 60_000_000
    process = command(tmp_path, project.slug, path, "--json")
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_memory(process.pid))
        time.sleep(0.05)
    assert (process.returncode, (tmp_path / "errors").read_text()) == (0, "")
    (receipt,) = json.loads((tmp_path / "out").read_text())
    assert (receipt["created"], receipt["refused"]) == (6_000, 0)
    assert 0 < peak < 300_000_000


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_cancels_and_says_how_to_go_on(project, tmp_path):
    path = many_runs(tmp_path / "big.jsonl", 18_000, "word " * 500)
    process = command(tmp_path, project.slug, path)
    while not ImportJob.objects.filter(rows_done__gt=0).exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 1
    job = ImportJob.objects.get()
    assert job.state == ImportState.CANCELLED
    assert 0 < job.created == Item.objects.count() < 18_000
    sentence = f"Stopped. {job.created} runs are in; the same command again brings in the rest."
    assert sentence in (tmp_path / "errors").read_text()
