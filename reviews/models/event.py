"""The audit log: who did what to what, written in the same transaction as the deed."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from .base import append_only
from .project import Project


class Event(models.Model):
    """`verb` is a member of `reviews.enums.Verb` or of a verb enum of an app above; no actor means a rule did it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=40)
    target_type = models.CharField(max_length=30)
    target_id = models.BigIntegerField()
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "-id"], name="events_by_project"),
            models.Index(fields=["target_type", "target_id"], name="events_by_target"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.verb} {self.target_type} {self.target_id}"
