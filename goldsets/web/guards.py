"""Guards over tasks, axis by axis, each held against experts."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from goldsets.actions.guarding import set_up_guards
from goldsets.queries.guards import axes
from reviews.errors import Conflict
from reviews.web.access import project_for, project_page


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def guards(request: HttpRequest, slug: str) -> HttpResponse:
    """POST sets up those that are missing and lets them look at every task."""
    project = project_for(request, slug, "view_graders")
    if request.method == "POST":
        try:
            made = set_up_guards(actor=request.user, project=project)
        except Conflict as error:
            messages.error(request, error.message)
        else:
            messages.success(request, f"{len(made)} set up." if made else "All are set up, and have looked again.")
        return redirect("goldsets:guards", slug=slug)
    found = axes(project, request.user)
    context: dict[str, Any] = {"axes": found, "missing": any(axis.asked and not axis.guards for axis in found)}
    return project_page(request, "goldsets/guards.html", project=project, at="items", **context)
