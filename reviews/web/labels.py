"""The labels of a project, with what each value rests on."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reviews.enums import Basis
from reviews.errors import NotFound
from reviews.queries import items as queries
from reviews.queries.label_history import label_history
from reviews.web.access import project_for, project_page
from reviews.web.pages import asked_of, query_of

PAGE = 50


@login_required
@never_cache
@require_GET
def labels(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_labels")
    asked = asked_of(request, "queue", "basis", "revisions")
    found = queries.labels_found(project, reader=request.user, asked=asked)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    return project_page(
        request,
        "reviews/labels.html",
        project=project,
        at="labels",
        page=page,
        rows=[queries.with_words(label) for label in page],
        asked=asked,
        query=query_of(asked),
        queues=queries.queue_names(project),
        bases=Basis.choices,
    )


@login_required
@never_cache
@require_GET
def history(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One label with every revision of it and the judgments behind each."""
    project = project_for(request, slug, "view_labels")
    found = label_history(project, uid, reader=request.user)
    if found is None:
        raise NotFound("There is no such label.")
    return project_page(request, "reviews/label.html", project=project, at="labels", page=found)
