"""Signs of life of the worker, and the return of tasks that a killed worker held."""

import time

from celery import shared_task
from celery.signals import heartbeat_sent
from django.core.cache import cache

from annotator.celery import app

ROUND_KEY = "worker-round"
PULSE_KEY = "worker-pulse"


@shared_task(name="annotator.tasks.heartbeat")
def heartbeat() -> None:
    """A round: beat asks, a worker does. Proves that tasks really are done."""
    cache.set(ROUND_KEY, time.time(), timeout=None)


@heartbeat_sent.connect
def pulse(**_: object) -> None:
    """Sent by the worker's main process every two seconds, also while all its hands are busy with long tasks."""
    cache.set(PULSE_KEY, time.time(), timeout=None)


def seconds_since_round() -> float | None:
    """How long ago a worker last finished a round; None when never."""
    return _seconds_since(ROUND_KEY)


def seconds_since_pulse() -> float | None:
    """How long ago a worker process was last there; None when never."""
    return _seconds_since(PULSE_KEY)


def _seconds_since(key: str) -> float | None:
    last = cache.get(key)
    return None if last is None else max(0.0, time.time() - last)


def requeue_unfinished() -> int:
    """Puts back what killed workers had taken and not finished, and returns how much that was.

    The queue does so by itself only after TASK_VISIBILITY_TIMEOUT. Only sound while no worker runs.
    """
    with app.connection_for_write() as broker:
        channel = broker.default_channel
        with channel.conn_or_acquire() as client:
            tags = client.zrange(channel.unacked_index_key, 0, -1)
        for tag in tags:
            channel.qos.restore_by_tag(tag)
    return len(tags)
