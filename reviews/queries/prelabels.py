"""What graders said of a run, for the raters of the queues that show it before they judge."""

from __future__ import annotations

from typing import Any

from reviews.models import Assignment
from reviews.queries.masking import mask_of
from reviews.queries.scores import scores_of


def prelabel_of(assignment: Assignment) -> list[dict[str, Any]] | None:
    """What this rater is shown, masked as the run is; None where the queue shows nothing.

    Only what was known when the item was dealt counts, so that it stays the same while the rater works.
    """
    run = assignment.item.trajectory
    if not assignment.queue.shows_prelabel or run is None:
        return None
    mask = mask_of(run)
    return [
        {
            "grader": mask.text(score["grader"]),
            "value": mask.value(score["value"]),
            "explanation": mask.text(score["explanation"]),
        }
        for score in scores_of(run, until=assignment.leased_at)
    ]
