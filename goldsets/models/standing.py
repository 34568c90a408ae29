"""Standing: what the answers on gold have made of a rater in a queue, by which test, and every step of it."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from goldsets.enums import MoveState, StandingState, WorkPolicy
from reviews.models import Queue
from reviews.models.base import PublicModel

CHANCE = [MinValueValidator(0.001), MaxValueValidator(0.999)]


class StandingPolicy(models.Model):
    """The test that raters of a queue are put to, and what follows. No row means these defaults.

    `p0` is the error rate that is good enough and `p1` the one that is not; `alpha` bounds how often the test fails
    somebody as good as `p0`, `beta` how often it passes somebody as bad as `p1`. `run_length` is how many gold answers
    somebody as good as `p0` gives on average before the drift chart rings without cause.
    """

    queue = models.OneToOneField(Queue, on_delete=models.PROTECT, related_name="standing_policy")
    p0 = models.FloatField(default=0.10, db_default=0.10, validators=CHANCE)
    p1 = models.FloatField(default=0.30, db_default=0.30, validators=CHANCE)
    alpha = models.FloatField(default=0.05, db_default=0.05, validators=CHANCE)
    beta = models.FloatField(default=0.10, db_default=0.10, validators=CHANCE)
    run_length = models.PositiveIntegerField(default=200, db_default=200)
    automatic = models.BooleanField(default=False, db_default=False)
    work = models.CharField(
        max_length=12, choices=WorkPolicy, default=WorkPolicy.KEEP, db_default=WorkPolicy.KEEP.value
    )

    class Meta:
        verbose_name_plural = "standing policies"
        constraints = [
            models.CheckConstraint(condition=models.Q(p0__gt=0, p1__gt=models.F("p0"), p1__lt=1), name="p0_below_p1"),
        ]

    def __str__(self) -> str:
        return f"standing policy of {self.queue_id}"


class Standing(models.Model):
    """Where a rater stands in a queue. Only answers on gold after `tested_from` count towards the next step."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="standings", db_index=False)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=StandingState, default=StandingState.ONBOARDING)
    since = models.DateTimeField(default=timezone.now)
    tested_from = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "rater"], name="one_standing_per_rater")]

    def __str__(self) -> str:
        return f"{self.rater_id} is {self.state} in {self.queue_id}"


class StandingMove(PublicModel):
    """One step of a standing: proposed by rule or made by a lead, then carried out, declined or overtaken.

    `figures` is what the test said; `good_until` is when work was last good; `work` and `touched` say what was done
    with what the rater did since.
    """

    standing = models.ForeignKey(Standing, on_delete=models.PROTECT, related_name="moves")
    before = models.CharField(max_length=12, choices=StandingState)
    after = models.CharField(max_length=12, choices=StandingState)
    by_rule = models.BooleanField()
    why = models.TextField()
    figures = models.JSONField(default=dict)
    good_until = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=MoveState, default=MoveState.PROPOSED)
    work = models.CharField(max_length=12, choices=WorkPolicy, blank=True)
    touched = models.JSONField(default=dict)
    proposed_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-proposed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["standing"], condition=models.Q(state=MoveState.PROPOSED), name="one_open_move_per_standing"
            )
        ]

    def __str__(self) -> str:
        return f"{self.before} to {self.after}"
