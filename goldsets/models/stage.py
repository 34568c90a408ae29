"""Stages: a signed reviewer at work in a queue, first in shadow, then deciding, and every verdict it gave there."""

import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from goldsets.enums import STAGE_LIVE, STAGE_MOVES, StageOutcome, StagePhase, StageState, StageWork
from reviews.models import Guideline, Label, Queue, QueueItem, Rubric
from reviews.models.base import PublicModel, append_only, never_deleted, states_follow

from .reviewer import Reviewer


def new_secret() -> bytes:
    """What the audit draw is keyed with. Nobody is ever told it."""
    return secrets.token_bytes(32)


class Stage(PublicModel):
    """A reviewer in a queue. Nothing here says how sure it must be: that is its own, certified with it.

    `takes` has the verdicts that live items have shown to hold (1 pass, 0 fail); none before it decides. `grounds` is
    what items were when it was compiled, {facet: [values]}; `baseline` how its input looked then, {measure: [mean,
    standard deviation]}, once the worker has counted it. `good_until` is when it was last known to be good, where a
    test ended it. `budget` is how many US dollars its judge may take in this queue; 0 where it asks nobody.
    """

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="stages")
    reviewer = models.ForeignKey(Reviewer, on_delete=models.PROTECT, related_name="stages")
    state = models.CharField(max_length=12, choices=StageState, default=StageState.SHADOW)
    audit_share = models.FloatField(
        default=0.1,
        validators=[MinValueValidator(0.01), MaxValueValidator(1)],
        help_text="The share of what it could decide that goes to people all the same, drawn so that nobody can tell.",
    )
    work = models.CharField(max_length=10, choices=StageWork, default=StageWork.KEEP)
    budget = models.DecimalField(max_digits=12, decimal_places=6, default=0, db_default=0)
    takes = ArrayField(models.SmallIntegerField(), default=list, blank=True)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    grounds = models.JSONField(default=dict)
    baseline = models.JSONField(null=True, blank=True)
    secret = models.BinaryField(default=new_secret, editable=False)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(default=timezone.now)
    decides_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decides_from = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    why = models.TextField(blank=True)
    good_until = models.DateTimeField(null=True, blank=True)
    given_back = models.PositiveIntegerField(default=0, help_text="How many items went back to people when it ended.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["queue"], condition=models.Q(state__in=STAGE_LIVE), name="one_live_stage_per_queue"
            ),
            models.CheckConstraint(
                condition=models.Q(audit_share__gte=0.01, audit_share__lte=1), name="something_is_always_audited"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=STAGE_LIVE) | (models.Q(ended_at__isnull=False) & ~models.Q(why="")),
                name="a_stage_ends_for_a_reason",
            ),
        ]
        triggers = [
            never_deleted(),
            states_follow(STAGE_MOVES, "stage_follows_its_order"),
        ]

    def __str__(self) -> str:
        return f"stage of {self.reviewer} in {self.queue}"

    @property
    def is_live(self) -> bool:
        return self.state in STAGE_LIVE


class StageVerdict(models.Model):
    """What a stage said of one item in one phase, and what followed from it. `verdict` is 1 pass, 0 fail or none.

    `sure` says that the reviewer would stand alone: its confidence is what was certified for such verdicts. `known` and
    `measures` are how the item looked to it, `evidence` the steps in which its reasons stand.
    """

    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="verdicts", db_index=False)
    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="stage_verdicts")
    phase = models.CharField(max_length=10, choices=StagePhase)
    verdict = models.SmallIntegerField(null=True, blank=True)
    confidence = models.FloatField()
    sure = models.BooleanField()
    outcome = models.CharField(max_length=10, choices=StageOutcome)
    label = models.OneToOneField(Label, on_delete=models.PROTECT, null=True, blank=True, related_name="stage_verdict")
    evidence = models.JSONField(default=list, blank=True)
    known = models.FloatField(null=True, blank=True)
    measures = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["stage", "queue_item", "phase"], name="one_verdict_per_item_and_phase"),
            models.CheckConstraint(
                condition=models.Q(outcome=StageOutcome.TAKEN, label__isnull=False, sure=True, verdict__isnull=False)
                | (~models.Q(outcome=StageOutcome.TAKEN) & models.Q(label__isnull=True)),
                name="what_is_taken_has_a_label",
            ),
            models.CheckConstraint(
                condition=models.Q(phase=StagePhase.DECIDING) ^ models.Q(outcome=StageOutcome.WATCHED),
                name="only_while_it_decides_does_anything_follow",
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"verdict on {self.queue_item_id} by stage {self.stage_id}"
