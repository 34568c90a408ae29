"""Experts check a grader's reasons: a queue of what it scored, judged blind; then each verdict is shown and checked."""

import random
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from goldsets.enums import GoldVerb
from goldsets.models import GraderAudit, GraderScore, GraderVersion
from goldsets.queries.audits import PASSED, WHICH, audit_name, auditable
from reviews.actions.events import record
from reviews.actions.queueing import add_items, create_queue
from reviews.actions.rubrics import write_rubric
from reviews.actions.scoring import REFUSED, store_scores
from reviews.enums import ItemKind
from reviews.errors import Conflict, Invalid
from reviews.models import Guideline, Queue, Rubric
from reviews.queries.rubrics import rubric_as_written
from reviews.rules import check
from reviews.trajectories.feedback import MOST_CHARACTERS, Said

MOST_AUDITED = 500


@transaction.atomic
def open_audit(
    *,
    actor: Any,
    version: GraderVersion,
    name: str,
    rubric: Rubric,
    guideline: Guideline,
    which: str = PASSED,
    most: int = 50,
    overlap: int = 1,
) -> Queue:
    """A queue in which raters judge some of what the version scored, and then say of its verdicts and of every place
    they cite whether these hold.

    Which is drawn by the names of version and queue, those with evidence first. A rubric that does not ask raters to
    check graders gets a next version that does. Raises Forbidden, Invalid, or Conflict where there is nothing to check.
    """
    project = version.grader.project
    check(actor, "manage_queue", project)
    errors = {} if which in WHICH else {"which": f"Choose one of {', '.join(WHICH)}."}
    if type(most) is not int or not 1 <= most <= MOST_AUDITED:
        errors["most"] = f"Have 1 to {MOST_AUDITED} of them checked."
    if rubric.project_id != project.pk or rubric.item_kind != ItemKind.TRAJECTORY:
        errors["rubric"] = "Choose a rubric of this project that judges single runs."
    if errors:
        raise Invalid(errors)
    scores = _drawn(version, name, which, most)
    if not scores:
        raise Conflict("No score of this version is of that kind, so there is nothing to check.")
    if not rubric.audits:
        rubric = write_rubric(actor=actor, project=project, **rubric_as_written(rubric) | {"audits": True})
    queue = create_queue(actor=actor, project=project, name=name, rubric=rubric, guideline=guideline, overlap=overlap)
    _say(actor, version, scores)
    add_items(actor=actor, queue=queue, items=[score.item for score in scores])
    GraderAudit.objects.create(version=version, queue=queue, opened_by=actor)
    record(
        project=project,
        actor=actor,
        verb=GoldVerb.GRADER_AUDITED,
        target=version,
        name=version.grader.name,
        number=version.number,
        queue=queue.name,
        items=len(scores),
    )
    return queue


def _drawn(version: GraderVersion, name: str, which: str, most: int) -> list[GraderScore]:
    """Some of the scores at random, and those with evidence before those without."""
    rows = list(auditable(version, which).values_list("pk", "cites"))
    random.Random(f"{version.uid}/{name}").shuffle(rows)  # noqa: S311  nothing secret is drawn
    rows.sort(key=lambda row: not row[1])
    chosen = [pk for pk, _ in rows[:most]]
    return list(GraderScore.objects.filter(pk__in=chosen).select_related("item__trajectory").order_by("pk"))


def _say(actor: Any, version: GraderVersion, scores: Sequence[GraderScore]) -> None:
    """What the version said of the runs, where raters can be shown it. Said before, it is there already."""
    said = [
        (
            score.item,
            Said(
                run="",
                grader=audit_name(version),
                value=_words(version, score.value),
                explanation=score.explanation[:MOST_CHARACTERS],
                evidence=tuple({"step": cited["step"], "quote": cited["quote"]} for cited in score.evidence),
            ),
        )
        for score in scores
    ]
    receipts = store_scores(actor=actor, project=version.grader.project, scores=said)
    if refused := next((receipt.reason for receipt in receipts if receipt.status == REFUSED), ""):
        raise Conflict(f"What it said of a run cannot be shown: {refused}")


def _words(version: GraderVersion, value: float) -> str:
    """ "pass", or "0.7 on a scale from 0 to 1"."""
    verdict = "" if version.passes_from is None else "pass" if value >= version.passes_from else "fail"
    if value in (version.lowest, version.highest) and verdict:
        return verdict
    number = f"{value:g} on a scale from {version.lowest:g} to {version.highest:g}"
    return f"{verdict}, {number}" if verdict else number
