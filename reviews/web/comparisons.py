"""For leads and engineers: lay ticked runs beside each other, or pairs of each task's runs."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from reviews.actions.pairing import CREATED, REFUSED, STATUSES, make_comparison, make_comparisons_by_task
from reviews.actions.queueing import add_items
from reviews.forms import ByTaskForm, ComparisonForm, attempt
from reviews.models import Project
from reviews.queries.items import families
from reviews.queries.listings import role_in
from reviews.queries.pairing import items_named, laid_out
from reviews.web.access import project_for, project_page
from reviews.web.pages import is_uid


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs that were ticked as they would stand beside each other; without any, pairs of every task."""
    project = project_for(request, slug, "compare")
    ticked = [uid for uid in request.GET.getlist("run") if is_uid(uid)]
    if not ticked:
        return _by_task(request, project)
    items = items_named(project, ticked)
    form = ComparisonForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        asked = dict(form.cleaned_data)
        queue = asked.pop("queue")
        made = attempt(form, make_comparison, actor=request.user, project=project, items=items, **asked)
        if made:
            put_in = add_items(actor=request.user, queue=queue, items=[made.item]) if queue else 0
            messages.success(request, _said(made.status == CREATED, queue, put_in))
            return redirect("reviews:item", slug=slug, uid=made.item.uid)
    context = {"form": form, "laid": laid_out(project, items, reader=request.user, role=role_in(request.user, project))}
    return project_page(
        request,
        "reviews/comparison_new.html",
        project=project,
        at="items",
        status=422 if form.errors else 200,
        **context,
    )


def _said(new: bool, queue: Any, put_in: int) -> str:
    words = "The runs stand beside each other." if new else "These runs stood beside each other already."
    if not queue:
        return words
    return f"{words} {'Put into' if put_in else 'It is in'} {queue.name}."


def _by_task(request: HttpRequest, project: Project) -> HttpResponse:
    form = ByTaskForm(request.POST or None, project=project, families=families(project))
    if request.method == "POST" and form.is_valid():
        receipts = attempt(form, make_comparisons_by_task, actor=request.user, project=project, **form.cleaned_data)
        if receipts is not None:
            counts = {status: sum(made.status == status for made in receipts) for status in STATUSES}
            words = f"{counts[CREATED]} made, {counts['already_there']} there already"
            refused = f", {counts[REFUSED]} not possible" if counts[REFUSED] else ""
            messages.success(request, f"{words}{refused}.")
            return redirect(f"{reverse('reviews:items', args=[project.slug])}?kind=comparison")
    status = 422 if form.errors else 200
    return project_page(
        request, "reviews/comparisons_by_task.html", project=project, at="items", status=status, form=form
    )
