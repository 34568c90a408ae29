"""What leads do with an item short of deciding it: pass it on, answer before they see the others, begin to decide."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.enums import ReferralKind, WaitsFor

from .base import PublicModel, append_only
from .queue import Queue, QueueItem


class Referral(PublicModel):
    """An item that a lead passed on with a question or a reason. `before` is why it had waited until then.

    `queue` is where it is judged now, if it was split out.
    """

    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="referrals")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=ReferralKind)
    text = models.TextField()
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    before = models.CharField(max_length=12, choices=WaitsFor, blank=True)
    at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["queue_item"], name="one_open_referral_per_item", condition=models.Q(closed_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return self.text


class ReferralAnswer(models.Model):
    """What one rater said when asked again: in words, or by a correction, whose revision stands here."""

    referral = models.ForeignKey(Referral, on_delete=models.PROTECT, related_name="answers", db_index=False)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True)
    revision = models.PositiveSmallIntegerField(null=True, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["referral", "rater"], name="one_answer_per_rater_asked")]
        triggers = append_only()

    def __str__(self) -> str:
        return self.text or f"revision {self.revision}"


class FirstAnswer(models.Model):
    """What a lead said of an item before they saw what its raters had said."""

    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="first_answers", db_index=False)
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue_item", "lead"], name="one_first_answer_per_lead")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"first answer on {self.queue_item_id}"


class DecisionDraft(models.Model):
    """What a lead has entered so far, as the form says it."""

    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="decision_drafts", db_index=False)
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    given = models.JSONField()
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue_item", "lead"], name="one_draft_per_lead")]

    def __str__(self) -> str:
        return f"draft on {self.queue_item_id}"
