"""Judging models: by what one asks, and its runs over a queue within a budget, begun, stopped and taken up again."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goldsets.actions.graders import FURTHEST, add_version, register_grader
from goldsets.enums import JUDGE_RUN_MOVES, GoldVerb, GraderKind, GraderScale, JudgeProtocol, JudgeRunState, JudgeScope
from goldsets.models import Grader, GraderVersion, JudgedItem, JudgeRun, JudgeSetup
from goldsets.models.grader import OVERALL
from goldsets.queries.judge_examples import Example, chosen_examples
from goldsets.queries.judges import (
    cannot_ask,
    held_out_count,
    items_to_judge,
    unfinished_runs,
)
from goldsets.reviewing.judge_prompt import EDITION, Document, asked_of, fingerprint
from goldsets.reviewing.judge_scores import decided_by
from reviews.actions.events import record
from reviews.enums import CriterionKind, ItemKind, Scope
from reviews.errors import Conflict, Invalid
from reviews.models import Guideline, Project, Queue, Rubric
from reviews.queries.blind_item import rubric_of
from reviews.rules import check

MOST_DOLLARS = Decimal(100_000)
MOST_PRICE = Decimal(10_000)
MOST_ATTEMPTS = 100
MOST_EXAMPLES = 8
# What is paid for, each with what a price of it is.
PRICES = {
    JudgeProtocol.CHAT: dict.fromkeys(("price_in", "price_out"), "Dollars for a million tokens, 0 or more."),
    JudgeProtocol.DECISIONS: {"price_each": "Dollars for an answer, 0 or more."},
}
OVERLOOKED_AFTER = timedelta(minutes=10)
# What may be said to a model besides the prompt, each with what it may be.
PARAMETERS: dict[str, Callable[[Any], bool]] = {
    "temperature": lambda value: _is_number(value) and 0 <= value <= 2,
    "top_p": lambda value: _is_number(value) and 0 < value <= 1,
    "seed": lambda value: type(value) is int and abs(value) < 2**53,
    "max_tokens": lambda value: type(value) is int and 1 <= value <= 200_000,
    "max_completion_tokens": lambda value: type(value) is int and 1 <= value <= 200_000,
    "reasoning_effort": lambda value: value in ("minimal", "low", "medium", "high"),
    "response_format": lambda value: value == {"type": "json_object"},
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


# --- What a judge asks by ---------------------------------------------------------------------------------------------
@transaction.atomic
def define_judge(
    *,
    actor: Any,
    grader: Grader,
    rubric: Rubric,
    guideline: Guideline,
    model: str,
    price_in: Decimal | None = None,
    price_out: Decimal | None = None,
    price_each: Decimal | None = None,
    protocol: str = JudgeProtocol.CHAT,
    parameters: Mapping[str, Any] | None = None,
    label: str = "",
    examples: int = 0,
) -> JudgeSetup:
    """The next version of a judging model, with all that it asks by. Raises Forbidden, Invalid, or Conflict where the
    labels do not give so many examples.

    Prices are US dollars: of a model for a million tokens in and out, of a service that decides for each answer.
    """
    check(actor, "manage_graders", grader.project)
    parameters, model = dict(parameters or {}), model.strip()
    errors = _wrong_setup(grader, rubric, guideline, model, parameters)
    if words := _wrong_examples(examples, rubric):
        errors["examples"] = words
    prices = {"price_in": price_in, "price_out": price_out, "price_each": price_each}
    errors |= _wrong_prices(protocol, prices)
    if errors:
        raise Invalid(errors)
    _lock(grader)
    asked, candidates = rubric_of(rubric), _candidates(rubric)
    chosen = _examples(grader, rubric, guideline, examples)
    shown = [one.shown for one in chosen]
    scale = _scale_of(grader.criterion, asked, candidates)
    if rubric.item_kind == ItemKind.TASK:
        scale["threshold"] = _upper_half(asked, grader.criterion)
    version = add_version(
        actor=actor,
        grader=grader,
        label=label,
        fingerprint=fingerprint(
            asked,
            guideline.text,
            grader.criterion,
            candidates=candidates,
            examples=[(one["document"], one["answers"]) for one in shown],
        ),
        model=model,
        parameters=parameters,
        environment=f"Assay, prompt {EDITION}" + (", decisions" if protocol == JudgeProtocol.DECISIONS else ""),
        **scale,
    )
    setup = JudgeSetup.objects.create(
        version=version,
        rubric=rubric,
        guideline=guideline,
        protocol=protocol,
        **{name: price or 0 for name, price in prices.items()},
        examples=[one.told for one in chosen],
        shown=shown,
    )
    record(
        project=grader.project,
        actor=actor,
        verb=GoldVerb.JUDGE_DEFINED,
        target=version,
        name=grader.name,
        number=version.number,
        model=model,
        rubric=str(rubric),
        guideline=str(guideline),
        # In an order that does not say which of them pass.
        examples=sorted(one.told["item"] for one in chosen),
    )
    return setup


@transaction.atomic
def define_judge_named(
    *, actor: Any, project: Project, name: str, criterion: str = OVERALL, **asked: Any
) -> JudgeSetup:
    """The next version of the judge of this name, or the first of a new one; `asked` is as `define_judge` takes it.

    Raises Conflict where another grader has the name, or the judge of that name judges something else.
    """
    check(actor, "manage_graders", project)
    grader = Grader.objects.filter(project=project, name=name.strip()).first()
    if grader is None:
        grader = register_grader(actor=actor, project=project, name=name, kind=GraderKind.MODEL, criterion=criterion)
    elif grader.kind != GraderKind.MODEL or grader.criterion != criterion:
        words = "judges something else" if grader.kind == GraderKind.MODEL else "is no judging model"
        raise Conflict(f"The grader of this name {words}. Choose another name.", field="name")
    return define_judge(actor=actor, grader=grader, **asked)


@transaction.atomic
def with_examples(*, actor: Any, setup: JudgeSetup, examples: int) -> JudgeSetup:
    """The judge with so many examples and all else as it is: its next version, or itself where it would be the same.

    Raises as `define_judge`.
    """
    version = setup.version
    check(actor, "manage_graders", version.grader.project)
    if words := _wrong_examples(examples, setup.rubric):
        raise Invalid({"examples": words})
    _lock(version.grader)
    chosen = _examples(version.grader, setup.rubric, setup.guideline, examples)
    if [one.told for one in chosen] == setup.examples and [one.shown for one in chosen] == setup.shown:
        return setup
    return define_judge(
        actor=actor,
        grader=version.grader,
        rubric=setup.rubric,
        guideline=setup.guideline,
        model=version.model,
        protocol=setup.protocol,
        **{name: getattr(setup, name) for name in PRICES[JudgeProtocol(setup.protocol)]},
        parameters=version.parameters,
        label=version.label,
        examples=examples,
    )


def _lock(grader: Grader) -> None:
    """What becomes an example becomes no probe meanwhile: both are chosen one after the other."""
    Grader.objects.select_for_update(no_key=True).get(pk=grader.pk)


def _wrong_examples(examples: Any, rubric: Rubric) -> str:
    if type(examples) is not int or examples % 2 or not 0 <= examples <= MOST_EXAMPLES:
        return f"An even number up to {MOST_EXAMPLES}: half of the examples pass and half fail."
    if examples and rubric.item_kind != ItemKind.TRAJECTORY:
        return "Examples are given to judges of single runs."
    return ""


def _examples(grader: Grader, rubric: Rubric, guideline: Guideline, number: int) -> list[Example]:
    """So many examples. Raises Conflict where there are fewer."""
    found = chosen_examples(grader, rubric, guideline, number) if number else []
    if len(found) < number:
        passing = sum(one.told["passes"] for one in found)
        raise Conflict(
            f"There are not enough examples: {passing} that pass and {len(found) - passing} that fail, of families "
            "that nothing is proven on. An example is a short run that everybody or a lead settled under this rubric "
            "and guideline, with a rationale, and of a fail with words of the run that were cited.",
            field="examples",
        )
    return found


def _wrong_setup(
    grader: Grader, rubric: Rubric, guideline: Guideline, model: str, parameters: Mapping[str, Any]
) -> dict[str, str]:
    errors = {}
    if grader.kind != GraderKind.MODEL:
        errors["grader"] = "Only a grader that is a judging model asks one."
    if rubric.project_id != grader.project_id:
        errors["rubric"] = "This project has no such rubric."
    elif rubric.item_kind == ItemKind.TASK and not _is_axis(rubric, grader.criterion):
        errors["rubric"] = "Of a task a judge scores one question of the review that is answered by levels."
    elif not _can_score(rubric_of(rubric), grader.criterion, _candidates(rubric)):
        errors["rubric"] = (
            "A judge scores a criterion of the rubric that takes one answer, the whole of a run by its gates, and the "
            "whole of a comparison of two by the question which is better. This rubric has none of these for it."
        )
    if guideline.project_id != grader.project_id:
        errors["guideline"] = "This project has no such guideline."
    if not model:
        errors["model"] = "Name the model, as its endpoint knows it."
    if wrong := sorted(name for name, value in parameters.items() if not PARAMETERS.get(name, lambda _: False)(value)):
        errors["parameters"] = f"Not taken: {', '.join(wrong)[:200]}. A model may be told {', '.join(PARAMETERS)}."
    return errors


def _is_axis(rubric: Rubric, criterion: str) -> bool:
    return rubric.criteria.filter(key=criterion, kind=CriterionKind.ORDINAL, scope=Scope.ITEM).exists()


def _candidates(rubric: Rubric) -> int:
    return 2 if rubric.item_kind == ItemKind.COMPARISON else 0


def _can_score(rubric: Document, criterion: str, candidates: int) -> bool:
    asked = asked_of(rubric, criterion, candidates=candidates)
    row = decided_by(rubric, criterion, candidates=candidates)
    if row is not None:
        return row in asked and row["scope"] == Scope.ITEM
    return not candidates and any(each["kind"] == CriterionKind.GATE for each in asked)


def _wrong_prices(protocol: str, prices: Mapping[str, Any]) -> dict[str, str]:
    """Prices that this protocol has must be there, and no others."""
    if protocol not in JudgeProtocol.values:
        return {"protocol": f"Choose one of {', '.join(JudgeProtocol.values)}."}
    known = PRICES[JudgeProtocol(protocol)]
    errors = {name: words for name, words in known.items() if not _is_price(prices[name])}
    others = {name for name, value in prices.items() if value and name not in known}
    return errors | dict.fromkeys(others, "This is paid by tokens or by answers, not both.")


def _is_price(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and 0 <= value <= MOST_PRICE


def _scale_of(criterion: str, rubric: Document, candidates: int) -> dict[str, Any]:
    """The scale of a judge's scores: that of the one criterion that decides, or pass and fail."""
    row = decided_by(rubric, criterion, candidates=candidates)
    if row is None or row["kind"] in {"gate", "binary"}:
        return {"scale": GraderScale.BINARY, "lowest": 0, "highest": 1}
    if row["kind"] == "preference":
        return {"scale": GraderScale.ORDINAL, "lowest": -1, "highest": 1}
    if row["kind"] == "number":
        bounds = row.get("settings") or {}
        low, high = bounds.get("min"), bounds.get("max")
        ends = {"lowest": -FURTHEST if low is None else low, "highest": FURTHEST if high is None else high}
        return {"scale": GraderScale.REAL, **ends}
    values = [level["value"] for level in row["levels"]]
    return {"scale": GraderScale.ORDINAL, "lowest": min(values), "highest": max(max(values), min(values) + 1)}


