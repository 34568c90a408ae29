"""What graders and users said of a run: what came in with it, and what was said of it later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from reviews.models import Outcome, RunScore, Trajectory


def scores_of(run: Trajectory, *, until: datetime | None = None) -> list[dict[str, Any]]:
    """By the graders' names {"grader", "value", "explanation", "evidence"}, the evidence as in `RunScore`.

    Of one who spoke twice the last word, up to a time.

    Raters see none of it unless their queue shows it.
    """
    later = RunScore.objects.filter(trajectory=run).order_by("-pk")
    later = later.filter(created_at__lte=until) if until else later
    data = Outcome.objects.filter(trajectory=run).values_list("data", flat=True).first() or {}
    came = data.get("scores")
    scores = [*later.values("grader", "value", "explanation", "evidence"), *(came if isinstance(came, list) else ())]
    said: dict[str, dict[str, Any]] = {}
    for score in scores:
        if isinstance(score, dict) and isinstance(grader := score.get("grader"), str):
            words = {"value": score.get("value"), "explanation": str(score.get("explanation") or "")}
            words["evidence"] = _cited(score.get("evidence"), run)
            said.setdefault(grader, {"grader": grader, **words})
    return [said[grader] for grader in sorted(said)]


def _cited(evidence: Any, run: Trajectory) -> list[dict[str, Any]]:
    """The evidence as far as it names steps of the run; what came in with a run may have any shape."""
    rows = [row for row in evidence if isinstance(row, dict)] if isinstance(evidence, list) else []
    return [
        {"step": row["step"], "quote": str(row.get("quote") or "")}
        for row in rows
        if type(row.get("step")) is int and 1 <= row["step"] <= run.step_count
    ]
