"""Reviewers as a compile would leave them, without compiling."""

from typing import Any

from django.utils import timezone

from goldsets.enums import ReviewerState
from goldsets.models import Reviewer
from reviews.models import Criterion, Queue
from tests import factories as make

# Passes what says "refund", fails what says "stranger", and leaves the rest to people.
ARTEFACT = {
    "kind": "rules",
    "rules": [
        {"name": "a stranger's account", "contains": "stranger", "verdict": 0},
        {"name": "a refund", "contains": "refund", "verdict": 1},
    ],
    "thresholds": {"pass": 0.9, "fail": 0.9},
}


def reviewer(queue: Queue, state: str = ReviewerState.PROVEN, **fields: Any) -> Reviewer:
    """A reviewer on the queue's first criterion that an engineer compiled, and a lead signed where it is signed."""
    criterion = Criterion.objects.filter(rubric=queue.rubric).order_by("position").first()
    made_by = make.person("Erin")
    make.member(queue.project, made_by, "engineer")
    signed = {"signed_by": make.lead_of(queue.project), "signed_at": timezone.now()}
    return Reviewer.objects.create(
        **{
            "project": queue.project,
            "queue": queue,
            "criterion": criterion,
            "rung": "rules",
            "number": Reviewer.objects.filter(queue=queue).count() + 1,
            "state": state,
            "rubric": queue.rubric,
            "guideline": queue.guideline,
            "seed": "seed",
            "labels_sha256": "0" * 64,
            "labels_total": 0,
            "artefact": ARTEFACT,
            "artefact_sha256": "1" * 64,
            "assurance": {"holds": True, "missing": [], "proofs": [], "demands": {}},
            "created_by": made_by,
            **(signed if state == ReviewerState.SIGNED else {}),
            **fields,
        }
    )
