"""A comparison as a lead decides it: its candidates in the item's own order, and what each rater said of them.

Candidates are letters, so raters are numbers here, in an order that this lead always sees and that says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import prefetch_related_objects

from reviews.enums import CriterionKind, FailureCause, FailureWho, GateAnswer
from reviews.models import Criterion, Judgment, QueueItem
from reviews.queries.comparison_page import (
    LEAST_BYTES,
    Asked,
    Part,
    PreferenceAsked,
    Side,
    parts_in,
    preference_rubric,
    side_of,
)
from reviews.queries.criteria import criteria_asked
from reviews.queries.disagreements import CONFIDENCE, NOT_ASKED, common_failure, said_before, shuffled, uncontested
from reviews.queries.items import letter_of
from reviews.queries.judging import WINDOW_BYTES, StepWindow, run_map
from reviews.queries.payloads import failing, values_given
from reviews.trajectories.outline import Outline


@dataclass(frozen=True)
class Voice:
    """A rater as a number; `name` is empty while names are hidden. `failures_of` has the points named, by candidate."""

    number: int
    name: str
    simulated: bool
    rationale: str
    confidence: str
    failures_of: dict[int, list[str]]


@dataclass(frozen=True)
class Told:
    """What one rater said on one question, with where they cite."""

    number: int
    words: str
    css: str
    cited: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Ruling:
    """One question of the item or of one candidate: what raters said, and the lead's choice so far."""

    title: str
    criterion: Criterion
    asked: Asked | None
    preference: PreferenceAsked | None
    told: tuple[Told, ...]
    differs: bool
    reason: str = ""
    note: str = ""

    @property
    def ident(self) -> str:
        return self.asked.ident if self.asked else self.criterion.key

    @property
    def error(self) -> str:
        return self.asked.error if self.asked else self.preference.error if self.preference else ""


@dataclass(frozen=True)
class ComparisonDecision:
    """Everything about a comparison that a lead decides on."""

    voices: tuple[Voice, ...]
    rulings: tuple[Ruling, ...]
    shared: Part
    shared_window: StepWindow
    shared_map: Outline
    sides: list[Side]
    kinds: dict[str, str]
    reason: str
    note: str
    errors: dict[str, str]

    @property
    def differing(self) -> int:
        return sum(ruling.differs for ruling in self.rulings)

    @property
    def groups(self) -> list[tuple[Side | None, list[Ruling]]]:
        """The questions in order, those of one candidate together with it."""
        return [
            (self.sides[place - 1] if place else None, list(rulings))
            for place, rulings in groupby(self.rulings, key=lambda ruling: ruling.asked.place if ruling.asked else 0)
        ]


