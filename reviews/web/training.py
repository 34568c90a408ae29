"""Practice and qualification: what a rater is shown after an item, and the pages on which leads make and read sets."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews.actions import qualifying
from reviews.actions.dealing import own_assignment
from reviews.actions.training import Pick, move_training, open_training, practise_again
from reviews.enums import Purpose
from reviews.errors import AssayError, Conflict, Invalid, NotFound
from reviews.queries.items import queues_to_fill
from reviews.queries.training import (
    feedback_of,
    pick_rows,
    training_by_uid,
    training_page,
    training_rows,
)
from reviews.web.access import project_for, project_page, queue_for, training_for
from reviews.web.pages import number
from reviews.web.refusals import refusal

MOST_SHOWN = 200


# --- For raters -------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_safe
def feedback(request: HttpRequest, uid: str) -> HttpResponse:
    """What the rater said of an item of practice beside what stands, and why."""
    mine = own_assignment(actor=request.user, uid=uid)
    shown = feedback_of(mine)
    if shown is None:
        raise NotFound("There is nothing to show of this item: it is no practice item that you have judged.")
    return render(request, "reviews/feedback.html", {"queue": mine.queue, "assignment": mine, "shown": shown})


@login_required
@require_POST
def again(request: HttpRequest, uid: str) -> HttpResponse:
    """Begin a practice set once more."""
    queue = training_for(request, uid, "judge")
    try:
        practise_again(actor=request.user, queue=queue)
    except Conflict as error:
        return refusal(request, error)
    return redirect("reviews:judge", uid=uid)


# --- For leads --------------------------------------------------------------------------------------------------------
@login_required
@require_safe
def training(request: HttpRequest, slug: str) -> HttpResponse:
    """All practice sets, qualifications and norming sessions of a project."""
    project = project_for(request, slug, "manage_queue")
    context: dict[str, Any] = {"rows": training_rows(project), "queues": queues_to_fill(project)}
    return project_page(request, "reviews/training.html", project=project, at="training", **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, uid: str) -> HttpResponse:
    """Labels of a queue to tick, each with the line that decides it."""
    queue = queue_for(request, uid, "manage_queue")
    rows = pick_rows(queue, most=MOST_SHOWN)
    form, errors = request.POST, {}
    if request.method == "POST":
        ticked = set(form.getlist("label"))
        picks = [
            Pick(row.label, why=form.get(f"why-{row.label.uid}", ""), **_line(form.get(f"line-{row.label.uid}", "")))
            for row in rows
            if str(row.label.uid) in ticked
        ]
        try:
            made = open_training(
                actor=request.user,
                queue=queue,
                purpose=form.get("purpose", ""),
                name=form.get("name", ""),
                picks=picks,
                mark=_mark(form.get("mark", "")),
            )
        except Invalid as error:
            errors = error.errors
        except Conflict as error:
            errors = {error.field or "": error.message}
        else:
            messages.success(request, "It is open. Raters find it on their first page.")
            return redirect("reviews:training_set", uid=made.uid)
    asked = {
        "name": form.get("name", ""),
        "purpose": form.get("purpose") or request.GET.get("purpose", Purpose.PRACTICE),
        "mark": form.get("mark", "70"),
        "labels": form.getlist("label"),
    }
    for row in rows:
        row.chosen = form.get(f"line-{row.label.uid}", "")
        row.why = form.get(f"why-{row.label.uid}", "")
    status = 422 if errors else 200
    context = {"queue": queue, "rows": rows, "asked": asked, "errors": errors, "most": MOST_SHOWN}
    return project_page(
        request, "reviews/training_new.html", project=queue.project, at="training", status=status, **context
    )


def _line(written: str) -> dict[str, Any]:
    """ "guideline-3" or "policy-2" as what a pick takes; nothing where no line is named."""
    place, _dash, line = written.partition("-")
    return {f"{place}_line": number(line, 0)} if place in ("guideline", "policy") and number(line, 0) else {}


def _mark(written: str) -> float | None:
    """A percentage as a share; None where it is no number, for the action to refuse."""
    return number(written, 0) / 100 or None


@login_required
@require_safe
def training_set(request: HttpRequest, uid: str) -> HttpResponse:
    """Who practised or sat a qualification, where they differ, and who passed."""
    queue = training_for(request, uid, "manage_queue")
    if queue.purpose == Purpose.NORMING:
        return redirect("reviews:norming_session", uid=uid)
    context: dict[str, Any] = {"queue": queue, "page": training_page(queue)}
    return project_page(request, "reviews/training_set.html", project=queue.project, at="training", **context)


@login_required
@require_POST
def move(request: HttpRequest, uid: str) -> HttpResponse:
    """Close a set or open it again."""
    queue = training_for(request, uid, "manage_queue")
    return _told(request, uid, move_training, queue=queue, state=request.POST.get("state", ""))


@login_required
@require_POST
def waive(request: HttpRequest, uid: str) -> HttpResponse:
    """Let somebody in who has not passed."""
    queue = training_for(request, uid, "manage_queue")
    rater, why = number(request.POST.get("rater"), 0), request.POST.get("why", "")
    return _told(request, uid, qualifying.waive, queue=queue, rater_id=rater, why=why)


def _told(request: HttpRequest, uid: str, action: Any, **given: Any) -> HttpResponse:
    try:
        action(actor=request.user, **given)
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Done. It stands in the events.")
    return redirect("reviews:training_set", uid=uid)


@login_required
@require_POST
def require(request: HttpRequest, uid: str) -> HttpResponse:
    """Have a queue ask for a qualification, or for none."""
    queue = queue_for(request, uid, "manage_queue")
    wanted = request.POST.get("qualification", "")
    try:
        found = training_by_uid(wanted) if wanted else None
        if wanted and found is None:
            raise NotFound("There is no such qualification.")
        qualifying.require_qualification(actor=request.user, queue=queue, qualification=found)
    except AssayError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Saved. It holds from the next item dealt.")
    return redirect("reviews:queue_settings", uid=uid)
