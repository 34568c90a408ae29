"""The release of a version: the checklist, the signatures, who downloaded it, and taking it back."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from goldsets.actions.releasing import sign_release, state_licence, withdraw_version, write_terms
from goldsets.forms import TermsForm
from goldsets.models import Dataset, DatasetVersion
from goldsets.queries import releases as queries
from goldsets.queries.datasets import dataset_by_uid, version_by_number
from goldsets.tasks import look_at_release
from reviews.errors import Conflict, Invalid, NotFound
from reviews.forms import attempt
from reviews.rules import check
from reviews.web.access import May, project_page

# Where what a check looks at can be changed: the right it takes, what the link says, and the page. Pages of a queue are
# those of the data set's own; where it takes from every queue, the project's page has them all.
MENDED_AT = {
    "rows": ("view_agreement", "Queues", "reviews:project"),
    "gates": ("view_items", "Rubrics", "reviews:rubrics"),
    "scores": ("view_items", "Rubrics", "reviews:rubrics"),
    "evidence": ("view_items", "Rubrics", "reviews:rubrics"),
    "agreement": ("view_agreement", "Agreement", "goldsets:agreement"),
    "gold": ("manage_queue", "Gold", "goldsets:gold"),
    "false_positives": ("manage_queue", "Gold", "goldsets:gold"),
    "held_out": ("export", "Splits", "goldsets:splits"),
    "leaks": ("view_leaks", "Leak check", "goldsets:leaks"),
    "synthetic": ("export", "Data sets, with a share for each source", "goldsets:datasets"),
    "spot_checks": ("view_agreement", "Queues", "reviews:project"),
    "redactions": ("manage_redaction", "Redaction", "reviews:redaction"),
    "simulated": ("change_members", "People", "reviews:people"),
}


def _mended_at(key: str, version: DatasetVersion, may: May) -> tuple[str, str] | None:
    """What a link to where a check can be mended says, and its address, for whoever may go there."""
    permission, words, page = MENDED_AT.get(key, ("", "", ""))
    if not page or not may[permission]:
        return None
    dataset = version.dataset
    if page == "goldsets:leaks":
        return words, reverse(page, args=[dataset.uid, version.number])
    if page in ("goldsets:agreement", "goldsets:gold"):
        if dataset.queue is None:
            return "Queues", reverse("reviews:project", args=[dataset.project.slug])
        return words, reverse(page, args=[dataset.queue.uid])
    return words, reverse(page, args=[dataset.project.slug])


def _dataset(request: HttpRequest, uid: Any) -> Dataset:
    dataset = dataset_by_uid(uid)
    if dataset is None:
        raise NotFound("There is no such data set.")
    check(request.user, "view_leaks", dataset.project)
    return dataset


def _version(request: HttpRequest, uid: Any, number: int) -> DatasetVersion:
    version = version_by_number(_dataset(request, uid), number)
    if version is None:
        raise NotFound("This data set has no such version.")
    return version


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, uid: str, number: int) -> HttpResponse:
    """The checklist; POST signs, takes the version back, or states a source's licence, as the button says."""
    version = _version(request, uid, number)
    if request.method == "POST":
        return _act(request, version)
    seen = look_at_release(version)
    if seen and seen.kept is None:
        return _page(request, version, "goldsets/release_counting.html")
    page = queries.release_page(version, seen)
    may = May(request.user, version.dataset.project)
    checks = [(one, None if one["passed"] else _mended_at(one["key"], version, may)) for one in page.checks]
    signed = any(signature.person_id == request.user.pk for signature in page.signatures)
    return _page(request, version, "goldsets/release.html", page=page, checks=checks, signed=signed)


def _page(request: HttpRequest, version: DatasetVersion, template: str, **context: Any) -> HttpResponse:
    context |= {"dataset": version.dataset, "version": version}
    return project_page(request, template, project=version.dataset.project, at="datasets", **context)


def _act(request: HttpRequest, version: DatasetVersion) -> HttpResponse:
    given = request.POST
    try:
        if "withdraw" in given:
            withdraw_version(actor=request.user, version=version, reason=given.get("reason", ""))
            messages.success(request, "Withdrawn. Its files are given out no more; those who have it are named here.")
        elif "licence" in given:
            state_licence(
                actor=request.user,
                project=version.dataset.project,
                source=given.get("source", ""),
                licence=given["licence"],
            )
            messages.success(request, "Stated.")
        else:
            made = sign_release(actor=request.user, version=version)
            done = made.signatures.count() >= queries.SIGNATURES
            messages.success(request, "Released." if done else "Signed. It takes one more.")
    except (Conflict, Invalid) as error:
        messages.error(request, error.message)
    return redirect("goldsets:release", uid=version.dataset.uid, number=version.number)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def terms(request: HttpRequest, uid: str) -> HttpResponse:
    """What versions must reach; POST writes new terms for versions that are begun from then on."""
    dataset = _dataset(request, uid)
    latest = queries.terms_of(dataset).first()
    form = TermsForm(request.POST or None, initial=latest.terms if latest else None)
    sent = request.method == "POST" and form.is_valid()
    if sent and attempt(form, write_terms, actor=request.user, dataset=dataset, terms=form.cleaned_data):
        messages.success(request, "Written. They hold for the next version.")
        return redirect("goldsets:release_terms", uid=uid)
    return project_page(
        request,
        "goldsets/release_terms.html",
        project=dataset.project,
        at="datasets",
        status=422 if form.errors else 200,
        dataset=dataset,
        form=form,
        written=queries.terms_of(dataset),
    )
