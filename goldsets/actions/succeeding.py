"""A queue by another version of its rubric or guideline measures its raters as the one before did."""

from typing import Any

from django.db import transaction

from goldsets.actions.gold import set_feedback, set_gold_rate
from goldsets.actions.standing import set_standing_policy
from goldsets.models import GoldPolicy, StandingPolicy
from reviews.actions.versions import succeed_queue
from reviews.models import Guideline, Queue, Rubric

OF_THE_TEST = ("p0", "p1", "alpha", "beta", "run_length", "automatic", "work")


@transaction.atomic
def succeed_with_gold(
    *, actor: Any, queue: Queue, rubric: Rubric | None = None, guideline: Guideline | None = None
) -> Queue:
    """A new queue for what this one left unfinished, with its gold rate, what raters are told, and its test.

    Gold items stay behind: they are settled under the version that asked for them. Raises what `succeed_queue` raises.
    """
    made = succeed_queue(actor=actor, queue=queue, rubric=rubric, guideline=guideline)
    gold = GoldPolicy.objects.filter(queue=queue).first()
    if gold:
        set_gold_rate(actor=actor, queue=made, rate=gold.rate)
        set_feedback(actor=actor, queue=made, items=gold.feedback_items, days=gold.feedback_days)
    test = StandingPolicy.objects.filter(queue=queue).first()
    if test:
        set_standing_policy(actor=actor, queue=made, **{name: getattr(test, name) for name in OF_THE_TEST})
    return made
