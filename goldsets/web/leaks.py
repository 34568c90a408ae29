"""What stands against a version: pairs of near texts, who lets them pass; and the benchmark lists."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from goldsets.actions.benchmarks import MAX_BYTES, read_benchmark, register_benchmark
from goldsets.actions.leaks import read_report, sign_leak
from goldsets.forms import BenchmarkForm, SignLeakForm
from goldsets.queries.datasets import dataset_by_uid, version_by_number
from goldsets.queries.leaks import SIGNATURES, WITHIN, benchmark_lists
from reviews.errors import NotFound
from reviews.forms import attempt
from reviews.rules import check
from reviews.web.access import project_for, project_page


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leaks(request: HttpRequest, uid: str, number: int) -> HttpResponse:
    """The pairs that were found when the version was about to be written; POST signs that they may leave."""
    dataset = dataset_by_uid(uid)
    if dataset is None:
        raise NotFound("There is no such data set.")
    check(request.user, "view_leaks", dataset.project)
    version = version_by_number(dataset, number)
    if version is None:
        raise NotFound("This data set has no such version.")
    report = read_report(actor=request.user, version=version)
    form = SignLeakForm(request.POST or None)
    signed = request.method == "POST" and form.is_valid()
    if signed and attempt(form, sign_leak, actor=request.user, report=report, **form.cleaned_data):
        done = report.signatures.count() >= SIGNATURES
        messages.success(request, "Signed. " + ("The next version lets them pass." if done else "It takes one more."))
        return redirect("goldsets:leaks", uid=uid, number=number)
    signatures = list(report.signatures.all())
    context: dict[str, Any] = {
        "dataset": dataset,
        "version": version,
        "report": report,
        "pairs": [pair for pair in report.findings["pairs"] if pair["kind"] != WITHIN],
        "within": [pair for pair in report.findings["pairs"] if pair["kind"] == WITHIN],
        "signatures": signatures,
        "may_sign": report.leaks
        and len(signatures) < SIGNATURES
        and all(signature.person_id != request.user.pk for signature in signatures),
        "form": form,
    }
    status = 422 if form.errors else 200
    return project_page(
        request, "goldsets/leaks.html", project=dataset.project, at="datasets", status=status, **context
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def benchmarks(request: HttpRequest, slug: str) -> HttpResponse:
    """The lists; POST registers one from a file."""
    project = project_for(request, slug, "export")
    form = BenchmarkForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        texts = attempt(form, read_benchmark, content=given.pop("file").read(MAX_BYTES + 1))
        if texts is not None:
            made = attempt(form, register_benchmark, actor=request.user, project=project, texts=texts, **given)
            if made:
                messages.success(request, f"Registered: {made.text_count:,} texts.")
                return redirect("goldsets:benchmarks", slug=slug)
    return project_page(
        request,
        "goldsets/benchmarks.html",
        project=project,
        at="datasets",
        status=422 if form.errors else 200,
        lists=benchmark_lists(project),
        form=form,
    )
