"""Is Assay well? For machines at /healthz, for leads and admins at /health/, for Prometheus at /metrics."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView

from annotator.celery import app as celery_app
from annotator.tasks import seconds_since_pulse, seconds_since_round
from reviews.rules import is_staff, leads_anything

LOOPBACK = {"127.0.0.1", "::1"}


@dataclass(frozen=True)
class Part:
    """One part of Assay: whether it works, in words, and how old that knowledge is or how long the answer took."""

    name: str
    live: bool
    words: str
    seconds: float | None = None


def parts() -> list[Part]:
    """Every part, asked just now. Costs one round trip to each."""
    cached = _asked("cache", _cache_answers, "It keeps what it is given.")
    return [
        Part("web", True, "This answer comes from it."),
        _asked("database", _database_answers, "It answers queries."),
        cached,
        _worker() if cached.live else Part("worker", False, "Nobody knows, because the cache does not answer."),
    ]


def _asked(name: str, ask: Callable[[], None], words: str) -> Part:
    began = time.monotonic()
    try:
        ask()
    except Exception as error:  # whatever a broken server throws, the answer is that it does not work
        return Part(name, False, f"It does not answer ({type(error).__name__}).", time.monotonic() - began)
    return Part(name, True, words, time.monotonic() - began)


def _database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _cache_answers() -> None:
    cache.set("health", "well", timeout=60)
    if cache.get("health") != "well":
        raise LookupError("what was given to the cache is not there")


def _worker() -> Part:
    last_round, pulse = seconds_since_round(), seconds_since_pulse()
    limit = settings.HEARTBEAT_DEAD_SECONDS
    if last_round is not None and last_round <= limit:
        return Part("worker", True, f"It did its last round {last_round:.0f} seconds ago.", last_round)
    if pulse is not None and pulse <= limit:
        return Part(
            "worker", True, "It is there, but has done no round: it is busy with long work, or beat is missing.", pulse
        )
    if pulse is None:
        return Part("worker", False, "No worker has been seen yet. Is one running, and beat beside it?")
    return Part(
        "worker", False, f"No worker has been seen for {pulse:.0f} seconds; imports, exports and labels wait.", pulse
    )


def waiting_tasks() -> int | None:
    """Tasks that no worker has taken yet; None when the queue does not answer."""
    try:
        with celery_app.connection_for_read() as broker, broker.default_channel.conn_or_acquire() as client:
            return client.llen(celery_app.conf.task_default_queue)
    except Exception:  # health must be told, not raised
        return None


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when every part is live, 503 otherwise; the body says which is not."""
    found = parts()
    well = all(part.live for part in found)
    body: dict[str, Any] = {"status": "ok" if well else "failing"}
    body["parts"] = {
        part.name: {
            "live": part.live,
            "detail": part.words,
            "seconds": None if part.seconds is None else round(part.seconds, 3),
        }
        for part in found
    }
    return JsonResponse(body, status=200 if well else 503)


@never_cache
@require_safe
@login_required
def health_page(request: HttpRequest) -> HttpResponse:
    """The same in words, for people who can do something about it."""
    if not (is_staff(request.user, None) or leads_anything(request.user, None)):
        raise PermissionDenied("Only leads and admins see how Assay is.")
    return render(request, "annotator/health.html", {"parts": parts(), "waiting_tasks": waiting_tasks()})


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Numbers for Prometheus: to a process on this machine, or to a signed-in admin."""
    # What a proxy on this machine passes on comes from loopback too, but says so.
    forwarded = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    local = request.META.get("REMOTE_ADDR") in LOOPBACK and not forwarded
    if not (local or is_staff(request.user, None)):
        raise PermissionDenied("Metrics are given to admins and to processes on the same machine.")
    return ExportToDjangoView(request)
