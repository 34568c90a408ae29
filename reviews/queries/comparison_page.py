"""What the page of a comparison shows: what all candidates share, each side behind it, and what is asked of them.

Candidates are letters by their places on this rater's screen. Nothing else of them is told: no model, outcome or order
of the item comes in, and of the versions only those that all of them have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.enums import (
    CriterionKind,
    EvidenceRule,
    FailureCause,
    FailureWho,
    GateAnswer,
    ItemKind,
    PreferenceForm,
    Scope,
    TaskPart,
    Tie,
)
from reviews.errors import NotFound
from reviews.models import Assignment, Candidate, Criterion, Item, Judgment, Trajectory
from reviews.queries.comparing import alignment_of, changes_in
from reviews.queries.criteria import criteria_asked
from reviews.queries.items import letter_of
from reviews.queries.judging import (
    WINDOW_BYTES,
    Context,
    Kind,
    ReceiptView,
    Said,
    StepWindow,
    TwoTexts,
    context_of,
    judged_today,
    kinds_of,
    run_map,
    spent_by,
    steps_window,
)
from reviews.queries.payloads import order_of, payload_of
from reviews.queries.reviewing import TaskView, run_titles, task_view
from reviews.queries.rubric_view import CONFIDENCE, GATE_CHOICES, Answerable, Choice, limits_of
from reviews.trajectories.outline import Outline
from reviews.trajectories.tools import tools_of

# However many candidates there are, each begins with at least so much text.
LEAST_BYTES = 6_000
STRENGTHS = {1: ("",), 2: ("slightly", "much"), 3: ("slightly", "clearly", "much")}
FAILURE_POINT = "failure-point"


# --- The runs ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """Some steps of one run that are read together: what all candidates share (place 0), or the rest of one."""

    place: int
    trajectory: Trajectory
    first: int
    last: int
    title: str = ""

    @property
    def name(self) -> str:
        return letter_of(self.place) if self.place else "shared"

    @property
    def prefix(self) -> str:
        """What the ids of its steps begin with."""
        return f"{self.name.lower()}-"

    @property
    def count(self) -> int:
        return max(0, self.last - self.first + 1)

    def window(self, *, first: int = 1, last: int = 0, budget: int = WINDOW_BYTES, **asked: Any) -> StepWindow:
        """As many of its steps as the budget allows, from `first` on; none where all of it is shared."""
        if not self.count:
            return StepWindow(steps=[])
        last = min(last or self.last, self.last)
        return steps_window(self.trajectory, first=max(first, self.first), last=last, budget=budget, **asked)


def parts_of(assignment: Assignment) -> list[Part]:
    """What all candidates share, then each of them by its place on the rater's screen."""
    return parts_in(assignment.item, order_of(assignment))


def parts_in(item: Item, order: Sequence[int] = ()) -> list[Part]:
    """What all candidates share, then each of them in an order of positions, or in the item's own."""
    rows = Candidate.objects.filter(item=item).select_related(
        "trajectory__policy", "trajectory__task", "trajectory__item"
    )
    found = {candidate.position: candidate for candidate in rows}
    ordered = [found[position] for position in order or sorted(found)]
    shared = min(candidate.shared for candidate in ordered)
    of_task = item.kind == ItemKind.TASK
    titles = run_titles([candidate.role for candidate in ordered]) if of_task else [""] * len(ordered)
    sides = [
        Part(place, candidate.trajectory, shared + 1, candidate.trajectory.step_count, title)
        for place, (candidate, title) in enumerate(zip(ordered, titles, strict=True), start=1)
    ]
    return [Part(0, ordered[0].trajectory, 1, shared), *sides]


def part_at(assignment: Assignment, place: int) -> Part:
    """One of them. Raises NotFound where the item has no such candidate."""
    parts = parts_of(assignment)
    if not 0 <= place < len(parts):
        raise NotFound(f"This item has {len(parts) - 1} candidates.")
    return parts[place]


