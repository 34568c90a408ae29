"""Norming sessions: opened and led by leads, read and talked about by members too."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews.actions import norming as actions
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import NormingSession
from reviews.queries.norming import can_join, fit_to_norm, is_in, session_by_uid, session_page
from reviews.rules import can, check
from reviews.web.access import project_page, queue_for
from reviews.web.pages import is_uid, number

MOST_SHOWN = 100


def session_for(person: Any, uid: Any) -> NormingSession:
    """The session, for its members and the project's leads; for anybody else there is none."""
    found = session_by_uid(uid)
    if found is None:
        raise NotFound("There is no such norming session.")
    check(person, "judge", found.queue.project)
    if not is_in(found, person) and not can(person, "manage_queue", found.queue.project):
        raise NotFound("There is no such norming session, or you are not in it.")
    return found


@login_required
@never_cache
@require_safe
def session(request: HttpRequest, uid: str) -> HttpResponse:
    """How far it is; after the reveal all votes side by side."""
    return _shown(request, session_for(request.user, uid))


def _shown(request: HttpRequest, found: NormingSession, status: int = 200, **context: Any) -> HttpResponse:
    context |= {"session": found, "queue": found.queue, "page": session_page(found, reader=request.user)}
    template, project = "reviews/norming_session.html", found.queue.project
    return project_page(request, template, project=project, at="training", status=status, **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, uid: str) -> HttpResponse:
    """Items of a queue and people to tick."""
    queue = queue_for(request, uid, "manage_queue")
    form, errors = request.POST, {}
    if request.method == "POST":
        try:
            made = actions.open_session(
                actor=request.user,
                queue=queue,
                name=form.get("name", ""),
                items=[item for item in form.getlist("item") if is_uid(item)],
                members=[number(member, 0) for member in form.getlist("member")],
                names_shown=form.get("names") == "yes",
            )
        except Invalid as error:
            errors = error.errors
        except Conflict as error:
            errors = {error.field or "": error.message}
        else:
            messages.success(request, "The session is open. Its members find it on their first page.")
            return redirect("reviews:norming_session", uid=made.queue.uid)
    context = {
        "queue": queue,
        "rows": fit_to_norm(queue)[:MOST_SHOWN],
        "members": can_join(queue),
        "errors": errors,
        "asked": {
            "name": form.get("name", ""),
            "items": form.getlist("item"),
            "members": form.getlist("member"),
            "names": form.get("names", ""),
        },
    }
    status = 422 if errors else 200
    return project_page(
        request, "reviews/norming_new.html", project=queue.project, at="training", status=status, **context
    )


@login_required
@require_POST
def reveal(request: HttpRequest, uid: str) -> HttpResponse:
    return _done(request, uid, actions.reveal)


@login_required
@require_POST
def close(request: HttpRequest, uid: str) -> HttpResponse:
    return _done(request, uid, actions.close, change=request.POST.get("change", ""))


def _done(request: HttpRequest, uid: str, action: Any, **given: Any) -> HttpResponse:
    found = session_for(request.user, uid)
    try:
        action(actor=request.user, session=found, **given)
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
        return _shown(request, found, status=422, entered=given)
    return redirect("reviews:norming_session", uid=uid)


@login_required
@require_POST
def discuss(request: HttpRequest, uid: str) -> HttpResponse:
    """Say something about an item or a criterion, and stay at it."""
    found = session_for(request.user, uid)
    item, criterion, text = (request.POST.get(name, "") for name in ("item", "criterion", "text"))
    if not is_uid(item):
        raise NotFound("There is no such item in this session.")
    try:
        actions.discuss(actor=request.user, session=found, item=item, criterion=criterion, text=text)
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
        return _shown(request, found, status=422, entered={"text": text, "item": item, "criterion": criterion})
    return redirect(f"{reverse('reviews:norming_session', args=[uid])}#item-{item}")
