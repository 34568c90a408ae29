"""Rationales that speak for the other verdict: what was flagged, who looked, and how far each queue was listened to."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.models import Judgment, Queue
from reviews.models.base import PublicModel, append_only


class RationaleFlag(PublicModel):
    """A judgment whose words, by `fitted` others, speak for the other verdict. No rater ever learns of it."""

    judgment = models.OneToOneField(Judgment, on_delete=models.PROTECT, related_name="rationale_flag")
    probability = models.FloatField(help_text="Of the other verdict, by the words alone.")
    fitted = models.PositiveIntegerField()
    families = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-probability", "pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"flag on judgment {self.judgment_id}"


class RationaleLook(models.Model):
    """What a lead found: whether words and verdict really part."""

    flag = models.OneToOneField(RationaleFlag, on_delete=models.PROTECT, related_name="look")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    parts = models.BooleanField(help_text="Whether the rationale really speaks for the other verdict.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"look at {self.flag_id}"


class RationaleWatch(models.Model):
    """How far a queue's judgments were listened to. `words` say why nothing could be learnt from them yet."""

    queue = models.OneToOneField(Queue, on_delete=models.PROTECT, related_name="rationale_watch")
    last_judgment = models.BigIntegerField(default=0)
    fitted = models.PositiveIntegerField(default=0)
    families = models.PositiveIntegerField(default=0)
    words = models.CharField(max_length=400, blank=True)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"watch over {self.queue_id}"
