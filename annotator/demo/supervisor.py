"""Starts every process of Assay in order, starts again what dies, and ends all of it on Ctrl-C."""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psycopg
import redis

from annotator.embedded import postgres, process, valkey
from annotator.embedded.errors import CannotRun
from annotator.embedded.servers import Servers

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS_UNTIL_HEALTHY = 120
SECONDS_TO_END = 15
# A process that ends sooner than this has not recovered yet: the next start waits longer.
SECONDS_TO_RECOVER = 30
LONGEST_PAUSE = 30


class Stopped(Exception):
    """Somebody asked the demo to end."""


@dataclass(frozen=True)
class Command:
    """One of Assay's commands while it runs, and where it writes."""

    name: str
    running: subprocess.Popen[bytes]
    log: Path


@dataclass
class Child:
    """A process that is to run as long as the demo does."""

    name: str
    command: list[str]
    running: subprocess.Popen[bytes] | None = None
    started: float = 0
    pause: float = 1
    starts_again: float = field(default=0, repr=False)


class Supervisor:
    """Owns the servers and the processes of one demo."""

    def __init__(self, data: Path, port: int) -> None:
        self.port = port
        self.servers = Servers(data)
        self.data = self.servers.folder.path
        self.environment: dict[str, str] = {}
        python = [sys.executable, "-m"]
        celery = [*python, "celery", "-A", "annotator", "--quiet"]
        self.children = [
            Child("web", [*python, "gunicorn", "-c", "annotator/gunicorn_conf.py", "annotator.wsgi"]),
            Child("worker", [*celery, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle"]),
            Child("beat", [*celery, "beat", "--schedule", str(self.data / "beat"), "--pidfile="]),
        ]

    def run(self) -> None:
        """Returns only by an exception: Stopped when asked to end, CannotRun when it cannot go on."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _stop)
        try:
            self._prepare()
            for child in self.children:
                self._start(child)
            self._wait_until_healthy()
            self._print_welcome()
            while True:
                self._look_after_children()
                time.sleep(0.5)
        finally:
            self._end()

    def _prepare(self) -> None:
        own_servers = _uses_own_servers()
        self.servers.take_folder()
        _check_port(self.port)
        if own_servers:
            say("Starting PostgreSQL and Valkey …")
            self.servers.start()
        else:
            _check_given_servers()
        self.environment = self._environment(own_servers)
        say("Preparing the database and the demo …")
        # Hashing and compressing scripts takes seconds, so it is done beside the rest and only when one changed.
        note, state = self.data / "static_collected", static_state()
        fresh = note.exists() and note.read_text() == state
        collecting = None if fresh else self._begin("collectstatic", "--verbosity", "0", "--no-input")
        self._manage("migrate", "--verbosity", "0")
        self._manage("seed_demo")
        self._manage("open_demo", "--base-url", self.base_url, "--out", str(self.data / "demo.json"))
        if collecting:
            self._finish(collecting)
            note.write_text(state)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _environment(self, own_servers: bool) -> dict[str, str]:
        metrics = self.data / "metrics"
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir()
        folder = {"MEDIA_ROOT": str(self.servers.folder.files), "STATIC_ROOT": str(self.servers.folder.static)}
        servers = (
            self.servers.environment() if own_servers else folder | {"SECRET_KEY": self.servers.folder.secret_key()}
        )
        return {
            **os.environ,
            **servers,
            "DJANGO_SETTINGS_MODULE": "annotator.settings",
            "BIND": f"127.0.0.1:{self.port}",
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
        }

    def _manage(self, *arguments: str) -> None:
        """Runs one of Assay's commands to its end."""
        self._finish(self._begin(*arguments))

    def _begin(self, *arguments: str) -> Command:
        """Starts one of Assay's commands; what it prints is kept in case it fails."""
        log = self.servers.folder.logs / f"{arguments[0]}.log"
        with log.open("wb") as output:
            running = process.start(
                [sys.executable, str(ROOT / "manage.py"), *arguments],
                folder=self.data,
                output=output,
                environment=self.environment,
                death_signal=signal.SIGKILL,
            )
        return Command(arguments[0], running, log)

    def _finish(self, command: Command) -> None:
        if command.running.wait():
            raise CannotRun(
                f"`manage.py {command.name}` failed: {last_line(command.log)} (all of it is in {command.log})"
            )

    def _start(self, child: Child) -> None:
        if child.name == "worker":
            # Nothing works on the queue right now, so whatever is marked as taken belongs to a dead worker.
            self._manage("requeue_unfinished")
        with self._log(child).open("wb") as output:
            child.running = process.start(
                child.command,
                folder=self.data,
                output=output,
                environment=self.environment,
                death_signal=signal.SIGTERM,
            )
        child.started = time.monotonic()

    def _log(self, child: Child) -> Path:
        return self.servers.folder.logs / f"{child.name}.log"

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + SECONDS_UNTIL_HEALTHY
        while time.monotonic() < deadline:
            for child in self.children:
                if child.running and child.running.poll() is not None:
                    raise CannotRun(f"The {child.name} process ended at once: {last_line(self._log(child))}")
            if is_healthy(self.base_url):
                return
            time.sleep(0.2)
        raise CannotRun(
            f"Assay was not healthy after {SECONDS_UNTIL_HEALTHY} seconds; look into {self.servers.folder.logs}."
        )

    def _print_welcome(self) -> None:
        demo = json.loads((self.data / "demo.json").read_text())
        say(f"\nAssay is running at {demo['base_url']}\n\nOne link per role; each signs in once:\n")
        for role, access in demo["roles"].items():
            say(f"  {role:<9} {access['sign_in_url']}")
        say(f"\nThe links and an API token per role are in {self.data / 'demo.json'}.")
        say(f"Ctrl-C ends all of it; the data stay in {self.data}.")

    def _look_after_children(self) -> None:
        self._look_after_servers()
        for child in self.children:
            if child.running is None:
                if time.monotonic() >= child.starts_again:
                    self._start(child)
            elif child.running.poll() is not None:
                if time.monotonic() - child.started > SECONDS_TO_RECOVER:
                    child.pause = 1
                say(
                    f"The {child.name} process ended ({child.running.returncode}); starting it again in "
                    f"{child.pause:.0f} s."
                )
                child.running, child.starts_again = None, time.monotonic() + child.pause
                child.pause = min(child.pause * 2, LONGEST_PAUSE)

    def _look_after_servers(self) -> None:
        for name, server in list(self.servers.running.items()):
            if server.poll() is not None:
                say(f"{name} ended ({server.returncode}); starting it again.")
                start = postgres.start if name == "postgres" else valkey.start
                self.servers.running[name] = start(self.servers.folder)

    def _end(self) -> None:
        """Ends the processes, then the servers they use, and whatever any of them left behind."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        running = [child.running for child in self.children if child.running and child.running.poll() is None]
        for child in running:
            child.terminate()
        deadline = time.monotonic() + SECONDS_TO_END
        for child in running:
            try:
                child.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
        self.servers.stop()


def say(text: str) -> None:
    print(text, flush=True)


def last_line(log: Path) -> str:
    """The last line that is no continuation of another: of a traceback the error itself."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line[:1].strip()]
    return lines[-1] if lines else "it gave no reason"


def static_state() -> str:
    """Changes when a file of ours, the way they are stored, or the version of a package changes."""
    ours = sorted(path for path in (ROOT / "static").rglob("*") if path.is_file())
    ours.append(ROOT / "annotator" / "static_files.py")
    seen = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in ours]
    return hashlib.sha256("\n".join([*seen, (ROOT / "requirements.txt").read_text()]).encode()).hexdigest()


def is_healthy(base_url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base_url}/healthz", timeout=10) as answer:  # noqa: S310 (our own address)
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(signal.Signals(number).name)


def _uses_own_servers() -> bool:
    given = [name for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)]
    if len(given) == 1:
        raise CannotRun(f"Only {given[0]} is set; set both DATABASE_URL and REDIS_URL, or neither.")
    return not given


def _check_given_servers() -> None:
    """Says which of the servers in the environment is not there, before anything is done with the other."""
    try:
        psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=5).close()
    except (psycopg.Error, ValueError) as error:
        raise CannotRun(f"The database at DATABASE_URL does not answer: {_first_line(error)}") from None
    try:
        redis.Redis.from_url(os.environ["REDIS_URL"], socket_connect_timeout=5).ping()
    except (redis.exceptions.RedisError, ValueError) as error:
        raise CannotRun(f"The Redis at REDIS_URL does not answer: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _check_port(port: int) -> None:
    if not 0 < port < 65536:
        raise CannotRun(f"{port} is not a port; choose one from 1 to 65535 with PORT=.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise CannotRun(f"Port {port} needs more rights; choose one above 1023 with PORT=.") from None
        except OSError:
            raise CannotRun(f"Port {port} is taken; choose another with PORT=.") from None
