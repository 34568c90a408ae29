"""A queue's first page, the page for a new one, and taking one over to another version of its rubric or guideline."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.gold import set_gold_rate
from goldsets.actions.succeeding import succeed_with_gold
from goldsets.forms import QueueWithGoldForm
from goldsets.queries.overview import hints, overview
from goldsets.tasks import look_at_agreement
from reviews.actions.queueing import create_queue
from reviews.actions.versions import move_queue
from reviews.errors import Conflict, NotFound
from reviews.forms import attempt
from reviews.models import Project, Queue
from reviews.queries.projects import guideline_by_uid, guidelines, queue_by_slug, rubric_by_uid, rubrics
from reviews.web.access import project_for, project_page, queue_for, queue_page
from reviews.web.pages import go


@login_required
@never_cache
@require_GET
def queue_overview(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "view_agreement")
    seen = overview(queue)
    # Only its sentences stand here, so nobody waits for it to be counted.
    agreement = look_at_agreement(queue, waits=False)
    context: dict[str, Any] = {
        "seen": seen,
        "hints": hints(queue, seen, agreement.kept),
        "uncounted": agreement.kept is None,
    }
    return queue_page(request, "goldsets/overview.html", queue=queue, at="overview", **context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_queue(request: HttpRequest, slug: str) -> HttpResponse:
    """A queue and its gold rate in one form; both are made or neither."""
    project = project_for(request, slug, "manage_queue")
    ready = rubrics(project).exists() and guidelines(project).exists()
    form = QueueWithGoldForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        queue = attempt(form, _create, request=request, project=project, given=dict(form.cleaned_data))
        if queue:
            messages.success(request, f"{queue.name} is open. Put items in, by import or from those that are there.")
            return redirect("goldsets:overview", uid=queue.uid)
    status = 422 if form.errors else 200
    context = {"form": form, "ready": ready}
    return project_page(request, "goldsets/queue_new.html", project=project, at="queues", status=status, **context)


@transaction.atomic
def _create(*, request: HttpRequest, project: Project, given: dict[str, Any]) -> Queue:
    rate = given.pop("gold_rate")
    queue = create_queue(actor=request.user, project=project, **given)
    set_gold_rate(actor=request.user, queue=queue, rate=rate)
    return queue


@login_required
@require_POST
def take_over(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Moves a queue to this version of its rubric, or opens a new one for what it left unfinished."""
    project = project_for(request, slug, "manage_queue")
    found = rubric_by_uid(project, uid)
    if found is None:
        raise NotFound("There is no such rubric in this project.")
    _take_over(request, project, rubric=found)
    return go(request, "reviews:rubric", slug=slug, uid=found.uid)


@login_required
@require_POST
def take_over_guideline(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The same with a version of its guideline."""
    project = project_for(request, slug, "manage_queue")
    found = guideline_by_uid(project, uid)
    if found is None:
        raise NotFound("There is no such guideline in this project.")
    _take_over(request, project, guideline=found)
    return go(request, "reviews:guideline", slug=slug, uid=found.uid)


def _take_over(request: HttpRequest, project: Project, **version: Any) -> None:
    """Do it with the queue that the form names, and say it."""
    queue = queue_by_slug(project, request.POST.get("queue", ""))
    if queue is None:
        raise NotFound("There is no such queue in this project.")
    try:
        if request.POST.get("do") == "move":
            made = move_queue(actor=request.user, queue=queue, **version)
            messages.success(request, f"{made.name} judges by {', '.join(map(str, version.values()))} from now on.")
        else:
            made = succeed_with_gold(actor=request.user, queue=queue, **version)
            messages.success(request, f"{made.name} is open with what {queue.name} left unfinished; that is closed.")
    except Conflict as error:
        messages.error(request, error.message)
