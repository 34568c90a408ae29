"""What stands in the database, back in the form in which it was sent: judgments, and the values of labels."""

from collections.abc import Collection, Sequence
from typing import Any

from reviews.enums import CriterionKind, GateAnswer, PreferenceForm, StepRole
from reviews.models import (
    AdjudicatedValue,
    Assignment,
    Correction,
    Judgment,
    LabelValue,
    Rating,
    Rubric,
    Step,
    Trajectory,
)
from reviews.trajectories.corrected import given_of

AnyRow = Rating | LabelValue | AdjudicatedValue


def order_of(assignment: Assignment) -> list[int]:
    """The positions of the item's candidates in the order of the rater's screen, [] where one run is judged."""
    return list(assignment.candidate_order or [])


def roles_labelled(rubric: Rubric) -> list[str]:
    """Whose steps the rubric wants labelled: the agent's with its tools, or everybody's."""
    return list(StepRole) if rubric.step_labels.get("of") == "all" else [StepRole.AGENT, StepRole.TOOL]


def steps_labelled(rubric: Rubric, trajectory: Trajectory) -> list[int]:
    """The numbers of the steps of a run that the rubric wants labelled, ascending. One query."""
    return _steps_of(trajectory, roles_labelled(rubric))


def agent_steps(trajectory: Trajectory) -> list[int]:
    """The numbers of the agent's steps: what it said, and the tools it called."""
    return _steps_of(trajectory, [StepRole.AGENT, StepRole.TOOL])


def _steps_of(trajectory: Trajectory, roles: list[str]) -> list[int]:
    steps = Step.objects.filter(trajectory=trajectory, role__in=roles).order_by("position")
    return list(steps.values_list("position", flat=True))


def payload_of(judgment: Judgment) -> dict[str, Any]:
    """A judgment in the form in which it was sent."""
    order = order_of(judgment.assignment)
    payload: dict[str, Any] = {"gates": {}, "criteria": {}, "evidence": []}
    ratings = list(judgment.ratings.select_related("criterion").order_by("pk"))
    payload |= values_given([rating for rating in ratings if rating.candidate is None], order, failing(ratings))
    if order:
        payload["candidates"] = _candidates(judgment, ratings, order)
    elif judgment.failure_step:
        payload["failure"] = _failure(judgment)
    if labels := {str(label.step): label.value for label in judgment.step_labels.all()}:
        payload["steps"] = labels
    if corrections := list(judgment.corrections.all()):
        payload["corrections"] = [_correction(each) for each in corrections]
    for cited in judgment.evidence.select_related("criterion").order_by("pk"):
        row: dict[str, Any] = {"criterion": cited.criterion.key if cited.criterion else None}
        if cited.candidate:
            row["candidate"] = order.index(cited.candidate) + 1
        if cited.mark:
            row["mark"] = cited.mark
        if cited.part:
            row["part"] = cited.part
        elif cited.policy_line:
            row["policy_line"] = cited.policy_line
        else:
            row["step"] = cited.step
        if cited.quote:
            row |= {} if cited.part else {"field": cited.field}
            row |= {"start": cited.start, "end": cited.end, "quote": cited.quote}
        payload["evidence"].append(row)
    return payload | {"rationale": judgment.rationale, "confidence": judgment.confidence}


def _candidates(judgment: Judgment, ratings: list[Rating], order: list[int]) -> list[dict[str, Any]]:
    failures = {failure.candidate: _failure(failure) for failure in judgment.candidate_failures.all()}
    return [
        values_given([rating for rating in ratings if rating.candidate == candidate], order)
        | ({"failure": failures[candidate]} if candidate in failures else {})
        for candidate in order
    ]


def failing(rows: Sequence[AnyRow]) -> set[int]:
    """The candidates that do not pass every gate."""
    return {row.candidate for row in rows if row.candidate and row.criterion.is_gate and row.value != GateAnswer.PASS}


def values_given(rows: Sequence[AnyRow], order: Sequence[int] = (), below: Collection[int] = ()) -> dict[str, Any]:
    """Gates, criteria and notes of one scope, each value as its kind is written; `below` are candidates that fail."""
    given: dict[str, Any] = {"gates": {}, "criteria": {}}
    for row in rows:
        value = value_given(row, order, below)
        if value is not None:
            given["gates" if row.criterion.is_gate else "criteria"][row.criterion.key] = value
    notes = {row.criterion.key: row.note for row in rows if isinstance(row, Rating) and row.note}
    return given | ({"notes": notes} if notes else {})


def value_given(row: AnyRow, order: Sequence[int] = (), below: Collection[int] = ()) -> Any:
    """One value as its kind is written; None for a preference that followed from the gates."""
    kind = row.criterion.kind
    if kind == CriterionKind.PREFERENCE:
        return _preference_given(row, order or range(1, len(row.ranks or ()) + 1), below)
    if kind == CriterionKind.GATE:
        return GateAnswer(row.value or 0).name.lower()
    if kind == CriterionKind.BINARY:
        return bool(row.value)
    if kind == CriterionKind.MULTI_CHOICE:
        return list(row.choices or ())
    if kind == CriterionKind.NUMBER:
        return row.number
    return row.text if kind == CriterionKind.TEXT else row.value


def _preference_given(row: AnyRow, order: Sequence[int], below: Collection[int]) -> dict[str, Any] | None:
    """A preference by places on the screen, among the candidates that pass. What gates decided was never given."""
    ranks = {position: rank for position, rank in enumerate(row.ranks or (), start=1) if position not in below}
    if len(ranks) < 2:
        return None
    reasons = {"reasons": list(row.choices)} if row.choices else {}
    shown = [ranks.get(position) for position in order]
    form = row.criterion.settings["form"]
    if form == PreferenceForm.PAIR:
        return _pair_given(row, shown, reasons)
    if form == PreferenceForm.RANKING:
        return {"ranks": shown, **reasons}
    worst = {} if below else {"worst": shown.index(max(ranks.values())) + 1}
    return {"best": shown.index(1) + 1, **worst, **reasons}


def _pair_given(row: AnyRow, shown: list[int | None], reasons: dict[str, Any]) -> dict[str, Any]:
    if row.tie:
        return {"tie": row.tie, **reasons}
    strength = {"strength": abs(row.value or 0)} if row.criterion.settings.get("strength") else {}
    return {"prefers": shown.index(1) + 1, **strength, **reasons}


def _failure(row: Any) -> dict[str, Any]:
    return {
        "step": row.failure_step,
        "who": row.failure_who,
        "cause": row.failure_cause,
        "note": row.failure_note,
    }


def _correction(row: Correction) -> dict[str, Any]:
    return {"step": row.step, "kind": row.kind, "steps": [given_of(step) for step in row.steps], "reason": row.reason}
