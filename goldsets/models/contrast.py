"""Contrasts: a success and a failure of one task that go the same way up to one decision."""

from django.db import models
from django.utils import timezone

from reviews.models import Item, Label
from reviews.models.base import PublicModel, append_only


class Contrast(PublicModel):
    """A comparison made of a run that passed every gate and one that failed. What they differ in is the item's to say.

    The labels say by which word each passed or failed; `shared` is how many first steps both have in common.
    """

    item = models.OneToOneField(Item, on_delete=models.PROTECT, related_name="contrast")
    passing = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+")
    failing = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+")
    shared = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"contrast {self.uid}"