def _upper_half(rubric: Document, criterion: str) -> float:
    """The level from which an axis of a task holds: the lowest above the middle, as experts' levels are read."""
    levels = next(row["levels"] for row in rubric["criteria"] if row["key"] == criterion)
    values = sorted(level["value"] for level in levels)
    return min(value for value in values if value > (values[0] + values[-1]) / 2)


# --- Runs: begun, stopped, taken up again -----------------------------------------------------------------------------
@transaction.atomic
def start_judge(
    *, actor: Any, setup: JudgeSetup, queue: Queue, budget: Decimal, scope: str = JudgeScope.SETTLED, attempt: int = 1
) -> JudgeRun:
    """A run over the items of a queue that this judge has not scored at this attempt, waiting for `run_judge`.

    Raises Forbidden, Invalid, or Conflict with the reason where there is nothing to ask, or nobody.
    """
    version = setup.version
    project = version.grader.project
    check(actor, "manage_graders", project)
    errors = _wrong_start(setup, queue, budget, scope, attempt)
    if errors:
        raise Invalid(errors)
    check_can_ask(setup)
    items = list(items_to_judge(queue, scope, version, attempt))
    if not items:
        raise Conflict("There is nothing to judge: the queue has no such item that this judge has not scored.")
    return begin_run(
        actor=actor, version=version, queue=queue, items=items, scope=scope, attempt=attempt, budget=budget
    )


