"""A change to a guideline that a lead tries on items judged before, to see whether raters then agree more."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from .base import PublicModel
from .queue import Queue, QueueItem
from .rubric import Guideline


class GuidelineChange(PublicModel):
    """The draft of a guideline's next version because of some disagreements, and the trial of it.

    `line` is the line of `base` that they are about. Once it is tried, `guideline` is the version that came of it and
    `trial` the queue in which a sample of `touched` is judged again.
    """

    base = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="changes")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="guideline_changes")
    line = models.PositiveIntegerField(null=True, blank=True)
    why = models.TextField(blank=True)
    text = models.TextField()
    touched = models.ManyToManyField(QueueItem, related_name="+")
    guideline = models.OneToOneField(Guideline, on_delete=models.PROTECT, null=True, blank=True, related_name="came_of")
    trial = models.OneToOneField(Queue, on_delete=models.PROTECT, null=True, blank=True, related_name="tries")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(guideline__isnull=True, trial__isnull=True)
                | models.Q(guideline__isnull=False, trial__isnull=False),
                name="a_trial_has_its_guideline",
            )
        ]

    def __str__(self) -> str:
        return f"change of {self.base}"