@dataclass(frozen=True)
class Side:
    """One candidate on the page: its steps, and what is asked of it."""

    part: Part
    window: StepWindow
    map: Outline
    kinds: list[Kind]
    spent: list[str]
    gates: list[Asked]
    graded: list[Asked]
    failure: FailureView
    error: str = ""

    @property
    def letter(self) -> str:
        return self.part.name

    @property
    def title(self) -> str:
        """What its reader calls it: which agent made it where a task is reviewed, else its letter."""
        return self.part.title or self.part.name

    @property
    def place(self) -> int:
        return self.part.place

    @property
    def failure_at(self) -> str:
        """What the names of its failure point begin with in a form."""
        return f"candidates.{self.place}.failure."

    @property
    def steps_shown(self) -> str:
        return f"Steps of {self.letter} shown"


# --- What is asked ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Asked(Answerable):
    """One criterion, of the item or of one candidate, with its answer so far."""

    criterion: Criterion
    place: int
    kind: str
    choices: tuple[Choice, ...]
    text: str
    evidence: tuple[dict[str, Any], ...]
    error: str
    note: str = ""

    @property
    def condition(self) -> dict[str, Any] | None:
        return self.criterion.condition

    @property
    def at(self) -> str:
        """What its names in the form and in errors begin with."""
        return f"candidates.{self.place}." if self.place else ""

    @property
    def name(self) -> str:
        return f"{self.at}{'gates' if self.criterion.is_gate else 'criteria'}.{self.criterion.key}"

    @property
    def ident(self) -> str:
        return f"{self.place}-{self.criterion.key}" if self.place else self.criterion.key

    @property
    def title(self) -> str:
        return self.criterion.title

    @property
    def unit(self) -> str:
        return str(self.criterion.settings.get("unit", ""))

    @property
    def limits(self) -> str:
        return limits_of(self.criterion)

    @property
    def asks(self) -> bool:
        return self.criterion.evidence == EvidenceRule.ALWAYS

    @property
    def worst(self) -> str:
        """The answer that asks for evidence where the rubric wants some for failures."""
        if self.criterion.is_gate:
            return "fail"
        return str(min(self.criterion.level_values, default="")) if not self.several else ""

    @property
    def anchors(self) -> bool:
        return any(choice.anchor for choice in self.choices)

    @property
    def words(self) -> str:
        return self.text or ", ".join(choice.name for choice in self.choices if choice.checked)


@dataclass(frozen=True)
class FailureView:
    """The first decisive step of a candidate that fails a gate."""

    given: Mapping[str, Any]
    who: tuple[Choice, ...]
    causes: tuple[Choice, ...]
    evidence: tuple[dict[str, Any], ...]
    errors: Mapping[str, str]

    @property
    def words(self) -> str:
        parts = [f"step {self.given['step']}"] if self.given.get("step") else []
        parts += [choice.name for choice in (*self.who, *self.causes) if choice.checked]
        return ", ".join([*parts, *([str(self.given["note"])] if self.given.get("note") else [])])


@dataclass(frozen=True)
class Rank:
    """A candidate in a ranking, with the rank it has so far."""

    place: int
    letter: str
    rank: int | None


@dataclass(frozen=True)
class PreferenceAsked:
    """Which candidate is better, overall or by one criterion, in the form that the rubric asks for."""

    criterion: Criterion
    scale: tuple[Choice, ...]
    ranking: tuple[Rank, ...]
    best: tuple[Choice, ...]
    worst: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    evidence: tuple[dict[str, Any], ...]
    error: str

    @property
    def form(self) -> str:
        return str(self.criterion.settings["form"])

    @property
    def ident(self) -> str:
        return self.criterion.key

    @property
    def best_and_worst(self) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
        return (("best", self.best), ("worst", self.worst))

    @property
    def ties(self) -> bool:
        return Tie.EQUALLY_GOOD in self.criterion.settings.get("ties", [])

    @property
    def words(self) -> str:
        """The answer as its rater reads it."""
        chosen = [choice.name for choice in self.scale if choice.checked]
        chosen += [f"best {choice.name}" for choice in self.best if choice.checked]
        chosen += [f"worst {choice.name}" for choice in self.worst if choice.checked]
        ranked: dict[int, list[str]] = {}
        for row in self.ranking:
            if row.rank:
                ranked.setdefault(row.rank, []).append(row.letter)
        chosen += [" > ".join(" = ".join(ranked[rank]) for rank in sorted(ranked))] if ranked else []
        why = [choice.name.lower() for choice in self.reasons if choice.checked]
        return ", ".join(filter(None, chosen)) + (f" ({', '.join(why)})" if why else "")


