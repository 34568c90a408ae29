"""Splits: the plan by which a project's families are dealt, and where each went, for good."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.enums import FamilySplitName
from reviews.models import Project
from reviews.models.base import append_only


class SplitPlan(models.Model):
    """The shares, in whole percents, and the seed. Stated once per project, before anything is dealt."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="split_plan")
    train = models.PositiveSmallIntegerField()
    calibration = models.PositiveSmallIntegerField()
    held_out = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=64)
    sealed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    sealed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(train=100 - models.F("calibration") - models.F("held_out")),
                name="shares_make_100",
            )
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.train}/{self.calibration}/{self.held_out}"

    @property
    def shares(self) -> dict[str, int]:
        return {split: getattr(self, split) for split in FamilySplitName.values}


class FamilySplit(models.Model):
    """Where a family went. A task of no family stands for itself, as `task:` and its key.

    `by_plan` is false for a family that was held out at its import: such a one stays so, whatever the plan says.
    """

    plan = models.ForeignKey(SplitPlan, on_delete=models.PROTECT, related_name="families", db_index=False)
    family = models.CharField(max_length=210)
    split = models.CharField(max_length=12, choices=FamilySplitName)
    by_plan = models.BooleanField()
    dealt_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "family"], name="a_family_is_dealt_once")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.family}: {self.split}"
