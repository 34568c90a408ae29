"""An environment with its grader: the checklist for training on it, and the page of it as an instrument."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.charts import models_errors_figure
from goldsets.queries.calibration import choices
from goldsets.queries.instrument import Asked, asked_for
from goldsets.stats.instrument import TERMS
from goldsets.tasks import look_at_instrument
from goldsets.web.calibration import grader_page
from goldsets.web.graders import grader_for
from reviews.errors import Invalid, NotFound
from reviews.web.pages import asked_of


@login_required
@never_cache
@require_GET
def checklist(request: HttpRequest, uid: str, version: int) -> HttpResponse:
    """Whether a policy may be trained on it, check by check, by terms that the address may change."""
    return _shown(request, uid, version, "goldsets/checklist.html")


@login_required
@never_cache
@require_GET
def instrument(request: HttpRequest, uid: str, version: int) -> HttpResponse:
    """Agreement, calibration, exploitability, coverage, variance and sensitivity to the agent, on one page."""
    return _shown(request, uid, version, "goldsets/instrument.html")


def _shown(request: HttpRequest, uid: str, version: int, template: str) -> HttpResponse:
    grader = grader_for(request, uid)
    given = {name: value for name, value in asked_of(request, "against", "criterion", "model", *TERMS).items() if value}
    wrong: dict[str, str] = {}
    try:
        asked: Asked = asked_for(grader, {**given, "version": version})
    except Invalid as error:
        if "version" in error.errors:
            raise NotFound("This grader has no such version.") from None
        asked, wrong = asked_for(grader, {"version": version}), error.errors
    seen = look_at_instrument(asked)
    context: dict[str, Any] = {"asked": asked, "version": asked.version, "wrong": wrong}
    if seen.kept is None:
        return grader_page(request, "goldsets/calibration_counting.html", grader, **context)
    report = seen.kept.found
    context |= {
        "report": report,
        "found": report.found,
        "calibration": report.found.calibration,
        "counted_at": seen.kept.counted_at,
        "stale": seen.stale,
        "choices": choices(asked.question),
        "terms": [(name, title, f"{report.terms[name]:g}") for name, (title, *_rest) in TERMS.items()],
        "query": urlencode({"criterion": asked.question.criterion, "against": asked.question.held.key}),
        "figure": models_errors_figure(report.found.sensitivity),
    }
    return grader_page(request, template, grader, **context)
