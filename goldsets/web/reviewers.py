"""Reviewers: the ladder of each decision of a queue, and the proof of one reviewer with its signature."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.bundling import read_bundle
from goldsets.actions.compiling import cancel_compile, sign_reviewer, start_compile
from goldsets.api.reviewers import zipped
from goldsets.enums import ReviewerState
from goldsets.forms import CompileForm
from goldsets.models import Reviewer
from goldsets.queries.assurance_report import report_of
from goldsets.queries.reviewers import (
    decision_of,
    judge_version,
    ladders_of,
    minutes_a_label,
    reviewer_by_uid,
    reviewers_of,
    reviewers_of_project,
)
from goldsets.reviewing.rule_lines import line_of
from goldsets.tasks import run_compile
from reviews.errors import Conflict, NotFound
from reviews.forms import attempt
from reviews.queries.projects import queue_rows
from reviews.rules import check
from reviews.web.access import project_for, project_page, queue_for


@login_required
@never_cache
@require_GET
def reviewers(request: HttpRequest, slug: str) -> HttpResponse:
    """Every reviewer of the project, and the queues whose labels could become one."""
    project = project_for(request, slug, "view_reviewers")
    context: dict[str, Any] = {
        "reviewers": _with_decisions(reviewers_of_project(project)),
        "queues": queue_rows(project),
    }
    return project_page(request, "goldsets/reviewers.html", project=project, at="reviewers", **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ladder(request: HttpRequest, uid: str) -> HttpResponse:
    """Each decision with its rungs; POST compiles one of them."""
    queue = queue_for(request, uid, "compile" if request.method == "POST" else "view_reviewers")
    form = CompileForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked = form.asked
        asked["judge"] = judge_version(queue.project, asked["judge"]) if asked["judge"] else None
        made = attempt(form, start_compile, actor=request.user, queue=queue, **asked)
        if made:
            run_compile.delay(made.pk)
            return redirect("goldsets:reviewer", uid=made.uid)
    context: dict[str, Any] = {
        "queue": queue,
        "form": form,
        "ladders": ladders_of(queue),
        "minutes": minutes_a_label(queue),
        "history": _with_decisions(reviewers_of(queue)),
    }
    status = 422 if form.errors else 200
    return project_page(
        request, "goldsets/ladder.html", project=queue.project, at="reviewers", status=status, **context
    )


@login_required
@never_cache
@require_GET
def reviewer(request: HttpRequest, uid: str) -> HttpResponse:
    """The assurance report of one; the page asks for itself again while it is being compiled."""
    found = _reviewer(request, uid)
    context: dict[str, Any] = {
        "reviewer": found,
        "decision": decision_of(found),
        "report": report_of(found),
        "running": found.state in (ReviewerState.WAITING, ReviewerState.COMPILING),
        "rules": [line_of(rule) for rule in found.rules],
        "own": found.created_by_id == request.user.pk,
        "proven": found.state == ReviewerState.PROVEN,
        "signed": found.state == ReviewerState.SIGNED,
    }
    return project_page(request, "goldsets/reviewer.html", project=found.project, at="reviewers", **context)


@login_required
@require_POST
def sign(request: HttpRequest, uid: str) -> HttpResponse:
    """Sign what somebody else compiled."""
    try:
        sign_reviewer(actor=request.user, reviewer=_reviewer(request, uid))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Signed. It may be put to work.")
    return redirect("goldsets:reviewer", uid=uid)


@login_required
@require_POST
def cancel(request: HttpRequest, uid: str) -> HttpResponse:
    """Stop a compile that waits or runs."""
    try:
        cancel_compile(actor=request.user, reviewer=_reviewer(request, uid))
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("goldsets:reviewer", uid=uid)


@login_required
@never_cache
@require_GET
def download(request: HttpRequest, uid: str) -> HttpResponse:
    """The bundle of a signed reviewer; the audit log notes who took it."""
    found = _reviewer(request, uid)
    try:
        return zipped(read_bundle(actor=request.user, reviewer=found), found)
    except Conflict as error:
        messages.error(request, error.message)
        return redirect("goldsets:reviewer", uid=uid)


def _with_decisions(rows: Any) -> list[tuple[Reviewer, Any]]:
    return [(row, decision_of(row)) for row in rows]


def _reviewer(request: HttpRequest, uid: Any) -> Reviewer:
    found = reviewer_by_uid(uid)
    if found is None:
        raise NotFound("There is no such reviewer.")
    check(request.user, "view_reviewers", found.project)
    return found
