"""The page on which a rater checks what graders said, after their own answer, and the one on which leads read of it."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.dealing import own_assignment
from reviews.actions.judging import is_correctable
from reviews.errors import Invalid, NotFound
from reviews.models import VerdictsShown
from reviews.queries.auditing import checked, latest_audits, shown_to, verdicts_asked
from reviews.queries.history import read_again
from reviews.web.access import queue_for, queue_page
from reviews.web.answers import YES_OR_NO
from reviews.web.pages import number


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def verdicts(request: HttpRequest, uid: str) -> HttpResponse:
    """Before the rater asks to see them, what follows from it; then the verdicts beside the run, to be checked."""
    mine = own_assignment(actor=request.user, uid=uid)
    shown = shown_to(mine)
    if request.method != "POST":
        return _page(request, mine, shown)
    if shown is None:
        show_verdicts(actor=request.user, uid=uid)
        return redirect("reviews:verdicts", uid=uid)
    payload = _payload(request.POST, shown)
    try:
        audit_verdicts(actor=request.user, uid=uid, payload=payload)
    except Invalid as error:
        return _page(request, mine, shown, payload=payload, errors=error.errors, status=422)
    return redirect("reviews:verdicts", uid=uid)


def _page(
    request: HttpRequest,
    mine: Any,
    shown: VerdictsShown | None,
    *,
    payload: Any = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    page = read_again(mine, first=number(request.GET.get("from"), 1))
    if page is None or not mine.queue.rubric.audits or mine.item.trajectory is None:
        raise NotFound("There is nothing here to check.")
    context = {
        "page": page,
        "assignment": mine,
        "queue": mine.queue,
        "run": mine.item.trajectory,
        "window": page.window,
        "on_page": [step.number for step in page.window.steps] if page.window else [],
        "run_url": reverse("reviews:assignment", kwargs={"uid": mine.uid}),
        "shown": shown,
        "asked": verdicts_asked(shown, payload, errors or {}) if shown else [],
        "done": bool(shown and not errors and latest_audits(shown)),
        "errors": errors,
        "correctable": is_correctable(mine),
    }
    return render(request, "reviews/verdicts.html", context, status=status)


def _payload(form: QueryDict, shown: VerdictsShown) -> dict[str, Any]:
    """What the page's form says, as the action reads it: answers by the number of the verdict and of the place."""
    return {
        "verdicts": [
            {
                "grader": verdict["grader"],
                "right": YES_OR_NO.get(form.get(f"right.{at}", "")),
                "evidence": [YES_OR_NO.get(form.get(f"valid.{at}.{n}", "")) for n in range(len(verdict["evidence"]))],
                "note": form.get(f"note.{at}", "").replace("\r\n", "\n"),
            }
            for at, verdict in enumerate(shown.verdicts)
        ]
    }


@login_required
@never_cache
@require_safe
def of_queue(request: HttpRequest, uid: str) -> HttpResponse:
    """For leads: how often raters found graders right, and where they did not."""
    queue = queue_for(request, uid, "view_agreement")
    found = checked(queue, reader=request.user)
    return queue_page(request, "reviews/verdicts_checked.html", queue=queue, at="agreement", checked=found)
