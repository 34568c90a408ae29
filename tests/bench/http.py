"""Drives a site over HTTP: gunicorn as in use, connections that stay open, and several people at once."""

import http.client
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from annotator.embedded import postgres, process
from annotator.embedded.servers import Servers
from tests.bench.servers import ROOT

SECONDS_TO_START = 120
# gunicorn closes a connection that was silent for two seconds.
SECONDS_KEPT_OPEN = 1


@dataclass(frozen=True)
class Answer:
    """One answer and the seconds until its last byte was there."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """One person's connection, kept open, with the headers that say who they are."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.used_at = time.monotonic()

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None, {})

    def post(self, path: str, data: Any, **headers: str) -> Answer:
        return self._ask("POST", path, json.dumps(data).encode(), {"Content-Type": "application/json", **headers})

    def post_form(self, path: str, form: dict[str, Any], **headers: str) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, urlencode(form).encode(), {**kind, **headers})

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        if time.monotonic() - self.used_at > SECONDS_KEPT_OPEN:
            self.connection.close()
            self.connection.connect()
        start = time.perf_counter()
        self.connection.request(method, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        content = answer.read()
        self.used_at = time.monotonic()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, content, time.perf_counter() - start)


def expect(answer: Answer, *statuses: int) -> Answer:
    """The answer, if it is one of those wanted."""
    if answer.status not in statuses:
        raise RuntimeError(f"The site answered {answer.status}: {answer.body[:2000].decode(errors='replace')}")
    return answer


def at_once(tasks: Sequence[Callable[[], list[Any]]]) -> list[Any]:
    """All of them at the same time, each in a thread; what they gave, in one list."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [result for results in pool.map(lambda task: task(), tasks) for result in results]


@contextmanager
def gunicorn(
    python: str, *arguments: str, folder: Path, environment: dict[str, str], port: int, ready: str
) -> Iterator[None]:
    """A web server of two processes with four threads each, until the block ends; `ready` is a page that answers."""
    log = folder / "logs" / f"web-{port}.log"
    with log.open("wb") as output:
        server = process.start(
            [python, "-m", "gunicorn", *arguments],
            folder=folder,
            output=output,
            environment={**os.environ, **environment},
            death_signal=signal.SIGTERM,
        )
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            try:
                if Client(port).get(ready).status < 500:
                    break
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"The site did not start:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.3)
        yield
    finally:
        server.terminate()
        server.wait(timeout=30)


@contextmanager
def assay(servers: Servers, database: str, **more: str) -> Iterator[int]:
    """Assay on that database, as the demo runs it, with more of its settings; gives the port."""
    port = free_port()
    folder = servers.folder.path
    environment = {
        "DATABASE_URL": postgres.url(servers.folder, database),
        "BIND": f"127.0.0.1:{port}",
        "WEB_WORKERS": "2",
        "WEB_THREADS": "4",
        "PYTHONPATH": str(ROOT),
        **more,
    }
    arguments = ("-c", str(ROOT / "annotator" / "gunicorn_conf.py"), "--chdir", str(ROOT), "annotator.wsgi")
    with gunicorn(
        sys.executable, *arguments, folder=folder, environment=environment, port=port, ready="/accounts/login/"
    ):
        yield port


@contextmanager
def worker(servers: Servers, database: str) -> Iterator[None]:
    """A worker of two processes and the clock that gives it its regular work, until the block ends."""
    folder = servers.folder.path
    environment = {"DATABASE_URL": postgres.url(servers.folder, database), "PYTHONPATH": str(ROOT)}
    arguments = ("worker", "--beat", "--schedule", str(folder / "beat"), "--concurrency", "2")
    with (folder / "logs" / "worker.log").open("wb") as output:
        running = process.start(
            [sys.executable, "-m", "celery", "--workdir", str(ROOT), "-A", "annotator", "--quiet", *arguments],
            folder=folder,
            output=output,
            environment={**os.environ, **environment},
            death_signal=signal.SIGTERM,
        )
    try:
        yield
    finally:
        running.terminate()
        running.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
