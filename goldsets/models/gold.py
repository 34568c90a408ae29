"""Gold: settled items shown blind among the plain ones, what each expects, how often, and to whom each was shown."""

from decimal import Decimal

import pgtrigger
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from goldsets.enums import ChallengeState, GoldState, KeySource, KeyState
from reviews.models import Assignment, Guideline, Label, Queue, QueueItem
from reviews.models.base import PublicModel


class GoldPolicy(models.Model):
    """How much gold a queue mixes in, and when raters learn how they did on it. Without a row: none, never.

    An answer is told once its rater has submitted `feedback_items` further judgments here, or after `feedback_days`.
    """

    queue = models.OneToOneField(Queue, on_delete=models.PROTECT, related_name="gold_policy")
    rate = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        default=Decimal("0.1"),
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal("0.5"))],
        help_text="The share of what a rater is dealt that is gold, from 0 to 0.5.",
    )

    feedback_items = models.PositiveIntegerField(null=True, blank=True)
    feedback_days = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "gold policies"

    def __str__(self) -> str:
        return f"gold rate {self.rate} in {self.queue}"


class GoldItem(models.Model):
    """A settled item of a queue by which raters are measured. `key` is the version that holds of what it expects."""

    queue_item = models.OneToOneField(QueueItem, on_delete=models.PROTECT, related_name="gold")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="gold_items")
    key = models.OneToOneField("GoldKey", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    state = models.CharField(max_length=10, choices=GoldState, default=GoldState.PROPOSED)
    times_used = models.PositiveIntegerField(default=0, db_default=0)
    retired_because = models.CharField(max_length=300, blank=True, default="", db_default="")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(
                fields=["queue", "times_used", "id"],
                name="gold_least_used_first",
                condition=models.Q(state=GoldState.ACTIVE),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state=GoldState.ACTIVE) | models.Q(key__isnull=False), name="gold_in_use_has_a_key"
            )
        ]

    def __str__(self) -> str:
        return f"gold {self.queue_item}"


class GoldKey(PublicModel):
    """One version of what a gold item expects: proposed by one person, approved or declined by another, then final.

    `expected` is {criterion key: {"value", "also": [values as good], "tolerance"}}, see `goldsets.stats.matching`.
    `settles` is, for an item that has no label yet, the decision that approval makes of it, as `decide` reads it.
    """

    gold_item = models.ForeignKey(GoldItem, on_delete=models.PROTECT, related_name="keys", db_index=False)
    number = models.PositiveSmallIntegerField()
    expected = models.JSONField()
    label = models.ForeignKey(Label, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=12, choices=KeySource)
    settles = models.JSONField(null=True, blank=True)
    note = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=KeyState, default=KeyState.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["gold_item", "number"], name="one_key_per_number"),
            models.UniqueConstraint(
                fields=["gold_item"], condition=models.Q(state=KeyState.PROPOSED), name="one_open_proposal_per_gold"
            ),
            models.CheckConstraint(
                condition=models.Q(decided_by__isnull=True) | ~models.Q(decided_by=models.F("proposed_by")),
                name="nobody_decides_their_own_proposal",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="expected_is_final", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="decided_is_final",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state__in=[KeyState.APPROVED, KeyState.DECLINED]),
            ),
        ]

    def __str__(self) -> str:
        return f"key {self.number} of {self.gold_item_id}"


class GoldPlacement(models.Model):
    """The one row that knows that an assignment is gold. It is held against the key of its gold item that holds now."""

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="gold_placement")
    gold_item = models.ForeignKey(GoldItem, on_delete=models.PROTECT, related_name="placements")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gold_item", "rater"], name="each_gold_once_per_rater"),
        ]

    def __str__(self) -> str:
        return f"placement of {self.gold_item}"


class GoldSchedule(models.Model):
    """After how many plain items a rater's next gold is due. `used_up_at` says since when none is left for them."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="gold_schedules")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    plain_left = models.PositiveIntegerField()
    used_up_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "rater"], name="one_schedule_per_rater")]

    def __str__(self) -> str:
        return f"{self.plain_left} plain items before gold"


class GoldChallenge(PublicModel):
    """A rater's objection, once they were told of it, to what gold expected of them; a lead answers it."""

    placement = models.ForeignKey(GoldPlacement, on_delete=models.PROTECT, related_name="challenges", db_index=False)
    key = models.ForeignKey(GoldKey, on_delete=models.PROTECT, related_name="challenges")
    reason = models.TextField()
    state = models.CharField(max_length=10, choices=ChallengeState, default=ChallengeState.OPEN)
    answer = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["placement", "key"], name="one_challenge_per_answer_and_key")]

    def __str__(self) -> str:
        return f"challenge {self.uid}"
