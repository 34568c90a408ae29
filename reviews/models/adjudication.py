"""A lead's decisions on items whose raters differ."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.enums import ReasonCode

from .base import AnyValue, PublicModel, append_only
from .judgment import FailurePoint
from .queue import QueueItem
from .rubric import Criterion


class Adjudication(PublicModel, FailurePoint):
    """One decision on one item; deciding again is a new one. `note` becomes the label's rationale.

    One that `undoes` another puts back what stood before it.
    """

    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="adjudications")
    number = models.PositiveSmallIntegerField(default=1)
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="adjudications")
    note = models.TextField(blank=True)
    undoes = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="undone_by")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["queue_item", "number"], name="one_adjudication_per_number")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"adjudication {self.uid}"


class AdjudicatedValue(AnyValue):
    """The value a lead decided for one criterion, and why the raters differed on it."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="values")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    reason_code = models.CharField(max_length=20, choices=ReasonCode, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["adjudication", "criterion", "candidate"],
                name="one_decision_per_criterion",
                nulls_distinct=False,
            )
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.value}"


class AdjudicatedFailure(FailurePoint):
    """The first decisive step of a candidate that fails a gate, as a lead decided it."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="failures", db_index=False)
    candidate = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["adjudication", "candidate"], name="one_decided_failure_per_candidate")
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"failure of candidate {self.candidate} in {self.adjudication_id}"


class AdjudicatedStep(models.Model):
    """The word a lead decided for one step."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="steps", db_index=False)
    step = models.PositiveIntegerField()
    value = models.SmallIntegerField()

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["adjudication", "step"], name="one_decision_per_step")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"step {self.step}: {self.value}"
