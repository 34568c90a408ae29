"""What graders said of a run, shown to a rater after their own answer, and what they found of it. Never changed."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from .assignment import Assignment
from .base import PublicModel, append_only
from .judgment import Judgment


class VerdictsShown(PublicModel):
    """What of graders a rater was shown after `judgment`, which from then on stays as it is.

    `verdicts` is a list of {"grader", "value", "explanation", "evidence": [{"step": int, "quote": str}]}.
    """

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="verdicts_shown")
    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="+")
    verdicts = models.JSONField()
    shown_at = models.DateTimeField(default=timezone.now)

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"verdicts shown after {self.judgment_id}"


class VerdictAudit(PublicModel):
    """A rater's word on one grader's verdict: whether it is right, and which of the evidence it cites is valid."""

    shown = models.ForeignKey(VerdictsShown, on_delete=models.PROTECT, related_name="audits", db_index=False)
    grader = models.CharField(max_length=200)
    revision = models.PositiveSmallIntegerField(default=1)
    right = models.BooleanField()
    evidence = ArrayField(models.BooleanField(), help_text="Whether each piece is valid, in the order of the verdict.")
    note = models.TextField(blank=True, default="", db_default="")
    submitted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["grader", "revision"]
        constraints = [
            models.UniqueConstraint(fields=["shown", "grader", "revision"], name="one_audit_per_verdict_and_revision")
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.grader}: {'right' if self.right else 'wrong'}"
