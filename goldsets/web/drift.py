"""The log of how a rubric's criteria drift over its versions."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.queries.drift import criterion_logs
from reviews.errors import NotFound
from reviews.queries.projects import rubric_by_uid
from reviews.web.access import project_for, project_page


@login_required
@never_cache
@require_GET
def rubric_log(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "view_agreement")
    rubric = rubric_by_uid(project, uid)
    if rubric is None:
        raise NotFound("There is no such rubric in this project.")
    logs = criterion_logs(project, rubric.name)
    return project_page(request, "goldsets/rubric_log.html", project=project, at="rubrics", rubric=rubric, logs=logs)