@dataclass(frozen=True)
class PreferenceRubric:
    """Everything that is asked of a comparison, with what was answered and what is wrong with it."""

    gates: list[Asked]
    graded: list[Asked]
    preferences: list[PreferenceAsked]
    sides: list[tuple[list[Asked], list[Asked], FailureView]]
    confidence: tuple[Choice, ...]
    rationale: str
    evidence: list[dict[str, Any]]
    marks: tuple[dict[str, Any], ...]
    errors: Mapping[str, str]

    @property
    def levels(self) -> list[Asked]:
        """What is graded of the item; `others` is what else is asked of it."""
        return [one for one in self.graded if one.criterion.kind == CriterionKind.ORDINAL]

    @property
    def others(self) -> list[Asked]:
        return [one for one in self.graded if one.criterion.kind != CriterionKind.ORDINAL]

    @property
    def asks_of_candidates(self) -> bool:
        return any(gates or graded for gates, graded, _failure in self.sides)

    @property
    def general_errors(self) -> list[str]:
        """What no field on the page is to blame for."""
        asked = [*self.gates, *self.graded, *(one for gates, graded, _f in self.sides for one in (*gates, *graded))]
        shown = {one.name for one in asked} | {f"criteria.{one.ident}" for one in self.preferences}
        shown |= {"confidence", "rationale", "marks"}
        return [
            words
            for name, words in self.errors.items()
            if name not in shown and ".failure" not in name and not _within(name, shown)
        ]

    @property
    def field_errors(self) -> int:
        return len(self.errors) - len(self.general_errors)


def _within(name: str, shown: set[str]) -> bool:
    return any(name.startswith(f"{field}.") for field in shown)


def preference_rubric(
    criteria: Sequence[Criterion],
    payload: Mapping[str, Any],
    *,
    places: int,
    unsure_allowed: bool,
    errors: Mapping[str, str] | None = None,
) -> PreferenceRubric:
    """The rubric with the answers of a payload, which may be a draft and have any other shape than a judgment."""
    reading = _Reading(criteria, payload, places, unsure_allowed, dict(errors or {}))
    return PreferenceRubric(
        gates=reading.asked(Scope.ITEM, gate=True),
        graded=reading.asked(Scope.ITEM, gate=False),
        preferences=reading.preferences(),
        sides=[
            (
                reading.asked(Scope.CANDIDATE, gate=True, place=place),
                reading.asked(Scope.CANDIDATE, gate=False, place=place),
                reading.failure(place),
            )
            for place in range(1, places + 1)
        ],
        confidence=_numbered(CONFIDENCE, payload.get("confidence")),
        rationale=str(payload.get("rationale") or ""),
        evidence=reading.evidence,
        marks=reading.marks,
        errors=reading.errors,
    )


