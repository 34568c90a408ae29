"""What judges are asked about and by, as plain documents, and how their runs stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from goldsets.enums import DatasetPurpose, JudgedState, JudgeProtocol, JudgeRunState, JudgeScope
from goldsets.models import GraderScore, GraderVersion, JudgedItem, JudgeRun, JudgeSetup
from goldsets.queries.leaving import held_out_families
from goldsets.queries.splits import tasks_apart_from
from goldsets.reviewing.chat import Endpoint
from goldsets.reviewing.judge_prompt import Document
from goldsets.reviewing.judging import Judge, Prices
from reviews.enums import ItemKind, Split, TaskPart
from reviews.models import Criterion, Item, Project, Queue, QueueItem, Trajectory
from reviews.models import Step as StoredStep
from reviews.queries.blind_item import rubric_of, step_of
from reviews.queries.judging import item_context
from reviews.queries.listings import items_decided, items_told_of
from reviews.queries.masking import mask_of, title_of
from reviews.queries.reviewing import roles_and_results, run_titles, task_given
from reviews.trajectories.masking import Mask
from reviews.trajectories.schema import decode_step

NO_ENDPOINT = {
    JudgeProtocol.CHAT: "No endpoint for judging models is set. Whoever runs this Assay sets JUDGE_BASE_URL.",
    JudgeProtocol.DECISIONS: "No service that decides is set. Whoever runs this Assay sets DECISIONS_URL.",
}
# Longer runs are not sent: a judge that sees only a part of a run does not judge it.
MOST_CHARACTERS = 1_000_000


def endpoint(protocol: str = JudgeProtocol.CHAT) -> Endpoint | None:
    """Where judges of this protocol are asked, by the settings; None where nobody has said."""
    url, key = {
        JudgeProtocol.CHAT: (settings.JUDGE_BASE_URL, settings.JUDGE_API_KEY),
        JudgeProtocol.DECISIONS: (settings.DECISIONS_URL, settings.DECISIONS_API_KEY),
    }[JudgeProtocol(protocol)]
    if not url:
        return None
    return Endpoint(
        url,
        key,
        patience=settings.JUDGE_TIMEOUT_SECONDS,
        tries=max(1, settings.JUDGE_TRIES),
        back_off=settings.JUDGE_BACK_OFF_SECONDS,
    )


def hosts() -> list[str]:
    """The servers to which runs are sent for judging."""
    return [server.host for protocol in JudgeProtocol if (server := endpoint(protocol))]


def setup_of(version: GraderVersion) -> JudgeSetup:
    """By what a version asks that is run from here, with the runs of its examples."""
    return JudgeSetup.objects.select_related("version__grader", "rubric", "guideline").get(version=version)


def judge_of(setup: JudgeSetup) -> Judge:
    version = setup.version
    return Judge(
        model=version.model,
        rubric=rubric_of(setup.rubric),
        guideline=setup.guideline.text,
        criterion=version.grader.criterion,
        parameters=version.parameters,
        examples=[(one["document"], one["answers"]) for one in setup.shown],
        decides=setup.protocol == JudgeProtocol.DECISIONS,
    )


def prices_of(setup: JudgeSetup) -> Prices:
    return Prices(float(setup.price_in), float(setup.price_out), float(setup.price_each))


def shown_families(setups: QuerySet[JudgeSetup]) -> set[str]:
    """The families of runs that stand in the examples of these judges, as they are dealt."""
    return {one["family"] for examples in setups.values_list("examples", flat=True) for one in examples}


def examples_told(project: Project, *, reader: Any) -> set[str]:
    """Ids of the items among the examples of the project's judges whose labels the reader may know."""
    setups = JudgeSetup.objects.filter(version__grader__project=project)
    uids = {one["item"] for examples in setups.values_list("examples", flat=True) for one in examples}
    decided = items_decided(project, reader=reader).filter(uid__in=uids)
    return {str(uid) for uid in decided.values_list("uid", flat=True)}


def cannot_ask(setup: JudgeSetup) -> str:
    """Why this judge may not be asked now, or ""."""
    if endpoint(setup.protocol) is None:
        return NO_ENDPOINT[JudgeProtocol(setup.protocol)]
    return cannot_show(setup)


def cannot_show(setup: JudgeSetup) -> str:
    """Why its examples may not be shown to a model any more, or ""."""
    return _sealed_example(setup) or _masked_example(setup)


