"""Contrasts: pairs that wait for a name, and how varied what was labelled is."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.contrasting import build_contrasts, name_contrast
from goldsets.forms import ContrastForm
from goldsets.queries import contrasts as queries
from goldsets.queries.diversity import BY, SLICE, matrix, slices_used
from reviews.errors import Conflict, Invalid, NotFound
from reviews.forms import attempt
from reviews.queries.listings import role_in
from reviews.queries.projects import queue_by_slug, queue_rows
from reviews.rules import check
from reviews.web.access import project_for, project_page
from reviews.web.pages import number

PAGE = 10


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def contrasts(request: HttpRequest, slug: str) -> HttpResponse:
    """The pairs that wait for a name, then those that have one; POST builds what can be built."""
    project = project_for(request, slug, "compare")
    form = ContrastForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        queue = queue_by_slug(project, form.cleaned_data["queue"])
        given = {"queue": queue, "most": form.cleaned_data["most"]}
        built = attempt(form, build_contrasts, actor=request.user, project=project, **given)
        if built:
            words = f"{built.created} new of {built.tasks} task{'' if built.tasks == 1 else 's'} with both ends."
            if built.apart:
                words += f" In {built.apart} no two runs begin alike."
            messages.success(request, words)
            return redirect("goldsets:contrasts", slug=slug)
    page = Paginator(queries.contrasts_of(project, named=False), PAGE).get_page(request.GET.get("page"))
    role = role_in(request.user, project)
    context: dict[str, Any] = {
        "form": form,
        "page": page,
        "rows": queries.contrast_rows(project, list(page), reader=request.user, role=role),
        "named": queries.contrasts_of(project, named=True),
        "names": queries.names_used(project),
    }
    status = 422 if form.errors else 200
    return project_page(request, "goldsets/contrasts.html", project=project, at="datasets", status=status, **context)


@login_required
@require_POST
def name(request: HttpRequest, uid: str) -> HttpResponse:
    """Write down what a pair differs in."""
    contrast = queries.contrast_by_uid(uid)
    if contrast is None:
        raise NotFound("There is no such contrast.")
    check(request.user, "compare", contrast.item.project)
    try:
        name_contrast(actor=request.user, contrast=contrast, differs_in=request.POST.get("differs_in", ""))
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Named: {contrast.item.differs_in}.")
    return redirect("goldsets:contrasts", slug=contrast.item.project.slug)


@login_required
@never_cache
@require_GET
def diversity(request: HttpRequest, slug: str) -> HttpResponse:
    """Families against what was asked for, holes marked."""
    project = project_for(request, slug, "view_labels")
    by = request.GET.get("by", "verdict")
    queue = queue_by_slug(project, request.GET.get("queue", ""))
    fewest = max(1, number(request.GET.get("fewest"), 1))
    slices = [(SLICE + name, name) for name in slices_used(project)]
    return project_page(
        request,
        "goldsets/diversity.html",
        project=project,
        at="datasets",
        matrix=matrix(project, by=by, queue=queue, fewest=fewest),
        choices=[*BY.items(), *slices],
        queues=queue_rows(project),
        queue=queue,
    )
