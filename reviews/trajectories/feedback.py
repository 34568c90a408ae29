"""Feedback on runs in a file of its own, as LangSmith exports it: what somebody said of a run that came in by itself.

A row is no run but a score: `{"run_id", "key", "score" or "value", "comment"}`. Feedback on a part of a trace says
which trace that is; it counts for the run that the trace became.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reviews.trajectories import jsontext
from reviews.trajectories.building import text_of

MOST_CHARACTERS = 10_000


class Said(msgspec.Struct, frozen=True):
    """One score: `run` is the id the run's source gave it, and `grader` who or what it is from.

    `evidence` is what it cites, each {"step": int, "quote": str}.
    """

    run: str
    grader: str
    value: Any
    explanation: str = ""
    evidence: tuple[dict[str, Any], ...] = ()


def feedback_in(value: Any) -> list[Said]:
    """The scores a row holds; none where it is no feedback."""
    if not isinstance(value, dict):
        return []
    run, grader = text_of(value.get("trace_id")) or text_of(value.get("run_id")), text_of(value.get("key"))
    said = value.get("score") if value.get("score") is not None else value.get("value")
    if not run or not grader or "run_id" not in value or not isinstance(said, str | int | float):
        return []
    comment = value.get("comment")
    explanation = jsontext.clean(comment)[:MOST_CHARACTERS] if isinstance(comment, str) else ""
    said = jsontext.clean(said)[:MOST_CHARACTERS] if isinstance(said, str) else said
    return [Said(jsontext.clean(run), jsontext.clean(grader), said, explanation)]
