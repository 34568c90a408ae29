"""Import: rows a second against COPY of the very rows it made, in turn, and the memory the importing processes take."""

import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any

import psycopg
from django.contrib.auth import get_user_model
from django.db import connection

from annotator.embedded import postgres
from annotator.embedded.servers import Servers
from reviews.actions.importing import run_import, start_import
from reviews.enums import ImportState
from reviews.models import ContextDocument, Item, Original, Outcome, Project, Step, Task, Trajectory
from tests import factories as make
from tests.bench.figures import Figure, count, ratio
from tests.bench.servers import drop_database, in_process, make_database

ROUNDS, ROWS = 5, 10_000
# A file of a gigabyte is of longer runs: so many exchanges in each, some ten kilobytes.
GIGABYTE, EXCHANGES = 1_000_000_000, 12
PIECE = 1024 * 1024
# In the order in which rows refer to each other.
TABLES = [model._meta.db_table for model in (ContextDocument, Task, Trajectory, Step, Original, Outcome, Item)]


def run(servers: Servers, *, gigabyte: bool = False) -> list[Figure]:
    """Each round imports a file of its own, then copies what came in to a second database with the same tables."""
    return _run_gigabyte(servers) if gigabyte else _run_rounds(servers)


def _run_rounds(servers: Servers) -> list[Figure]:
    imported, copied = make_database(servers, "importing"), make_database(servers, "importing_copy")
    with tempfile.TemporaryDirectory(dir=servers.folder.path) as folder:
        lines = [partial(_lines, number) for number in range(ROUNDS)]
        rounds = in_process(imported, _rounds, postgres.url(servers.folder, copied), Path(folder), lines)
    for database in (imported, copied):
        drop_database(servers, database)
    seconds, copying, memory, reader, size = ([each[column] for each in rounds[1:]] for column in range(5))
    return [
        ratio("import: speed of COPY for the same rows", copying, seconds, at_least=0.5),
        count("import: rows a second", ROWS / sorted(seconds)[len(seconds) // 2], unit="rows/s"),
        count("import: MB a second of the file", size[0] / sorted(seconds)[len(seconds) // 2] / 1e6, unit="MB/s"),
        Figure("import: memory of the process", memory[-1], memory[0], memory[-1], unit="MB", goal="< 300"),
        Figure("import: memory of the one that reads", reader[-1], reader[0], reader[-1], unit="MB", goal="< 300"),
        ratio("import: memory after all rounds / after the second", memory[-1:], memory[:1], at_most=1.1),
    ]


def _run_gigabyte(servers: Servers) -> list[Figure]:
    imported, copied = make_database(servers, "importing"), make_database(servers, "importing_copy")
    with tempfile.TemporaryDirectory(dir=servers.folder.path) as folder:
        url = postgres.url(servers.folder, copied)
        ((seconds, copying, memory, reader, size),) = in_process(imported, _rounds, url, Path(folder), [_gigabyte])
    for database in (imported, copied):
        drop_database(servers, database)
    return [
        ratio("import of a gigabyte: speed of COPY for the same rows", [copying], [seconds], at_least=0.5),
        count("import of a gigabyte: MB a second of the file", size / seconds / 1e6, unit="MB/s"),
        Figure("import of a gigabyte: most memory of the process", memory, unit="MB", goal="< 300", met=memory < 300),
        Figure(
            "import of a gigabyte: most memory of the one that reads", reader, unit="MB", goal="< 300", met=reader < 300
        ),
    ]


def _gigabyte() -> Iterator[str]:
    size = number = 0
    while size < GIGABYTE:
        line = _line(f"g-{number}", exchanges=EXCHANGES)
        size, number = size + len(line), number + 1
        yield line


Lines = Callable[[], Iterable[str]]


def _rounds(copy_url: str, folder: Path, files: list[Lines]) -> list[tuple[float, float, float, float, int]]:
    """Per round the seconds of the import, those of the COPY, the most memory held so far by the process and by the one
    that reads for it, in MB, and the file's bytes."""
    project = make.project()
    actor = make.lead_of(project)
    found = []
    with psycopg.connect(copy_url, autocommit=True) as target:
        _copy_people(target, project)
        for round_, lines in enumerate(files):
            path = folder / f"runs-{round_}.jsonl"
            with path.open("w") as file:
                file.writelines(lines())
            before = {table: _last(table) for table in TABLES}
            start = time.perf_counter()
            job = run_import(job_id=start_import(actor=actor, project=project, name=path.name, path=path).pk)
            seconds = time.perf_counter() - start
            if (job.state, job.created) != (ImportState.FINISHED, job.rows_done):
                raise RuntimeError(f"The import ended as {job.state} with {job.created} runs: {job.error}")
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            size = path.stat().st_size
            path.unlink()
            found.append((seconds, _copy(target, before, folder), memory, reader, size))
    return found


def _lines(round_: int) -> Iterator[str]:
    """Chat runs as engineers have them, each of its own content."""
    return (_line(f"{round_}-{number}") for number in range(ROWS))


def _line(key: str, *, exchanges: int = 1) -> str:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"My order {key} came a week late. I want my money back, please."}
    ]
    for turn in range(exchanges):
        call = {"name": "read_account", "arguments": json.dumps({"account_id": f"A-{key}-{turn}"})}
        messages += [
            {"role": "assistant", "content": "I am sorry to hear that. I will look at the order now. " * 4},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call-{key}-{turn}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"call-{key}-{turn}",
                "content": json.dumps({"account_id": f"A-{key}", "name": "Daniel Osei", "plan": "basic"}),
            },
            {"role": "assistant", "content": "A refund of $64.20 is on its way to the card you paid with. " * 3},
        ]
    outcome = {"result": "success", "reward": 1.0, "model": "model-a"}
    row = {"messages": messages, "task_id": f"task-{key}", "family": "refunds", "outcome": outcome}
    return json.dumps(row) + "\n"


def _copy_people(target: psycopg.Connection, project: Project) -> None:
    """What the rows refer to and did not come in with them."""
    for table in (get_user_model()._meta.db_table, Project._meta.db_table):
        with tempfile.TemporaryFile() as content:
            _copy_out(table, 0, content)
            _copy_in(target, table, content)


def _last(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(max(id), 0) FROM {table}")  # noqa: S608 (names of our tables)
        return int(cursor.fetchone()[0])


def _copy(target: psycopg.Connection, before: dict[str, int], folder: Path) -> float:
    """Seconds that COPY takes to write the rows that came in since, in one transaction. Reading them is not timed."""
    with ExitStack() as stack:
        contents = {table: stack.enter_context(tempfile.TemporaryFile(dir=folder)) for table in TABLES}
        for table, content in contents.items():
            _copy_out(table, before[table], content)
        start = time.perf_counter()
        with target.transaction():
            for table, content in contents.items():
                _copy_in(target, table, content)
        return time.perf_counter() - start


def _copy_out(table: str, after: int, content: IO[bytes]) -> None:
    statement = f"COPY (SELECT * FROM {table} WHERE id > {after} ORDER BY id) TO STDOUT"  # noqa: S608
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for piece in copy:
            content.write(piece)
    content.seek(0)


def _copy_in(target: psycopg.Connection, table: str, content: IO[bytes]) -> None:
    with target.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        while piece := content.read(PIECE):
            copy.write(piece)
