"""Reads failure points: of a run that is judged alone, and of each candidate that fails a gate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.enums import FailureCause, FailureWho

from .reading import read_text
from .subject import Subject
from .values import Answer, gate_fails


@dataclass(frozen=True)
class Failure:
    """The first decisive step (from 1), who caused it, and the class of the cause."""

    step: int
    who: str
    cause: str
    note: str = ""

    def as_fields(self) -> dict[str, Any]:
        """The columns of `FailurePoint`."""
        return {
            "failure_step": self.step,
            "failure_who": self.who,
            "failure_cause": self.cause,
            "failure_note": self.note,
        }


def read_failure(failure: Any, *, step_count: int, errors: dict[str, str], name: str = "failure") -> Failure | None:
    """The failure point, or None where none is given."""
    if failure is None or failure == {}:
        return None
    if not isinstance(failure, Mapping):
        errors[name] = "A failure point is an object with step, who, cause and note."
        return None
    step, who, cause = failure.get("step"), failure.get("who"), failure.get("cause")
    before = len(errors)
    if type(step) is not int or not 1 <= step <= step_count:
        errors[f"{name}.step"] = f"Name the first decisive step, from 1 to {step_count}."
    if who not in FailureWho.values:
        errors[f"{name}.who"] = "Say who caused it."
    if cause not in FailureCause.values:
        errors[f"{name}.cause"] = "Choose the class of the cause."
    note = read_text(failure.get("note"), f"{name}.note", errors)
    if len(errors) > before:
        return None
    return Failure(step=step, who=who, cause=cause, note=note)  # type: ignore[arg-type]


def read_failures(
    candidates: Any, *, subject: Subject, values: list[Answer], errors: dict[str, str]
) -> dict[int, Failure]:
    """The failure points of candidates, by position; each that fails a gate needs one."""
    found: dict[int, Failure] = {}
    rows = candidates if isinstance(candidates, Sequence) and not isinstance(candidates, str) else []
    for place, candidate in enumerate(subject.order, start=1):
        row = rows[place - 1] if place <= len(rows) else None
        given = row.get("failure") if isinstance(row, Mapping) else None
        name = f"candidates.{place}.failure"
        before = len(errors)
        failure = read_failure(given, step_count=subject.step_count(candidate), errors=errors, name=name)
        if failure:
            found[candidate] = failure
        elif len(errors) == before and gate_fails(values, candidate):
            errors[name] = "A gate failed here: name the first decisive step, who caused it and how."
    return found
