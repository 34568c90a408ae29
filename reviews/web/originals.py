"""The runs of which text was replaced, for admins, who alone may open what stood there before."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.queries.listings import redacted_items
from reviews.web.access import project_for, project_page

PAGE = 50


@login_required
@never_cache
@require_GET
def redacted(request: HttpRequest, slug: str) -> HttpResponse:
    """Where each came from and what was replaced in it; nothing of the run itself. Opening an original is an Event."""
    project = project_for(request, slug, "read_redacted")
    page = Paginator(redacted_items(project), PAGE).get_page(request.GET.get("page"))
    return project_page(request, "reviews/redacted.html", project=project, at="originals", page=page)
