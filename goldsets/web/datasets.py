"""Data sets: define what leaves, run an export, watch it, take its files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import cancel_export, read_file, start_export
from goldsets.enums import DatasetState
from goldsets.forms import DatasetForm
from goldsets.models import Dataset, DatasetVersion
from goldsets.queries.datasets import (
    dataset_by_uid,
    datasets_of,
    definition_in_words,
    formats_held,
    version_by_number,
)
from goldsets.queries.differences import MOST_SHOWN, differing_rows
from goldsets.queries.releases import readers_of, reading_words
from goldsets.tasks import run_export
from goldsets.writers.manifest import TITLES
from reviews.errors import Conflict, NotFound
from reviews.forms import attempt
from reviews.queries.projects import queue_by_slug
from reviews.rules import check
from reviews.web.access import project_for, project_page

RUNNING = (DatasetState.WAITING, DatasetState.RUNNING)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def datasets(request: HttpRequest, slug: str) -> HttpResponse:
    """The data sets with their versions; POST defines a new one and starts its first version."""
    project = project_for(request, slug, "export")
    form = DatasetForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        queue = queue_by_slug(project, form.cleaned_data["queue"])
        dataset = attempt(form, define_dataset, actor=request.user, project=project, queue=queue, **form.definition)
        if dataset:
            _start(request, dataset)
            return redirect("goldsets:dataset", uid=dataset.uid)
    status = 422 if form.errors else 200
    context = {"form": form, "datasets": datasets_of(project)}
    return project_page(request, "goldsets/datasets.html", project=project, at="datasets", status=status, **context)


@login_required
@never_cache
@require_GET
def dataset(request: HttpRequest, uid: str) -> HttpResponse:
    """One data set with its versions; the page asks for itself again while one is being written."""
    found = _dataset(request, uid)
    versions = list(found.versions.all())
    context: dict[str, Any] = {
        "dataset": found,
        "versions": versions,
        **definition_in_words(found),
        "running": any(v.state in RUNNING for v in versions),
    }
    return project_page(request, "goldsets/dataset.html", project=found.project, at="datasets", **context)


@login_required
@never_cache
@require_GET
def version(request: HttpRequest, uid: str, number: int) -> HttpResponse:
    """What a version holds, what was left out and decided, and what differs from the version before."""
    found = _version(request, uid, number)
    project = found.dataset.project
    context: dict[str, Any] = {"dataset": found.dataset, "version": found, "most": MOST_SHOWN}
    context["formats"] = formats_held(found)
    context["differing"] = differing_rows(found)
    context["read"] = reading_words(readers_of(found))
    policies = found.manifest.get("policies", {})
    context["decided"] = [(title, policies[name]) for name, title in TITLES.items() if name in policies]
    return project_page(request, "goldsets/dataset_version.html", project=project, at="datasets", **context)


@login_required
@require_POST
def run(request: HttpRequest, uid: str) -> HttpResponse:
    """Write the next version."""
    _start(request, _dataset(request, uid))
    return redirect("goldsets:dataset", uid=uid)


@login_required
@require_POST
def cancel(request: HttpRequest, uid: str, number: int) -> HttpResponse:
    """Stop a version that is waiting or being written."""
    try:
        cancel_export(actor=request.user, version=_version(request, uid, number))
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("goldsets:dataset", uid=uid)


@login_required
@never_cache
@require_GET
def download(request: HttpRequest, uid: str, number: int, name: str) -> FileResponse:
    """A file of a finished version; the audit log notes who took it."""
    version = _version(request, uid, number)
    path = read_file(actor=request.user, version=version, name=name)
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


def _start(request: HttpRequest, found: Dataset) -> None:
    try:
        version = start_export(actor=request.user, dataset=found)
    except Conflict as error:
        messages.warning(request, error.message)
    else:
        run_export.delay(version.pk)


def _dataset(request: HttpRequest, uid: Any) -> Dataset:
    found = dataset_by_uid(uid)
    if found is None:
        raise NotFound("There is no such data set.")
    check(request.user, "export", found.project)
    return found


def _version(request: HttpRequest, uid: Any, number: int) -> DatasetVersion:
    version = version_by_number(_dataset(request, uid), number)
    if version is None:
        raise NotFound("This data set has no such version.")
    return version
