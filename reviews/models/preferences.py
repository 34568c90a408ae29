"""What Assay remembers of how a person likes to work, in whatever project."""

from django.conf import settings
from django.db import models


class Preferences(models.Model):
    """`keys` holds what differs from the defaults, act by act.

    `coached_at` is when the first steps were seen, `decisions_read_at` when last what leads decided differently was.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="preferences")
    keys = models.JSONField(default=dict, db_default={})
    coached_at = models.DateTimeField(null=True, blank=True)
    decisions_read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
