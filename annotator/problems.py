"""Every error of the API as a problem-details document (RFC 9457), `application/problem+json`.

Mistakes in the input are 422 with a sentence for each field under `errors`; what cannot be read at all is 400.
"""

import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.defaults import server_error
from kombu.exceptions import OperationalError as QueueAway
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from reviews.errors import AssayError

MEDIA_TYPE = "application/problem+json"

log = logging.getLogger(__name__)


def problem_details(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: every refusal becomes a problem, anything else goes on to `internal_error`."""
    if isinstance(error, AssayError):
        set_rollback()
        return _response(refusal(error))
    if isinstance(error, RequestDataTooBig):
        return _response(problem(413, "The request is larger than this server takes."))
    if isinstance(error, SuspiciousOperation):
        return _response(problem(400, "The request could not be read."))
    if isinstance(error, QueueAway):
        log.error("Background work could not be started", exc_info=error)
        return _response(problem(503, "The queue of background work cannot be reached. Try again in a moment."))
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, ValidationError):
        errors = dict(_sentences(error.detail))
        body = problem(422, " ".join(errors.values()), field=next(iter(errors), None), errors=errors)
    else:
        body = problem(response.status_code, str(response.data["detail"]))
    return _response(body, headers=dict(response.headers))


def refusal(error: AssayError) -> dict[str, Any]:
    """The problem of an action's refusal; a conflict brings along what now stands."""
    current = getattr(error, "current", None)
    return problem(
        error.status,
        error.message,
        field=error.field,
        errors=getattr(error, "errors", None),
        current=current if isinstance(current, dict) else None,
    )


def problem(status: int, detail: str, **more: Any) -> dict[str, Any]:
    """The document itself. What is not known is absent."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return {name: value for name, value in body.items() if value is not None}


def internal_error(request: HttpRequest) -> HttpResponseBase:
    """Django's last resort: the API gets a problem, people get a page. The error itself is in the log."""
    if request.path.startswith("/api/"):
        body = problem(500, "Something went wrong on the server. It has been logged; trying again does no harm.")
        return JsonResponse(body, status=500, content_type=MEDIA_TYPE)
    return server_error(request)


def _response(body: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    headers = {name: value for name, value in (headers or {}).items() if name.lower() != "content-type"}
    return Response(body, status=body["status"], headers=headers, content_type=MEDIA_TYPE)


def _sentences(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """DRF's nested errors as ("criteria.2.levels", sentence)."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            here = path if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from _sentences(inner, here)
    elif isinstance(detail, list) and any(isinstance(inner, dict | list) for inner in detail):
        for number, inner in enumerate(detail):
            yield from _sentences(inner, f"{path}.{number}" if path else str(number))
    else:
        words = detail if isinstance(detail, list) else [detail]
        yield path or "body", " ".join(str(word) for word in words)
