"""How a grader's version parts from the experts: over checkpoints, week by week, on runs it was not trained on."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.charts import parting_figure
from goldsets.queries.calibration import Watching, choices, watching
from goldsets.tasks import look_at_watch
from goldsets.web.calibration import grader_page
from goldsets.web.graders import grader_for
from reviews.errors import Invalid, NotFound
from reviews.web.pages import asked_of


@login_required
@never_cache
@require_GET
def watch(request: HttpRequest, uid: str, version: int) -> HttpResponse:
    """The pictures of proxy and gold. With ?sealed=1 held-out runs stand beside the others, and that is logged."""
    grader = grader_for(request, uid)
    given = {name: value for name, value in asked_of(request, "criterion", "against", "sealed").items() if value}
    wrong: dict[str, str] = {}
    try:
        asked: Watching = watching(grader, {**given, "version": version})
    except Invalid as error:
        if "version" in error.errors:
            raise NotFound("This grader has no such version.") from None
        asked, wrong = watching(grader, {"version": version}), error.errors
    seen = look_at_watch(request.user, asked)
    context: dict[str, Any] = {"asked": asked, "version": asked.version, "wrong": wrong}
    if seen.kept is None:
        return grader_page(request, "goldsets/calibration_counting.html", grader, **context)
    found = seen.kept.found.found
    context |= {
        "report": seen.kept.found,
        "found": found,
        "counted_at": seen.kept.counted_at,
        "stale": seen.stale,
        "choices": choices(asked.question),
        "checkpoints": parting_figure(found.checkpoints, by=found.distance),
        "weeks": parting_figure(found.weeks),
    }
    return grader_page(request, "goldsets/watch.html", grader, **context)
