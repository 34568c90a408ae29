"""Raters: how right they are on gold, what the test says of each, what the rule proposes and a lead makes of it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from goldsets.actions.standing import (
    change_standing,
    confirm_move,
    decline_move,
    review_standings,
    set_standing_policy,
)
from goldsets.charts import accuracy_figure, path_figure
from goldsets.enums import WorkPolicy
from goldsets.forms import StandingPolicyForm
from goldsets.queries import standing as queries
from goldsets.queries.behind import items_behind
from goldsets.tasks import look_at_agreement
from goldsets.web.agreement import being_counted
from reviews.errors import NotFound
from reviews.forms import attempt
from reviews.web.access import queue_for, queue_page
from reviews.web.pages import do_and_say


@login_required
@never_cache
@require_GET
def raters(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue)
    if seen.kept is None:
        return being_counted(request, queue, at="raters")
    standings = queries.queue_standing(queue, kept=seen.kept)
    measured = [standing for standing in standings if standing.gold_n]
    context: dict[str, Any] = {
        "standings": standings,
        "figure": accuracy_figure(measured) if measured else None,
        "proposed": queries.proposed_moves(queue),
        "policy": queries.policy_of(queue),
        "work": WorkPolicy.choices,
    }
    return queue_page(request, "goldsets/raters.html", queue=queue, at="raters", **context)


@login_required
@never_cache
@require_GET
def rater(request: HttpRequest, uid: str, rater_id: int) -> HttpResponse:
    """One rater with the picture of their answers and what has come of them."""
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue)
    if seen.kept is None:
        return being_counted(request, queue, at="raters")
    page = queries.rater_page(queue, rater_id, kept=seen.kept)
    if page is None:
        raise NotFound("Nobody like that judges in this queue.")
    test, drift = page.standing.test, page.drift
    context: dict[str, Any] = {
        "page": page,
        "row": page.standing,
        "work": WorkPolicy.choices,
        "drift": path_figure(
            drift.path,
            [(answer.gold, answer.all_right, title) for answer, title in page.answers],
            bounds=[(drift.limit, f"rings at {drift.limit}", "bad")],
            label=f"Drift of {page.standing.rater} over {len(drift.path)} gold answers. The table below has the same.",
        ),
        "test": path_figure(
            test.path,
            [(answer.gold, answer.all_right, title) for answer, title in page.tested],
            bounds=[(test.fail_at, "fails", "bad"), (test.pass_at, "passes", "ok")],
            label=f"The test of {page.standing.rater}: evidence after each of {len(test.path)} gold answers.",
        ),
    }
    return queue_page(request, "goldsets/rater.html", queue=queue, at="raters", **context)


@login_required
@never_cache
@require_GET
def missed(request: HttpRequest, uid: str, rater_id: int) -> HttpResponse:
    """The gold items that one rater got wrong: all of them, or those mixed up on one criterion in one way."""
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue)
    if seen.kept is None:
        return being_counted(request, queue, at="raters")
    standings = queries.queue_standing(queue, kept=seen.kept)
    standing = next((row for row in standings if row.rater_id == rater_id), None)
    if standing is None:
        raise NotFound("Nobody like that judges in this queue.")
    words, items = f"wrong on {len(standing.missed)} of {standing.gold_n} gold items", standing.missed
    on = next((entry for entry in standing.criteria if entry.key == request.GET.get("criterion")), None)
    if on:
        items = tuple(item for confused in on.confused for item in confused.items)
        words = f"wrong on {on.title}, {len(items)} of {on.n} gold items"
    mixed = request.GET.get("mixed", "")
    if on and mixed.isascii() and mixed.isdigit() and int(mixed[:4]) < len(on.confused):
        confused = on.confused[int(mixed[:4])]
        items, words = confused.items, f"{on.title}: {confused.said} where {confused.expected} is expected"
    context: dict[str, Any] = {
        "title": standing.rater,
        "words": words,
        "back": reverse("goldsets:rater", kwargs={"uid": uid, "rater_id": rater_id}),
        "behind": items_behind(queue, items, reader=request.user, only_settled=False),
    }
    return queue_page(request, "goldsets/behind.html", queue=queue, at="raters", **context)


# --- The policy and what a lead decides -------------------------------------------------------------------------------
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def policy(request: HttpRequest, uid: str) -> HttpResponse:
    """The test raters are put to; POST changes it."""
    queue = queue_for(request, uid, "manage_queue")
    now = queries.policy_of(queue)
    initial = {name: getattr(now, name) for name in StandingPolicyForm.base_fields}
    form = StandingPolicyForm(request.POST or None, initial=initial)
    valid = request.method == "POST" and form.is_valid()
    if valid and attempt(form, set_standing_policy, actor=request.user, queue=queue, **form.cleaned_data):
        messages.success(request, "Saved. It holds from the next look at the answers.")
        return redirect("goldsets:raters", uid=uid)
    context = {
        "form": form,
        "shortest": queries.shortest(now),
        "drift": queries.drift_of([], now),
    }
    status = 422 if form.errors else 200
    return queue_page(request, "goldsets/standing_policy.html", queue=queue, at="raters", status=status, **context)


@login_required
@require_POST
def review(request: HttpRequest, uid: str) -> HttpResponse:
    """Look at everybody's answers now."""
    queue = queue_for(request, uid, "view_agreement")
    new = review_standings(queue=queue, actor=request.user)
    count = len(new)
    if count:
        messages.success(request, f"{count} new step{'' if count == 1 else 's'}, see below.")
    else:
        messages.info(request, "Looked at everybody: nothing new follows from the answers so far.")
    return redirect("goldsets:raters", uid=uid)


@login_required
@require_POST
def decide(request: HttpRequest, uid: str, move_uid: str) -> HttpResponse:
    """Confirm or decline what the rule proposes."""
    queue = queue_for(request, uid, "manage_queue")
    move = queries.move_by_uid(queue, move_uid)
    if move is None:
        raise NotFound("There is no such proposal in this queue.")
    where = redirect("goldsets:rater", uid=uid, rater_id=move.standing.rater_id)
    if request.POST.get("decision") == "decline":
        do_and_say(request, decline_move, "Declined. The test begins anew.", move=move, why=request.POST.get("why", ""))
    else:
        given = {"work": request.POST.get("work") or None, "words": request.POST.get("words", "")}
        do_and_say(request, confirm_move, f"Done: {move.get_after_display().lower()}.", move=move, **given)
    return where


@login_required
@require_POST
def change(request: HttpRequest, uid: str, rater_id: int) -> HttpResponse:
    """A lead's own step."""
    queue = queue_for(request, uid, "manage_queue")
    given = {name: request.POST.get(name, "") for name in ("why", "words")}
    do_and_say(
        request,
        change_standing,
        "Done.",
        queue=queue,
        rater_id=rater_id,
        after=request.POST.get("state", ""),
        work=request.POST.get("work") or None,
        **given,
    )
    return redirect("goldsets:rater", uid=uid, rater_id=rater_id)
