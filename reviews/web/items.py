"""The list of items, and the page of one: its run, where it stands in queues, and what its reader may know of it."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.actions.originals import read_original
from reviews.enums import ItemKind, OutcomeResult, QueueItemState
from reviews.errors import NotFound
from reviews.models import Item, Project
from reviews.queries import items as queries
from reviews.queries.comparing import other_runs
from reviews.queries.judging import field_piece, kinds_of, picture_of, run_map, spent_by, steps_window, tools_shown
from reviews.queries.judging import find as found_in
from reviews.queries.listings import VIEWERS, role_in
from reviews.queries.preferences import habits_of, reading_keys
from reviews.visibility import SOURCES, Phase, visible
from reviews.web.access import HtmxRequest, project_for, project_page
from reviews.web.pages import asked_of, number, query_of

PAGE = 50
FILTERS = ("q", "queue", "state", "family", "kind", "result", "model")


@login_required
@never_cache
@require_GET
def items(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    role = role_in(request.user, project)
    sees_outcome = visible(VIEWERS[role], Phase.JUDGING) >= SOURCES
    asked = asked_of(request, *FILTERS)
    found = queries.items_found(project, reader=request.user, sees_outcome=sees_outcome, asked=asked)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    return project_page(
        request,
        "reviews/items.html",
        project=project,
        at="items",
        page=page,
        rows=[queries.ItemRow(item, queries.seen_of(item, role)) for item in page],
        sees_outcome=sees_outcome,
        asked=asked,
        query=query_of(asked),
        queues=queries.queue_names(project),
        states=QueueItemState.choices,
        families=queries.families(project),
        kinds=ItemKind.choices,
        results=OutcomeResult.choices,
        models=queries.models_of(project) if sees_outcome else [],
    )


@login_required
@never_cache
@require_GET
def item(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    page = _page(request, project, uid)
    if page.item.trajectory is None:
        return project_page(request, "reviews/comparison.html", project=project, at="items", page=page)
    first, only = number(request.GET.get("from"), 1), request.GET.get("only", "")
    keys, reveal = habits_of(request.user).keys, not page.held
    context: dict[str, Any] = {
        "page": page,
        "others": [] if page.held else other_runs(page.item, reader=request.user, role=role_in(request.user, project)),
        "window": steps_window(page.item.run, at=first + 3 if first > 1 else None, only=only, reveal=reveal),
        "kinds": kinds_of(page.item.run, only),
        "keys": keys,
        "reading_keys": reading_keys(keys),
        "outline": run_map(page.item.run, reveal=reveal),
        "spent": spent_by(page.item.run),
        "tool_count": len(tools_shown(page.item.run, reveal=reveal)),
        "run_url": reverse("reviews:item", kwargs={"slug": slug, "uid": uid}),
    }
    return project_page(request, "reviews/item.html", project=project, at="items", **context)


@login_required
@never_cache
@require_GET
def steps(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """More steps of the run, as far as the budget goes."""
    item = _run(request, slug, uid)
    window = steps_window(
        item.run,
        first=number(request.GET.get("from"), 1),
        last=number(request.GET.get("to"), 0) or None,
        at=number(request.GET.get("at"), 0) or None,
        only=request.GET.get("only", ""),
        reveal=queries.reveals(item),
    )
    context = {"window": window, "run_url": reverse("reviews:item", kwargs={"slug": slug, "uid": uid})}
    return render(request, "components/_steps.html", context)


@login_required
@never_cache
@require_GET
def field(request: HtmxRequest, slug: str, uid: str, position: int) -> HttpResponse:
    """More of one field that was folded."""
    item = _run(request, slug, uid)
    start = number(request.GET.get("from"), 0)
    piece = field_piece(
        item.run, number=position, path=request.GET.get("path", ""), start=start, reveal=queries.reveals(item)
    )
    template = "components/_field_text.html" if request.htmx else "reviews/field.html"
    run_url = reverse("reviews:item", kwargs={"slug": slug, "uid": uid})
    return render(request, template, {"field": piece, "number": position, "run_url": run_url})


@login_required
@never_cache
@require_GET
def image(request: HttpRequest, slug: str, uid: str, position: int, place: int) -> HttpResponse:
    """A picture of a step, of the type its bytes say."""
    media, content = picture_of(_run(request, slug, uid).run, number=position, place=place)
    return HttpResponse(content, content_type=media)


@login_required
@never_cache
@require_GET
def tools(request: HtmxRequest, slug: str, uid: str) -> HttpResponse:
    """What the agent could use, with what each tool takes."""
    item = _run(request, slug, uid)
    run_url = reverse("reviews:item", kwargs={"slug": slug, "uid": uid})
    context = {"tools": tools_shown(item.run, reveal=queries.reveals(item)), "run_url": run_url}
    return render(request, "components/_tools.html" if request.htmx else "reviews/tools.html", context)


@login_required
@never_cache
@require_GET
def find(request: HtmxRequest, slug: str, uid: str) -> HttpResponse:
    """The steps in which a text stands."""
    item, text = _run(request, slug, uid), request.GET.get("q", "")[:200]
    run_url = reverse("reviews:item", kwargs={"slug": slug, "uid": uid})
    context = {"hits": found_in(item.run, text, reveal=queries.reveals(item)), "text": text, "run_url": run_url}
    return render(request, "components/_hits.html" if request.htmx else "reviews/find.html", context)


@login_required
@never_cache
@require_GET
def original(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The run's original as a file, which a browser never opens as a page."""
    project_for(request, slug, "view_project")
    found, content = read_original(actor=request.user, uid=uid)
    name = f"{found.run.content_hash[:12]}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)


def _run(request: HttpRequest, slug: str, uid: Any) -> Item:
    return _page(request, project_for(request, slug, "view_items"), uid).item


def _page(request: HttpRequest, project: Project, uid: Any) -> queries.ItemPage:
    page = queries.item_page(project, uid, reader=request.user, role=role_in(request.user, project))
    if page is None:
        raise NotFound("There is no such item in this project.")
    return page
