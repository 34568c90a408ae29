"""A rater's lease on a slot, and the draft that grows under it."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from reviews.enums import AssignmentState, SkipReason

from .base import PublicModel
from .item import Item
from .queue import Queue, Slot


class Assignment(PublicModel):
    """One row per rater, item and occasion, ever: given back or run out, it can come to life again with its draft.

    On the second occasion a rater judges, without knowing, what they have judged before. It shares the slot of the
    first, asks for no judgment more and ends set aside: it says how far people agree with themselves, nothing else.
    """

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="assignments")
    rater = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    occasion = models.PositiveSmallIntegerField(default=1, db_default=1, editable=False)
    candidate_order = ArrayField(
        models.PositiveSmallIntegerField(),
        null=True,
        blank=True,
        help_text="The positions of the item's candidates as this rater sees them; none where it has none.",
    )
    state = models.CharField(max_length=10, choices=AssignmentState, default=AssignmentState.LEASED)
    leased_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(default=timezone.now, help_text="The last sign of life.")
    active_seconds = models.PositiveIntegerField(default=0, help_text="Seconds of work, counted from signs of life.")
    skip_reason = models.CharField(max_length=20, choices=SkipReason, blank=True)
    skip_note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "item", "rater", "occasion"], name="one_assignment_per_rater_item_and_occasion"
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=[AssignmentState.LEASED, AssignmentState.SUBMITTED], occasion=1),
                name="one_live_assignment_per_slot",
            ),
            models.UniqueConstraint(
                fields=["queue", "rater"],
                condition=Q(state=AssignmentState.LEASED),
                name="one_lease_per_rater_and_queue",
            ),
            models.CheckConstraint(
                condition=~Q(state=AssignmentState.SKIPPED) | ~Q(skip_reason=""),
                name="a_skip_has_a_reason",
            ),
            models.CheckConstraint(condition=Q(occasion__in=[1, 2]), name="an_item_comes_twice_at_most"),
            models.CheckConstraint(
                condition=Q(occasion=1) | ~Q(state=AssignmentState.SUBMITTED), name="what_is_judged_again_never_counts"
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], name="leases_by_end", condition=Q(state=AssignmentState.LEASED)),
            models.Index(fields=["rater", "ended_at"], name="assignments_by_rater"),
        ]

    def __str__(self) -> str:
        return f"assignment {self.uid}"


class Draft(models.Model):
    """What a rater has entered so far, as a judgment payload. `version` rises with each save."""

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="draft")
    data = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"draft of {self.assignment_id}"
