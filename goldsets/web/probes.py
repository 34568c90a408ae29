"""Probes of a grader: how versions stood up to them, how they are made, checked blind, and put to a version."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.probe_work import start_probes
from goldsets.actions.probes import check_probe, make_probes, promote_version, set_hook
from goldsets.enums import ProbeKind, ProbeRunState
from goldsets.judging_forms import HookForm, MakeProbesForm, ProbeCheckForm, PromoteForm, PutProbesForm
from goldsets.models import Grader, GraderVersion
from goldsets.queries.graders import version_by_number
from goldsets.queries.probes import (
    ATTACKS,
    answers_of,
    counts_of,
    hook_of,
    matrix_of,
    next_to_check,
    probe_by_uid,
    probe_run_by_uid,
    questions_of,
    runs_of_grader,
    waiting_count,
)
from goldsets.tasks import run_probes
from goldsets.web.graders import grader_for
from reviews.errors import Conflict, Invalid, NotFound
from reviews.forms import attempt
from reviews.queries.listings import queue_in
from reviews.rules import check
from reviews.web.access import project_for, project_page

UNDER_WAY = (ProbeRunState.WAITING, ProbeRunState.RUNNING)
VERDICTS = {"pass": True, "fail": False, "unclear": None}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def probes(request: HttpRequest, uid: str) -> HttpResponse:
    """The matrix of a grader's versions by kinds of probe; POST makes probes from a queue."""
    grader = grader_for(request, uid)
    project = grader.project
    form = MakeProbesForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        queue = queue_in(project, form.cleaned_data["queue"])
        told = {"grader": grader, "queue": queue, "most": form.cleaned_data["most"]}
        if queue and attempt(form, make_probes, actor=request.user, **told):
            return redirect("goldsets:probes", uid=uid)
    stood = matrix_of(grader)
    context: dict[str, Any] = {
        "grader": grader,
        "stood": stood,
        "kinds": [(kind, [one.by_kind[kind.value] for one in stood], kind in ATTACKS) for kind in ProbeKind],
        "counts": counts_of(grader),
        "to_check": waiting_count(project, request.user),
        "runs": runs_of_grader(grader)[:20],
        "form": form,
        "put": PutProbesForm(versions=[one.version for one in stood]),
        "hook": hook_of(grader),
        "hook_form": HookForm(),
        "promote": PromoteForm(),
    }
    status = 422 if form.errors else 200
    return project_page(request, "goldsets/probes.html", project=project, at="graders", status=status, **context)


@login_required
@require_POST
def put_probes(request: HttpRequest, uid: str) -> HttpResponse:
    """Put all approved probes to a version."""
    grader = grader_for(request, uid, "manage_graders")
    form = PutProbesForm(request.POST, versions=list(grader.versions.all()))
    if form.is_valid():
        version = _version(grader, form.cleaned_data["version"])
        run = attempt(form, start_probes, actor=request.user, version=version, budget=form.cleaned_data["budget"])
        if run:
            run_probes.delay(run.pk)
            return redirect("goldsets:probe_run", uid=run.uid)
    return _back(request, form, grader)


@login_required
@require_POST
def hook(request: HttpRequest, uid: str) -> HttpResponse:
    """Say where the grader is asked; the secret is shown this once."""
    grader = grader_for(request, uid, "manage_graders")
    form = HookForm(request.POST)
    made = attempt(form, set_hook, actor=request.user, grader=grader, **form.cleaned_data) if form.is_valid() else None
    if made:
        words = f"The grader is asked at {made.url}. Its secret, shown only now: {made.secret}"
        messages.success(request, words)
    return _back(request, form, grader)


@login_required
@require_POST
def promote(request: HttpRequest, uid: str, number: int) -> HttpResponse:
    """Promote a version, or hear what is missing."""
    grader = grader_for(request, uid, "manage_graders")
    form = PromoteForm(request.POST)
    if form.is_valid():
        attempt(form, promote_version, actor=request.user, version=_version(grader, number), **form.cleaned_data)
    return _back(request, form, grader)


@login_required
@never_cache
@require_GET
def probe_run(request: HttpRequest, uid: str) -> HttpResponse:
    """What a version said of each probe; the page asks for itself again while it is under way."""
    run = probe_run_by_uid(uid)
    if run is None:
        raise NotFound("There is no such run of probes.")
    project = run.version.grader.project
    check(request.user, "view_graders", project)
    context: dict[str, Any] = {"run": run, "answers": answers_of(run), "under_way": run.state in UNDER_WAY}
    return project_page(request, "goldsets/probe_run.html", project=project, at="graders", **context)


@login_required
@never_cache
@require_GET
def probes_to_check(request: HttpRequest, slug: str) -> HttpResponse:
    """The next probe that waits for a verdict, as a run and nothing more."""
    project = project_for(request, slug, "judge")
    probe = next_to_check(project, request.user)
    context: dict[str, Any] = {"probe": probe, "left": waiting_count(project, request.user), "form": ProbeCheckForm()}
    if probe:
        context["questions"] = questions_of(probe)
    return project_page(request, "goldsets/probe_check.html", project=project, at="probes", **context)


@login_required
@require_POST
def probe_check(request: HttpRequest, uid: str) -> HttpResponse:
    """An expert's verdict on a probe."""
    probe = probe_by_uid(uid)
    if probe is None:
        raise NotFound("There is no such probe.")
    project = probe.grader.project
    check(request.user, "judge", project)
    form = ProbeCheckForm(request.POST)
    if form.is_valid():
        given = form.cleaned_data
        try:
            check_probe(actor=request.user, probe=probe, passes=VERDICTS[given["verdict"]], note=given["note"])
        except (Conflict, Invalid) as error:
            messages.warning(request, error.message)
    else:
        messages.warning(request, "Say whether it passes, fails, or cannot be told.")
    return redirect("goldsets:probes_to_check", slug=project.slug)


def _back(request: HttpRequest, form: Any, grader: Grader) -> HttpResponse:
    for errors in form.errors.values():
        messages.warning(request, " ".join(map(str, errors)))
    return redirect("goldsets:probes", uid=grader.uid)


def _version(grader: Grader, number: Any) -> GraderVersion:
    version = version_by_number(grader, int(number))
    if version is None:
        raise NotFound("This grader has no such version.")
    return version
