"""The embedded servers: they start anywhere, keep what they are given, and refuse in one sentence."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from annotator.embedded import postgres, process, valkey
from annotator.embedded.errors import CannotRun, in_words
from annotator.embedded.folder import MARKER, DataFolder, write_private
from annotator.embedded.servers import Servers

HASTY = {"fsync": "off"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place as `mktemp -d` makes it: closed to everybody else."""
    place = Path(tempfile.mkdtemp(prefix="assay-embedded-"))
    yield place / "data"
    process.end_all(place / "data")
    shutil.rmtree(place, ignore_errors=True)


def start(folder: Path) -> Servers:
    servers = Servers(folder)
    servers.take_folder()
    servers.start(postgres_settings=HASTY)
    return servers


def test_what_was_written_is_there_after_both_servers_were_killed(folder):
    servers = start(folder)
    with psycopg.connect(postgres.url(servers.folder), autocommit=True) as connection:
        assert connection.info.server_version // 10000 == 18
        connection.execute("CREATE TABLE gem (name text)")
        connection.execute("INSERT INTO gem VALUES ('Größe 💎')")
    redis.Redis.from_url(valkey.url(servers.folder)).rpush("queue", "task")
    for server in servers.running.values():
        server.kill()
        server.wait()
    servers.folder.unlock()

    servers = start(folder)
    with psycopg.connect(postgres.url(servers.folder)) as connection:
        assert connection.execute("SELECT name FROM gem").fetchall() == [("Größe 💎",)]
    assert redis.Redis.from_url(valkey.url(servers.folder)).lrange("queue", 0, -1) == [b"task"]
    servers.stop()
    assert process.left_behind(folder) == []


def test_the_servers_listen_on_no_network(folder):
    servers = start(folder)
    listening = [
        connection
        for server in servers.running.values()
        for each in (psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True))
        for connection in each.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == []
    sockets = servers.folder.sockets()
    assert sockets.stat().st_mode & 0o077 == 0
    servers.stop()


def test_servers_whose_starter_was_killed_end_with_it_or_at_the_next_start(folder):
    program = (
        "import sys, time; from pathlib import Path; from annotator.embedded.servers import Servers\n"
        "servers = Servers(Path(sys.argv[1])); servers.take_folder(); servers.start()\n"
        "print('up', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE) as starter:
        assert starter.stdout.readline() == b"up\n"
        starter.kill()
    servers = start(folder)
    ours = {server.pid for server in servers.running.values()}
    roots = {found.pid for found in process.left_behind(folder) if found.ppid() not in ours}
    assert roots == ours
    servers.stop()


def test_a_second_assay_on_the_same_folder_is_refused_and_the_first_goes_on(folder):
    servers = start(folder)
    with pytest.raises(CannotRun, match=rf"in use by another Assay \(process {os.getpid()}\)"):
        Servers(folder).take_folder()
    psycopg.connect(postgres.url(servers.folder)).close()
    servers.stop()


def test_a_number_in_the_note_of_a_dead_server_that_is_somebody_elses_now_does_not_matter(folder):
    servers = start(folder)
    servers.running["postgres"].kill()
    servers.running["postgres"].wait()
    note = folder / "postgres" / "postmaster.pid"
    lines = note.read_text().splitlines()
    note.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    servers.stop()
    start(folder).stop()


def test_half_made_data_are_made_anew(folder):
    DataFolder(folder).open()
    (folder / "postgres.unfinished").mkdir()
    (folder / "postgres.unfinished" / "half").write_text("x")
    start(folder).stop()
    assert not (folder / "postgres.unfinished").exists()


def test_a_path_too_long_for_a_socket_is_no_obstacle(folder):
    deep = folder.joinpath(*["a-long-name-of-a-folder"] * 5)
    servers = start(deep)
    assert len(str(servers.folder.sockets())) < 85
    psycopg.connect(postgres.url(servers.folder)).close()
    servers.stop()
    shutil.rmtree(servers.folder.sockets())


def test_a_folder_with_other_things_in_it_is_left_alone(folder):
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(CannotRun, match="is not empty and not Assay's"):
        DataFolder(folder).open()
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(folder):
    folder.write_text("mine")
    with pytest.raises(CannotRun, match="is a file, not a folder"):
        DataFolder(folder).open()
    with pytest.raises(CannotRun, match="cannot be used: Not a directory"):
        DataFolder(folder / "below").open()


def test_data_of_another_postgresql_are_refused(folder):
    start(folder).stop()
    (folder / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(CannotRun, match="holds data of PostgreSQL 16"):
        postgres.start(DataFolder(folder))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
@pytest.mark.parametrize(
    ("megabytes", "sentence"), [(20, "20 MB are free, 300 MB are needed"), (0, "cannot be written")]
)
def test_a_disk_that_is_full_or_read_only(folder, megabytes, sentence):
    folder.mkdir()
    options = f"size={megabytes}m" if megabytes else "ro"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine does not let root mount a disk")
    try:
        with pytest.raises(CannotRun, match=sentence):
            DataFolder(folder / "data").open()
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (28, "The disk that holds /data is full; free some space or choose another folder with DATA=."),
        (13, "The folder /data cannot be written to; choose another with DATA=."),
        (30, "The folder /data cannot be written to; choose another with DATA=."),
        (5, "The folder /data cannot be used: Input/output error."),
    ],
)
def test_errors_of_the_disk_in_words(number, sentence):
    assert in_words(OSError(number, os.strerror(number)), Path("/data")) == sentence


def test_secrets_are_for_their_owner_only_and_stay_the_same(folder):
    data = DataFolder(folder).open()
    key = data.secret_key()
    assert len(key) >= 50
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert DataFolder(folder).secret_key() == key
    write_private(folder / "demo.json", "{}")
    assert (folder / "demo.json").stat().st_mode & 0o777 == 0o600
    assert (folder / MARKER).exists()


def test_an_ordinary_user_can_run_them_too():
    """The tests may run as root; then this one runs the servers as somebody else."""
    home = Path(tempfile.mkdtemp(prefix="assay-anybody-"))
    if process.is_root():
        os.chown(home, *process.unprivileged_owner())
    ran = subprocess.run(
        process.without_root([sys.executable, "-c", _AS_ANYBODY, str(home / "data")]),
        capture_output=True,
        text=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(home)},
    )
    shutil.rmtree(home, ignore_errors=True)
    assert (ran.returncode, ran.stdout) == (0, "ordinary user, PostgreSQL 18\n"), ran.stderr


_AS_ANYBODY = """
import os, sys, psycopg
from pathlib import Path
from annotator.embedded import postgres
from annotator.embedded.servers import Servers
servers = Servers(Path(sys.argv[1]))
servers.take_folder()
servers.start()
version = psycopg.connect(postgres.url(servers.folder)).info.server_version // 10000
print("ordinary user" if os.geteuid() else "root", f"PostgreSQL {version}", sep=", ")
servers.stop()
"""


def test_development_servers_stay_and_are_found_again(folder):
    command = [sys.executable, "-m", "annotator.embedded", "env", "--data", str(folder)]
    first = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    second = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert first.stdout == second.stdout
    assert first.stdout.startswith("export DATABASE_URL=")
    psycopg.connect(postgres.url(DataFolder(folder))).close()
    assert process.end_all(folder) > 1
    assert process.left_behind(folder) == []


def test_death_signals_have_the_names_that_setpriv_knows():
    command = process.without_root(["true"], death_signal=signal.SIGINT)
    assert subprocess.run(command).returncode == 0
