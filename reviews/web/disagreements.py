"""The inbox of what waits for a lead, and the page on which one item is decided and the next one comes."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from reviews.actions.adjudicating import (
    adjudicate,
    adjudicate_alike,
    answer_first,
    differing,
    open_names,
    save_draft,
    undo,
)
from reviews.actions.referring import put_first, refer, take_back
from reviews.enums import Basis, QueueItemState, ReasonCode, ReferralKind, WaitsFor
from reviews.errors import AssayError, Conflict, Forbidden, Invalid, NotFound
from reviews.models import Judgment, Label, Queue, QueueItem
from reviews.queries import disagreements as queries
from reviews.queries.alike import batches
from reviews.queries.deciding import comparison_decision
from reviews.queries.judging import context_of, run_map
from reviews.queries.preferences import habits_of, reading_keys
from reviews.queries.questions import notes_of
from reviews.queries.referrals import (
    decision_draft,
    first_answer,
    label_there,
    open_referral,
    other_queues,
    referrals_of,
    undoable,
)
from reviews.queries.resting import judgments_before_label
from reviews.queries.reviewing import task_view
from reviews.rules import check_not_own, decides
from reviews.visibility import Phase, Thing, Viewer, visible
from reviews.web import preferring
from reviews.web.access import HtmxRequest, May, queue_for, queue_page
from reviews.web.answers import criteria_in, gates_in, steps_in, whole
from reviews.web.pages import asked_of, go, group, is_uid, query_of
from reviews.web.refusals import refusal

PAGE = 50


@login_required
@never_cache
@require_GET
def inbox(request: HtmxRequest, uid: str) -> HttpResponse:
    """What waits, the most worth first, filtered by criterion, gates, family or by why it waits."""
    queue = queue_for(request, uid, "adjudicate")
    chosen = asked_of(request, "criterion", "gates", "family", "waits_for", "order")
    found = queries.inbox(queue, request.user, filters=queries.Filters(**chosen))
    page = Paginator(found.rows, PAGE).get_page(request.GET.get("page"))
    return queue_page(
        request,
        "reviews/disagreements.html",
        queue=queue,
        at="disagreements",
        inbox=found,
        page=page,
        query=query_of(chosen),
        chosen=chosen,
        criteria=queue.rubric.criteria.all(),
        families=queries.families_waiting(queue),
        why=WaitsFor.choices,
        batches=batches(queue, found.rows),
        reasons=ReasonCode.choices,
    )


@login_required
@require_POST
def alike(request: HtmxRequest, uid: str) -> HttpResponse:
    """Settle several items that differ in one value alone."""
    queue = queue_for(request, uid, "adjudicate")
    form = request.POST
    key = form.get("criterion", "")
    try:
        labels = adjudicate_alike(
            actor=request.user,
            queue=queue,
            items=[uid for uid in form.getlist("items") if is_uid(uid)],
            criterion=key,
            value=criteria_in(form).get(key),
            reason=form.get("reason", ""),
            note=form.get("note", "").replace("\r\n", "\n"),
        )
        messages.success(request, f"{len(labels)} item{'' if len(labels) == 1 else 's'} settled.")
    except Invalid as error:
        messages.error(request, " ".join(error.errors.values()))
    except Conflict as error:
        messages.error(request, error.message)
    return go(request, "reviews:disagreements", uid=queue.uid)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """One item with its raters side by side; POST settles it and answers with the next."""
    queue = queue_for(request, uid, "adjudicate")
    queue_item = _queue_item(queue, item_uid)
    if request.method == "POST":
        return _settle(request, queue, queue_item)
    return _page(request, queue, queue_item)


@login_required
@require_POST
def names(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Open the raters' names before deciding; the audit log says that it was done."""
    queue = queue_for(request, uid, "adjudicate")
    queue_item = _queue_item(queue, item_uid)
    try:
        open_names(actor=request.user, queue_item=queue_item)
    except (Conflict, Forbidden) as error:
        messages.error(request, error.message)
    return redirect("reviews:adjudicate", uid=uid, item_uid=item_uid)


