"""What practice, qualification and norming hold beside their queues' ordinary items and judgments."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.enums import NormingState, QualificationOutcome

from .base import append_only
from .label import Label
from .queue import Queue, QueueItem
from .rubric import Criterion


class Reference(models.Model):
    """The label that an item of practice or qualification is held against, and the lines that decide it."""

    queue_item = models.OneToOneField(QueueItem, on_delete=models.PROTECT, related_name="reference")
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+")
    guideline_line = models.PositiveSmallIntegerField(null=True, blank=True)
    policy_line = models.PositiveSmallIntegerField(null=True, blank=True)
    why = models.CharField(max_length=1000, blank=True, help_text="In a lead's words, for whoever sees it otherwise.")

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"reference of {self.queue_item_id}"


class Qualification(models.Model):
    """What a rater's answers came to after `n` items, `right` of them right. A waiver by a lead has no items."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="qualifications", db_index=False)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="qualifications")
    outcome = models.CharField(max_length=10, choices=QualificationOutcome)
    n = models.PositiveSmallIntegerField(default=0)
    right = models.PositiveSmallIntegerField(default=0)
    lower = models.FloatField(default=0)
    upper = models.FloatField(default=1)
    waived_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    why = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "rater", "n"], name="one_result_per_rater_and_count"),
            models.CheckConstraint(
                condition=models.Q(outcome=QualificationOutcome.WAIVED, waived_by__isnull=False, n=0)
                | (~models.Q(outcome=QualificationOutcome.WAIVED) & models.Q(waived_by__isnull=True, n__gt=0)),
                name="a_waiver_is_somebody_s_and_rests_on_no_items",
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.rater_id} in {self.queue_id}: {self.outcome}"

    @property
    def passed(self) -> bool:
        return self.outcome in (QualificationOutcome.PASSED, QualificationOutcome.WAIVED)


class NormingSession(models.Model):
    """Some items that its members judge blind, look at together, and judge again. `change` is what follows from it."""

    queue = models.OneToOneField(Queue, on_delete=models.PROTECT, related_name="session")
    state = models.CharField(max_length=10, choices=NormingState, default=NormingState.VOTING)
    names_shown = models.BooleanField(default=False)
    revealed_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    change = models.TextField(blank=True, help_text="What changes in the guideline.")

    def __str__(self) -> str:
        return f"session {self.queue_id}"


class NormingMember(models.Model):
    session = models.ForeignKey(NormingSession, on_delete=models.PROTECT, related_name="members", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "user"], name="one_member_per_session")]

    def __str__(self) -> str:
        return f"{self.user_id} in session {self.session_id}"


class NormingComment(models.Model):
    """What somebody said about one item, or one criterion of it, for the session alone."""

    session = models.ForeignKey(NormingSession, on_delete=models.PROTECT, related_name="comments")
    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=1000)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return self.text
