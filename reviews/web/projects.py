"""The list of projects with the form for a new one, and a project's first page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from reviews.actions.projects import create_project
from reviews.forms import ProjectForm, attempt
from reviews.queries.projects import project_hints, projects_of, queue_rows
from reviews.rules import can, check
from reviews.web.access import May, project_for, project_page


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST":
        check(request.user, "create_project")
        if form.is_valid():
            made = attempt(form, create_project, actor=request.user, **form.cleaned_data)
            if made:
                messages.success(request, f"{made.name} is there. Write a rubric and a guideline, then open a queue.")
                return redirect("reviews:project", slug=made.slug)
    context = {"form": form, "memberships": projects_of(request.user), "may": May(request.user)}
    return render(request, "reviews/projects.html", context, status=422 if form.errors else 200)


@login_required
@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """Queues with their progress and what is worth doing now. Raters have their queues on the first page."""
    found = project_for(request, slug, "view_project")
    if not can(request.user, "view_items", found) and not can(request.user, "change_members", found):
        return redirect("reviews:home")
    queues, may = queue_rows(found), May(request.user, found)
    return project_page(
        request,
        "reviews/project.html",
        project=found,
        at="queues",
        queues=queues,
        hints=[hint for hint in project_hints(found, queues, request.user) if may[hint.permission]],
    )


@login_required
@require_GET
def queues(request: HttpRequest, slug: str) -> HttpResponse:
    """The queues stand on the project's first page."""
    return redirect("reviews:project", slug=slug)
