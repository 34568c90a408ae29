"""A rater's questions, and the inbox in which leads answer them with the run beside."""

import re
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews.actions.dealing import own_assignment
from reviews.actions.questions import answer, ask, publish, question_for, set_digest
from reviews.enums import QuestionAbout
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Project, Question
from reviews.queries import questions as queries
from reviews.queries.items import letter_of
from reviews.queries.judging import steps_window
from reviews.queries.payloads import order_of
from reviews.web.access import HtmxRequest, project_for, project_page
from reviews.web.pages import go, number
from reviews.web.refusals import refusal

PAGE = 50
PLACE = re.compile(r"(guideline|policy)-(\d{1,6})", re.ASCII)


# --- Raters -----------------------------------------------------------------------------------------------------------
@login_required
@require_POST
def ask_lead(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take the question. The item's page stays as it is; without script the answer comes in a page of its own."""
    text, about = request.POST.get("text", ""), request.POST.get("about", "")
    kind, place = place_from(about, request.POST.get("step", ""))
    try:
        whose = number(request.POST.get("candidate"), 0) or None if kind == QuestionAbout.STEP else None
        ask(actor=request.user, uid=uid, about=kind, text=text, place=place, candidate=whose)
    except (Invalid, Conflict) as error:
        if not request.htmx:
            raise
        sentences = list(error.errors.values()) if isinstance(error, Invalid) else [error.message]
        entered: dict[str, Any] = {name: request.POST.get(name, "") for name in ("text", "about", "step", "candidate")}
        entered |= {"errors": sentences}
        return _form_again(request, uid, entered)
    mine = own_assignment(actor=request.user, uid=uid)
    template = "components/_asked.html" if request.htmx else "reviews/asked.html"
    return render(request, template, {"asked": queries.asked_on(mine), "queue": mine.queue})


def _form_again(request: HtmxRequest, uid: str, entered: dict[str, Any]) -> HttpResponse:
    mine = own_assignment(actor=request.user, uid=uid)
    context = {
        "entered": entered,
        "asking": queries.asking_of(mine),
        "step_count": mine.item.longest,
        "letters": [letter_of(place) for place, _position in enumerate(order_of(mine), start=1)],
        "run_url": reverse("reviews:assignment", kwargs={"uid": uid}),
    }
    response = render(request, "components/_ask.html", context, status=422)
    response.headers["HX-Retarget"] = response.headers["HX-Reselect"] = "#ask-form"
    return response


def place_from(about: str, step: str) -> tuple[str, int | None]:
    """What a choice such as "policy-2" is about, and its place there."""
    if found := PLACE.fullmatch(about):
        return found[1], int(found[2])
    if about == QuestionAbout.STEP:
        return about, number(step, 0)
    return about, None


@login_required
@never_cache
@require_safe
def own(request: HttpRequest) -> HttpResponse:
    """Everything somebody has asked, with the answers."""
    page = Paginator(queries.own_questions(request.user), PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "asked": [queries.with_line(question) for question in page]}
    return render(request, "reviews/own_questions.html", context)


# --- Leads ------------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_safe
def inbox(request: HttpRequest, slug: str) -> HttpResponse:
    """What waits for an answer, the oldest first, and below it what was answered."""
    project = project_for(request, slug, "answer_questions")
    found = queries.inbox(project, request.user)
    page = Paginator(found.answered, PAGE).get_page(request.GET.get("page"))
    return project_page(
        request,
        "reviews/questions.html",
        project=project,
        at="questions",
        inbox=found,
        page=page,
        waiting=[queries.with_line(question) for question in found.open],
        answered=[queries.with_line(question) for question in page],
        now=timezone.now(),
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def question(request: HtmxRequest, slug: str, uid: str) -> HttpResponse:
    """One question with its run. POST answers it, to whoever asked or to everybody, and goes to the next."""
    project = project_for(request, slug, "answer_questions")
    try:
        asked = question_for(actor=request.user, uid=uid)
    except Forbidden as error:
        back = reverse("reviews:questions", kwargs={"slug": slug})
        return refusal(request, error, href=back, action="Back to the questions")
    if asked.queue.project_id != project.pk:
        raise NotFound("There is no such question in this project.")
    if request.method != "POST":
        return _question(request, project, asked)
    entered = {name: request.POST.get(name, "") for name in ("text", "to", "place")}
    try:
        said = _answer(request, uid, entered)
    except Invalid as error:
        return _question(request, project, asked, entered=entered, errors=error.errors)
    except Conflict as error:
        asked = question_for(actor=request.user, uid=uid)
        return _question(request, project, asked, entered=entered, errors={"": error.message})
    messages.success(request, said)
    after = queries.inbox(project, request.user).after
    if after:
        return go(request, "reviews:question", slug=slug, uid=after.uid)
    return go(request, "reviews:questions", slug=slug)


def _answer(request: HttpRequest, uid: str, entered: dict[str, str]) -> str:
    """Do what the form says, and say it."""
    if entered["to"] != "everybody":
        answer(actor=request.user, uid=uid, text=entered["text"])
        return "Answered. It is on the first page of whoever asked."
    about, line = place_from(entered["place"], "")
    note = publish(actor=request.user, uid=uid, text=entered["text"], about=about, line=line or 0)
    return f"Published: everybody reads it at {about} line {note.line} from now on."


def _question(
    request: HttpRequest,
    project: Project,
    asked: Question,
    *,
    entered: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    page = queries.question_page(asked)
    run = asked.assignment.item.trajectory
    first = asked.place if asked.about == QuestionAbout.STEP else None
    default = f"{asked.about}-{asked.place}" if asked.about in (QuestionAbout.GUIDELINE, QuestionAbout.POLICY) else ""
    return project_page(
        request,
        "reviews/question.html",
        project=project,
        at="questions",
        status=422 if errors else 200,
        page=page,
        window=steps_window(run, at=first, reveal=True) if run else None,
        run=run,
        run_url=reverse("reviews:item", kwargs={"slug": project.slug, "uid": asked.assignment.item.uid}),
        entered=entered or {"text": "", "to": "asker", "place": default},
        errors=errors or {},
        now=timezone.now(),
    )


@login_required
@require_POST
def digest_setting(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether raters of the project read where leads decided otherwise."""
    project = project_for(request, slug, "manage_digest")
    set_digest(actor=request.user, project=project, shown=request.POST.get("shown") == "yes")
    words = "Raters read what was decided." if project.digest else "Raters no longer read what was decided."
    messages.success(request, words)
    return redirect("reviews:questions", slug=slug)
