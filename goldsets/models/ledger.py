"""Prices: what an hour of people and of computing costs a project, as leads state it."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.models import Project
from reviews.models.base import PublicModel, append_only


class PriceList(PublicModel):
    """US dollars by name, see `stats.ledger.PRICES`; what is not named is not priced. The latest holds."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="price_lists", db_index=False)
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    prices = models.JSONField()
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_price_list_per_number")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"prices {self.number}"