class _Reading:
    """Reads what was answered so far, whatever shape it has."""

    def __init__(
        self,
        criteria: Sequence[Criterion],
        payload: Mapping[str, Any],
        places: int,
        unsure_allowed: bool,
        errors: dict[str, str],
    ):
        self.criteria, self.payload, self.places, self.unsure_allowed = criteria, payload, places, unsure_allowed
        rows: Any = payload.get("evidence")
        self.evidence = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        self.errors = self._at_their_criterion(errors)

    def _at_their_criterion(self, errors: dict[str, str]) -> dict[str, str]:
        """The errors with those of a citation ("evidence.3") moved to where it was cited for."""
        scopes = {criterion.key: criterion.scope for criterion in self.criteria}
        placed: dict[str, str] = {}
        for name, sentence in errors.items():
            group, _, number = name.partition(".")
            if group == "evidence" and number.isdigit() and int(number) < len(self.evidence):
                cited = self.evidence[int(number)]
                key, place = cited.get("criterion"), cited.get("candidate")
                if cited.get("part") or cited.get("mark"):
                    name = "marks" if key is None else f"criteria.{key}"
                elif key is None:
                    name = f"candidates.{place}.failure"
                else:
                    at = f"candidates.{place}." if scopes.get(str(key)) == Scope.CANDIDATE else ""
                    gate = any(c.key == key and c.is_gate for c in self.criteria)
                    name = f"{at}{'gates' if gate else 'criteria'}.{key}"
            placed[name] = f"{placed[name]} {sentence}" if name in placed else sentence
        return placed

    def candidate(self, place: int) -> Mapping[str, Any]:
        rows = self.payload.get("candidates")
        row = rows[place - 1] if isinstance(rows, list) and len(rows) >= place else None
        return row if isinstance(row, dict) else {}

    def given(self, criterion: Criterion, place: int) -> Any:
        scope = self.candidate(place) if place else self.payload
        answers = scope.get("gates" if criterion.is_gate else "criteria")
        return answers.get(criterion.key) if isinstance(answers, dict) else None

    def note(self, criterion: Criterion, place: int) -> str:
        notes = (self.candidate(place) if place else self.payload).get("notes")
        return str(notes.get(criterion.key) or "") if isinstance(notes, dict) else ""

    def cited(self, key: str | None, place: int) -> tuple[dict[str, Any], ...]:
        """What is cited for a question; a part of the task shows it for every run."""
        return tuple(
            row
            for row in self.evidence
            if row.get("criterion") == key
            and not (key is None and row.get("mark"))
            and (not place or row.get("part") or row.get("candidate") == place)
        )

    @property
    def marks(self) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in self.evidence if row.get("criterion") is None and row.get("mark"))

    def asked(self, scope: Scope, *, gate: bool, place: int = 0) -> list[Asked]:
        return [
            self._asked(criterion, place)
            for criterion in self.criteria
            if criterion.scope == scope and criterion.is_gate == gate and criterion.kind != CriterionKind.PREFERENCE
        ]

    def _asked(self, criterion: Criterion, place: int) -> Asked:
        given = self.given(criterion, place)
        written = criterion.kind in (CriterionKind.NUMBER, CriterionKind.TEXT)
        text = "" if not written or given is None else f"{given:.15g}" if type(given) in (int, float) else str(given)
        at = f"candidates.{place}." if place else ""
        return Asked(
            criterion=criterion,
            place=place,
            kind=criterion.kind,
            choices=() if written else _choices(criterion, given, self.unsure_allowed),
            text=text,
            evidence=self.cited(criterion.key, place),
            error=self.errors.get(f"{at}{'gates' if criterion.is_gate else 'criteria'}.{criterion.key}", ""),
            note=self.note(criterion, place),
        )

    def failure(self, place: int) -> FailureView:
        given = self.candidate(place).get("failure")
        given = given if isinstance(given, dict) else {}
        at = f"candidates.{place}.failure"
        errors = {
            name.removeprefix(f"{at}."): words for name, words in self.errors.items() if name.startswith(f"{at}.")
        }
        errors |= {"step": self.errors[at]} if at in self.errors else {}
        return FailureView(
            given=given,
            who=_numbered(FailureWho.choices, given.get("who")),
            causes=_numbered(FailureCause.choices, given.get("cause")),
            evidence=self.cited(None, place),
            errors=errors,
        )

    def preferences(self) -> list[PreferenceAsked]:
        return [
            self._preference(criterion) for criterion in self.criteria if criterion.kind == CriterionKind.PREFERENCE
        ]

    def _preference(self, criterion: Criterion) -> PreferenceAsked:
        given: Any = self.given(criterion, 0)
        given = given if isinstance(given, dict) else {}
        form, name = criterion.settings["form"], f"criteria.{criterion.key}"
        said = [words for field, words in self.errors.items() if field == name or field.startswith(f"{name}.")]
        reasons = given.get("reasons") if isinstance(given.get("reasons"), list) else []
        ranks = given.get("ranks") if isinstance(given.get("ranks"), list) else []
        letters = [(place, letter_of(place)) for place in range(1, self.places + 1)]
        of_two = form == PreferenceForm.PAIR
        best_worst = form == PreferenceForm.BEST_WORST
        return PreferenceAsked(
            criterion=criterion,
            scale=_scale(criterion, given) if of_two else (),
            ranking=tuple(
                Rank(place, letter, rank if type(rank := dict(enumerate(ranks, start=1)).get(place)) is int else None)
                for place, letter in letters
            )
            if form == PreferenceForm.RANKING
            else (),
            best=_numbered(letters, given.get("best")) if best_worst else (),
            worst=_numbered(letters, given.get("worst")) if best_worst else (),
            reasons=tuple(
                Choice(str(level["value"]), level["name"], key=_digit(place), checked=level["value"] in reasons)
                for place, level in enumerate(criterion.levels, start=1)
            ),
            evidence=self.cited(criterion.key, 0),
            error=" ".join(said),
        )


