"""How gunicorn serves Assay: `gunicorn -c annotator/gunicorn_conf.py annotator.wsgi`. Numbers come from outside."""

from pathlib import Path
from typing import Any

from environs import Env
from prometheus_client import multiprocess

env = Env()

# Address and port to listen at.
bind = env.str("BIND", "127.0.0.1:8000")
# Processes, and threads in each.
workers = env.int("WEB_WORKERS", 2)
threads = env.int("WEB_THREADS", 4)
worker_class = "gthread"
# Seconds after which a silent process is replaced, and that a request may still take when gunicorn ends.
timeout = env.int("WEB_TIMEOUT", 60)
graceful_timeout = env.int("WEB_GRACEFUL_TIMEOUT", 10)
# Heartbeats of the processes in memory: a slow disk must not look like a dead process.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
loglevel = "warning"
# Every request is logged by Assay itself, with its id and without tokens.
accesslog = None


def child_exit(server: Any, worker: Any) -> None:
    """Takes a dead process' gauges out of the sums that /metrics shows."""
    if env.str("PROMETHEUS_MULTIPROC_DIR", ""):
        multiprocess.mark_process_dead(worker.pid)