@login_required
@require_POST
def pass_on(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Send an item back to its raters, to a second lead, out of the way or into another queue."""
    queue = queue_for(request, uid, "adjudicate")
    given = {name: request.POST.get(name, "") for name in ("kind", "text", "queue")}
    try:
        referral = refer(actor=request.user, queue_item=_queue_item(queue, item_uid), **given)
    except Invalid as error:
        messages.error(request, " ".join(error.errors.values()))
    except (Conflict, Forbidden) as error:
        messages.error(request, error.message)
    else:
        into = f": {referral.queue}" if referral.queue else ""
        messages.success(request, f"{WaitsFor(referral.kind).label}{into}.")
        return redirect("reviews:disagreements", uid=uid)
    return redirect("reviews:adjudicate", uid=uid, item_uid=item_uid)


@login_required
@require_POST
def bring_back(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Let an item that was passed on wait as before."""
    queue = queue_for(request, uid, "adjudicate")
    try:
        take_back(actor=request.user, queue_item=_queue_item(queue, item_uid))
    except Conflict as error:
        messages.error(request, error.message)
    return redirect("reviews:adjudicate", uid=uid, item_uid=item_uid)


@login_required
@require_POST
def first(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Put an item first in the inbox, or no longer."""
    queue = queue_for(request, uid, "adjudicate")
    put_first(actor=request.user, queue_item=_queue_item(queue, item_uid), first="first" in request.POST)
    return redirect("reviews:disagreements", uid=uid)


@login_required
@require_POST
def undo_decision(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Take the last decision back by a new one."""
    queue = queue_for(request, uid, "adjudicate")
    seen = _seen(request)
    try:
        label = undo(actor=request.user, queue_item=_queue_item(queue, item_uid), seen_revision=seen)
    except (Conflict, Forbidden) as error:
        messages.error(request, error.message)
    else:
        again = f"What stood before stands again, as revision {label.revision}." if label else "The item waits again."
        messages.success(request, f"Undone. {again}")
    return redirect("reviews:adjudicate", uid=uid, item_uid=item_uid)


@login_required
@require_POST
def draft(request: HtmxRequest, uid: str, item_uid: str) -> HttpResponse:
    """Keep what is entered so far."""
    queue = queue_for(request, uid, "adjudicate")
    queue_item = _queue_item(queue, item_uid)
    given = _read_form(queue_item, request.POST, differing(_seen_judgments(queue_item, request.user)))
    try:
        save_draft(actor=request.user, queue_item=queue_item, given=given, seen_revision=_seen(request))
    except Conflict:
        return HttpResponse(status=409)
    return HttpResponse(status=204)


def _seen(request: HtmxRequest) -> int | None:
    """The label's revision that the lead was looking at, as the form says."""
    seen = request.POST.get("seen", "")
    return int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 6 else None


def _is_blind(queue_item: QueueItem, lead: Any) -> bool:
    """Whether this lead is to answer before they see what raters said."""
    waits = queue_item.state == QueueItemState.WAITING and queue_item.queue.lead_answers_first
    return waits and first_answer(queue_item, lead) is None


def _seen_judgments(queue_item: QueueItem, lead: Any) -> list[Judgment]:
    return [] if _is_blind(queue_item, lead) else judgments_before_label(queue_item)


def _settle(request: HtmxRequest, queue: Queue, queue_item: QueueItem) -> HttpResponse:
    blind = _is_blind(queue_item, request.user)
    given = _read_form(queue_item, request.POST, differing(_seen_judgments(queue_item, request.user)))
    waiting = queries.inbox(queue, request.user)
    after = waiting.around(queue_item.uid)[1] or next(
        (row.queue_item for row in waiting.rows if row.queue_item.uid != queue_item.uid), None
    )
    payload = payload_of(given) if queue_item.item.trajectory else compared_payload_of(given)
    try:
        if blind:
            answer_first(actor=request.user, queue_item=queue_item, payload=payload)
            messages.success(request, "Kept. This is what the raters said.")
            return go(request, "reviews:adjudicate", uid=queue.uid, item_uid=queue_item.uid)
        label = adjudicate(actor=request.user, queue_item=queue_item, payload=payload, seen_revision=_seen(request))
    except Invalid as error:
        return _page(request, queue, queue_item, given=given, errors=error.errors)
    except Conflict as error:
        return _page(request, queue, _queue_item(queue, queue_item.uid), given=given, errors={"": error.message})
    messages.success(request, _settled_words(label))
    if after is None:
        return go(request, "reviews:disagreements", uid=queue.uid)
    if not request.htmx:
        return redirect("reviews:adjudicate", uid=queue.uid, item_uid=after.uid)
    response = _page(request, queue, _queue_item(queue, after.uid))
    response.headers["HX-Push-Url"] = reverse("reviews:adjudicate", kwargs={"uid": queue.uid, "item_uid": after.uid})
    return response


def _settled_words(label: Label) -> str:
    return "Settled." if label.revision == 1 else f"Settled anew: revision {label.revision} of the label."


def _page(
    request: HtmxRequest,
    queue: Queue,
    queue_item: QueueItem,
    *,
    given: dict[str, Any] | None = None,
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    inbox_url = reverse("reviews:disagreements", kwargs={"uid": queue.uid})
    try:
        _may_decide(request, queue_item)
    except AssayError as error:
        return refusal(request, error, href=inbox_url, action="Back to the disagreements")
    waiting = queries.inbox(queue, request.user)
    before, after = waiting.around(queue_item.uid)
    settled = queue_item.state == QueueItemState.SETTLED
    seen = visible(Viewer.LEAD, Phase.SETTLED if settled else Phase.WAITING)
    open_now = queries.names_are_open(queue_item, request.user)
    blind = _is_blind(queue_item, request.user)
    judgments = _seen_judgments(queue_item, request.user)
    kept = decision_draft(queue_item, request.user) if given is None else None
    first = first_answer(queue_item, request.user)
    if given is None and (kept or (first and not settled)):
        given = kept.given if kept else first.payload  # type: ignore[union-attr]
    keys = habits_of(request.user).keys
    run, referral = queue_item.item.trajectory, open_referral(queue_item)
    decide: Any = queries.decision if run else comparison_decision
    page: Any = decide(
        queue_item, judgments, lead=request.user, names=open_now and not blind, given=given, errors=errors
    )
    context = {
        "project": queue.project,
        "queue": queue,
        "queue_item": queue_item,
        "settled": settled,
        "names": open_now and not blind,
        "page": page,
        "labelling": page.labelling if run else None,
        "blind": blind,
        "first": first,
        "draft": kept,
        "ambiguous": _is_ambiguous(queue_item, given),
        "referral": referral,
        "decides": decides(request.user, referral),
        "label_there": label_there(referral) if referral else None,
        "referrals": referrals_of(queue_item),
        "kinds": ReferralKind.choices,
        "queues": other_queues(queue),
        "undoable": settled and undoable(queue_item),
        "context": context_of(queue_item, reveal=True),
        "notes": notes_of(queue.guideline, queue_item.item.policy),
        "task": task_view(queue_item.item, (), []) if not run else None,
        "outcome": run.outcome if run and Thing.OUTCOME in seen else None,
        "labels": queries.labels_of_item(queue_item) if Thing.LABEL in seen else [],
        "skips": queries.skips_of(queue_item),
        "keys": keys,
        "reading_keys": reading_keys(keys, queue.rubric),
        "outline": run_map(run, reveal=True) if run else "",
        "place": waiting.place_of(queue_item.uid),
        "total": len(waiting.rows),
        "oldest": waiting.oldest,
        "before": before,
        "after": after,
        "reasons": ReasonCode.choices,
        "run_url": reverse("reviews:item", kwargs={"slug": queue.project.slug, "uid": queue_item.item.uid}),
        "may": May(request.user, queue.project),
        "now": timezone.now(),
    }
    template = "reviews/adjudicate.html" if run else "reviews/decide.html"
    response = render(request, template, context, status=422 if errors else 200)
    # With mistakes in it only the form is exchanged, so that the run stays where the reader was.
    if errors and request.htmx:
        response.headers["HX-Retarget"] = response.headers["HX-Reselect"] = "#decision"
    return response


def _is_ambiguous(queue_item: QueueItem, given: dict[str, Any] | None) -> bool:
    """Whether that box is ticked: as entered so far, or as the label that stands says."""
    if given is not None:
        return bool(given.get("ambiguous"))
    return queue_item.label is not None and queue_item.label.basis == Basis.AMBIGUOUS


def _may_decide(request: HtmxRequest, queue_item: QueueItem) -> None:
    """Say at once what the action would refuse in the end."""
    check_not_own(request.user, queue_item)
    if queue_item.state == QueueItemState.COLLECTING:
        raise Conflict("Judgments of this item are still coming in. It can be settled once they are complete.")


def _queue_item(queue: Queue, uid: Any) -> QueueItem:
    found = queries.queue_item_by_uid(queue, uid)
    if found is None:
        raise NotFound("There is no such item in this queue.")
    return found


def decision_from(form: QueryDict, differing_keys: set[str]) -> dict[str, Any]:
    """Everything the form says, also what a failed gate hides, so that nothing is lost; `reason` is the one for all."""
    given: dict[str, Any] = {
        "ambiguous": "ambiguous" in form,
        "gates": gates_in(form),
        "criteria": criteria_in(form),
        "steps": steps_in(form),
        "failure": {name: whole(value) if name == "step" else value for name, value in group(form, "failure.").items()},
        "notes": group(form, "notes."),
        "note": form.get("note", "").replace("\r\n", "\n"),
        "reason": form.get("reason", ""),
    }
    reasons = {key: form.get(f"reason.{key}") or given["reason"] for key in differing_keys}
    return given | {"reasons": {key: reason for key, reason in reasons.items() if reason}}


def payload_of(given: dict[str, Any]) -> dict[str, Any]:
    """The decision as the action takes it: quality where every gate passes, a failure point where one fails."""
    if given.get("ambiguous"):
        return ambiguous_payload_of(given)
    payload = {name: value for name, value in given.items() if name not in ("reason", "ambiguous")}
    answers = list(given["gates"].values())
    if any(answer != "pass" for answer in answers):
        payload["criteria"] = {}
    if "fail" not in answers:
        payload["failure"] = None
    return payload


def ambiguous_payload_of(given: dict[str, Any]) -> dict[str, Any]:
    """A decision that no value is right: the note alone."""
    return {"ambiguous": True, "note": given["note"]}


# --- Comparisons ------------------------------------------------------------------------------------------------------
def _read_form(queue_item: QueueItem, form: QueryDict, differing_keys: set[str]) -> dict[str, Any]:
    """Everything the form says; of a comparison candidates stand in the item's own order."""
    if queue_item.item.trajectory:
        return decision_from(form, differing_keys)
    said = preferring.payload_from(form)
    given: dict[str, Any] = {name: said[name] for name in ("gates", "criteria", "candidates") if name in said}
    given |= {"note": form.get("note", "").replace("\r\n", "\n"), "notes": group(form, "notes.")}
    given["ambiguous"] = "ambiguous" in form
    given["reason"] = form.get("reason", "")
    reasons = {key: form.get(f"reason.{key}") or given["reason"] for key in differing_keys}
    return given | {"reasons": {key: reason for key, reason in reasons.items() if reason}}


def compared_payload_of(given: dict[str, Any]) -> dict[str, Any]:
    """The decision as the action takes it."""
    if given["ambiguous"]:
        return ambiguous_payload_of(given)
    return {name: value for name, value in given.items() if name not in ("reason", "ambiguous")}
