"""Refuses what no honest client sends, and keeps answers between those who speak."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.cache import patch_cache_control

from annotator.problems import MEDIA_TYPE, problem

_TOO_LARGE = "This is larger than the {limit} MB that may be uploaded; split it, or import it by command."
NUL = "\x00"


class PrivateAnswersMiddleware:
    """Lets nobody keep an answer for others: what is said here depends on who asks, by cookie or by token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        return response


class TooLargeRefusedMiddleware:
    """Answers 413 to what is larger than any upload may be, before a byte of it is stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > settings.UPLOAD_MAX_BYTES:
            return _refusal(request, 413, _TOO_LARGE.format(limit=settings.UPLOAD_MAX_BYTES // 1024**2))
        return self.get_response(request)


class NulBytesRefusedMiddleware:
    """Answers 400 to NUL bytes in the address or in a form: PostgreSQL cannot store them, so they must not come so far.

    What the API takes, JSON and uploads, is read by its own parsers and fields, which refuse them one by one.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if NUL in request.path or _has_nul(request.GET):
            return _refusal(request, 400, "The address contains a NUL byte.")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        """Looks at forms only after the view is known, so that upload handlers of a view still can be set."""
        upload = request.content_type == "multipart/form-data" and not request.path.startswith("/api/")
        if not upload and request.content_type != "application/x-www-form-urlencoded":
            return None
        try:
            has_nul = _has_nul(request.POST)
        except BadRequest:  # Django's own page for it would read the form again
            return _refusal(request, 400, "The form is not UTF-8.")
        return _refusal(request, 400, "The form contains a NUL byte.") if has_nul else None


def _refusal(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """The sentence alone, or, for the API, the problem that says it."""
    if request.path.startswith("/api/"):
        return JsonResponse(problem(status, sentence), status=status, content_type=MEDIA_TYPE)
    return HttpResponse(sentence, status=status, content_type="text/plain")


def _has_nul(data: QueryDict) -> bool:
    return any(NUL in key or any(NUL in value for value in values) for key, values in data.lists())
