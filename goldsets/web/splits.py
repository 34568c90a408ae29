"""Splits: how families are dealt to training, calibration and held-out, before it is sealed and after."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from goldsets.actions.splitting import check_shares, deal_families, seal_splits
from goldsets.forms import SplitForm
from goldsets.queries.splits import family_rows, plan_of, totals
from reviews.forms import attempt
from reviews.rules import check
from reviews.web.access import project_for, project_page


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def splits(request: HttpRequest, slug: str) -> HttpResponse:
    """The families with their splits; POST shows how given shares would deal them, or seals them."""
    project = project_for(request, slug, "export")
    plan = plan_of(project)
    form = None if plan else SplitForm(request.POST or None)
    shares, seed = (plan.shares, plan.seed) if plan else ({}, "")
    if form is not None and request.method == "POST":
        check(request.user, "manage_splits", project)
        if form.is_valid():
            act = seal_splits if "seal" in request.POST else _only_checked
            if attempt(form, act, actor=request.user, project=project, **form.cleaned_data):
                if "seal" in request.POST:
                    messages.success(request, "Sealed. Where a family is now, it stays.")
                    return redirect("goldsets:splits", slug=slug)
                shares = {name: form.cleaned_data[name] for name in ("train", "calibration", "held_out")}
                seed = form.cleaned_data["seed"]
    rows = family_rows(project, seed=seed, shares=shares) if shares else []
    context: dict[str, Any] = {
        "plan": plan,
        "form": form,
        "rows": [row for row in rows if not row.alone],
        "alone": sum(row.alone for row in rows),
        "waiting": sum(not row.dealt for row in rows) if plan else 0,
        "totals": totals(rows, shares) if shares else [],
    }
    status = 422 if form is not None and form.errors else 200
    return project_page(request, "goldsets/splits.html", project=project, at="datasets", status=status, **context)


def _only_checked(*, actor: Any, project: Any, **shares: Any) -> bool:
    check_shares(**shares)
    return True


@login_required
@require_POST
def deal(request: HttpRequest, slug: str) -> HttpResponse:
    """Deal what has come in since, without waiting for the worker."""
    project = project_for(request, slug, "export")
    dealt = deal_families(project=project, actor=request.user)
    words = "No family waits to be dealt." if dealt == 0 else f"Dealt: {dealt}."
    messages.success(request, words)
    return redirect("goldsets:splits", slug=slug)
