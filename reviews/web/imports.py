"""Imports: send a file of runs, look at it first, watch it being worked off, read the receipt, cancel."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from reviews.actions.importing import cancel_import, confirm_import, receipt_of, start_import
from reviews.actions.previewing import Preview, look_at, preview_import
from reviews.enums import ImportState
from reviews.errors import Conflict, NotFound
from reviews.forms import ImportForm, attempt
from reviews.models import ImportJob, Project
from reviews.queries.judging import StepWindow, piece_of, step_view
from reviews.queries.listings import VIEWERS, import_by_uid, imports_of, role_in
from reviews.tasks import run_import
from reviews.visibility import SOURCES, Phase, visible
from reviews.web.access import HtmxRequest, project_for, project_page
from reviews.web.pages import number as whole_number

PAGE = 30
PREVIEW_STEPS = 30
RUNNING = (ImportState.WAITING, ImportState.RUNNING)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "import")
    form = ImportForm(request.POST or None, request.FILES or None, project=project)
    if request.method == "POST" and form.is_valid():
        given = {"actor": request.user, "project": project, "name": form.cleaned_data["file"].name, **form.given}
        if "preview" in request.POST:
            seen = attempt(form, preview_import, **given)
            if seen:
                return redirect("reviews:import", slug=slug, uid=seen.job.uid)
        elif started := attempt(form, start_import, **given):
            run_import.delay(started.pk)
            return redirect("reviews:import", slug=slug, uid=started.uid)
    page = Paginator(imports_of(project).select_related("created_by"), PAGE).get_page(request.GET.get("page"))
    status = 422 if form.errors else 200
    context = {"form": form, "page": page}
    return project_page(request, "reviews/imports.html", project=project, at="imports", status=status, **context)


@login_required
@never_cache
@require_GET
def job(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """How far an import is; the page asks for itself again while it runs, and ends as a receipt."""
    project = project_for(request, slug, "import")
    found = _job(project, uid)
    if found.state == ImportState.PREVIEW:
        return _preview(request, project, look_at(actor=request.user, job=found))
    context: dict[str, Any] = {"job": found, "receipt": receipt_of(found), "running": found.state in RUNNING}
    return project_page(request, "reviews/import.html", project=project, at="imports", **context)


@login_required
@require_POST
def confirm(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Import what was looked at."""
    project = project_for(request, slug, "import")
    try:
        run_import.delay(confirm_import(actor=request.user, job=_job(project, uid)).pk)
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("reviews:import", slug=slug, uid=uid)


@login_required
@never_cache
@require_GET
def field(request: HtmxRequest, slug: str, uid: str, number: int) -> HttpResponse:
    """More of one field of the first run, which was folded."""
    project = project_for(request, slug, "import")
    run = look_at(actor=request.user, job=_job(project, uid)).run
    if run is None or not 1 <= number <= len(run.steps):
        raise NotFound("There is no such step in the first run.")
    start = whole_number(request.GET.get("from"), 0)
    piece = piece_of(run.steps[number - 1], path=request.GET.get("path", ""), start=start)
    if piece is None:
        raise NotFound("There is no such field in this step.")
    template = "components/_field_text.html" if request.htmx else "reviews/field.html"
    context = {"field": piece, "number": number, "run_url": reverse("reviews:import", args=[slug, uid])}
    return render(request, template, context)


def _preview(request: HttpRequest, project: Project, seen: Preview) -> HttpResponse:
    """A file before it is imported. How its first run ended is shown to those who may know it before it is judged."""
    steps = seen.run.steps if seen.run else ()
    window = StepWindow([step_view(place, step, {}) for place, step in enumerate(steps[:PREVIEW_STEPS], start=1)])
    context: dict[str, Any] = {
        "preview": seen,
        "job": seen.job,
        "window": window,
        "run_url": reverse("reviews:import", args=[project.slug, seen.job.uid]),
        "more_steps": max(0, len(steps) - PREVIEW_STEPS),
        "sees_outcome": visible(VIEWERS[role_in(request.user, project)], Phase.JUDGING) >= SOURCES,
    }
    return project_page(request, "reviews/preview.html", project=project, at="imports", **context)


@login_required
@require_POST
def cancel(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "import")
    try:
        cancel_import(actor=request.user, job=_job(project, uid))
    except Conflict as error:
        messages.warning(request, error.message)
    else:
        messages.success(request, "Cancelled. What had come in stays.")
    return redirect("reviews:import", slug=slug, uid=uid)


def _job(project: Project, uid: Any) -> ImportJob:
    found = import_by_uid(project, uid)
    if found is None:
        raise NotFound("This project has no such import.")
    return found