def comparison_decision(
    queue_item: QueueItem,
    judgments: Sequence[Judgment],
    *,
    lead: Any,
    names: bool,
    given: dict[str, Any] | None = None,
    errors: dict[str, str] | None = None,
) -> ComparisonDecision:
    """`given` is what the lead entered so far; without it, what stands or what nobody contradicts is chosen."""
    prefetch_related_objects(
        judgments, "ratings__criterion", "evidence__criterion", "candidate_failures", "rater__memberships"
    )
    ordered = sorted(judgments, key=lambda judgment: shuffled(lead, queue_item, judgment))
    shared, *parts = parts_in(queue_item.item)
    given = _start(queue_item, ordered, len(parts)) if given is None else given
    asked_of_it = criteria_asked(queue_item.queue.rubric, queue_item.item)
    criteria = [criterion for criterion in asked_of_it if criterion.is_comparable]
    view = preference_rubric(criteria, given, places=len(parts), unsure_allowed=False, errors=errors)
    budget = max(LEAST_BYTES, WINDOW_BYTES // len(parts))
    of_candidates = [one for gates, graded, _failure in view.sides for one in (*gates, *graded)]
    asked = [*view.gates, *of_candidates, *view.graded]
    reasons, notes = given.get("reasons") or {}, given.get("notes") or {}

    titles = [part.title or part.name for part in parts]

    def ruling(criterion: Criterion, place: int, one: Asked | None, preference: PreferenceAsked | None) -> Ruling:
        said = {answer.said for answer in _answers(ordered, criterion, place)}
        return Ruling(
            title=f"{titles[place - 1]}, {criterion.title}" if place else criterion.title,
            criterion=criterion,
            asked=one,
            preference=preference,
            told=tuple(_told(number, judgment, criterion, place) for number, judgment in enumerate(ordered, start=1)),
            differs=len(said) > 1,
            reason=str(reasons.get(criterion.key, "")),
            note=str(notes.get(criterion.key, "")),
        )

    return ComparisonDecision(
        voices=tuple(_voice(number, judgment, names, queue_item) for number, judgment in enumerate(ordered, start=1)),
        rulings=(
            *(ruling(one.criterion, one.place, one, None) for one in asked),
            *(ruling(one.criterion, 0, None, one) for one in view.preferences),
        ),
        shared=shared,
        shared_window=shared.window(budget=budget),
        shared_map=run_map(shared.trajectory),
        sides=[side_of(part, part.window(budget=budget), of) for part, of in zip(parts, view.sides, strict=True)],
        kinds={criterion.key: _kind(criterion) for criterion in criteria},
        reason=str(given.get("reason") or ""),
        note=str(given.get("note") or ""),
        errors=errors or {},
    )


def _kind(criterion: Criterion) -> str:
    """What the form says of a criterion, so that its answers are read as they are meant."""
    if criterion.kind == CriterionKind.PREFERENCE:
        return f"prefer {criterion.settings['form']}"
    return f"{criterion.scope} {criterion.kind}"


def _answers(judgments: Sequence[Judgment], criterion: Criterion, place: int) -> list[Any]:
    return [
        rating
        for judgment in judgments
        for rating in judgment.ratings.all()
        if rating.criterion_id == criterion.pk and (rating.candidate or 0) == place
    ]


def _told(number: int, judgment: Judgment, criterion: Criterion, place: int) -> Told:
    rating = next(iter(_answers([judgment], criterion, place)), None)
    if rating is None:
        return Told(number, NOT_ASKED, "none")
    css = GateAnswer(rating.value or 0).name.lower() if criterion.is_gate else "level"
    words = str(rating.words)
    if criterion.kind == CriterionKind.PREFERENCE and rating.choices:
        words += f" ({', '.join(criterion.level_name(option).lower() for option in rating.choices)})"
    cited = tuple(
        _place(row)
        for row in judgment.evidence.all()
        if row.criterion_id == criterion.pk and (not place or row.candidate == place)
    )
    return Told(number, words, css, cited)


def _place(cited: Any) -> tuple[str, str]:
    """Where a citation leads on the page, and its words."""
    if cited.policy_line:
        return f"#policy-{cited.policy_line}", f"policy {cited.policy_line}"
    letter = letter_of(cited.candidate or 1)
    quote = f" “{cited.quote[:60]}”" if cited.quote else ""
    return f"#{letter.lower()}-step-{cited.step}", f"{letter}{cited.step}{quote}"


def _voice(number: int, judgment: Judgment, names: bool, queue_item: QueueItem) -> Voice:
    members = judgment.rater.memberships.all() if names else ()
    membership = next((one for one in members if one.project_id == queue_item.queue.project_id), None)
    failures = {
        row.candidate: [
            f"step {row.failure_step}, {FailureWho(row.failure_who).label.lower()}: "
            f"{FailureCause(row.failure_cause).label.lower()}" + (f". {row.failure_note}" if row.failure_note else "")
        ]
        for row in judgment.candidate_failures.all()
    }
    return Voice(
        number=number,
        name=str(judgment.rater) if names else "",
        simulated=bool(membership and membership.simulated),
        rationale=judgment.rationale,
        confidence=CONFIDENCE[judgment.confidence],
        failures_of=failures,
    )


def _start(queue_item: QueueItem, judgments: Sequence[Judgment], places: int) -> dict[str, Any]:
    """The label that stands, or every value that nobody contradicts, in the item's own order."""
    chosen = uncontested(queue_item, judgments)
    start = values_given([row for row in chosen if row.candidate is None], below=failing(chosen))
    failures = _failures_given(queue_item, judgments)
    start["candidates"] = [
        values_given([row for row in chosen if row.candidate == place])
        | ({"failure": failures[place]} if place in failures else {})
        for place in range(1, places + 1)
    ]
    return start | said_before(queue_item.label)


def _failures_given(queue_item: QueueItem, judgments: Sequence[Judgment]) -> dict[int, dict[str, Any]]:
    """By candidate the failure point of the decision that stands, or each part on which all who gave one agree."""
    label = queue_item.label
    rows: list[Any] = list(label.adjudication.failures.all()) if label and label.adjudication else []
    if not label:
        rows = [row for judgment in judgments for row in judgment.candidate_failures.all()]
    return {
        place: common_failure([row for row in rows if row.candidate == place]) for place in {r.candidate for r in rows}
    }