@transaction.atomic
def begin_run(
    *, actor: Any, version: GraderVersion, queue: Queue, items: Sequence[int], budget: Decimal, **asked: Any
) -> JudgeRun:
    """A run over these items, waiting for `run_judge`. Raises Conflict where the judge is at work in the queue."""
    project = queue.project
    try:
        with transaction.atomic():
            run = JudgeRun.objects.create(
                version=version, queue=queue, budget=budget, items_total=len(items), created_by=actor, **asked
            )
    except IntegrityError:
        raise Conflict("This judge is at work in this queue. Wait for it, or stop it.") from None
    JudgedItem.objects.bulk_create([JudgedItem(run=run, item_id=item) for item in items], batch_size=5000)
    record(
        project=project,
        actor=actor,
        verb=GoldVerb.JUDGE_STARTED,
        target=run,
        name=version.grader.name,
        number=version.number,
        queue=queue.name,
        items=len(items),
        held_out=held_out_count(items, project),
        budget=str(budget),
    )
    return run


def _wrong_start(setup: JudgeSetup, queue: Queue, budget: Any, scope: str, attempt: Any) -> dict[str, str]:
    errors = {}
    version = setup.version
    if queue.project_id != version.grader.project_id:
        errors["queue"] = "This project has no such queue."
    elif queue.rubric.item_kind != setup.rubric.item_kind:
        errors["queue"] = "The judge's rubric is for items of another kind than this queue has."
    if words := wrong_budget(budget):
        errors["budget"] = words
    if scope not in JudgeScope.values:
        errors["scope"] = f"Choose one of {', '.join(JudgeScope.values)}."
    most = min(version.attempts_cap or MOST_ATTEMPTS, MOST_ATTEMPTS)
    if type(attempt) is not int or not 1 <= attempt <= most:
        errors["attempt"] = f"This version is asked 1 to {most} times of an item."
    return errors


