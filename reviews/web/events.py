"""The audit log of a project, by verb, person and day."""

from datetime import date
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.queries import items as queries
from reviews.queries.projects import members
from reviews.web.access import project_for, project_page
from reviews.web.pages import asked_of, query_of

PAGE = 100


@login_required
@never_cache
@require_GET
def events(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_events")
    asked = asked_of(request, "verb", "actor", "day")
    if asked["day"] and not _is_day(asked["day"]):
        asked["day"] = ""
    found = queries.events_found(project, reader=request.user, asked=asked)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    known = _verbs()
    return project_page(
        request,
        "reviews/events.html",
        project=project,
        at="events",
        page=page,
        rows=[(event, known.get(event.verb) or _spelt(event.verb), _details(event.data)) for event in page],
        asked=asked,
        query=query_of(asked),
        kinds=sorted({verb.partition(".")[0] for verb in known}),
        members=members(project),
    )


def _verbs() -> dict[str, str]:
    """Each verb and its words, those of apps above among them."""
    return {verb: words for path in settings.EVENT_VERBS for verb, words in import_string(path).choices}


def _details(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """What an event holds besides, in words: of names with values each pair."""
    return [
        (name, ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else value)
        for name, value in data.items()
    ]


def _spelt(verb: str) -> str:
    return verb.replace(".", ": ").replace("_", " ")


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
