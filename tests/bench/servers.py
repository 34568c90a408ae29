"""The bench's own servers: PostgreSQL with the settings it has in use, and a database per size to measure on.

Everything that touches Django's database runs in a process of its own (`in_process`), because a process has one
default database, and because connections do not survive a fork.
"""

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from annotator.embedded import postgres
from annotator.embedded.servers import Servers

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / ".data" / "bench"
TEMPLATE = postgres.DATABASE
FORK = multiprocessing.get_context("fork")


@contextmanager
def running(programs: Path | None = None) -> Iterator[Servers]:
    """Servers on a folder made for this run and removed after it, with the tables laid and Django set up.

    `programs` is the folder of another build of PostgreSQL, where ours lacks an extension that a peer asks for.
    """
    if programs:
        postgres._programs = lambda: programs
    DATA.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=DATA))
    servers = Servers(folder)
    try:
        servers.take_folder()
        servers.start()
        os.environ.update(
            servers.environment(),
            DJANGO_SETTINGS_MODULE="annotator.settings",
            HASHED_STATIC="0",
            LOG_LEVEL="WARNING",
            API_REQUESTS_PER_MINUTE="1000000",
        )
        manage("migrate", "--verbosity", "0")
        _set_up_django()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


def manage(*arguments: str, **environment: str) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment})


def _set_up_django() -> None:
    import django  # it reads its settings on import, so the environment comes first

    django.setup()


def make_database(servers: Servers, name: str) -> str:
    """A database with empty tables; returns its name."""
    with psycopg.connect(postgres.url(servers.folder, "postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{TEMPLATE}"')
    return name


def drop_database(servers: Servers, name: str) -> None:
    with psycopg.connect(postgres.url(servers.folder, "postgres"), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def use_database(name: str) -> None:
    """Leads this process' Django to a database; before its first query."""
    from django.db import connections

    connections.databases["default"]["NAME"] = name


def in_process(database: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, run in a process of its own on that database."""
    ours, theirs = FORK.Pipe()
    child = FORK.Process(target=_answer, args=(theirs, database, function, arguments), daemon=True)
    child.start()
    theirs.close()
    try:
        failed, answer = ours.recv()
    except EOFError:
        raise RuntimeError(f"{function.__name__} ended without an answer") from None
    child.join()
    if failed:
        raise RuntimeError(answer)
    return answer


def _answer(pipe: Any, database: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    import traceback

    use_database(database)
    try:
        pipe.send((False, function(*arguments)))
    except Exception:
        pipe.send((True, traceback.format_exc()))
