"""What judgement costs a project, and the prices it is reckoned at."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from goldsets import charts
from goldsets.actions.pricing import write_prices
from goldsets.forms import PricesForm
from goldsets.queries import ledger as queries
from reviews.forms import attempt
from reviews.queries.projects import queue_by_slug, queue_rows
from reviews.web.access import project_for, project_page
from reviews.web.pages import number


@login_required
@never_cache
@require_GET
def ledger(request: HttpRequest, slug: str) -> HttpResponse:
    """All of a project or one queue of it, at the latest prices or at those of an earlier list."""
    project = project_for(request, slug, "view_costs")
    queue = queue_by_slug(project, request.GET.get("queue", ""))
    prices = queries.price_list(project, number(request.GET.get("prices"), 0))
    found = queries.ledger(project, queue=queue, prices=prices)
    context: dict[str, Any] = {
        "found": found,
        "yields": charts.yield_figure(found.recipes),
        "minutes": charts.minutes_figure(found.weeks),
        "queue": queue,
        "queues": queue_rows(project),
        "lists": queries.price_lists(project),
    }
    return project_page(request, "goldsets/ledger.html", project=project, at="ledger", **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def prices(request: HttpRequest, slug: str) -> HttpResponse:
    """Every list of prices; POST writes a further one."""
    project = project_for(request, slug, "view_costs")
    lists = queries.price_lists(project)
    latest = lists.first()
    form = PricesForm(request.POST or None, initial=latest.prices if latest else None)
    sent = request.method == "POST" and form.is_valid()
    if sent and attempt(form, write_prices, actor=request.user, project=project, prices=form.cleaned_data):
        messages.success(request, "Written. The ledger reckons with them from now on.")
        return redirect("goldsets:ledger", slug=slug)
    status = 422 if form.errors else 200
    context: dict[str, Any] = {"form": form, "lists": lists}
    return project_page(request, "goldsets/prices.html", project=project, at="ledger", status=status, **context)
