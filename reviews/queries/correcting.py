"""Corrections as they are read: beside what the agent did, with the differences marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from msgspec.structs import replace

from reviews.enums import CorrectionKind
from reviews.models import Step as StoredStep
from reviews.models import Trajectory
from reviews.queries.masking import mask_of
from reviews.trajectories.corrected import Unfit, read_given
from reviews.trajectories.diffs import pair_html
from reviews.trajectories.render import pretty_json
from reviews.trajectories.schema import Step, decode_step
from reviews.trajectories.tools import Tool, tools_of


@dataclass(frozen=True)
class Written:
    """One step that was written: as text, or, beside the agent's own, as two texts with their differences marked."""

    label: str
    text: str
    old: SafeString = field(default_factory=SafeString)
    new: SafeString = field(default_factory=SafeString)


@dataclass(frozen=True)
class CorrectionCard:
    """One correction; `given` is it in the form in which it is sent."""

    step: int | str
    words: str
    reason: str
    parts: list[Written]
    given: dict[str, Any]
    errors: tuple[str, ...] = ()


def correction_cards(
    trajectory: Trajectory, payload: Mapping[str, Any], errors: Mapping[str, str] | None = None
) -> list[CorrectionCard]:
    """The corrections of a draft or judgment, of whatever shape. One query, none where there are none."""
    rows = payload.get("corrections")
    rows = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    named = {row["step"] for row in rows if type(row.get("step")) is int}
    stored = StoredStep.objects.filter(trajectory=trajectory, position__in=named) if named else ()
    steps = {step.position: _as_seen(trajectory, decode_step(step.body)) for step in stored}
    return [_card(number, dict(row), steps, errors or {}) for number, row in enumerate(rows)]


def _card(number: int, row: dict[str, Any], steps: Mapping[Any, Step], errors: Mapping[str, str]) -> CorrectionCard:
    kind, step = row.get("kind"), row.get("step")
    given = row.get("steps")
    parts = [_written(part) for part in given] if isinstance(given, list) else []
    original = steps.get(step) if type(step) is int else None
    if original and parts and isinstance(given, list):
        parts[0] = _beside(original, parts[0], given[0])
    at = f"corrections.{number}"
    return CorrectionCard(
        step=step if isinstance(step, int | str) else "?",
        words="another way on" if kind == CorrectionKind.CONTINUE else "rewritten",
        reason=str(row.get("reason") or ""),
        parts=parts,
        given=row,
        errors=tuple(words for name, words in errors.items() if name == at or name.startswith(f"{at}.")),
    )


def _written(given: Any) -> Written:
    try:
        step = read_given(given, [])
    except Unfit:
        return Written("A step", pretty_json(given))
    return Written(_label(step), _text(step))


def _label(step: Step) -> str:
    return step.call.name if step.call else "Agent says"


def _text(step: Step) -> str:
    if not step.call:
        return step.text
    arguments = pretty_json(step.call.arguments) if step.call.arguments is not None else step.call.arguments_text
    return f"{arguments}\n→ {step.result.text}" if step.result and step.result.text else arguments


def _beside(original: Step, part: Written, given: Any) -> Written:
    """The first step in place of the agent's own, marked where both are messages, or calls of one tool."""
    own = Step(role=original.role, text=original.text, call=original.call)
    if _label(own) != part.label or (isinstance(given, Mapping) and given.get("result")):
        return part
    both = pair_html(_text(own), part.text)
    return Written(part.label, part.text, mark_safe(both[0]), mark_safe(both[1])) if both else part  # noqa: S308


# --- The form ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Entered:
    """One step as it stands in the form; `what` is a tool's name, or empty for a message."""

    what: str = ""
    text: str = ""
    arguments: str = ""
    result: str = ""
    errors: tuple[str, ...] = ()


def tools_for(trajectory: Trajectory) -> list[Tool]:
    return tools_of(mask_of(trajectory).value(trajectory.tools))


def _as_seen(trajectory: Trajectory, step: Step) -> Step:
    """What the agent said or called, as raters read it."""
    mask = mask_of(trajectory)
    if not mask or not step.call:
        return replace(step, text=mask.text(step.text))
    call = step.call
    called = replace(
        call,
        name=mask.text(call.name),
        arguments=mask.value(call.arguments),
        arguments_text=mask.text(call.arguments_text),
    )
    return replace(step, text=mask.text(step.text), call=called)


def as_it_was(trajectory: Trajectory, number: int) -> Entered | None:
    """The agent's own step to begin with; None where there is no such step of the agent."""
    row = StoredStep.objects.filter(trajectory=trajectory, position=number).first()
    step = _as_seen(trajectory, decode_step(row.body)) if row else None
    if step is None or step.role not in ("agent", "tool"):
        return None
    if not step.call:
        return Entered(text=step.text)
    return Entered(what=step.call.name, arguments=_text(Step(role="tool", call=step.call)))
