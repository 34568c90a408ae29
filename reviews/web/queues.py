"""A queue's settings: what may change while people judge."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from reviews.actions.queueing import add_items, change_queue
from reviews.enums import QUEUE_MOVES, QueueState
from reviews.errors import Conflict, Invalid
from reviews.forms import FillForm, QueueSettingsForm, attempt
from reviews.queries.items import families
from reviews.queries.listings import items_outside
from reviews.queries.training import qualifications
from reviews.web.access import queue_for, queue_page

SAID = {
    QueueState.OPEN: "The queue is open. Raters get items from it.",
    QueueState.PAUSED: "The queue is paused. Whoever has an item in hand can still submit it.",
    QueueState.CLOSED: "The queue is closed. Nothing can be put in and nothing is dealt.",
}
VERBS = {QueueState.OPEN: "Open", QueueState.PAUSED: "Pause", QueueState.CLOSED: "Close"}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "manage_queue")
    changeable = [
        *("name", "lease_minutes", "settle_rule", "overlap_cap", "sure_from", "repeat_rate", "repeat_after"),
        "lead_answers_first",
    ]
    now = {field: getattr(queue, field) for field in changeable} | {"domains": ", ".join(queue.domains)}
    form = QueueSettingsForm(request.POST or None, initial=now)
    if request.method == "POST" and form.is_valid():
        changed = attempt(form, change_queue, actor=request.user, queue=queue, **form.cleaned_data)
        if changed:
            messages.success(request, "Saved. It holds from the next item dealt.")
            return redirect("reviews:queue_settings", uid=uid)
    moves = [(state, VERBS[state]) for state in QueueState if state in QUEUE_MOVES[QueueState(queue.state)]]
    status = 422 if form.errors else 200
    context = {
        "form": form,
        "moves": moves,
        "fill": FillForm(families=families(queue.project)),
        "qualifications": qualifications(queue.project),
        "outside": items_outside(queue).count(),
    }
    return queue_page(request, "reviews/queue_settings.html", queue=queue, at="settings", status=status, **context)


@login_required
@require_POST
def move(request: HttpRequest, uid: str) -> HttpResponse:
    """Open, pause or close the queue."""
    queue = queue_for(request, uid, "manage_queue")
    try:
        queue = change_queue(actor=request.user, queue=queue, state=request.POST.get("state", ""))
    except (Invalid, Conflict) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, SAID[QueueState(queue.state)])
    return redirect("reviews:queue_settings", uid=uid)


@login_required
@require_POST
def fill(request: HttpRequest, uid: str) -> HttpResponse:
    """Put items of the project that are not in the queue into it."""
    queue = queue_for(request, uid, "manage_queue")
    form = FillForm(request.POST, families=families(queue.project))
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("reviews:queue_settings", uid=uid)
    items = items_outside(queue)
    if form.cleaned_data["family"]:
        items = items.filter(trajectory__task__family=form.cleaned_data["family"])
    try:
        count = add_items(actor=request.user, queue=queue, items=items[: form.cleaned_data["most"]])
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{count} item{'' if count == 1 else 's'} put in.")
    return redirect("reviews:queue_settings", uid=uid)
