"""Rationales that speak for the other verdict: heard in the worker, looked at by leads. Nothing else comes of it."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goldsets.enums import GoldVerb
from goldsets.models import RationaleFlag, RationaleLook, RationaleWatch
from goldsets.queries.rationales import flags_for, last_judgment, rationales_of
from goldsets.reviewing.rationales import Heard, listen
from reviews.actions.events import record
from reviews.errors import Conflict, NotFound
from reviews.models import Queue
from reviews.rules import check


def hear(*, queue: Queue) -> Heard:
    """Flag what is to be flagged of a queue now. What was flagged before stays flagged, and is not flagged again."""
    last = last_judgment(queue)
    heard = listen(rationales_of(queue))
    with transaction.atomic():
        RationaleWatch.objects.update_or_create(
            queue=queue,
            defaults={
                "last_judgment": last,
                "fitted": heard.fitted,
                "families": heard.families,
                "words": heard.words,
                "at": timezone.now(),
            },
        )
        # Two workers at once write one flag: the second finds the watch locked, and then the flags.
        there = set(RationaleFlag.objects.filter(judgment__queue=queue).values_list("judgment", flat=True))
        for flag in heard.flags:
            if flag.judgment not in there:
                _flag(queue, heard, flag.judgment, flag.probability)
    return heard


def _flag(queue: Queue, heard: Heard, judgment: int, probability: float) -> None:
    made = RationaleFlag.objects.create(
        judgment_id=judgment, probability=probability, fitted=heard.fitted, families=heard.families
    )
    record(
        project=queue.project_id,
        actor=None,
        verb=GoldVerb.RATIONALE_FLAGGED,
        target=made,
        probability=round(probability, 3),
        fitted=heard.fitted,
    )


@transaction.atomic
def look(*, actor: Any, flag: RationaleFlag, parts: bool) -> RationaleLook:
    """What a lead found: whether the words really speak for the other verdict. It changes neither judgment nor label.

    Raises Forbidden, NotFound for what this lead may not read, or Conflict where somebody has looked.
    """
    queue = flag.judgment.queue
    check(actor, "adjudicate", queue.project)
    if RationaleLook.objects.filter(flag=flag).exists():
        raise Conflict("Somebody has looked at this already.")
    if not flags_for(queue, actor).filter(pk=flag.pk).exists():
        raise NotFound("There is no such flag for you to look at.")
    try:
        with transaction.atomic():
            made = RationaleLook.objects.create(flag=flag, lead=actor, parts=parts)
    except IntegrityError:
        raise Conflict("Somebody has looked at this already.") from None
    record(project=queue.project_id, actor=actor, verb=GoldVerb.RATIONALE_LOOKED, target=flag, parts=parts)
    return made
