"""A rater's page: their answers that were held against a known one, once the queue says it is time, and challenges."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from goldsets.actions.challenging import challenge
from goldsets.queries.feedback import told_answers
from reviews.errors import Conflict, Invalid
from reviews.web.pages import is_uid


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def checked(request: HttpRequest) -> HttpResponse:
    """The list; POST challenges one answer."""
    uid, reason, error = request.POST.get("assignment", ""), request.POST.get("reason", ""), ""
    if request.method == "POST":
        try:
            challenge(actor=request.user, uid=uid if is_uid(uid) else None, reason=reason)
        except (Invalid, Conflict) as refused:
            error = refused.message
        else:
            messages.success(request, "Sent. A lead reads it and answers here.")
            return redirect("goldsets:checked")
    context = {"told": told_answers(request.user), "at": uid, "reason": reason, "error": error}
    return render(request, "goldsets/checked.html", context, status=422 if error else 200)
