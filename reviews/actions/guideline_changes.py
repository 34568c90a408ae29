"""The guideline loop: draft a change because of disagreements, and try it on a sample of the items that it touches.

The sample is drawn at random by the change's own id and judged anew in a queue of its own, under the version that
the change became. Judgments and labels made before stay as they are.
"""

import random
from collections import Counter
from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.actions.queueing import add_items, create_queue_like
from reviews.actions.rubrics import write_guideline
from reviews.enums import Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Guideline, GuidelineChange
from reviews.queries.guideline_causes import decided_items
from reviews.rules import check

MOST_TOUCHED = 500


@transaction.atomic
def draft_change(
    *, actor: Any, guideline: Guideline, text: str, touched: list[Any], line: int | None = None, why: str = ""
) -> GuidelineChange:
    """Keep a new text of a guideline with the settled items that made it needful, by the ids they have in their queues.

    Raises Forbidden, or Invalid with a sentence per field.
    """
    check(actor, "write_rubric", guideline.project)
    errors = {}
    if not isinstance(text, str) or not text.strip() or len(text) > 100_000:
        errors["text"] = "Write the guideline, in 1 to 100,000 characters."
    elif text.strip() == guideline.text.strip():
        errors["text"] = "Nothing is changed yet."
    items = decided_items(guideline, touched[:MOST_TOUCHED])
    if not items or len(items) != len(set(map(str, touched))):
        errors["touched"] = f"Name 1 to {MOST_TOUCHED} settled items that were judged by this version."
    if len(why) > 2000:
        errors["why"] = "Say why in at most 2,000 characters."
    if errors:
        raise Invalid(errors)
    # One queue is compared before and after: that of most of them.
    (queue, _count) = Counter(row.queue for row in items).most_common(1)[0]
    change = GuidelineChange.objects.create(
        base=guideline, queue=queue, line=line, why=why, text=text, created_by=actor
    )
    change.touched.set(row for row in items if row.queue_id == queue.pk)
    record(project=guideline.project_id, actor=actor, verb=Verb.CHANGE_DRAFTED, target=change, guideline=str(guideline))
    return change


@transaction.atomic
def try_change(*, actor: Any, change: GuidelineChange, sample: int) -> GuidelineChange:
    """Write the next version, and let a sample of the touched items be judged by it in a new queue.

    Raises Forbidden, Invalid, or Conflict where it was tried, or the guideline has another version since.
    """
    check(actor, "manage_queue", change.base.project)
    change = (
        GuidelineChange.objects.select_for_update(of=("self",))
        .select_related("base__project", "queue__project", "queue__rubric", "queue__requires")
        .get(pk=change.pk)
    )
    if change.trial_id:
        raise Conflict("This change is tried already.")
    base, queue = change.base, change.queue
    if Guideline.objects.filter(project=base.project_id, name=base.name, version__gt=base.version).exists():
        raise Conflict("This guideline has a later version by now. Draft the change on that one.")
    touched = list(change.touched.select_related("item").order_by("pk"))
    if type(sample) is not int or not 1 <= sample <= len(touched):
        raise Invalid({"sample": f"Try it on 1 to {len(touched)} of the items."})
    guideline = write_guideline(actor=actor, project=base.project, name=base.name, text=change.text)
    name = f"{queue.name[:80]}, guideline {guideline.version} tried"
    trial = create_queue_like(actor=actor, queue=queue, name=name, guideline=guideline, least_overlap=2)
    drawn = random.Random(str(change.uid)).sample(touched, sample)  # noqa: S311 - to be repeated, not to be guessed
    add_items(actor=actor, queue=trial, items=[row.item for row in sorted(drawn, key=lambda row: row.pk)])
    GuidelineChange.objects.filter(pk=change.pk).update(guideline=guideline, trial=trial)
    record(project=base.project_id, actor=actor, verb=Verb.CHANGE_TRIED, target=change, items=sample, queue=trial.slug)
    change.refresh_from_db()
    return change
