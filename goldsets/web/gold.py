"""The gold of a queue: the pool and what speaks against each item, candidates, approval, one item with its history."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.challenging import decide_challenge
from goldsets.actions.gold import (
    approve_gold,
    decline_gold,
    propose_change,
    propose_gold,
    retire_gold,
    set_feedback,
    set_gold_rate,
)
from goldsets.actions.importing_gold import MAX_BYTES, import_gold
from goldsets.forms import FeedbackForm, GoldFileForm, RateForm
from goldsets.models import GoldItem, GoldKey
from goldsets.queries import gold as queries
from goldsets.rules import can_approve, has_one_lead, may_decide
from reviews.errors import AssayError, Conflict, Forbidden, Invalid, NotFound
from reviews.forms import attempt
from reviews.models import Queue, Trajectory
from reviews.queries.judging import field_piece, item_context, picture_of, steps_window
from reviews.queries.questions import notes_of
from reviews.queries.reviewing import task_view
from reviews.rules import has_no_admin
from reviews.web.access import HtmxRequest, queue_for, queue_page
from reviews.web.pages import group, is_uid, number, whole

PAGE = 25


# --- The pool ---------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: HttpRequest, uid: str) -> HttpResponse:
    """The page; POST sets the rate, or when raters are told."""
    queue = queue_for(request, uid, "manage_queue")
    pool = queries.gold_pool(queue)
    told = {name: getattr(pool.policy, name, None) for name in FeedbackForm.base_fields}
    sets_rate = request.method == "POST" and "gold_rate" in request.POST
    tells = request.method == "POST" and not sets_rate
    rate = RateForm(request.POST if sets_rate else None, initial={"gold_rate": pool.rate})
    feedback = FeedbackForm(request.POST if tells else None, initial=told)
    if sets_rate and rate.is_valid():
        policy = attempt(rate, set_gold_rate, actor=request.user, queue=queue, rate=rate.cleaned_data["gold_rate"])
        if policy:
            messages.success(request, f"The gold rate is {policy.rate:.1%}.")
            return redirect("goldsets:gold", uid=uid)
    if tells and feedback.is_valid():
        after = {"items": feedback.cleaned_data["feedback_items"], "days": feedback.cleaned_data["feedback_days"]}
        if attempt(feedback, set_feedback, actor=request.user, queue=queue, **after):
            messages.success(request, "Saved. It holds for answers given before as well.")
            return redirect("goldsets:gold", uid=uid)
    return queue_page(
        request,
        "goldsets/gold.html",
        queue=queue,
        at="gold",
        status=422 if rate.errors or feedback.errors else 200,
        form=rate,
        feedback=feedback,
        pool=pool,
        challenges=[made for made in queries.challenges_of(queue) if made.state == "open"],
        proposed=queries.proposal_count(queue),
    )


@login_required
@require_POST
def retire(request: HttpRequest, uid: str, gold_id: int) -> HttpResponse:
    queue = queue_for(request, uid, "manage_queue")
    try:
        retire_gold(actor=request.user, gold_item=_item(queue, gold_id), reason=request.POST.get("reason", ""))
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
        return redirect("goldsets:gold_item", uid=uid, gold_id=gold_id)
    messages.success(request, "Retired. It is dealt no more; what raters did on it stays and counts.")
    return redirect("goldsets:gold", uid=uid)


# --- Candidates -------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def candidates(request: HttpRequest, uid: str) -> HttpResponse:
    """Settled items that can be gold; POST proposes the chosen ones."""
    queue = queue_for(request, uid, "manage_queue")
    if request.method == "POST":
        return _propose(request, queue)
    return _candidates(request, queue, GoldFileForm())


@login_required
@require_POST
def import_file(request: HttpRequest, uid: str) -> HttpResponse:
    """Expected values from a file, each row proposed or refused with its reason."""
    queue = queue_for(request, uid, "manage_queue")
    form = GoldFileForm(request.POST, request.FILES)
    if form.is_valid():
        content = form.cleaned_data["file"].read(MAX_BYTES + 1)
        receipt = attempt(form, import_gold, actor=request.user, queue=queue, content=content)
        if receipt:
            return _candidates(request, queue, GoldFileForm(), receipt=receipt)
    return _candidates(request, queue, form, status=422)


def _candidates(
    request: HttpRequest, queue: Queue, form: GoldFileForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    page = Paginator(queries.candidates(queue), PAGE).get_page(request.GET.get("page"))
    context |= {"form": form, "page": page, "candidates": queries.candidate_rows(page)}
    context |= {"proposed": queries.proposal_count(queue), "one_lead": has_one_lead(queue.project)}
    context |= {"no_admin": has_no_admin(request.user, queue.project)}
    return queue_page(request, "goldsets/gold_candidates.html", queue=queue, at="gold", status=status, **context)


def _propose(request: HttpRequest, queue: Queue) -> HttpResponse:
    chosen = [uid for uid in request.POST.getlist("item") if is_uid(uid)]
    made = 0
    for queue_item in queries.chosen_candidates(queue, chosen):
        try:
            propose_gold(
                actor=request.user,
                queue_item=queue_item,
                tolerance=number(request.POST.get("tolerance"), 1),
                note=request.POST.get("note", ""),
            )
        except (Invalid, Conflict) as error:
            messages.error(request, f"{queue_item.item.subject}: {error.message}")
        else:
            made += 1
    if made:
        messages.success(request, f"{made} item{' is' if made == 1 else 's are'} proposed. Somebody else approves now.")
    elif not chosen:
        messages.warning(request, "Choose the items that are to be gold.")
    return redirect("goldsets:gold_candidates", uid=queue.uid)


# --- Approval ---------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_GET
def proposals(request: HttpRequest, uid: str) -> HttpResponse:
    """What waits for a second person."""
    queue = _for_approval(request, uid)
    rows = queries.proposals(queue)
    context: dict[str, Any] = {
        "rows": [(row, may_decide(request.user, row.key.proposed_by_id)) for row in rows],
        "one_lead": has_one_lead(queue.project),
    }
    return queue_page(request, "goldsets/gold_proposals.html", queue=queue, at="gold", **context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def proposal(request: HttpRequest, uid: str, key_uid: str, place: int = 1) -> HttpResponse:
    """One proposal beside the run, or one of the runs, that it is about; POST approves or declines it."""
    queue = _for_approval(request, uid)
    if request.method == "POST":
        return _decide(request, queue, _key(queue, key_uid))
    key = _proposed(queue, key_uid)
    item = key.gold_item.queue_item.item
    run = _run_at(key, place)
    return queue_page(
        request,
        "goldsets/gold_proposal.html",
        queue=queue,
        at="gold",
        row=queries.proposal(key),
        may_decide=may_decide(request.user, key.proposed_by_id),
        item=item,
        task=task_view(item, (), []),
        context=item_context(item),
        notes=notes_of(key.guideline, item.policy),
        run=run,
        window=steps_window(run, at=number(request.GET.get("from"), 0) or None),
        run_url=_run_url(uid, key_uid, place),
        place=place,
        places=range(1, len(item.runs) + 1),
    )


def _decide(request: HttpRequest, queue: Queue, key: GoldKey) -> HttpResponse:
    try:
        if request.POST.get("decision") == "approve":
            approve_gold(actor=request.user, key=key)
            messages.success(request, "Approved. It is mixed in from the next item dealt.")
        else:
            decline_gold(actor=request.user, key=key, reason=request.POST.get("reason", ""))
            messages.success(request, "Declined. What was in use before goes on.")
    except (Invalid, Conflict, Forbidden) as error:
        messages.error(request, error.message)
    return redirect("goldsets:gold_proposals", uid=queue.uid)


@login_required
@never_cache
@require_GET
def proposal_steps(request: HttpRequest, uid: str, key_uid: str, place: int) -> HttpResponse:
    """More steps of the run, as far as the budget goes."""
    run = _run_at(_proposed(_for_approval(request, uid), key_uid), place)
    first, last = number(request.GET.get("from"), 1), number(request.GET.get("to"), 0) or None
    context = {"window": steps_window(run, first=first, last=last), "run_url": _run_url(uid, key_uid, place)}
    return render(request, "components/_steps.html", context)


@login_required
@never_cache
@require_GET
def proposal_field(request: HtmxRequest, uid: str, key_uid: str, place: int, position: int) -> HttpResponse:
    """More of one field that was folded."""
    run = _run_at(_proposed(_for_approval(request, uid), key_uid), place)
    path, start = request.GET.get("path", ""), number(request.GET.get("from"), 0)
    context = {
        "field": field_piece(run, number=position, path=path, start=start),
        "number": position,
        "run_url": _run_url(uid, key_uid, place),
    }
    return render(request, "components/_field_text.html" if request.htmx else "reviews/field.html", context)


@login_required
@never_cache
@require_GET
def proposal_image(
    request: HttpRequest, uid: str, key_uid: str, place: int, position: int, picture: int
) -> HttpResponse:
    """A picture of a step, of the type its bytes say."""
    run = _run_at(_proposed(_for_approval(request, uid), key_uid), place)
    media, content = picture_of(run, number=position, place=picture)
    return HttpResponse(content, content_type=media)


def _run_at(key: GoldKey, place: int) -> Trajectory:
    """One of the runs a proposal is about, by its place in the item's own order, from 1."""
    runs = key.gold_item.queue_item.item.runs
    if not 1 <= place <= len(runs):
        raise NotFound("This item has no such run.")
    return runs[place - 1]