def _choices(criterion: Criterion, given: Any, unsure_allowed: bool) -> tuple[Choice, ...]:
    if criterion.is_gate:
        return tuple(
            Choice(word, answer.label, key=key, css=word, checked=given == word)
            for answer, word, key in GATE_CHOICES
            if unsure_allowed or answer != GateAnswer.UNSURE
        )
    if criterion.kind == CriterionKind.BINARY:
        return (
            Choice("yes", "Yes", key="y", checked=given is True, number=1),
            Choice("no", "No", key="n", checked=given is False, number=0),
        )
    ordinal = criterion.kind == CriterionKind.ORDINAL
    chosen = given if isinstance(given, list) else [given]
    return tuple(
        Choice(
            str(level["value"]),
            level["name"],
            key=_digit(level["value"] if ordinal else place),
            anchor=level.get("anchor", ""),
            number=level["value"],
            checked=any(type(value) is int and value == level["value"] for value in chosen),
        )
        for place, level in enumerate(criterion.levels, start=1)
    )


def _digit(number: int) -> str:
    return str(number) if 0 <= number <= 9 else ""


def _numbered(options: Any, given: Any) -> tuple[Choice, ...]:
    return tuple(
        Choice(str(value), name, key=_digit(number), checked=given == value)
        for number, (value, name) in enumerate(options, start=1)
    )


def _scale(criterion: Criterion, given: Mapping[str, Any]) -> tuple[Choice, ...]:
    """From A much better to B much better, each with its digit; `css` names the side, `anchor` is short."""
    most = criterion.settings.get("strength", 0)
    words = STRENGTHS[max(most, 1)]
    points = [(1, strength) for strength in range(len(words), 0, -1)]
    ties = [Tie(tie) for tie in criterion.settings.get("ties", [])]
    found = [
        *(_point(place, strength, words, most, given) for place, strength in points),
        *((f"tie-{tie.value}", tie.label, tie.label.lower(), "tie", given.get("tie") == tie) for tie in ties),
        *(_point(2, strength, words, most, given) for _place, strength in reversed(points)),
    ]
    return tuple(
        Choice(value, name, key=str(number), css=css, anchor=short, checked=checked)
        for number, (value, name, short, css, checked) in enumerate(found, start=1)
    )


def _point(
    place: int, strength: int, words: Sequence[str], most: int, given: Mapping[str, Any]
) -> tuple[str, str, str, str, bool]:
    letter, word = letter_of(place), words[strength - 1]
    name = f"{letter} is {word} better".replace("  ", " ")
    chosen = given.get("prefers") == place and (not most or given.get("strength") == strength)
    return f"{place}-{strength if most else 0}", name, word or f"{letter} better", letter.lower(), chosen


