"""The page of what raters do not read in the runs of a project."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from reviews.actions.masking import set_masking, try_masking
from reviews.forms import MaskingForm, attempt
from reviews.queries.masking import MOST_RUNS, MOST_STEPS, masking_of
from reviews.web.access import project_for, project_page


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def masking(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules, to be tried on the latest runs or saved."""
    project = project_for(request, slug, "manage_masking")
    form, trial = MaskingForm(request.POST or None, initial=MaskingForm.initial_of(masking_of(project))), None
    if request.method == "POST" and form.is_valid():
        if "try" in request.POST:
            trial = attempt(form, try_masking, actor=request.user, project=project, **form.given)
        elif attempt(form, set_masking, actor=request.user, project=project, **form.given):
            messages.success(request, "Saved. It holds at once, also for items that somebody is reading.")
            return redirect("reviews:masking", slug=slug)
    return project_page(
        request,
        "reviews/masking.html",
        project=project,
        at="imports",
        status=422 if form.errors else 200,
        form=form,
        trial=trial,
        most_runs=MOST_RUNS,
        most_steps=MOST_STEPS,
    )