def _run_url(uid: str, key_uid: str, place: int) -> str:
    return reverse("goldsets:gold_proposal_run", kwargs={"uid": uid, "key_uid": key_uid, "place": place})


def _for_approval(request: HttpRequest, uid: str) -> Queue:
    queue = queue_for(request, uid, "view_project")
    if not can_approve(request.user, queue.project):
        raise Forbidden("Only leads approve gold, and an admin where there is a single lead.")
    return queue


# --- One item ---------------------------------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def gold_item(request: HttpRequest, uid: str, gold_id: int) -> HttpResponse:
    """One gold item; POST proposes other expected values, or confirms those that hold."""
    queue = queue_for(request, uid, "manage_queue")
    item = _item(queue, gold_id)
    errors: dict[str, str] = {}
    if request.method == "POST":
        try:
            _change(request, item)
        except Invalid as error:
            errors = error.errors
        except Conflict as error:
            errors = {"": error.message}
        else:
            messages.success(request, "Proposed. Until somebody else approves it, what held before goes on.")
            return redirect("goldsets:gold_item", uid=uid, gold_id=gold_id)
    page = queries.gold_page(queue, item)
    if page is None:
        raise NotFound("This item was proposed as gold and never approved.")
    return queue_page(
        request,
        "goldsets/gold_item.html",
        queue=queue,
        at="gold",
        status=422 if errors else 200,
        gold=page,
        fields=queries.change_fields(item, request.POST),
        errors=errors,
        note=request.POST.get("note", ""),
    )


