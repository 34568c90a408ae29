"""Judging models: by what each asks, its runs over queues, how far they are, and what they brought and took."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.judges import cancel_judge, define_judge_named, resume_judge, start_judge
from goldsets.enums import JudgeRunState
from goldsets.judging_forms import JudgeForm, JudgeRunForm, ResumeForm
from goldsets.models import JudgeRun
from goldsets.queries.judges import (
    doubtful_items,
    examples_told,
    hosts,
    judge_by_version,
    judges_of,
    receipt_of,
    run_by_uid,
    runs_of,
)
from goldsets.tasks import run_judge
from reviews.errors import Conflict, NotFound
from reviews.forms import attempt
from reviews.queries.listings import queue_in, rubric_and_guideline
from reviews.rules import check
from reviews.web.access import project_for, project_page

UNDER_WAY = (JudgeRunState.WAITING, JudgeRunState.RUNNING)
MAY_GO_ON = (JudgeRunState.STOPPED, JudgeRunState.FAILED, JudgeRunState.CANCELLED)
MOST_RUNS = 50


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's judges and their runs; POST starts one."""
    project = project_for(request, slug, "view_graders")
    form = JudgeRunForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        setup, queue = judge_by_version(given["judge"]), queue_in(project, given["queue"])
        if setup and queue and setup.version.grader.project_id == project.pk:
            told = {name: given[name] for name in ("budget", "scope", "attempt")}
            run = attempt(form, start_judge, actor=request.user, setup=setup, queue=queue, **told)
            if run:
                run_judge.delay(run.pk)
                return redirect("goldsets:judge_run", uid=run.uid)
    context: dict[str, Any] = {"form": form, "hosts": hosts(), "runs": runs_of(project)[:MOST_RUNS]}
    may_know = examples_told(project, reader=request.user)
    context["judges"] = [
        (judge, [one for one in judge.examples if one["item"] in may_know]) for judge in judges_of(project)
    ]
    status = 422 if form.errors else 200
    return project_page(request, "goldsets/judges.html", project=project, at="graders", status=status, **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_judge(request: HttpRequest, slug: str) -> HttpResponse:
    """By what a judge asks; a name that is there already gets its next version."""
    project = project_for(request, slug, "manage_graders")
    form = JudgeForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        asked = form.definition
        names = {name: asked.pop(name) for name in ("rubric", "guideline")}
        rubric, guideline = rubric_and_guideline(project, **names)
        if rubric and guideline:
            told = {"rubric": rubric, "guideline": guideline, **asked}
            if attempt(form, define_judge_named, actor=request.user, project=project, **told):
                return redirect("goldsets:judges", slug=slug)
    status = 422 if form.errors else 200
    context = {"form": form, "hosts": hosts()}
    return project_page(request, "goldsets/judge_new.html", project=project, at="graders", status=status, **context)


@login_required
@never_cache
@require_GET
def judge_run(request: HttpRequest, uid: str) -> HttpResponse:
    """How far a run is, and its receipt; the page asks for itself again while it is under way."""
    run = _run(request, uid, "view_graders")
    context: dict[str, Any] = {
        "run": run,
        "receipt": receipt_of(run),
        "doubtful": doubtful_items(run, reader=request.user),
        "under_way": run.state in UNDER_WAY,
        "may_go_on": run.state in MAY_GO_ON,
        "form": ResumeForm(initial={"budget": run.budget}),
    }
    return project_page(request, "goldsets/judge_run.html", project=run.queue.project, at="graders", **context)


@login_required
@require_POST
def judge_cancel(request: HttpRequest, uid: str) -> HttpResponse:
    try:
        cancel_judge(actor=request.user, run=_run(request, uid, "manage_graders"))
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("goldsets:judge_run", uid=uid)


@login_required
@require_POST
def judge_resume(request: HttpRequest, uid: str) -> HttpResponse:
    """Let a run go on, with so much money in all."""
    run = _run(request, uid, "manage_graders")
    form = ResumeForm(request.POST)
    if form.is_valid() and attempt(form, resume_judge, actor=request.user, run=run, **form.cleaned_data):
        run_judge.delay(run.pk)
    for errors in form.errors.values():
        messages.warning(request, " ".join(map(str, errors)))
    return redirect("goldsets:judge_run", uid=uid)


def _run(request: HttpRequest, uid: Any, permission: str) -> JudgeRun:
    run = run_by_uid(uid)
    if run is None:
        raise NotFound("There is no such run of a judge.")
    check(request.user, permission, run.queue.project)
    return run
