"""Judgments whose rationale speaks for the other verdict, for leads to look at."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from goldsets.actions.rationales import look
from goldsets.queries import rationales as queries
from goldsets.reviewing.rationales import SURE
from reviews.errors import Conflict, NotFound
from reviews.rules import check
from reviews.web.access import queue_for, queue_page


@login_required
@never_cache
@require_GET
def rationales(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "adjudicate")
    found = queries.rationales_page(queue, request.user)
    context: dict[str, Any] = {"found": found, "sure": round(SURE * 100)}
    return queue_page(request, "goldsets/rationales.html", queue=queue, at="disagreements", **context)


@login_required
@require_POST
def looked(request: HttpRequest, uid: str) -> HttpResponse:
    """Say whether words and verdict really part."""
    flag = queries.flag_by_uid(uid)
    if flag is None:
        raise NotFound("There is no such flag.")
    check(request.user, "adjudicate", flag.judgment.queue.project)
    try:
        look(actor=request.user, flag=flag, parts=request.POST.get("parts") == "yes")
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Noted. The judgment stays as it is.")
    return redirect("goldsets:rationales", uid=flag.judgment.queue.uid)