def _change(request: HttpRequest, item: GoldItem) -> GoldKey:
    values: dict[str, Any] = {key: whole(text) for key, text in group(request.POST, "value.").items()}
    tolerance = {key: whole(text) for key, text in group(request.POST, "tolerance.").items()}
    also = {
        name.removeprefix("also."): [whole(text) for text in request.POST.getlist(name) if text]
        for name in request.POST
        if name.startswith("also.")
    }
    return propose_change(
        actor=request.user,
        gold_item=item,
        values=values,
        also=also,
        tolerance=tolerance,
        note=request.POST.get("note", ""),
    )


@login_required
@require_POST
def answer(request: HttpRequest, uid: str, challenge_uid: str) -> HttpResponse:
    """Answer a rater's challenge."""
    queue = queue_for(request, uid, "manage_queue")
    made = queries.challenge_by_uid(queue, challenge_uid)
    if made is None:
        raise NotFound("There is no such challenge in this queue.")
    uphold = request.POST.get("decision") == "uphold"
    try:
        decide_challenge(actor=request.user, challenge=made, uphold=uphold, answer=request.POST.get("answer", ""))
    except AssayError as error:
        messages.error(request, error.message)
    else:
        then = " Now propose what is right, or retire the item." if uphold else ""
        messages.success(request, f"Answered. The rater reads it beside their answer.{then}")
    return redirect("goldsets:gold_item", uid=uid, gold_id=made.placement.gold_item_id)


def _item(queue: Queue, gold_id: int) -> GoldItem:
    item = queries.gold_item_by_id(queue, gold_id)
    if item is None:
        raise NotFound("There is no such gold item in this queue.")
    return item


def _proposed(queue: Queue, uid: str) -> GoldKey:
    key = queries.proposed_key(queue, uid)
    if key is None:
        raise NotFound("There is no such proposal in this queue, or it was decided.")
    return key


def _key(queue: Queue, uid: str) -> GoldKey:
    key = queries.key_by_uid(queue, uid)
    if key is None:
        raise NotFound("There is no such proposal in this queue.")
    return key
