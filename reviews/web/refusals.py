"""Turns what an action refuses into a page that says what happened, with the right status."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render, resolve_url

from reviews.errors import AssayError

TITLES = {
    400: "That did not work",
    403: "This is not open to you",
    404: "There is nothing here",
    409: "This cannot be done as things stand",
    422: "Something is missing",
}


class RefusalPages:
    """Middleware: an AssayError that a view lets through becomes error.html, or JSON where a script asked for it.

    A script that asks without a session is told so (401).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        return _signed_out() if _leads_to_sign_in(response) and _asked_by_script(request) else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, AssayError):
            return None
        if _wants_json(request):
            return JsonResponse({"message": error.message}, status=error.status)
        return refusal(request, error)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _asked_by_script(request: HttpRequest) -> bool:
    """A script follows a redirect unseen, and would take the sign-in page for its answer."""
    return _wants_json(request) or "HX-Request" in request.headers


def _leads_to_sign_in(response: HttpResponse) -> bool:
    return response.status_code == 302 and response["Location"].startswith(resolve_url(settings.LOGIN_URL))


def _signed_out() -> HttpResponse:
    return JsonResponse({"message": "You are signed out. Sign in again; what you entered is kept."}, status=401)


def refusal(request: HttpRequest, error: AssayError, **context: str) -> HttpResponse:
    """The page itself, for views that know a better way on than the first page (`href`, `action`)."""
    title = TITLES.get(error.status, TITLES[400])
    return render(request, "error.html", {"title": title, "reason": error.message, **context}, status=error.status)
