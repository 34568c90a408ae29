"""The guideline loop: what makes raters differ, a change drafted because of it, and the change tried on a sample."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from reviews.actions.guideline_changes import draft_change, try_change
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import Guideline, GuidelineChange, Project
from reviews.queries import guideline_causes as queries
from reviews.web.access import project_for, project_page
from reviews.web.pages import is_uid, number


@login_required
@never_cache
@require_GET
def causes(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The lines of a guideline that raters differ about, the most frequent first."""
    project = project_for(request, slug, "write_rubric")
    guideline = _guideline(project, uid)
    return _causes_page(request, project, guideline)


@login_required
@require_POST
def draft(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Keep a changed text with the items that made it needful."""
    project = project_for(request, slug, "write_rubric")
    guideline, form = _guideline(project, uid), request.POST
    given: dict[str, Any] = {
        "text": form.get("text", "").replace("\r\n", "\n"),
        "touched": [one for one in form.getlist("touched") if is_uid(one)],
        "line": number(form.get("line"), 0) or None,
        "why": form.get("why", ""),
    }
    try:
        change = draft_change(actor=request.user, guideline=guideline, **given)
    except Invalid as error:
        return _causes_page(request, project, guideline, given=given, errors=error.errors)
    return redirect("reviews:guideline_change", slug=slug, uid=change.uid)


@login_required
@never_cache
@require_GET
def change(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """What a change changes, which items it touches, and agreement before and after."""
    project = project_for(request, slug, "write_rubric")
    page = queries.change_page(_change(project, uid))
    return project_page(request, "reviews/guideline_change.html", project=project, at="guidelines", page=page)


@login_required
@require_POST
def attempt(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Let a sample of the touched items be judged under the change."""
    project = project_for(request, slug, "write_rubric")
    try:
        tried = try_change(
            actor=request.user, change=_change(project, uid), sample=number(request.POST.get("sample"), 0)
        )
        messages.success(request, f"It is {tried.guideline} now, and the sample is in its own queue.")
    except Invalid as error:
        messages.error(request, " ".join(error.errors.values()))
    except Conflict as error:
        messages.error(request, error.message)
    return redirect("reviews:guideline_change", slug=slug, uid=uid)


def _causes_page(
    request: HttpRequest,
    project: Project,
    guideline: Guideline,
    *,
    given: dict[str, Any] | None = None,
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    context = {
        "guideline": guideline,
        "causes": queries.causes(guideline),
        "changes": queries.changes_of(project).filter(base__name=guideline.name),
        "given": given or {},
        "errors": errors or {},
    }
    status = 422 if errors else 200
    return project_page(
        request, "reviews/guideline_causes.html", project=project, at="guidelines", status=status, **context
    )


def _guideline(project: Project, uid: str) -> Guideline:
    found = queries.guideline_for(project, uid)
    if found is None:
        raise NotFound("There is no such guideline.")
    return found


def _change(project: Project, uid: str) -> GuidelineChange:
    found = queries.change_by_uid(uid)
    if found is None or found.base.project != project:
        raise NotFound("There is no such change.")
    return found
