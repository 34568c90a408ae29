"""How long judgments take, rater by rater, and which of them are worth a look."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.charts import pace_figure
from goldsets.queries.pace import queue_pace
from reviews.web.access import queue_for, queue_page


@login_required
@never_cache
@require_GET
def pace(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "view_agreement")
    found = queue_pace(queue)
    figure = pace_figure(found) if found.pace.n else None
    return queue_page(request, "goldsets/pace.html", queue=queue, at="raters", found=found, figure=figure)
