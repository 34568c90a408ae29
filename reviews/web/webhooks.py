"""The page of a project's webhooks: addresses, what they hear of, what went there, and sending it again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from reviews.actions.webhooks import change_webhook, create_webhook, replay
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Project, Webhook
from reviews.queries import webhooks as queries
from reviews.web.access import project_for, project_page

PAGE = 50


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """The addresses; POST adds one, and shows its secret this once."""
    project = project_for(request, slug, "manage_webhooks")
    made, errors = None, {}
    given = {"url": request.POST.get("url", ""), "events": request.POST.getlist("events")}
    if request.method == "POST":
        try:
            made = create_webhook(actor=request.user, project=project, **given)  # type: ignore[arg-type]
        except Invalid as error:
            errors = error.errors
        except Conflict as error:
            errors = {"url": error.message}
    return project_page(
        request,
        "reviews/webhooks.html",
        project=project,
        at="webhooks",
        status=422 if errors else 200,
        rows=queries.webhooks_of(project),
        names=queries.names_of_events(),
        made=made,
        given=given if errors else {},
        errors=errors,
    )


@login_required
@never_cache
@require_GET
def webhook(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """What went to one address, the latest first, with every try."""
    project = project_for(request, slug, "manage_webhooks")
    found = _webhook(project, uid)
    page = Paginator(queries.deliveries_of(found), PAGE).get_page(request.GET.get("page"))
    return project_page(
        request,
        "reviews/webhook.html",
        project=project,
        at="webhooks",
        webhook=found,
        names=queries.names_of_events(),
        page=page,
        query="",
    )


@login_required
@require_POST
def change(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Change what an address hears of, or switch it off or on."""
    project = project_for(request, slug, "manage_webhooks")
    found = _webhook(project, uid)
    active = {"off": False, "on": True}.get(request.POST.get("active", ""))
    events = request.POST.getlist("events") if active is None else None
    try:
        change_webhook(actor=request.user, webhook=found, events=events, active=active)
        messages.success(request, "Saved.")
    except Invalid as error:
        messages.error(request, " ".join(error.errors.values()))
    return redirect("reviews:webhook", slug=slug, uid=uid)


@login_required
@require_POST
def again(request: HttpRequest, slug: str, uid: str, delivery_uid: str) -> HttpResponse:
    """Send an event once more."""
    project = project_for(request, slug, "manage_webhooks")
    found = queries.delivery_by_uid(delivery_uid)
    if found is None or found.webhook != _webhook(project, uid):
        raise NotFound("There is no such delivery.")
    try:
        replay(actor=request.user, delivery=found)
        messages.success(request, "It is on its way again.")
    except Conflict as error:
        messages.error(request, error.message)
    return redirect("reviews:webhook", slug=slug, uid=uid)


def _webhook(project: Project, uid: str) -> Webhook:
    found = queries.webhook_by_uid(uid)
    if found is None or found.project != project:
        raise NotFound("There is no such webhook.")
    return found
