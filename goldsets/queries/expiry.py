"""Why a reviewer no longer holds: what it was compiled from has changed.

1. Its rubric or guideline has a newer version. Two kinds of versions change no decision: a rubric that asks the same
   and has raters check graders besides, and a guideline that is only being tried.
2. The examples of its judge may not be shown any more: their family is held out, or something in them is masked.
3. A stage of it expired: an item came with another environment, tools, grader or model, or its queue is judged by
   another rubric or guideline.
"""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from goldsets.enums import ReviewerState, StageState
from goldsets.models import Reviewer, Stage
from goldsets.queries.judges import cannot_show, setup_of
from reviews.models import Guideline, Queue, Rubric
from reviews.queries.rubrics import rubric_as_written

# Those that can expire.
HOLDING = [ReviewerState.PROVEN, ReviewerState.SIGNED]


def holding_reviewers() -> QuerySet[Reviewer]:
    """Every reviewer that is proven or signed, without what judges."""
    rows = Reviewer.objects.filter(state__in=HOLDING).order_by("pk")
    return rows.select_related("project", "queue", "criterion", "rubric", "guideline", "judge__grader__project").defer(
        "artefact", "families", "assurance", "origins"
    )


def why_expired(reviewer: Reviewer) -> str:
    """The reason in a sentence or two, or "" while it holds."""
    return _newer_rubric(reviewer) or _newer_guideline(reviewer) or _judge(reviewer) or _stage(reviewer)


def _newer_rubric(reviewer: Reviewer) -> str:
    rubric = reviewer.rubric
    newer = Rubric.objects.filter(project=rubric.project_id, name=rubric.name, version__gt=rubric.version)
    for version in newer.order_by("version"):
        if _asked(version) != _asked(rubric):
            return f"The rubric has another version by now: {version}, where it was compiled under {rubric}."
    return ""


def _asked(rubric: Rubric) -> dict[str, Any]:
    return rubric_as_written(rubric) | {"audits": False}


def _newer_guideline(reviewer: Reviewer) -> str:
    guideline = reviewer.guideline
    newer = Guideline.objects.filter(project=guideline.project_id, name=guideline.name, version__gt=guideline.version)
    in_use = Queue.objects.filter(guideline=OuterRef("pk"), tries__isnull=True)
    found = newer.filter(Q(came_of__isnull=True) | Exists(in_use)).order_by("version").first()
    return (
        f"The guideline has another version by now: {found}, where it was compiled under {guideline}." if found else ""
    )


def _judge(reviewer: Reviewer) -> str:
    return cannot_show(setup_of(reviewer.judge)) if reviewer.judge else ""


def _stage(reviewer: Reviewer) -> str:
    stage = Stage.objects.filter(reviewer=reviewer, state=StageState.EXPIRED).select_related("queue").first()
    return f"Its stage in “{stage.queue.name}” expired. {stage.why}" if stage else ""
