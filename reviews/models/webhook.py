"""Webhooks: addresses that hear of a project's events, what is to be delivered to them, and every try of it."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from reviews.enums import DeliveryState

from .base import PublicModel, append_only
from .event import Event
from .project import Project


class Webhook(PublicModel):
    """An address that hears of some kinds of events. `secret` signs what is sent there."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = ArrayField(models.CharField(max_length=40))
    secret = models.CharField(max_length=80)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return self.url


class Delivery(PublicModel):
    """One event on its way to one webhook. `due_at` is when it is tried next; `replays` is that which it repeats."""

    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, related_name="deliveries")
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="deliveries")
    name = models.CharField(max_length=40)
    replays = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    due_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["webhook", "event"], name="one_delivery_per_event", condition=models.Q(replays__isnull=True)
            )
        ]
        indexes = [
            models.Index(fields=["due_at"], name="deliveries_due", condition=models.Q(state=DeliveryState.WAITING))
        ]

    def __str__(self) -> str:
        return f"{self.name} to {self.webhook}"


class DeliveryTry(models.Model):
    """One try: what the other side answered, or why nothing came of it."""

    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="tries", db_index=False)
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "delivery tries"
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="one_try_per_number")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"try {self.number} of {self.delivery_id}"
