"""The servers that the tests run against: started once per run, shared by all of its workers."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from annotator.embedded.servers import Servers

# Set by the process that started the servers; xdist's workers inherit it.
STARTED = "ASSAY_TEST_SERVERS"
# The data need not outlive a power cut here.
HASTY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


def prepare_environment() -> None:
    """Starts the servers, or joins those of the run, and leads Django to them."""
    if STARTED not in os.environ:
        _start()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    number = int(worker.removeprefix("gw")) + 1 if worker else 0
    os.environ.update(
        # Each worker has a database of its own (pytest-django's doing) and a Redis database of its own.
        REDIS_URL=f"{os.environ[STARTED]}?db={number}",
        DJANGO_SETTINGS_MODULE="annotator.settings",
        # The browser's driver runs an event loop in the main thread, where tests use the database.
        DJANGO_ALLOW_ASYNC_UNSAFE="1",
        HASHED_STATIC="0",
        LOG_LEVEL="WARNING",
        API_REQUESTS_PER_MINUTE="1000000",
    )
    for name in ("DEBUG", "SECURE", "DEALER"):
        os.environ.pop(name, None)


def _start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="assay-test-"))
    servers = Servers(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(servers.stop)
    servers.take_folder()
    servers.start(postgres_settings=HASTY)
    os.environ.update(servers.environment())
    os.environ[STARTED] = os.environ["REDIS_URL"]
