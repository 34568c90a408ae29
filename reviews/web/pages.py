"""What pages with filters and pages of a list have in common."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from reviews.errors import AssayError, Forbidden

MOST_CHARACTERS = 200


def asked_of(request: HttpRequest, *names: str) -> dict[str, str]:
    """The filters in the address, each empty where it is not set."""
    return {name: request.GET.get(name, "").strip()[:MOST_CHARACTERS] for name in names}


def query_of(asked: dict[str, str]) -> str:
    """The filters that are set, as the beginning of a query string."""
    chosen = {name: value for name, value in asked.items() if value}
    return f"{urlencode(chosen)}&" if chosen else ""


def number(text: str | None, otherwise: int) -> int:
    """A whole number out of an address, or what to take instead."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def group(form: QueryDict, prefix: str) -> dict[str, str]:
    """The fields of a form whose names begin so, without the beginning; empty ones are left out."""
    return {name.removeprefix(prefix): str(form[name]) for name in form if name.startswith(prefix) and form[name]}


def whole(text: str) -> int | str:
    """The number a text says, or the text itself, so that a mistake is named and not lost."""
    return number(text, -1) if number(text, -1) >= 0 else text


def is_uid(given: object) -> bool:
    """Whether this is the id of something, as far as its form goes."""
    try:
        return bool(UUID(str(given)))
    except ValueError:
        return False


def go(request: HttpRequest, to: str, **where: object) -> HttpResponse:
    """On to another page, whether a script sent the form or the browser did."""
    address = reverse(to, kwargs=where)
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


def do_and_say(request: HttpRequest, action: Callable[..., Any], said: str, **given: Any) -> None:
    """Do it and say so, or say why not. Forbidden goes through."""
    try:
        action(actor=request.user, **given)
    except Forbidden:
        raise
    except AssayError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said)
