"""For leads and engineers: the tasks with what was decided of each version, one task's history, and writing one."""

import re
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from reviews.actions.tasks import post_task
from reviews.enums import TaskPart
from reviews.errors import NotFound
from reviews.forms import TaskForm, attempt
from reviews.models import Project
from reviews.queries import tasks as queries
from reviews.queries.listings import role_in
from reviews.queries.reviewing import part_view
from reviews.web.access import project_for, project_page

PAGE = 50
RESULTS = {"passed": True, "failed": False}


@login_required
@never_cache
@require_GET
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    page = Paginator(queries.latest_versions(project), PAGE).get_page(request.GET.get("page"))
    role = role_in(request.user, project)
    rows = list(queries.histories(list(page), reader=request.user, role=role))
    return project_page(request, "reviews/tasks.html", project=project, at="items", page=page, rows=rows)


@login_required
@never_cache
@require_GET
def task(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One version's four parts, and the history of its task."""
    project = project_for(request, slug, "view_items")
    version = queries.version_by_uid(project, uid)
    if version is None:
        raise NotFound("There is no such version of a task.")
    rows = queries.history_of(version, reader=request.user, role=role_in(request.user, project))
    parts = [part_view(part, version.part(part)) for part in TaskPart]
    return project_page(
        request, "reviews/task_history.html", project=project, at="items", version=version, rows=rows, parts=parts
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Write a task, or the next version of one (`from`), with runs that are there."""
    project = project_for(request, slug, "import")
    form = TaskForm(request.POST or None, project=project, initial=_begun(project, request.GET.get("from")))
    if request.method == "POST" and form.is_valid():
        asked = dict(form.cleaned_data)
        queue, runs = asked.pop("queue"), [_run(line) for line in asked.pop("runs").splitlines() if line.strip()]
        asked["production_prompts"] = [
            text for text in re.split(r"\n\s*\n", asked["production_prompts"]) if text.strip()
        ]
        posted = attempt(form, post_task, actor=request.user, project=project, task=asked, runs=runs, queue=queue)
        if posted:
            messages.success(request, "The task is there to be reviewed." if posted.new else "It was there already.")
            return redirect("reviews:task", slug=slug, uid=posted.item.task_version.uid)
    status = 422 if form.errors else 200
    return project_page(request, "reviews/task_new.html", project=project, at="items", status=status, form=form)


def _run(line: str) -> dict[str, Any]:
    """A run as a line names it: its id, then perhaps its role and whether it passed."""
    item, *words = line.split()
    given: dict[str, Any] = {"item": item.rstrip("/").rpartition("/")[2]}
    for word in words:
        given |= {"result": RESULTS[word]} if word in RESULTS else {"role": word}
    return given


def _begun(project: Project, uid: str | None) -> dict[str, Any]:
    """The fields of the version that the next one begins with."""
    version = queries.version_by_uid(project, uid) if uid else None
    if version is None:
        return {}
    same = ("prompt", "world", "verifier", "intent", "recipe", "axis", "verifiability")
    fields = {name: getattr(version, name) for name in same}
    prompts = "\n\n".join(version.production_prompts)
    return {**fields, "key": version.task.key, "title": version.task.title, "production_prompts": prompts}
