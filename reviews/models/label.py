"""Trusted values. A changed label is a new revision that supersedes the one before; history stays."""

from django.db import models
from django.utils import timezone

from reviews.enums import Basis

from .adjudication import Adjudication
from .base import AnyValue, PublicModel, append_only
from .item import Item
from .judgment import FailurePoint
from .queue import Queue
from .rubric import Criterion, Guideline, Rubric


class Label(PublicModel, FailurePoint):
    """All trusted values of one item in one queue, with every version they were made under.

    `versions` copies environment, tools, data and model of the run; `judgment_count` is on how many judgments it rests.
    `certainty` is how probable the least probable of its answers was by the raters' own errors when the rule made it,
    from 0 to 1; none where that was not weighed.
    """

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="labels", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="labels")
    revision = models.PositiveSmallIntegerField(default=1)
    basis = models.CharField(max_length=12, choices=Basis)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    adjudication = models.OneToOneField(
        Adjudication, on_delete=models.PROTECT, null=True, blank=True, related_name="label"
    )
    rationale = models.TextField(blank=True)
    versions = models.JSONField(default=dict, blank=True)
    judgment_count = models.PositiveSmallIntegerField()
    certainty = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "item", "revision"], name="one_label_per_revision")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"label {self.uid}"


class LabelValue(AnyValue):
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="values", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    basis = models.CharField(max_length=12, choices=Basis)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["label", "criterion", "candidate"], name="one_label_value_per_criterion", nulls_distinct=False
            )
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.value}"


class LabelStep(models.Model):
    """The trusted word for one step."""

    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="steps", db_index=False)
    step = models.PositiveIntegerField()
    value = models.SmallIntegerField()
    basis = models.CharField(max_length=12, choices=Basis)

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["label", "step"], name="one_label_value_per_step")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"step {self.step}: {self.value}"
