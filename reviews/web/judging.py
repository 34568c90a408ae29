"""A rater's pages: start a queue, read and judge an item, submit and get the next one in the same answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews.actions import correcting as corrections
from reviews.actions import judging as actions
from reviews.actions.correcting import UNDO_SECONDS
from reviews.actions.dealing import (
    NothingToDeal,
    claim_in_drawn_time,
    ended_sentence,
    own_assignment,
    release,
    renew,
    skip,
)
from reviews.enums import AssignmentState, ItemKind, NormingState, Purpose, SkipReason
from reviews.errors import AssayError, Conflict, Invalid, NotFound
from reviews.models import Assignment, Draft, Queue, Trajectory
from reviews.queries import comparison_page as comparing
from reviews.queries import judging as queries
from reviews.queries.auditing import shown_to, verdicts_on
from reviews.queries.preferences import habits_of, key_sheet
from reviews.queries.questions import asking_of, notes_of
from reviews.queries.rubric_view import labelling_of
from reviews.queries.training import any_queue_by_uid, lesson_of
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.web import preferring
from reviews.web.access import HtmxRequest
from reviews.web.answers import all_pass, criteria_in, gates_in, notes_in, shown_in, steps_in, whole
from reviews.web.pages import go, group
from reviews.web.refusals import refusal

# The states in which a rater can still work on an item; a lease that ran out may yet be taken up again.
_TEMPLATES = {
    ItemKind.TRAJECTORY: "reviews/judge.html",
    ItemKind.COMPARISON: "reviews/prefer.html",
    ItemKind.TASK: "reviews/task.html",
}
IN_HAND = (AssignmentState.LEASED, AssignmentState.EXPIRED)
# Those in which they can read its run.
READABLE = (*IN_HAND, AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE)


# --- Pages ------------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HtmxRequest, uid: str) -> HttpResponse:
    """GET says what the queue is; POST takes the next item and goes to it."""
    queue = _queue(request, uid)
    if request.method == "POST":
        try:
            return redirect("reviews:assignment", uid=claim_in_drawn_time(actor=request.user, queue=queue).uid)
        except NothingToDeal as nothing:
            return _nothing(request, queue, nothing)
    notes = notes_of(queue.guideline, policy=None).guideline
    lesson = lesson_of(queue, request.user) if queue.purpose != Purpose.WORK else None
    context = {"queue": queue, "lesson": lesson, "judged_today": queries.judged_today(request.user), "notes": notes}
    return render(request, "reviews/queue_start.html", context)


@login_required
@never_cache
@require_safe
def assignment(request: HtmxRequest, uid: str) -> HttpResponse:
    """The item to judge, or, once that is over, what became of it."""
    mine = own_assignment(actor=request.user, uid=uid)
    if mine.state in IN_HAND or ("correct" in request.GET and actions.is_correctable(mine)):
        first, only = _number(request.GET.get("from"), 1), request.GET.get("only", "")
        return _judge(request, mine, first=first, only=only)
    return _shown_first(request, mine) or _over(request, mine)


# --- What the judge page sends ----------------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def submit(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take the judgment and answer with the next item's page, or with this one and what is missing."""
    if request.method == "GET":
        return redirect("reviews:assignment", uid=uid)
    payload = payload_from(request.POST)
    try:
        receipt = actions.submit(
            actor=request.user, uid=uid, payload=payload, idempotency_key=f"page-{uid}", worked=_worked(request)
        )
    except Invalid as error:
        mine = own_assignment(actor=request.user, uid=uid)
        return _judge(request, mine, payload=payload, errors=error.errors, status=422)
    except Conflict as error:
        mine = own_assignment(actor=request.user, uid=uid)
        return _judge(request, mine, payload=payload, errors={"": error.message}, status=422)
    mine = receipt.judgment.assignment
    if shown := _shown_first(request, mine):
        return shown
    undo = {"url": f"{_run_url(mine)}?correct", "seconds": UNDO_SECONDS} if actions.is_correctable(mine) else None
    return _next(request, mine.queue, said="Submitted.", undo=undo)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def correct(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take a correction as a new revision, and go on with the next item."""
    if request.method == "GET":
        return redirect(f"{reverse('reviews:assignment', kwargs={'uid': uid})}?correct")
    payload, seen = payload_from(request.POST), _number(request.POST.get("revision"), 0)
    key = f"page-{uid}-{seen}"
    try:
        receipt = corrections.correct(
            actor=request.user, uid=uid, payload=payload, idempotency_key=key, seen_revision=seen
        )
    except (Invalid, Conflict) as error:
        mine = own_assignment(actor=request.user, uid=uid)
        errors = error.errors if isinstance(error, Invalid) else {"": error.message}
        return _judge(request, mine, payload=payload, errors=errors, status=422)
    if shown := _shown_first(request, receipt.judgment.assignment):
        return shown
    return _next(request, receipt.judgment.assignment.queue, said="Corrected.")


@login_required
@require_POST
def draft(request: HtmxRequest, uid: str) -> HttpResponse:
    """Keep what was entered so far. 409 with both texts when another tab or machine has saved since.

    What the rater then chose is sent with the lines to `take` from the other text and the version they saw of it.
    """
    payload, version = payload_from(request.POST), _number(request.POST.get("version"), 0)
    if request.POST.getlist("take"):
        other, _version = queries.draft_of(own_assignment(actor=request.user, uid=uid))
        merged = comparing.merged if preferring.is_comparison(request.POST) else queries.merged
        payload = merged(payload, other, take=request.POST.getlist("take"))
    try:
        saved = actions.save_draft(
            actor=request.user,
            uid=uid,
            data=payload,
            version=version,
            worked=_worked(request),
            correcting="revision" in request.POST,
        )
    except Conflict as error:
        mine = own_assignment(actor=request.user, uid=uid)
        theirs = error.current if isinstance(error.current, Draft) else None
        context = {
            "message": error.message,
            "version": theirs.version if theirs else None,
            "rows": _two_texts(mine, payload, theirs.data) if theirs else [],
        }
        return render(request, "reviews/judge.html#conflict", context, status=409)
    return JsonResponse({"version": saved.version})


@login_required
@require_POST
def alive(request: HtmxRequest, uid: str) -> HttpResponse:
    """A sign of life from a page that is read: the lease runs on, the work counts. Says which draft stands."""
    mine = renew(actor=request.user, uid=uid, worked=_worked(request))
    _data, version = queries.draft_of(mine)
    return JsonResponse({"version": version, "active_seconds": mine.active_seconds})


@login_required
@require_POST
def pass_on(request: HtmxRequest, uid: str) -> HttpResponse:
    """Skip the item for good, with a reason, and go on to the next."""
    reason, note = request.POST.get("reason", ""), request.POST.get("note", "")
    try:
        mine = skip(actor=request.user, uid=uid, reason=reason, note=note)
    except Invalid as error:
        mine = own_assignment(actor=request.user, uid=uid)
        if mine.state not in IN_HAND:
            return _over(request, mine)
        entered = {"reason": reason, "note": note, "errors": error.errors.values()}
        response = _judge(request, mine, status=422, skip=entered)
        return _exchange_only(request, response, "#skip")
    return _next(request, mine.queue, said="Skipped.")


@login_required
@require_POST
def give_back(request: HtmxRequest, uid: str) -> HttpResponse:
    release(actor=request.user, uid=uid)
    return redirect("reviews:home")


# --- More of the run --------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_safe
def candidate(request: HtmxRequest, uid: str, place: int) -> HttpResponse:
    """The page of a comparison with other steps of one candidate, or of what all share, for whoever has no script."""
    mine = own_assignment(actor=request.user, uid=uid)
    if mine.state not in IN_HAND:
        return _over(request, mine)
    _run_at(mine, place)
    return _judge(
        request, mine, place=place, first=_number(request.GET.get("from"), 1), only=request.GET.get("only", "")
    )


@login_required
@never_cache
@require_safe
def differences(request: HtmxRequest, uid: str) -> HttpResponse:
    """What differs between the candidates, step by step, for a script to mark."""
    mine = _readable(request, uid)
    _run_at(mine, 0)
    return JsonResponse(comparing.differences_of(mine))


@login_required
@never_cache
@require_safe
def steps(request: HtmxRequest, uid: str, place: int | None = None) -> HttpResponse:
    """The steps of a gap, as far as the budget goes, with what stays left out."""
    mine = _readable(request, uid)
    run = _run_at(mine, place)
    window = run.window(
        first=_number(request.GET.get("from"), 1),
        last=_number(request.GET.get("to"), 0),
        at=_number(request.GET.get("at"), 0) or None,
        only=request.GET.get("only", ""),
    )
    labelling = labelling_of(mine.queue.rubric)
    context = {"window": window, "run_url": run.url, "prefix": run.prefix, "labelling": labelling}
    return render(request, "components/_steps.html", context)


@login_required
@never_cache
@require_safe
def field(request: HtmxRequest, uid: str, number: int, place: int | None = None) -> HttpResponse:
    """More of one field that was folded."""
    run = _run_at(_readable(request, uid), place)
    piece = queries.field_piece(
        run.trajectory,
        number=number,
        path=request.GET.get("path", ""),
        start=_number(request.GET.get("from"), 0),
    )
    template = "components/_field_text.html" if request.htmx else "reviews/field.html"
    return render(request, template, {"field": piece, "number": number, "run_url": run.url})


@login_required
@never_cache
@require_safe
def image(request: HtmxRequest, uid: str, number: int, picture: int, place: int | None = None) -> HttpResponse:
    """A picture of a step, of the type its bytes say."""
    run = _run_at(_readable(request, uid), place)
    media, content = queries.picture_of(run.trajectory, number=number, place=picture)
    return HttpResponse(content, content_type=media)


@login_required
@never_cache
@require_safe
def tools(request: HtmxRequest, uid: str, place: int | None = None) -> HttpResponse:
    """What the agent could use, with what each tool takes."""
    run = _run_at(_readable(request, uid), place)
    context = {"tools": queries.tools_shown(run.trajectory), "run_url": run.url}
    return render(request, "components/_tools.html" if request.htmx else "reviews/tools.html", context)


@login_required
@never_cache
@require_safe
def find(request: HtmxRequest, uid: str, place: int | None = None) -> HttpResponse:
    """The steps in which a text stands."""
    run, text = _run_at(_readable(request, uid), place), request.GET.get("q", "")[:200]
    hits = [hit for hit in queries.find(run.trajectory, text) if run.first <= hit.number <= run.last]
    context = {"hits": hits, "text": text, "run_url": run.url, "prefix": run.prefix}
    return render(request, "components/_hits.html" if request.htmx else "reviews/find.html", context)


@dataclass(frozen=True)
class _Run:
    """The steps that an address is about: of the only run, or of one part of a comparison."""

    trajectory: Trajectory
    first: int
    last: int
    url: str
    prefix: str
    window: Callable[..., queries.StepWindow]


def _run_at(mine: Assignment, place: int | None) -> _Run:
    """What is at a place of the rater's screen; without one, the run. Raises NotFound or Conflict."""
    if place is None:
        run, url = mine.item.run, _run_url(mine)
        window = partial(queries.steps_window, run)
        return _Run(run, 1, run.step_count, url, "", lambda last, **asked: window(last=last or None, **asked))
    if mine.item.trajectory:
        raise NotFound("This item is one run, without candidates.")
    part = comparing.part_at(mine, place)
    url = reverse("reviews:candidate", kwargs={"uid": mine.uid, "place": place})
    return _Run(part.trajectory, part.first, part.last, url, part.prefix, part.window)


# --- Helpers ----------------------------------------------------------------------------------------------------------
def _queue(request: HtmxRequest, uid: str) -> Queue:
    queue = any_queue_by_uid(uid)
    if queue is None:
        raise NotFound("There is no such queue.")
    check(request.user, "judge", queue.project)
    return queue


def _readable(request: HtmxRequest, uid: str) -> Assignment:
    """The rater's assignment while its run is open to them, which it stays once they have judged it."""
    mine = own_assignment(actor=request.user, uid=uid)
    if mine.state not in READABLE:
        raise Conflict(ended_sentence(mine))
    return mine


def _judge(
    request: HtmxRequest,
    mine: Assignment,
    *,
    payload: dict[str, Any] | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
    first: int = 1,
    only: str = "",
    place: int = 0,
    **context: Any,
) -> HttpResponse:
    """The page of an item with the draft, or with what was just sent and what is wrong with it."""
    mine, habits = queries.for_page(mine), habits_of(request.user)
    draft_data, version = queries.answers_so_far(mine)
    asked: dict[str, Any] = {
        "payload": draft_data if payload is None else payload,
        "version": version,
        "errors": errors,
        "first": first,
        "only": only,
    }
    page: Any = (
        queries.judge_page(mine, **asked) if mine.item.trajectory else comparing.prefer_page(mine, place=place, **asked)
    )
    response = render(
        request,
        _TEMPLATES[ItemKind(mine.item.kind)],
        {
            "page": page,
            "asking": asking_of(mine),
            "queue": mine.queue,
            "run_url": _run_url(mine),
            "window": getattr(page, "window", None),
            "correcting": queries.latest_judgment(mine),
            "labelling": labelling_of(mine.queue.rubric, page.rubric.steps if mine.item.trajectory else None),
            "ran_out": mine.state == AssignmentState.EXPIRED,
            "skip_reasons": SkipReason.choices,
            "idle_seconds": settings.ACTIVE_IDLE_SECONDS,
            "keys": habits.keys,
            "key_sheet": key_sheet(habits.keys, mine.queue.rubric),
            "coached": habits.coached,
            **context,
        },
        status=status,
    )
    return _exchange_only(request, response, "#judgment") if errors else response


def _exchange_only(request: HtmxRequest, response: HttpResponse, part: str) -> HttpResponse:
    """With mistakes in it only the form is exchanged, so that the run stays where the reader was."""
    if request.htmx:
        response.headers["HX-Retarget"] = response.headers["HX-Reselect"] = part
    return response


def _next(request: HtmxRequest, queue: Queue, *, said: str, undo: dict[str, Any] | None = None) -> HttpResponse:
    """The page of the next item, or the reason why there is none."""
    try:
        mine = claim_in_drawn_time(actor=request.user, queue=queue)
    except NothingToDeal as nothing:
        return _nothing(request, queue, nothing, undo=undo)
    except AssayError as error:
        return refusal(request, error)
    response = _judge(request, mine, said=said, undo=undo)
    response.headers["HX-Push-Url"] = reverse("reviews:assignment", kwargs={"uid": mine.uid})
    return response


def _shown_first(request: HtmxRequest, mine: Assignment) -> HttpResponse | None:
    """What a rater reads before the next item: what stands, in practice; the votes of a session, once revealed; what
    graders said, where they check it."""
    if mine.queue.purpose == Purpose.PRACTICE:
        return go(request, "reviews:feedback", uid=mine.uid)
    if mine.queue.rubric.audits and shown_to(mine) is None and verdicts_on(mine, until=timezone.now()):
        return go(request, "reviews:verdicts", uid=mine.uid)
    if mine.queue.purpose == Purpose.NORMING and mine.queue.session.state != NormingState.VOTING:
        return go(request, "reviews:norming_session", uid=mine.queue.uid)
    return None


def _nothing(
    request: HtmxRequest, queue: Queue, nothing: NothingToDeal, undo: dict[str, Any] | None = None
) -> HttpResponse:
    context = {"queue": queue, "reason": nothing.message, "undo": undo, "qualification": nothing.qualification}
    if queue.purpose != Purpose.WORK:
        context["lesson"] = lesson_of(queue, request.user)
    context["judged_today"] = queries.judged_today(request.user, queue=queue)
    response = render(request, "reviews/nothing.html", context)
    response.headers["HX-Push-Url"] = reverse("reviews:judge", kwargs={"uid": queue.uid})
    return response


def _over(request: HtmxRequest, mine: Assignment) -> HttpResponse:
    context = {
        "assignment": mine,
        "queue": mine.queue,
        "reason": ended_sentence(mine),
        "receipt": (queries if mine.item.trajectory else comparing).receipt(mine),
        "correctable": actions.is_correctable(mine),
    }
    return render(request, "reviews/receipt.html", context)


def _run_url(mine: Assignment) -> str:
    """Where more of the run is fetched from."""
    return reverse("reviews:assignment", kwargs={"uid": mine.uid})


def _two_texts(mine: Assignment, here: dict[str, Any], there: dict[str, Any]) -> list[queries.TwoTexts]:
    if mine.item.trajectory:
        return queries.two_texts(mine, here, there)
    return comparing.two_texts(mine, here, there)


def _worked(request: HtmxRequest) -> int | None:
    """How many seconds the page saw its reader work since its last sign; None from a page without script."""
    return _number(request.POST["worked"], 0) if "worked" in request.POST else None


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else otherwise


# --- The form ---------------------------------------------------------------------------------------------------------
def payload_from(form: QueryDict) -> dict[str, Any]:
    """What the page's form says, as the payload that drafts and judgments have. What the page hides is left out."""
    if preferring.is_comparison(form):
        return preferring.payload_from(form)
    payload: dict[str, Any] = {"gates": gates_in(form), "criteria": criteria_in(form) if all_pass(form) else {}}
    shown, failed = shown_in(form), "fail" in payload["gates"].values()
    if notes := notes_in(form, shown):
        payload["notes"] = notes
    if steps := steps_in(form):
        payload["steps"] = steps
    if failed:
        payload["failure"] = _failure(form)
    hidden = [key for key in group(form, "kind.") if key not in shown]
    payload["evidence"] = [
        cited
        for cited in _evidence(form)
        if (failed if cited.get("criterion") is None else cited["criterion"] not in hidden)
    ]
    if given := jsontext.clean_value(jsontext.parse_text(form.get("corrections") or "[]")):
        payload["corrections"] = given
    payload["rationale"] = form.get("rationale", "").replace("\r\n", "\n")
    if form.get("confidence"):
        payload["confidence"] = whole(str(form["confidence"]))
    return payload


def _failure(form: QueryDict) -> dict[str, Any]:
    given: dict[str, Any] = {**group(form, "failure.")}
    if "step" in given:
        given["step"] = whole(given["step"])
    if "note" in given:
        given["note"] = given["note"].replace("\r\n", "\n")
    return given


def _evidence(form: QueryDict) -> list[dict[str, Any]]:
    """The citations the script keeps in one field, and the step numbers written by hand where there is no script."""
    cited = jsontext.clean_value(jsontext.parse_text(form.get("evidence") or "[]"))
    rows = [dict(row) for row in cited if isinstance(row, Mapping)] if isinstance(cited, list) else []
    for name, numbers in group(form, "cite.").items():
        criterion = None if name == "failure-point" else name
        rows += [{"criterion": criterion, "step": whole(number)} for number in numbers.replace(",", " ").split()]
    return rows
