"""Reads what a rater says the agent should have done: a step rewritten, or another way on from a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.enums import CorrectionKind, CorrectionRule
from reviews.queries.masking import mask_of
from reviews.queries.payloads import agent_steps
from reviews.trajectories.corrected import Unfit, read_given, stored
from reviews.trajectories.tools import tools_of

from .reading import read_text
from .subject import Subject
from .values import Answer, gate_fails

MOST_CORRECTIONS = 20
MOST_STEPS = 50


@dataclass(frozen=True)
class Corrected:
    """The columns of `Correction`."""

    step: int
    kind: str
    steps: list[Any]
    reason: str


def read_corrections(given: Any, *, subject: Subject, values: list[Answer], errors: dict[str, str]) -> list[Corrected]:
    """The corrections that hold, in the order of their steps. At most two queries, none where there are none."""
    rule = subject.rubric.correction
    rows = [] if given is None else given
    if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) > MOST_CORRECTIONS:
        errors["corrections"] = f"Corrections are a list of at most {MOST_CORRECTIONS}."
        return []
    if rows and (rule == CorrectionRule.NEVER or subject.has_candidates):
        errors["corrections"] = "This rubric asks for no corrections."
        return []
    if not rows:
        if rule == CorrectionRule.ALWAYS or (rule == CorrectionRule.ON_FAIL and gate_fails(values)):
            errors["corrections"] = "Write what the agent should have done, at the step where it went wrong."
        return []
    correctable = set(agent_steps(subject.runs[None]))
    tools = tools_of(subject.runs[None].tools)
    mask = mask_of(subject.runs[None])
    rows = [_by_own_names(row, {mask.hidden(tool.name): tool.name for tool in tools}) if mask else row for row in rows]
    found = [_read(f"corrections.{number}", row, correctable, tools, errors) for number, row in enumerate(rows)]
    held = sorted((each for each in found if each), key=lambda each: each.step)
    if len({each.step for each in held}) < len(held):
        errors["corrections"] = "A step is corrected once."
    if any(each.kind == CorrectionKind.CONTINUE for each in held[:-1]):
        errors["corrections"] = "Behind another way on from a step there is nothing of the run left to correct."
    return held


def _by_own_names(row: Any, own: Mapping[str, str]) -> Any:
    """The correction with the names that tools have, where the rater reads them with a mask."""
    if not isinstance(row, Mapping) or not isinstance(row.get("steps"), list):
        return row
    steps = [
        {**step, "tool": own[step["tool"]]} if isinstance(step, Mapping) and str(step.get("tool")) in own else step
        for step in row["steps"]
    ]
    return {**row, "steps": steps}


def _read(name: str, row: Any, correctable: set[int], tools: Any, errors: dict[str, str]) -> Corrected | None:
    before = len(errors)
    if not isinstance(row, Mapping):
        errors[name] = "A correction is an object with step, kind, steps and reason."
        return None
    step, kind = row.get("step"), row.get("kind")
    if type(step) is not int or step not in correctable:
        errors[f"{name}.step"] = "Name a step of the agent."
    if kind not in CorrectionKind.values:
        errors[f"{name}.kind"] = f"The kind is one of {', '.join(CorrectionKind.values)}."
    steps = _steps(name, row.get("steps"), kind, tools, errors)
    reason = read_text(row.get("reason"), f"{name}.reason", errors)
    if not reason and f"{name}.reason" not in errors:
        errors[f"{name}.reason"] = "Say why the agent should have done this instead."
    if len(errors) > before:
        return None
    return Corrected(step=step, kind=str(kind), steps=steps, reason=reason)  # type: ignore[arg-type]


def _steps(name: str, given: Any, kind: Any, tools: Any, errors: dict[str, str]) -> list[Any]:
    most = 1 if kind == CorrectionKind.REWRITE else MOST_STEPS
    if not isinstance(given, list) or not 1 <= len(given) <= most:
        errors[f"{name}.steps"] = f"Write {'one step' if most == 1 else f'1 to {most} steps'} in its place."
        return []
    read = []
    for number, step in enumerate(given):
        try:
            read.append(stored(read_given(step, tools)))
        except Unfit as unfit:
            at = f"{name}.steps.{number}"
            errors[f"{at}.{unfit.part}" if unfit.part else at] = str(unfit)
    return read
