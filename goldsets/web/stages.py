"""A queue's stage: what a reviewer says of live items, whether it may decide, and what ends it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from goldsets.actions.staging import change_stage, let_decide, retire_stage, roll_back, start_stage
from goldsets.charts import path_figure
from goldsets.forms import StageForm, StartStageForm
from goldsets.models import Stage
from goldsets.queries.stages import Live, live_of, reviewer_in, stage_by_uid, stages_of
from reviews.errors import NotFound
from reviews.forms import attempt
from reviews.models import Queue
from reviews.web.access import queue_for, queue_page
from reviews.web.pages import do_and_say


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stages(request: HttpRequest, uid: str) -> HttpResponse:
    """The stage that is at work, or the form that starts one; those before it below. POST starts one."""
    queue = queue_for(request, uid, "view_agreement")
    form = StartStageForm(request.POST or None, queue=queue)
    if request.method == "POST" and form.is_valid() and _start(request, queue, form):
        messages.success(request, "In shadow. The worker looks at live items within a minute; raters notice nothing.")
        return redirect("goldsets:stages", uid=uid)
    every = list(stages_of(queue))
    live = live_of(every[0]) if every and every[0].is_live else None
    context: dict[str, Any] = {
        "live": live,
        "stage": live.stage if live else None,
        "form": form,
        "settings": _settings(live.stage, initial=vars(live.stage)) if live else None,
        "figure": _figure(live) if live and live.watched.checks else None,
        "earlier": [stage for stage in every if not stage.is_live],
    }
    status = 422 if form.errors else 200
    return queue_page(request, "goldsets/stages.html", queue=queue, at="stages", status=status, **context)


def _settings(stage: Stage, *args: Any, **kwargs: Any) -> StageForm:
    return StageForm(*args, judges=stage.reviewer.judge_id is not None, **kwargs)


def _start(request: HttpRequest, queue: Queue, form: StartStageForm) -> Stage | None:
    given = dict(form.cleaned_data)
    reviewer = reviewer_in(queue, given.pop("reviewer"))
    if reviewer is None:
        raise NotFound("There is no such reviewer for this queue.")
    return attempt(form, start_stage, actor=request.user, queue=queue, reviewer=reviewer, **given)


def _figure(live: Live) -> Any:
    seen = live.watched
    return path_figure(
        seen.chart.path,
        [(check.row.queue_item.item.uid, check.right, check.words) for check in seen.checks],
        bounds=[(seen.chart.limit, f"ends at {seen.chart.limit}", "bad")],
        label=f"The drift chart over {len(seen.checks)} checked verdicts. The table below has the same.",
    )


@login_required
@require_POST
def act(request: HttpRequest, uid: str, stage_uid: str) -> HttpResponse:
    """What a lead does with a stage: `do` is decide, change, roll_back or retire."""
    queue = queue_for(request, uid, "manage_queue")
    stage = stage_by_uid(stage_uid)
    if stage is None or stage.queue_id != queue.pk:
        raise NotFound("There is no such stage in this queue.")
    why = request.POST.get("why", "")
    asked = request.POST.get("do")
    if asked == "decide":
        do_and_say(request, let_decide, "It decides from now on.", stage=stage)
    elif asked == "roll_back":
        work = request.POST.get("work") or None
        do_and_say(request, roll_back, "Rolled back. Everything open is with people.", stage=stage, why=why, work=work)
    elif asked == "retire":
        do_and_say(request, retire_stage, "Retired.", stage=stage, why=why)
    else:
        form = _settings(stage, request.POST)
        if form.is_valid():
            do_and_say(request, change_stage, "Saved.", stage=stage, **form.cleaned_data)
        else:
            messages.error(request, " ".join(str(sentence) for errors in form.errors.values() for sentence in errors))
    return redirect("goldsets:stages", uid=uid)
