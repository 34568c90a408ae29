"""Graders: the list, one of them with its versions and scores, and bringing scores in. For leads and engineers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from goldsets.actions.auditing_graders import open_audit
from goldsets.actions.grader_scores import MAX_BYTES, ScoresReceipt, import_scores
from goldsets.actions.graders import add_version, register_grader, set_version
from goldsets.charts import bias_figures, repeats_figure
from goldsets.forms import AuditForm, GraderForm, GraderVersionForm, ScoresFileForm, VersionSetForm
from goldsets.models import Grader, GraderVersion
from goldsets.queries.audits import reasons_of
from goldsets.queries.graders import (
    grader_by_uid,
    grader_rows,
    last_adopted,
    scores_of_version,
    sources_of,
    tally,
    version_by_number,
    version_rows,
)
from goldsets.tasks import adopt_run_scores, look_at_biases, look_at_repeats
from reviews.errors import Conflict, NotFound
from reviews.forms import attempt
from reviews.rules import check
from reviews.web.access import project_for, project_page
from reviews.web.pages import number

LATEST = 20


def grader_for(request: HttpRequest, uid: Any, permission: str = "view_graders") -> Grader:
    """The grader with its project, for whoever may do this there. Raises NotFound or Forbidden."""
    grader = grader_by_uid(uid)
    if grader is None:
        raise NotFound("There is no such grader.")
    check(request.user, permission, grader.project)
    return grader


def version_for(request: HttpRequest, uid: Any, at: int, permission: str = "view_graders") -> GraderVersion:
    """A version of it by its number."""
    version = version_by_number(grader_for(request, uid, permission), at)
    if version is None:
        raise NotFound("This grader has no such version.")
    return version


def version_page(
    request: HttpRequest, template: str, *, version: GraderVersion, status: int = 200, **context: Any
) -> HttpResponse:
    """A page about one version, under its grader's places."""
    grader = version.grader
    about = {"grader": grader, "version": version, **context}
    return project_page(request, template, project=grader.project, at="graders", status=status, **about)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def graders(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's graders; POST registers another."""
    project = project_for(request, slug, "view_graders")
    form = GraderForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        made = attempt(form, register_grader, actor=request.user, project=project, **form.cleaned_data)
        if made:
            messages.success(request, f"“{made.name}” is registered. Say what its first version is.")
            return redirect("goldsets:grader", uid=made.uid)
    return project_page(
        request,
        "goldsets/graders.html",
        project=project,
        at="graders",
        status=422 if form.errors else 200,
        rows=grader_rows(project),
        form=form,
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def grader(request: HttpRequest, uid: str) -> HttpResponse:
    """A grader with its versions and the chosen one's scores; POST adds a version."""
    found = grader_for(request, uid)
    form = GraderVersionForm(request.POST or None, sources=sources_of(found.project))
    if request.method == "POST" and form.is_valid():
        made = attempt(form, add_version, actor=request.user, grader=found, **form.cleaned_data)
        if made:
            messages.success(request, f"Version {made.number} is there. Bring in its scores.")
            return redirect(f"{reverse('goldsets:grader', kwargs={'uid': uid})}?version={made.number}")
    return _page(request, found, version_by_number(found, _asked(request)), form=form)


def _asked(request: HttpRequest) -> int | None:
    return number(request.GET.get("version"), 0) or None


def _page(
    request: HttpRequest,
    found: Grader,
    version: GraderVersion | None,
    *,
    form: forms.Form | None = None,
    set_form: forms.Form | None = None,
    file_form: forms.Form | None = None,
    receipt: ScoresReceipt | None = None,
) -> HttpResponse:
    rows = version_rows(found)
    if rows and version is None:
        raise NotFound("This grader has no such version.")
    given = [each for each in (form, set_form, file_form) if each is not None]
    context: dict[str, Any] = {
        "grader": found,
        "version": version,
        "rows": rows,
        "form": form or GraderVersionForm(sources=sources_of(found.project)),
        "receipt": receipt,
    }
    if version is not None:
        now = {"threshold": version.threshold, "attempts_cap": version.attempts_cap}
        context |= {
            "tally": tally(version),
            "scores": scores_of_version(version, reader=request.user).order_by("-pk")[:LATEST],
            "adopted": last_adopted(version),
            "set_form": set_form or VersionSetForm(initial=now),
            "file_form": file_form or ScoresFileForm(),
        }
    status = 422 if any(each.errors for each in given) else 200
    return project_page(request, "goldsets/grader.html", project=found.project, at="graders", status=status, **context)


@login_required
@require_POST
def set_thresholds(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """From which score on the version passes, and how often it may be asked of one item."""
    version = version_for(request, uid, at, "manage_graders")
    form = VersionSetForm(request.POST)
    if form.is_valid() and attempt(form, set_version, actor=request.user, version=version, **form.cleaned_data):
        messages.success(request, f"Set for version {at}.")
        return _back(uid, at)
    return _page(request, version.grader, version, set_form=form)


@login_required
@require_POST
def bring_in(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """Keep the scores of a file, and show what became of each row that was refused."""
    version = version_for(request, uid, at, "manage_graders")
    form = ScoresFileForm(request.POST, request.FILES)
    receipt = None
    if form.is_valid():
        file = form.cleaned_data["file"]
        if file.size > MAX_BYTES:
            form.add_error("file", f"The file is larger than {MAX_BYTES // 1024**2} MB. Use the command for it.")
        else:
            receipt = attempt(
                form, import_scores, actor=request.user, version=version, file=file, name=file.name or "scores"
            )
    return _page(request, version.grader, version, file_form=form, receipt=receipt)


@login_required
@require_POST
def adopt(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """Have the worker take what came in with runs under the version's source."""
    version = version_for(request, uid, at, "manage_graders")
    if not version.source:
        raise Conflict("This version names no source, so no score that came in with runs is its own.")
    adopt_run_scores.delay(version.pk, request.user.pk)
    messages.success(request, "The worker takes them now. Their number stands here once it is done.")
    return _back(uid, at)


def _back(uid: Any, at: int) -> HttpResponse:
    return redirect(f"{reverse('goldsets:grader', kwargs={'uid': uid})}?version={at}")


# --- What is counted of a version -------------------------------------------------------------------------------------
@login_required
@never_cache
@require_safe
def repeats(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """What the version says when it is asked again, and what trying until it passes gains."""
    version = version_for(request, uid, at)
    seen = look_at_repeats(version)
    found = seen.kept.found if seen.kept else None
    figure = repeats_figure(found) if found and found.found.n_repeated else None
    return version_page(request, "goldsets/grader_repeats.html", version=version, seen=seen, found=found, figure=figure)


@login_required
@never_cache
@require_safe
def biases(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """What the version leans on beside quality, with judges that see only that."""
    version = version_for(request, uid, at)
    seen = look_at_biases(version)
    found = seen.kept.found if seen.kept else None
    figures = bias_figures(found) if found else None
    return version_page(
        request, "goldsets/grader_biases.html", version=version, seen=seen, found=found, figures=figures
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reasons(request: HttpRequest, uid: str, at: int) -> HttpResponse:
    """What raters found of the version's verdicts and evidence; POST opens a queue in which they check more."""
    version = version_for(request, uid, at, "view_agreement")
    form = AuditForm(request.POST or None, project=version.grader.project, initial={"name": f"Check {version}"})
    if request.method == "POST" and form.is_valid():
        queue = attempt(form, open_audit, actor=request.user, version=version, **form.cleaned_data)
        if queue:
            messages.success(request, f"“{queue.name}” is open.")
            return redirect("goldsets:grader_reasons", uid=uid, at=at)
    status, found = 422 if form.errors else 200, reasons_of(version, reader=request.user)
    return version_page(request, "goldsets/grader_reasons.html", version=version, status=status, found=found, form=form)