def _sealed_example(setup: JudgeSetup) -> str:
    """Words on a family of its examples that was held out since they were chosen, or ""."""
    names = {one["family"] for one in setup.examples}
    sealed = tasks_apart_from(setup.version.grader.project, DatasetPurpose.ONLINE).filter(dealt_as__in=names)
    family = sealed.order_by("dealt_as").values_list("dealt_as", flat=True).first()
    if family is None:
        return ""
    return f"The family “{family}” of its examples is held out by now. Give the judge others: its next version."


def _masked_example(setup: JudgeSetup) -> str:
    """Words on an example that raters read otherwise since it was chosen, or ""."""
    items = {str(item.uid): item for item in _items_shown(setup)}
    for one, shown in zip(setup.examples, setup.shown, strict=True):
        item = items[one["item"]]
        if document_of(item) != shown["document"] or _hides(mask_of(item.run), shown["answers"]):
            return (
                f"Raters read an example of the family “{one['family']}” otherwise by now, since what is hidden has "
                "changed. Give the judge its examples anew: its next version."
            )
    return ""


def _items_shown(setup: JudgeSetup) -> QuerySet[Item]:
    uids = [one["item"] for one in setup.examples]
    return Item.objects.filter(uid__in=uids).select_related("project", "trajectory__task", "trajectory__policy")


def _hides(mask: Mask, answers: Sequence[dict[str, Any]]) -> bool:
    """Whether something is hidden by now in what experts said and cited."""
    texts = [text for one in answers for text in (one["reason"], *(cited["quote"] for cited in one["evidence"]))]
    return any(mask.text(text) != text for text in texts)


# --- Items as documents -----------------------------------------------------------------------------------------------
def document_of(item: Item) -> Document:
    """The item as raters read it, with all steps of its run or of each candidate, or with the parts of a task."""
    if item.kind == ItemKind.TASK:
        return _task_document(item)
    context, run = item_context(item), item.runs[0]
    whole: dict[str, Any] = {
        "title": title_of(item),
        "request": context.request,
        "requester": dict(context.requester),
        "policy": {
            "title": context.policy_title,
            "lines": [{"number": line.number, "text": line.text} for line in context.policy],
        },
        "tools": mask_of(run).value(run.tools) if isinstance(run.tools, list) else [],
    }
    if item.trajectory:
        return whole | {"steps": _steps(item.trajectory)}
    candidates = item.candidates.select_related("trajectory__task", "trajectory__policy").order_by("position")
    return whole | {
        "candidates": [{"shared": each.shared, "steps": _steps(each.trajectory)} for each in candidates],
    }


def _task_document(item: Item) -> Document:
    """A task under review: its parts as steps, then prompts of real use, and what the verifier said of each run."""
    given, runs = task_given(item, ()), roles_and_results(item, ())
    titles = run_titles([run["role"] for run in runs])
    texts = [(part.value, given.get(part.value, "")) for part in TaskPart]
    texts += [("prompt of real use", prompt) for prompt in given.get("production_prompts", ())]
    texts += [(f"run, {title}", json.dumps(run["result"])) for title, run in zip(titles, runs, strict=True)]
    rows = [
        {"number": number, "role": role, "fields": [{"path": "text", "label": "Text", "text": text}]}
        for number, (role, text) in enumerate(texts, start=1)
    ]
    return {"title": title_of(item), "steps": {"count": len(rows), "rows": rows}}


def _steps(run: Trajectory) -> dict[str, Any]:
    mask = mask_of(run)
    stored = StoredStep.objects.filter(trajectory=run).order_by("position").values_list("position", "body")
    rows = [step_of(position, decode_step(body), mask) for position, body in stored]
    return {"count": len(rows), "rows": rows}


# --- Which items ------------------------------------------------------------------------------------------------------
def items_to_judge(queue: Queue, scope: str, version: GraderVersion, attempt: int) -> QuerySet[Any]:
    """The ids of items of the queue that the version has not scored at this attempt, in the order they came in.

    Its examples are none: it is told what to say of them.
    """
    rows = QueueItem.objects.filter(queue=queue).exclude(item__kind=ItemKind.TASK, item__task_version=None)
    if scope != JudgeScope.ALL:
        rows = rows.filter(label__isnull=scope == JudgeScope.UNSETTLED)
    scored = GraderScore.objects.filter(version=version, attempt=attempt).values("item")
    examples = JudgeSetup.objects.filter(version=version).values_list("examples", flat=True)
    told = [one["item"] for one in next(iter(examples), ())]
    return rows.exclude(item__in=scored).exclude(item__uid__in=told).order_by("pk").values_list("item", flat=True)


def held_out_count(items: Sequence[int], project: Project) -> int:
    """How many of the items are of held-out tasks or families."""
    families = held_out_families(project)
    of_run = Q(trajectory__task__split=Split.HELD_OUT) | Q(trajectory__task__family__in=families)
    of_task = Q(task__split=Split.HELD_OUT) | Q(task__family__in=families)
    return Item.objects.filter(of_run | of_task, pk__in=items).count()


