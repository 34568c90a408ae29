"""Agreement in a queue: figures with intervals, the plot, pairs of raters, and the items behind each number."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from goldsets.charts import agreement_figure, models_figure, parts_figure
from goldsets.queries.agreement_report import agreement_report, as_markdown
from goldsets.queries.behind import items_behind
from goldsets.tasks import look_at_agreement
from reviews.errors import NotFound
from reviews.models import Queue
from reviews.queries.agreement import CriterionAgreement, PairAgreement, QueueAgreement
from reviews.queries.disagreements import inbox
from reviews.web.access import queue_for, queue_page
from reviews.web.pages import number

STEPS = (0.4, 0.6, 0.667, 0.8)


@login_required
@never_cache
@require_GET
def agreement(request: HttpRequest, uid: str) -> HttpResponse:
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue)
    if seen.kept is None:
        return being_counted(request, queue, at="agreement")
    found = seen.kept.found
    chosen = _criterion(found, request.GET.get("criterion", "")) or found.weakest or found.entries[0]
    return queue_page(
        request,
        "goldsets/agreement.html",
        queue=queue,
        at="agreement",
        found=found,
        counted_at=seen.kept.counted_at,
        stale=seen.stale,
        entries=found.entries,
        intervals=_usual_interval(found),
        choices=found.entries,
        within=seen.kept.within,
        figure=agreement_figure(found),
        parts=parts_figure(chosen),
        models=models_figure(chosen),
        told_parts=[cut for cut in chosen.cuts if cut.percent.defined],
        small_parts=[cut for cut in chosen.cuts if not cut.percent.defined],
        first_gate=next((entry for entry in found.criteria if entry.kind == "gate"), None),
        waiting=inbox(queue, request.user),
        chosen=chosen,
        matrix=matrix_of(chosen),
        worst_pair=_worst_pair(chosen),
    )


@login_required
@never_cache
@require_GET
def report(request: HttpRequest, uid: str) -> HttpResponse:
    """The agreement to print, or with ?format=markdown to file."""
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue)
    if seen.kept is None:
        return being_counted(request, queue, at="agreement")
    made = agreement_report(queue, seen.kept)
    if request.GET.get("format") == "markdown":
        return HttpResponse(
            as_markdown(made),
            content_type="text/markdown; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="agreement-{queue.slug}.md"'},
        )
    return queue_page(request, "goldsets/agreement_report.html", queue=queue, at="agreement", report=made)


@login_required
@never_cache
@require_GET
def behind(request: HttpRequest, uid: str) -> HttpResponse:
    """The items behind a number: those on which raters differ on a criterion, in one way, or between two raters."""
    queue = queue_for(request, uid, "view_agreement")
    seen = look_at_agreement(queue, with_items=True)
    if seen.kept is None:
        return being_counted(request, queue, at="agreement")
    found = seen.kept.found
    criterion = _criterion(found, request.GET.get("criterion", ""))
    if criterion is None:
        raise NotFound("The rubric of this queue has no such criterion.")
    words, uids, tells = _which(criterion, request)
    context: dict[str, Any] = {
        "title": criterion.title,
        "words": words,
        "back": reverse("goldsets:agreement", kwargs={"uid": uid}) + f"?criterion={criterion.key}",
        "behind": items_behind(queue, uids, reader=request.user, only_settled=tells),
    }
    return queue_page(request, "goldsets/behind.html", queue=queue, at="agreement", **context)


def being_counted(request: HttpRequest, queue: Queue, *, at: str) -> HttpResponse:
    """A page that stands until the worker has counted for the first time."""
    return queue_page(request, "goldsets/agreement_counting.html", queue=queue, at=at)


def _usual_interval(found: QueueAgreement) -> str:
    """How the intervals of the page are made, but for those that a value calls for in particular."""
    methods = (entry.alpha.method for entry in found.entries if entry.alpha.low is not None)
    return next((method for method in methods if "bootstrap" in method), "95% intervals")


def _worst_pair(criterion: CriterionAgreement) -> PairAgreement | None:
    """The two who agree least, where there is something to say of them."""
    told = [pair for pair in criterion.pairs if pair.reading and pair.kappa.value is not None]
    return min(told, key=lambda pair: pair.kappa.value or 0.0, default=None)


def _which(criterion: CriterionAgreement, request: HttpRequest) -> tuple[str, tuple[UUID, ...], bool]:
    """What is asked for in words, its items, and whether it would say who answered what or whose run it is."""
    mixed = request.GET.get("mixed", "")
    if mixed.isascii() and mixed.isdigit() and int(mixed[:4]) < len(criterion.confusions):
        confusion = criterion.confusions[int(mixed[:4])]
        return f"{confusion.first} and {confusion.second} were both given", confusion.items, False
    for cut in criterion.cuts:
        if cut.key == request.GET.get("part"):
            # The raters of a tier may be two.
            return f"Raters differ, {cut.title}", cut.items, cut.dimension == "tier"
    if request.GET.get("unsure") and criterion.consensus:
        return "The consensus is less than 90% sure", criterion.consensus.items, False
    for model in criterion.models.models if criterion.models else ():
        if model.model == request.GET.get("model"):
            return f"{model.model} was compared", model.items, True
    first, second = number(request.GET.get("first"), 0), number(request.GET.get("second"), 0)
    for pair in criterion.pairs:
        if {pair.first_id, pair.second_id} == {first, second}:
            return f"{pair.first} and {pair.second} differ", pair.items, True
    return "Raters differ", criterion.disagreed, False


def _criterion(found: QueueAgreement, key: str) -> CriterionAgreement | None:
    return next((entry for entry in found.entries if entry.key == key), None)


# --- The matrix of pairs ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cell:
    """One pair in the matrix; `css` runs from k0, the worst, to k4, and is kn where there is no number."""

    pair: PairAgreement

    @property
    def css(self) -> str:
        value = self.pair.kappa.value
        return "kn" if value is None else f"k{sum(value >= step for step in STEPS)}"


@dataclass(frozen=True)
class Matrix:
    """The upper half: a row per rater but the last, a column per rater but the first. None: no shared item."""

    columns: list[str]
    rows: list[tuple[str, list[Cell | None]]]


def matrix_of(criterion: CriterionAgreement) -> Matrix | None:
    pairs = {frozenset((pair.first_id, pair.second_id)): pair for pair in criterion.pairs}
    names: dict[int, str] = {}
    for pair in criterion.pairs:
        names |= {pair.first_id: pair.first, pair.second_id: pair.second}
    raters = sorted(names, key=lambda rater: names[rater])
    if len(raters) < 2:
        return None
    rows: list[tuple[str, list[Any]]] = []
    for place, rater in enumerate(raters[:-1]):
        cells: list[Any] = []
        for column, other in enumerate(raters[1:], start=1):
            cell = pairs.get(frozenset((rater, other))) if column > place else None
            cells.append(Cell(cell) if cell and cell.n else None)
        rows.append((names[rater], cells))
    return Matrix([names[rater] for rater in raters[1:]], rows)
