"""Pauses: a rater who gets no new items in a queue for now."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from .queue import Queue


class RaterPause(models.Model):
    """Between `since` and `ended_at` nothing is dealt to the rater in this queue; `words` is what they are told."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="pauses", db_index=False)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    words = models.CharField(max_length=500)
    since = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "rater"], condition=models.Q(ended_at__isnull=True), name="one_pause_per_rater"
            )
        ]

    def __str__(self) -> str:
        return f"pause of {self.rater_id} in {self.queue_id}"
