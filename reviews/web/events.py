"""The audit log of a project, by topic, person and day."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.models import Event
from reviews.queries import items as queries
from reviews.queries.projects import members
from reviews.queries.targets import Place, Target, fields_of_targets
from reviews.web.access import May, project_for, project_page
from reviews.web.pages import asked_of, query_of

PAGE = 100
# Of hashes and other long runs of letters so much is shown; whoever points at it sees the rest.
SHORT = 12
LONG = re.compile(r"[0-9a-f]{24,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@login_required
@never_cache
@require_GET
def events(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_events")
    asked = asked_of(request, "about", "actor", "day")
    if asked["day"] and not _is_day(asked["day"]):
        asked["day"] = ""
    topics = _all_of(settings.EVENT_TOPICS)
    found = queries.events_found(project, reader=request.user, asked=asked, about=topics.get(asked["about"], ()))
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    known, places = _verbs(), _all_of(settings.EVENT_PLACES)
    links = _links(page, places, May(request.user, project))
    return project_page(
        request,
        "reviews/events.html",
        project=project,
        at="events",
        page=page,
        rows=[
            Row(
                event,
                known.get(event.verb) or _spelt(event.verb),
                links.get((event.target_type, event.target_id)),
                _details(event.data, places),
            )
            for event in page
        ],
        asked=asked,
        query=query_of(asked),
        topics=sorted(topics),
        members=members(project),
    )


@dataclass(frozen=True)
class Detail:
    """One thing an event holds besides; `whole` where `words` leave some of it out."""

    name: str
    words: str
    whole: str = ""


@dataclass(frozen=True)
class Row:
    """An event with what was done in words, and what it is about as words and address, where that has a page."""

    event: Event
    words: str
    about: tuple[str, str] | None
    details: list[Detail]


def _verbs() -> dict[str, str]:
    """Each verb and its words, those of apps above among them."""
    return {verb: words for path in settings.EVENT_VERBS for verb, words in import_string(path).choices}


def _all_of(paths: list[str]) -> dict[str, Any]:
    """What each app has of it, together."""
    return {name: value for path in paths for name, value in import_string(path).items()}


def _links(page: Iterable[Event], places: dict[str, Place], may: May) -> dict[Target, tuple[str, str]]:
    open_to = {name: place for name, place in places.items() if may[place.permission]}
    return {
        target: (places[target[0]].words, reverse(places[target[0]].page, args=fields))
        for target, fields in fields_of_targets(page, open_to).items()
    }


def _details(data: dict[str, Any], numbered: Container[str]) -> list[Detail]:
    """All of it but the database's own numbers of things, which say nothing to anybody."""
    return [_detail(name, value) for name, value in data.items() if name not in numbered or not isinstance(value, int)]


def _detail(name: str, value: Any) -> Detail:
    whole = _in_words(value)
    words = LONG.sub(lambda found: f"{found[0][:SHORT]}…", whole)
    return Detail(name.replace("_", " "), words, "" if words == whole else whole)


def _in_words(value: Any) -> str:
    """A value as a person writes it: of names with values each pair, of a list each member."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_in_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)


def _spelt(verb: str) -> str:
    return verb.replace(".", ": ").replace("_", " ")


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