# --- The page ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PreferPage:
    """Everything on the page of one assignment of a comparison."""

    assignment: Assignment
    context: Context
    shared: Part
    shared_window: StepWindow
    shared_map: Outline
    sides: list[Side]
    rubric: PreferenceRubric
    version: int
    judged_today: int
    tool_count: int
    task: TaskView | None = None

    @property
    def step_count(self) -> int:
        return max(side.part.trajectory.step_count for side in self.sides)

    @property
    def letters(self) -> list[str]:
        return [side.part.name for side in self.sides]


def prefer_page(
    assignment: Assignment,
    *,
    payload: Mapping[str, Any],
    version: int,
    errors: Mapping[str, str] | None = None,
    place: int = 0,
    first: int = 1,
    only: str = "",
) -> PreferPage:
    """`first` and `only` say which steps of the candidate at `place` are shown, where they are asked for."""
    shared, *parts = parts_of(assignment)
    rubric = preference_rubric(
        criteria_asked(assignment.queue.rubric, assignment.item),
        payload,
        places=len(parts),
        unsure_allowed=assignment.queue.rubric.unsure_allowed,
        errors=errors,
    )
    budget = max(LEAST_BYTES, WINDOW_BYTES // len(parts))

    def window(part: Part) -> StepWindow:
        asked: dict[str, Any] = {"first": first, "only": only} if part.place == place else {}
        return part.window(budget=budget, **asked)

    return PreferPage(
        assignment=assignment,
        context=context_of(assignment),
        shared=shared,
        shared_window=window(shared),
        shared_map=run_map(shared.trajectory),
        sides=[
            side_of(part, window(part), asked, only=only if part.place == place else "")
            for part, asked in zip(parts, rubric.sides, strict=True)
        ],
        rubric=rubric,
        version=version,
        judged_today=judged_today(assignment.rater_id),
        tool_count=len(tools_of(shared.trajectory.tools)),
        task=task_view(assignment.item, order_of(assignment), assignment.queue.rubric.marks),
    )


def side_of(
    part: Part, window: StepWindow, asked: tuple[list[Asked], list[Asked], FailureView], *, only: str = ""
) -> Side:
    gates, graded, failure = asked
    return Side(
        part=part,
        window=window,
        map=run_map(part.trajectory),
        kinds=kinds_of(part.trajectory, only),
        spent=spent_by(part.trajectory),
        gates=gates,
        graded=graded,
        failure=failure,
    )


def differences_of(assignment: Assignment) -> dict[str, Any]:
    """What of each candidate's steps is not in the first, and of the first's not in the second, by letter and step.

    A step that has no like is [], any other the fields that differ with the characters that do.
    """
    _shared, first, *others = parts_of(assignment)
    told: dict[str, Any] = {}
    for other in others:
        alignment = alignment_of(first.trajectory, other.trajectory)
        ours, theirs = changes_in(first.trajectory, other.trajectory, alignment)
        told[other.name] = theirs
        told.setdefault(first.name, ours)
    return told


# --- In words ---------------------------------------------------------------------------------------------------------
def in_words(assignment: Assignment, payload: Mapping[str, Any]) -> list[Said]:
    """A payload as its rater reads it, one line per question. Keys say where the answer stands in the payload."""
    places = len(order_of(assignment))
    view = preference_rubric(
        criteria_asked(assignment.queue.rubric, assignment.item),
        payload,
        places=places,
        unsure_allowed=assignment.queue.rubric.unsure_allowed,
    )
    lines = [Said(one.criterion.title, _with_citations(one.words, one.evidence), one.name) for one in view.gates]
    for place, (gates, graded, failure) in enumerate(view.sides, start=1):
        letter = letter_of(place)
        lines += [
            Said(f"{letter}, {one.criterion.title}", _with_citations(one.words, one.evidence), one.name)
            for one in (*gates, *graded)
        ]
        if gates:
            words = _with_citations(failure.words, failure.evidence)
            lines.append(Said(f"{letter}, failure point", words, f"candidates.{place}.failure"))
    lines += [Said(one.criterion.title, _with_citations(one.words, one.evidence), one.name) for one in view.graded]
    for preference in view.preferences:
        words = _with_citations(preference.words, preference.evidence)
        lines.append(Said(preference.criterion.title, words, f"criteria.{preference.ident}"))
    marks = [row for row in view.evidence if row.get("mark")]
    lines.append(Said("Marks", ", ".join(f"{row['mark']}: {_cited_words(row)}" for row in marks), "marks"))
    sure = next((choice.name for choice in view.confidence if choice.checked), "")
    return [*lines, Said("Confidence", sure, "confidence"), Said("Rationale", view.rationale, "rationale")]


def _with_citations(words: str, evidence: Sequence[Mapping[str, Any]]) -> str:
    cited = ", ".join(_cited_words(row) for row in evidence)
    return f"{words} ({cited})" if words and cited else words or cited


def _cited_words(row: Mapping[str, Any]) -> str:
    if row.get("policy_line"):
        return f"policy {row['policy_line']}"
    if row.get("part") in TaskPart.values:
        return f"{row['part']} “{row.get('quote')}”"
    place = row.get("candidate")
    letter = letter_of(place) if type(place) is int and 0 < place < 27 else ""
    return f"{letter}{row.get('step')}" + (f" “{row['quote']}”" if row.get("quote") else "")


def two_texts(assignment: Assignment, here: Mapping[str, Any], there: Mapping[str, Any]) -> list[TwoTexts]:
    """Two drafts line by line; lines that neither fills are left out."""
    pairs = zip(in_words(assignment, here), in_words(assignment, there), strict=True)
    return [TwoTexts(one.key, one.label, one.words, other.words) for one, other in pairs if one.words or other.words]


def merged(mine: dict[str, Any], other: Mapping[str, Any], *, take: Sequence[str]) -> dict[str, Any]:
    """`mine` with the lines to `take` from the other draft, each with what is cited for it."""
    whole: dict[str, Any] = dict(mine)
    cited: set[tuple[Any, Any]] = set()
    for key in take:
        whole = _taken(whole, other, key.split("."))
        at, _, name = key.rpartition(".")
        place = int(at.split(".")[1]) if at.startswith("candidates.") else None
        cited.add((None if name in ("failure", "marks") else name, place))

    def belongs(row: Mapping[str, Any]) -> bool:
        return any(row.get("criterion") == key and place in (None, row.get("candidate")) for key, place in cited)

    stays = [row for row in _rows(mine) if not belongs(row)]
    return {**whole, "evidence": stays + [row for row in _rows(other) if belongs(row)]}


def _rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: Any = payload.get("evidence")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _taken(mine: Any, other: Any, path: Sequence[str]) -> Any:
    """`mine` with what the other has at a path, or without it where the other has nothing."""
    name, *rest = path
    if isinstance(mine, list):
        row, size = int(name) - 1, max(len(mine), int(name))
        rows = [*mine, *[{} for _ in range(size - len(mine))]]
        theirs = other[row] if isinstance(other, list) and row < len(other) else {}
        return [*rows[:row], _taken(rows[row], theirs, rest), *rows[row + 1 :]]
    values = dict(mine) if isinstance(mine, dict) else {}
    theirs = other.get(name) if isinstance(other, Mapping) else None
    if rest:
        values[name] = _taken(values.get(name, [] if name == "candidates" else {}), theirs, rest)
    elif theirs is None:
        values.pop(name, None)
    else:
        values[name] = theirs
    return values


def receipt(assignment: Assignment) -> ReceiptView | None:
    """What the rater submitted, in words; None where nothing was."""
    judgment = Judgment.objects.filter(assignment=assignment).order_by("-revision").first()
    if judgment is None:
        return None
    lines = [line for line in in_words(assignment, payload_of(judgment)) if line.words]
    return ReceiptView(submitted_at=judgment.submitted_at, revision=judgment.revision, lines=lines)
