"""Reads gates and criteria of every kind: all gates answered, and quality exactly where every gate passes.

A value is written by its kind: a gate as "pass", "fail" or "unsure"; a level or an option as its number; yes or no as
true or false; any of several as a list of numbers; a number as a number; text as text. Preferences: see `preferences`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from reviews.enums import CriterionKind, GateAnswer, Scope
from reviews.models import Criterion, LabelValue, Rating
from reviews.models.base import Said, what_was_said

from .preferences import read_preference
from .reading import read_object, read_text
from .subject import Subject

GATE_WORDS = {"pass": GateAnswer.PASS, "fail": GateAnswer.FAIL, "unsure": GateAnswer.UNSURE}
LOCKED = "Quality is not scored until every gate passes."


@dataclass(frozen=True)
class Answer:
    """One criterion's value, in the columns of `AnyValue`. The note is no part of what is compared."""

    criterion: Criterion
    candidate: int | None = None
    value: int | None = None
    number: float | None = None
    text: str = ""
    choices: tuple[int, ...] | None = None
    ranks: tuple[int, ...] | None = None
    tie: str = ""
    note: str = field(default="", compare=False)

    @classmethod
    def of(cls, row: Rating | LabelValue) -> Self:
        """The answer that a row keeps."""
        choices = None if row.choices is None else tuple(row.choices)
        ranks = None if row.ranks is None else tuple(row.ranks)
        return cls(row.criterion, row.candidate, row.value, row.number, row.text, choices, ranks, row.tie)

    @property
    def said(self) -> Said:
        return what_was_said(self)

    def as_fields(self) -> dict[str, Any]:
        """The columns of a row that keeps it, without the note."""
        return {
            "criterion": self.criterion,
            "candidate": self.candidate,
            "value": self.value,
            "number": self.number,
            "text": self.text,
            "choices": None if self.choices is None else list(self.choices),
            "ranks": None if self.ranks is None else list(self.ranks),
            "tie": self.tie,
        }


def gate_fails(values: Iterable[Answer], candidate: int | None = None) -> bool:
    """Whether a gate of the item, or of this candidate, failed."""
    return any(a.criterion.is_gate and a.candidate == candidate and a.value == GateAnswer.FAIL for a in values)


def read_answers(
    payload: Mapping[str, Any], *, subject: Subject, unsure_allowed: bool, errors: dict[str, str]
) -> list[Answer]:
    """Every answer of the payload, the item's before its candidates'; what is wrong goes into `errors`."""
    page = _Scope(payload, subject.of(Scope.ITEM, gate=True), subject.of(Scope.ITEM, gate=False))
    # Preferences follow from which candidates pass their gates, so those are read first.
    of_candidates = _of_candidates(payload.get("candidates"), subject, unsure_allowed, errors, locked=not page.passes)
    passing = {c for c in subject.order if _passes(subject.of(Scope.CANDIDATE, gate=True), of_candidates, c)}
    return [*page.read(subject, unsure_allowed, errors, passing=passing), *of_candidates]


def _of_candidates(
    candidates: Any, subject: Subject, unsure_allowed: bool, errors: dict[str, str], *, locked: bool
) -> list[Answer]:
    """What is said of each; no quality where they are `locked`, for a gate of the whole item does not pass."""
    gates, graded = subject.of(Scope.CANDIDATE, gate=True), subject.of(Scope.CANDIDATE, gate=False)
    rows = [] if candidates is None else candidates
    if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) > len(subject.order):
        errors["candidates"] = f"Candidates are a list of {len(subject.order)}, in the order of the screen."
        return []
    answers: list[Answer] = []
    for place, candidate in enumerate(subject.order, start=1):
        row = rows[place - 1] if place <= len(rows) else {}
        name = f"candidates.{place}."
        if not isinstance(row, Mapping):
            errors[name[:-1]] = "A candidate is an object with gates and criteria."
            continue
        for key in set(row) - {"gates", "criteria", "notes", "failure"}:
            errors[f"{name}{str(key)[:60]}"] = "A candidate has no such field."
        scope = _Scope(row, gates, graded, name=name, candidate=candidate, locked=locked)
        answers += scope.read(subject, unsure_allowed, errors)
    return answers


