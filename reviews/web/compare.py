"""The page of two runs side by side, for leads and engineers."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.errors import Invalid, NotFound
from reviews.queries.comparing import comparison, more_rows, pair_of
from reviews.queries.listings import role_in
from reviews.web.access import HtmxRequest, project_for, project_page
from reviews.web.pages import is_uid, number


@login_required
@never_cache
@require_GET
def compare(request: HtmxRequest, slug: str) -> HttpResponse:
    """Both runs in rows; to a script that asks for more rows, these alone."""
    project = project_for(request, slug, "view_items")
    address = reverse("reviews:compare", args=[slug])
    ticked = request.GET.getlist("run")
    if ticked:
        if len(ticked) != 2:
            raise Invalid({"run": "Tick two runs, no more and no fewer, to see them side by side."})
        return redirect(f"{address}?{urlencode({'left': ticked[0], 'right': ticked[1]})}")
    chosen = [request.GET.get(side, "") for side in ("left", "right")]
    if not all(map(is_uid, chosen)):
        raise NotFound("There is no such item in this project.")
    left, right = pair_of(project, *chosen, reader=request.user)
    first, last = number(request.GET.get("from"), 1), number(request.GET.get("to"), 0)
    pair_url = f"{address}?{urlencode({'left': str(left.uid), 'right': str(right.uid)})}"
    context: dict[str, Any] = {"pair_url": pair_url, "left": left, "right": right}
    if request.htmx:
        window = more_rows(left, right, first=first, last=last)
        return render(request, "reviews/compare.html#rows", context | {"window": window, "project": project})
    page = comparison(left, right, role=role_in(request.user, project), first=first, open_to=last)
    context |= {"page": page, "window": page.window, "sides": [page.left, page.right]}
    return project_page(request, "reviews/compare.html", project=project, at="items", **context)
