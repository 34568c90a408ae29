"""Calibration of a grader's version: figures with intervals, the pictures, and the runs behind each number."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.charts import cuts_figure, precision_figure, reliability_figure, roc_figure
from goldsets.enums import FamilySplitName
from goldsets.models import Grader
from goldsets.queries.calibration import (
    Question,
    Report,
    choices,
    question,
    rewarded_runs,
)
from goldsets.tasks import look_at_calibration
from goldsets.web.graders import grader_for
from reviews.errors import Invalid, NotFound
from reviews.web.access import project_page
from reviews.web.pages import asked_of, number

ASKED = ("criterion", "against", "part", "limit", "other")
# Of the runs behind a number so many stand on a page.
ON_A_PAGE = 50
FEW = 5


@login_required
@never_cache
@require_GET
def calibration(request: HttpRequest, uid: str, version: int) -> HttpResponse:
    """The report. What is asked wrongly is said above it, and the usual report stands below."""
    grader = grader_for(request, uid)
    asked, wrong = _question(request, grader, version)
    seen = look_at_calibration(request.user, asked)
    context: dict[str, Any] = {"asked": asked, "version": asked.version, "wrong": wrong}
    if seen.kept is None:
        return grader_page(request, "goldsets/calibration_counting.html", grader, **context)
    report, found = seen.kept.found, seen.kept.found.found
    context |= {
        "report": report,
        "found": found,
        "counted_at": seen.kept.counted_at,
        "stale": seen.stale,
        "choices": choices(asked),
        "splits": FamilySplitName.choices,
        "query": urlencode({name: value or "" for name, value in asked.asked.items() if name != "version"}),
        "figure": cuts_figure(found),
        "squares": [one for one in (roc_figure(found), precision_figure(found), reliability_figure(found)) if one],
        "gallery": rewarded_runs(asked, found.rewarded.items[:FEW], reader=request.user),
    }
    return grader_page(request, "goldsets/calibration.html", grader, **context)


@login_required
@never_cache
@require_GET
def behind(request: HttpRequest, uid: str, version: int) -> HttpResponse:
    """The runs behind a number: those that break policy and were passed, all false positives, those of a part."""
    grader = grader_for(request, uid)
    asked, _wrong = _question(request, grader, version)
    seen = look_at_calibration(request.user, asked)
    if seen.kept is None:
        return grader_page(request, "goldsets/calibration_counting.html", grader, asked=asked)
    title, uids = _which(seen.kept.found, request)
    page = max(1, number(request.GET.get("page"), 1))
    here = list(uids)[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    query = urlencode({name: value or "" for name, value in asked.asked.items() if name != "version"})
    context: dict[str, Any] = {
        "asked": asked,
        "title": title,
        "count": len(uids),
        "rows": rewarded_runs(asked, here, reader=request.user),
        "page": page,
        "more": len(uids) > page * ON_A_PAGE,
        "query": query,
        "which": urlencode({name: request.GET[name] for name in ("which", "cut") if name in request.GET}),
        "back": reverse("goldsets:calibration", args=[uid, version]) + f"?{query}",
    }
    return grader_page(request, "goldsets/calibration_behind.html", grader, **context)


def grader_page(request: HttpRequest, template: str, of: Grader, **context: Any) -> HttpResponse:
    """A page about a grader, under the project's tabs."""
    return project_page(request, template, project=of.project, at="graders", grader=of, **context)


def _question(request: HttpRequest, grader: Grader, version: int) -> tuple[Question, dict[str, str]]:
    """What is asked for, or the usual and what was wrong with it."""
    given = {name: value for name, value in asked_of(request, *ASKED).items() if name in request.GET}
    try:
        return question(grader, {**given, "version": version}), {}
    except Invalid as error:
        if "version" in error.errors:
            raise NotFound("This grader has no such version.") from None
        return question(grader, {"version": version}), error.errors


def _which(report: Report, request: HttpRequest) -> tuple[str, tuple[UUID, ...]]:
    found = report.found
    for cut in found.cuts:
        if cut.key == request.GET.get("cut"):
            return f"False positives, {cut.title}", cut.items
    if request.GET.get("which") == "passes":
        return "False positives", found.false_positives
    if request.GET.get("which") == "fails":
        return "False negatives", found.false_negatives
    return "Passed though a gate fails", found.rewarded.items
