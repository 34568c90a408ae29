"""What happens to runs on their way in: what is replaced in their text, and the rules that put them into queues."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from .base import PublicModel
from .project import Project
from .queue import Queue

MAX_PRIORITY = 9


class ArrivalRule(PublicModel):
    """Which new items go into which queue, and how early. `conditions` are of the form that `reviews.arrival` reads."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="arrival_rules")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="arrival_rules")
    name = models.CharField(max_length=80)
    position = models.PositiveIntegerField(help_text="Of several rules for one queue the first that fits counts.")
    priority = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(MAX_PRIORITY)],
        help_text="From 0, in its turn, to 9, before everything else that waits.",
    )
    share = models.FloatField(
        default=1,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="The part of the fitting items that is taken, drawn by their content.",
    )
    conditions = models.JSONField(default=list, blank=True)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=models.Q(active=True), name="one_active_rule_per_name"
            ),
            models.CheckConstraint(condition=models.Q(share__gt=0, share__lte=1), name="share_above_0_to_1"),
            models.CheckConstraint(condition=models.Q(priority__lte=MAX_PRIORITY), name="priority_0_to_9"),
        ]

    def __str__(self) -> str:
        return self.name


class Redaction(models.Model):
    """What a project replaces in the text of runs as they come in. `own` is [{"name": str, "pattern": str}]."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="redaction")
    kinds = models.JSONField(default=list, blank=True)
    own = models.JSONField(default=list, blank=True)
    region = models.CharField(max_length=2, blank=True, help_text="The country whose phone numbers need no prefix.")

    def __str__(self) -> str:
        return f"redaction of {self.project_id}"


class Masking(models.Model):
    """What raters of a project do not read in its runs, which stay as they are: lists of words and of expressions."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="masking")
    words = models.JSONField(default=list, blank=True)
    patterns = models.JSONField(default=list, blank=True)
    own_model = models.BooleanField(default=False, help_text="Hide the name of the model that made the run.")

    def __str__(self) -> str:
        return f"masking of {self.project_id}"
