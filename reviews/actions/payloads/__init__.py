"""Reads what a rater or lead entered against a rubric version: every mistake is named at its field.

A payload is
{"gates": {key: "pass" | "fail" | "unsure"}, "criteria": {key: value}, "notes": {key: text},
 "failure": {"step", "who", "cause", "note"},
 "candidates": [{"gates", "criteria", "notes", "failure"}], "steps": {number: value},
 "corrections": [{"step", "kind": "rewrite" | "continue", "steps": [step], "reason"}],
 "evidence": [{"criterion": key | null, "candidate", "step", "field", "start", "end", "quote"} |
              {"criterion", "policy_line"} | {"criterion", "part", "start", "end", "quote"}],
 "rationale": str, "confidence": 1 | 2 | 3}

A citation may have a "mark" of the rubric, and then needs no criterion. Candidates are named by their place on the
rater's screen, from 1; what is read has their position in the item. How a value is written follows the criterion's
kind: see `values`, and `preferences` for a preference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reviews.errors import Invalid

from .corrections import Corrected, read_corrections
from .evidence import Pointer, ask_for_evidence, read_evidence
from .failure import Failure, read_failure, read_failures
from .reading import read_text, storable
from .steps import read_steps
from .subject import Subject, subject_of, subject_of_assignment
from .values import Answer, gate_fails, read_answers

__all__ = [
    "Answer",
    "Answers",
    "Failure",
    "Pointer",
    "Subject",
    "gate_fails",
    "read_answers",
    "read_failure",
    "read_failures",
    "read_judgment",
    "read_steps",
    "read_text",
    "storable",
    "subject_of",
    "subject_of_assignment",
]

KNOWN = {
    "gates", "criteria", "notes", "failure", "candidates", "steps", "corrections", "evidence", "rationale",
    "confidence",
}  # fmt: skip


@dataclass(frozen=True)
class Answers:
    """A payload that holds. `failures` are by the candidate's position, `steps` by the step's number."""

    values: list[Answer]
    failure: Failure | None
    failures: dict[int, Failure] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    corrections: list[Corrected] = field(default_factory=list)
    evidence: list[Pointer] = field(default_factory=list)
    rationale: str = ""
    confidence: int = 0


def read_judgment(payload: Any, *, subject: Subject) -> Answers:
    """The rater's answers, or Invalid with a sentence for each field at fault."""
    errors: dict[str, str] = {}
    if not isinstance(payload, Mapping):
        raise Invalid({"payload": "A judgment is a JSON object."})
    for name in payload:
        if name not in KNOWN:
            errors[str(name)[:60]] = "A judgment has no such field."
    values = read_answers(payload, subject=subject, unsure_allowed=subject.rubric.unsure_allowed, errors=errors)
    failure = _failure(payload, subject, values, errors)
    evidence = read_evidence(payload.get("evidence"), subject=subject, errors=errors)
    ask_for_evidence(values, evidence, subject, errors)
    answers = Answers(
        values=values,
        failure=failure,
        failures=read_failures(payload.get("candidates"), subject=subject, values=values, errors=errors),
        steps=read_steps(payload.get("steps"), subject=subject, errors=errors),
        corrections=read_corrections(payload.get("corrections"), subject=subject, values=values, errors=errors),
        evidence=evidence,
        rationale=read_text(payload.get("rationale"), "rationale", errors),
        confidence=_read_confidence(payload.get("confidence"), errors),
    )
    if errors:
        raise Invalid(errors)
    return answers


def _failure(
    payload: Mapping[str, Any], subject: Subject, values: list[Answer], errors: dict[str, str]
) -> Failure | None:
    """The failure point of a run that is judged alone."""
    if subject.has_candidates:
        if payload.get("failure"):
            errors["failure"] = "Name the failure point of each candidate that fails, under candidates."
        return None
    failure = read_failure(payload.get("failure"), step_count=subject.step_count(), errors=errors)
    if failure is None and "failure" not in errors and gate_fails(values):
        errors["failure"] = "A gate failed: name the first decisive step, who caused it and how."
    return failure


def _read_confidence(value: Any, errors: dict[str, str]) -> int:
    if type(value) is not int or not 1 <= value <= 3:
        errors["confidence"] = "Say how sure you are: 1 low, 2 medium, 3 high."
        return 0
    return value