def _passes(gates: list[Criterion], answers: list[Answer], candidate: int) -> bool:
    passed = {a.criterion for a in answers if a.candidate == candidate and a.value == GateAnswer.PASS}
    return all(gate in passed for gate in gates)


@dataclass
class _Scope:
    """One group of gates and criteria with what was given for them: the item's, or one candidate's."""

    given: Mapping[str, Any]
    gates: list[Criterion]
    graded: list[Criterion]
    name: str = ""
    candidate: int | None = None
    locked: bool = False

    @property
    def passes(self) -> bool:
        """Whether every gate is answered, and with a pass."""
        given = self.given.get("gates")
        answers = given if isinstance(given, Mapping) else {}
        return all(answers.get(gate.key) == "pass" for gate in self.gates)

    def read(
        self, subject: Subject, unsure_allowed: bool, errors: dict[str, str], passing: set[int] | None = None
    ) -> list[Answer]:
        gates = read_object(self.given.get("gates"), f"{self.name}gates", errors)
        quality = read_object(self.given.get("criteria"), f"{self.name}criteria", errors)
        self._refuse_unknown(gates, "gates", self.gates, errors)
        self._refuse_unknown(quality, "criteria", self.graded, errors)
        answers = self._read_gates(gates, unsure_allowed, errors)
        all_pass = self.passes and not self.locked
        for criterion in self.graded:
            answer = self._read_one(criterion, quality, answers, all_pass, subject, errors, passing or set())
            if answer:
                answers.append(answer)
        return self._with_notes(answers, errors)

    def _read_gates(self, given: Mapping[str, Any], unsure_allowed: bool, errors: dict[str, str]) -> list[Answer]:
        words = "pass, fail or unsure" if unsure_allowed else "pass or fail"
        answers = []
        for gate in self.gates:
            word = given.get(gate.key)
            answer = GATE_WORDS.get(word) if isinstance(word, str) else None
            if answer is None or (answer == GateAnswer.UNSURE and not unsure_allowed):
                errors[f"{self.name}gates.{gate.key}"] = f"Answer “{gate.title}” with {words}."
            else:
                answers.append(Answer(gate, self.candidate, value=int(answer)))
        return answers

    def _read_one(
        self,
        criterion: Criterion,
        quality: Mapping[str, Any],
        answers: list[Answer],
        all_pass: bool,
        subject: Subject,
        errors: dict[str, str],
        passing: set[int],
    ) -> Answer | None:
        name, value = f"{self.name}criteria.{criterion.key}", quality.get(criterion.key)
        if not all_pass:
            if value is not None:
                errors[name] = LOCKED
            return None
        if not _is_asked(criterion, answers):
            if value is not None:
                errors[name] = f"“{criterion.title}” is not asked after this answer."
            return None
        if criterion.kind == CriterionKind.PREFERENCE:
            found = read_preference(criterion, value, name=name, subject=subject, passing=passing, errors=errors)
            return Answer(criterion, self.candidate, **found) if found else None
        if value is None or value in ("", []):
            if criterion.required:
                errors[name] = ASK[CriterionKind(criterion.kind)].format(criterion.title)
            return None
        found = READERS[CriterionKind(criterion.kind)](criterion, value, name, errors)
        return Answer(criterion, self.candidate, **found) if found is not None else None

    def _with_notes(self, answers: list[Answer], errors: dict[str, str]) -> list[Answer]:
        notes = read_object(self.given.get("notes"), f"{self.name}notes", errors)
        known = {criterion.key for criterion in (*self.gates, *self.graded)}
        texts = {}
        for key, text in notes.items():
            if key not in known:
                errors[f"{self.name}notes.{str(key)[:60]}"] = "The rubric has no such criterion here."
            texts[key] = read_text(text, f"{self.name}notes.{str(key)[:60]}", errors)
        answered = {answer.criterion.key for answer in answers}
        for key in [key for key, text in texts.items() if text and key in known - answered]:
            # Where an answer is missing or refused, that is said already.
            if f"{self.name}gates.{key}" not in errors and f"{self.name}criteria.{key}" not in errors:
                errors[f"{self.name}notes.{key}"] = "There is no answer here for this note to stand beside."
        return [replace(answer, note=texts.get(answer.criterion.key, "")) for answer in answers]

    def _refuse_unknown(
        self, given: Mapping[str, Any], group: str, criteria: list[Criterion], errors: dict[str, str]
    ) -> None:
        known = {criterion.key for criterion in criteria}
        for key in given:
            if key not in known:
                errors[f"{self.name}{group}.{str(key)[:60]}"] = "The rubric has no such criterion here."