# --- How runs stand ---------------------------------------------------------------------------------------------------
def judges_of(project: Project) -> QuerySet[JudgeSetup]:
    """The latest first, each with the title of the criterion it judges as `asked`."""
    criterion = Criterion.objects.filter(rubric=OuterRef("rubric"), key=OuterRef("version__grader__criterion"))
    setups = JudgeSetup.objects.filter(version__grader__project=project).defer("shown")
    setups = setups.annotate(asked=Subquery(criterion.values("title")))
    return setups.select_related("version__grader__project", "rubric", "guideline").order_by("-version__created_at")


def judge_by_version(uid: Any) -> JudgeSetup | None:
    setups = JudgeSetup.objects.select_related("version__grader__project", "rubric", "guideline").defer("shown")
    return setups.filter(version__uid=uid).first()


def judge_by_name(project: Project, name: str, number: int | None) -> JudgeSetup | None:
    """The judge's version of this number, or its latest."""
    found = judges_of(project).filter(version__grader__name=name)
    return found.filter(version__number=number).first() if number else found.order_by("-version__number").first()


def runs_of(project: Project) -> QuerySet[JudgeRun]:
    """The project's runs, the latest first, each with `done`."""
    runs = JudgeRun.objects.filter(queue__project=project).select_related("version__grader__project", "queue")
    done = Count("items", filter=~Q(items__state=JudgedState.WAITING))
    return runs.annotate(done=done).order_by("-created_at", "-pk")


def run_by_uid(uid: Any) -> JudgeRun | None:
    runs = JudgeRun.objects.select_related("version__grader__project", "queue", "created_by")
    return runs.filter(uid=uid).first()


def unfinished_runs() -> QuerySet[JudgeRun]:
    return JudgeRun.objects.filter(state__in=[JudgeRunState.WAITING, JudgeRunState.RUNNING])


@dataclass(frozen=True)
class RunReceipt:
    """How far a run has come, and what it brought and took."""

    done: int
    total: int
    by_state: dict[str, int]
    inconsistent: int
    remembered: int
    scores: int
    spent: Decimal
    lost: Decimal
    budget: Decimal
    tokens_in: int
    tokens_out: int
    seconds: float
    held_out: int

    @property
    def rows(self) -> list[tuple[str, str, int]]:
        """State, its words, and how many items ended so."""
        return [(state, str(JudgedState(state).label), n) for state, n in self.by_state.items()]


def receipt_of(run: JudgeRun) -> RunReceipt:
    """A few queries over the run's items."""
    items = JudgedItem.objects.filter(run=run)
    counted = dict(items.order_by().values_list("state").annotate(Count("pk")))
    by_state = {state: counted[state] for state in JudgedState.values if counted.get(state)}
    sums = items.aggregate(
        inconsistent=Count("pk", filter=Q(inconsistent=True)),
        remembered=Count("pk", filter=Q(remembered=True)),
        tokens_in=Sum("tokens_in", default=0),
        tokens_out=Sum("tokens_out", default=0),
        seconds=Sum("seconds", default=0.0),
    )
    asked = items.filter(state__in=[JudgedState.SCORED, JudgedState.PARTLY]).values("item")
    return RunReceipt(
        done=run.items_total - by_state.get(JudgedState.WAITING, 0),
        total=run.items_total,
        by_state={state: n for state, n in by_state.items() if state != JudgedState.WAITING},
        scores=GraderScore.objects.filter(version=run.version, attempt=run.attempt, item__in=asked).count(),
        spent=run.spent,
        lost=run.lost,
        budget=run.budget,
        held_out=held_out_count(list(items.values_list("item", flat=True)), run.queue.project),
        **sums,
    )


def doubtful_items(run: JudgeRun, *, reader: Any, most: int = 100) -> list[JudgedItem]:
    """Items that did not simply end with a score, and why, at most so many."""
    told = JudgedItem.objects.filter(run=run, item__in=items_told_of(run.queue.project, reader=reader))
    items = told.exclude(state__in=[JudgedState.WAITING, JudgedState.SCORED])
    more = told.filter(state=JudgedState.SCORED, inconsistent=True)
    return list((items | more).select_related("item").order_by("pk")[:most])


def judged_of(run: JudgeRun, *, reader: Any) -> QuerySet[JudgedItem]:
    told = JudgedItem.objects.filter(run=run, item__in=items_told_of(run.queue.project, reader=reader))
    return told.select_related("item").order_by("pk")