def check_can_ask(setup: JudgeSetup) -> None:
    """Raises Conflict where this judge may not be asked now."""
    if why := cannot_ask(setup):
        raise Conflict(why)


def wrong_budget(budget: Any) -> str:
    """Why this is no budget, or ""."""
    if isinstance(budget, Decimal) and budget.is_finite() and Decimal("0.000001") <= budget <= MOST_DOLLARS:
        return ""
    return f"A budget is more than 0 and at most {MOST_DOLLARS:,} US dollars."


@transaction.atomic
def cancel_judge(*, actor: Any, run: JudgeRun) -> JudgeRun:
    """Stop a run; its worker sees it after the items that are being asked about. Raises Forbidden or Conflict."""
    check(actor, "manage_graders", run.queue.project)
    if not moved(run, JudgeRunState.CANCELLED, finished_at=timezone.now()):
        raise Conflict(f"This run cannot be stopped: it is {run.get_state_display().lower()}.")
    record_of(run, actor, GoldVerb.JUDGE_CANCELLED)
    return run


@transaction.atomic
def resume_judge(*, actor: Any, run: JudgeRun, budget: Decimal) -> JudgeRun:
    """Let a run go on that was stopped, with this much money in all. Raises Forbidden, Invalid or Conflict."""
    check(actor, "manage_graders", run.queue.project)
    if words := wrong_budget(budget):
        raise Invalid({"budget": words})
    if budget <= run.spent:
        raise Invalid({"budget": f"The run has spent {run.spent:.4f} US dollars: give it more in all."})
    check_can_ask(run.version.judge)
    try:
        with transaction.atomic():
            again = moved(run, JudgeRunState.WAITING, budget=budget, finished_at=None, error="")
    except IntegrityError:
        raise Conflict("This judge is at work in this queue in another run. Wait for it, or stop it.") from None
    if not again:
        raise Conflict(f"This run cannot go on: it is {run.get_state_display().lower()}.")
    record_of(run, actor, GoldVerb.JUDGE_RESUMED, budget=str(budget))
    return run


def overlooked_judges(*, now: datetime) -> list[int]:
    """Ids of runs that wait or are at work for long: their task was perhaps never queued, or their worker killed.

    Whoever takes up one that is at work all the same steps back at once.
    """
    return list(unfinished_runs().filter(created_at__lt=now - OVERLOOKED_AFTER).values_list("pk", flat=True))


def moved(run: JudgeRun, state: JudgeRunState, **changes: Any) -> bool:
    """Bring a run to a state if that may follow the one it is in; `run` is as it stands then."""
    before = [one for one, following in JUDGE_RUN_MOVES.items() if state in following]
    found = JudgeRun.objects.filter(pk=run.pk, state__in=before).update(state=state, **changes)
    run.refresh_from_db(fields=["state", "budget", "spent", "lost", "error", "finished_at"])
    return bool(found)


def record_of(run: JudgeRun, actor: Any, verb: GoldVerb, **data: Any) -> None:
    name, number = run.version.grader.name, run.version.number
    told = {"name": name, "number": number, "queue": run.queue.name, "spent": f"{run.spent:.6f}", **data}
    record(project=run.queue.project_id, actor=actor, verb=verb, target=run, **told)