def _is_asked(criterion: Criterion, answers: list[Answer]) -> bool:
    """Whether the criterion's condition holds. Of several options chosen, one that it names is enough."""
    if not criterion.condition:
        return True
    values = criterion.condition["values"]
    for answer in answers:
        if answer.criterion.key == criterion.condition["criterion"]:
            given = answer.choices if answer.choices is not None else (answer.value,)
            return any(value in values for value in given)
    return False


# --- By kind ----------------------------------------------------------------------------------------------------------
def _level(criterion: Criterion, value: Any, name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    if type(value) is not int or value not in criterion.level_values:
        errors[name] = f"“{criterion.title}” has no such {'level' if criterion.kind == 'ordinal' else 'option'}."
        return None
    return {"value": value}


def _yes_or_no(criterion: Criterion, value: Any, name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    if not isinstance(value, bool):
        errors[name] = f"Answer “{criterion.title}” with true or false."
        return None
    return {"value": int(value)}


def _options(criterion: Criterion, value: Any, name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    choices = read_choices(criterion, value)
    if choices is None:
        errors[name] = f"Choose any of the options of “{criterion.title}”, each once, as a list."
        return None
    return {"choices": choices}


def read_choices(criterion: Criterion, value: Any) -> tuple[int, ...] | None:
    """Options chosen, ascending; None where they are not all options, each once."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    if any(type(option) is not int or option not in criterion.level_values for option in value):
        return None
    return tuple(sorted(value)) if len(set(value)) == len(value) else None


def _number(criterion: Criterion, value: Any, name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    least, most = criterion.settings.get("min"), criterion.settings.get("max")
    if type(value) not in (int, float) or abs(value) > 1e15 or not math.isfinite(value):
        errors[name] = f"“{criterion.title}” is a number."
        return None
    if (least is not None and value < least) or (most is not None and value > most):
        words = " and ".join(
            f"{word} {limit:g}" for word, limit in (("at least", least), ("at most", most)) if limit is not None
        )
        errors[name] = f"“{criterion.title}” is {words}."
        return None
    return {"number": float(value)}


def _text(criterion: Criterion, value: Any, name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    before = len(errors)
    text = read_text(value, name, errors)
    if len(errors) > before:
        return None
    if not text:
        if criterion.required:
            errors[name] = ASK[CriterionKind.TEXT].format(criterion.title)
        return None
    return {"text": text}


READERS = {
    CriterionKind.ORDINAL: _level,
    CriterionKind.BINARY: _yes_or_no,
    CriterionKind.CHOICE: _level,
    CriterionKind.MULTI_CHOICE: _options,
    CriterionKind.NUMBER: _number,
    CriterionKind.TEXT: _text,
}
ASK = {
    CriterionKind.ORDINAL: "Choose a level for “{}”.",
    CriterionKind.BINARY: "Answer “{}” with yes or no.",
    CriterionKind.CHOICE: "Choose an option for “{}”.",
    CriterionKind.MULTI_CHOICE: "Choose at least one option for “{}”.",
    CriterionKind.NUMBER: "Give a number for “{}”.",
    CriterionKind.TEXT: "Write something for “{}”.",
}
