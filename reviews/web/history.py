"""What a rater can look back at: their own judgments, the run of one of them, and where leads decided otherwise."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from reviews.actions.dealing import own_assignment
from reviews.actions.judging import is_correctable
from reviews.actions.preferences import remember_decisions_read
from reviews.actions.referring import answer_referral
from reviews.errors import Conflict, Invalid
from reviews.queries import history as queries
from reviews.queries.digest import digest_of, projects_with_digest
from reviews.queries.judging import kinds_of
from reviews.queries.referrals import asked_about, asked_again
from reviews.web.pages import asked_of, number, query_of

PAGE = 50
SAID = [("pass", "every gate passes"), ("fail", "a gate fails"), ("unsure", "unsure of a gate")]


@login_required
@never_cache
@require_safe
def own(request: HttpRequest) -> HttpResponse:
    """The rater's own judgments, the latest first."""
    asked = asked_of(request, "queue", "said", "q")
    page = Paginator(queries.own_judgments(request.user, asked=asked), PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": queries.rows_of(list(page)),
        "asked_again": asked_again(request.user),
        "asked": asked,
        "query": query_of(asked),
        "queues": queries.own_queues(request.user),
        "said": SAID,
    }
    return render(request, "reviews/own_judgments.html", context)


@login_required
@never_cache
@require_safe
def again(request: HttpRequest, uid: str) -> HttpResponse:
    """A judged item to read: its run, and what the rater said of it."""
    mine = own_assignment(actor=request.user, uid=uid)
    first, only = number(request.GET.get("from"), 1), request.GET.get("only", "")
    page = queries.read_again(mine, first=first, only=only)
    if page is None:
        return redirect("reviews:assignment", uid=uid)
    run = mine.item.trajectory
    context = {
        "page": page,
        "assignment": mine,
        "queue": mine.queue,
        "run": run,
        "correctable": is_correctable(mine),
        "referral": asked_about(mine),
        "window": page.window,
        "kinds": kinds_of(run, only) if run else [],
        "run_url": reverse("reviews:assignment", kwargs={"uid": uid}),
    }
    return render(request, "reviews/own_judgment.html", context)


@login_required
@require_POST
def answer(request: HttpRequest, uid: str) -> HttpResponse:
    """Say in words why a judgment stands that a lead asks about."""
    mine = own_assignment(actor=request.user, uid=uid)
    referral = asked_about(mine)
    if referral is None:
        messages.error(request, "Nothing is asked about it any more.")
        return redirect("reviews:again", uid=uid)
    try:
        answer_referral(actor=request.user, uid=referral.uid, text=request.POST.get("text", ""))
        messages.success(request, "Thank you. The lead reads it.")
    except Invalid as error:
        messages.error(request, " ".join(error.errors.values()))
    except Conflict as error:
        messages.error(request, error.message)
    return redirect("reviews:again", uid=uid)


@login_required
@never_cache
@require_safe
def decisions(request: HttpRequest) -> HttpResponse:
    """Where leads decided otherwise than the rater judged."""
    projects = projects_with_digest(request.user)
    page = Paginator(digest_of(request.user, projects), PAGE).get_page(request.GET.get("page"))
    remember_decisions_read(actor=request.user)
    return render(request, "reviews/decisions.html", {"page": page, "projects": projects})
