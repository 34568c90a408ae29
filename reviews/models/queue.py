"""Queues, the items in them, and the slots: one row for each judgment that is wanted."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from reviews.enums import (
    PASSED_ON,
    Purpose,
    QueueItemState,
    QueueOrder,
    QueueState,
    SettleRule,
    SettlingCause,
    SlotState,
    WaitsFor,
)

from .base import PublicModel
from .item import Item
from .project import Project
from .rubric import Guideline, Rubric

# Slots are placed this far apart, so that one that opens again finds room in front of the rest.
PLACE_STEP = 1_000_000


class WorkQueues(models.Manager["Queue"]):
    """The queues that make labels. What does not ask for `every` queue can neither show nor count any other."""

    def get_queryset(self) -> models.QuerySet[Queue]:
        return super().get_queryset().filter(purpose=Purpose.WORK)


class Queue(PublicModel):
    """Items to judge by a rubric. `objects` are those for work; `every` has practice, qualification and norming too."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="queues")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="queues")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="queues")
    overlap = models.PositiveSmallIntegerField(
        default=2,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="How many people judge each item.",
    )
    overlap_cap = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        validators=[MaxValueValidator(20)],
        help_text="Where raters differ, one more is asked, up to so many people; 0: nobody more.",
    )
    sure_from = models.FloatField(
        default=0,
        db_default=0,
        validators=[MinValueValidator(0), MaxValueValidator(0.999)],
        help_text="How probable an agreed answer must be, by the raters' errors, or one more is asked; 0: any.",
    )
    lease_minutes = models.PositiveSmallIntegerField(
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
        help_text="After how many minutes without a sign of life an item goes back to the queue.",
    )
    order = models.CharField(max_length=10, choices=QueueOrder, default=QueueOrder.ARRIVAL)
    settle_rule = models.CharField(max_length=10, choices=SettleRule, default=SettleRule.UNANIMOUS)
    state = models.CharField(max_length=10, choices=QueueState, default=QueueState.OPEN)
    purpose = models.CharField(
        max_length=14, choices=Purpose, default=Purpose.WORK, db_default=Purpose.WORK.value, editable=False
    )
    mark = models.FloatField(
        null=True, blank=True, help_text="Of a qualification: the share of items whose judgment must be right."
    )
    requires = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="required_by",
        help_text="The qualification that raters must have passed before they get an item.",
    )
    domains = models.JSONField(
        default=list,
        blank=True,
        db_default=[],
        help_text="Only raters who know one of these fields are dealt items; empty: everybody.",
    )
    shows_prelabel = models.BooleanField(
        default=False, db_default=False, help_text="Whether raters see what graders said of a run before they judge it."
    )
    repeat_rate = models.FloatField(
        default=0,
        db_default=0,
        validators=[MinValueValidator(0), MaxValueValidator(0.3)],
        help_text="The chance with which a rater is dealt, unmarked, an item that they have judged before; 0: none.",
    )
    repeat_after = models.PositiveSmallIntegerField(
        default=20,
        db_default=20,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="How many items a rater judges, at least, before one may come to them again.",
    )
    lead_answers_first = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether leads answer an item themselves before they see what its raters said.",
    )
    last_place = models.BigIntegerField(default=0, help_text="The place of the slot put in last.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = WorkQueues()
    every = models.Manager["Queue"]()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="one_queue_per_slug"),
            models.CheckConstraint(
                condition=models.Q(mark__isnull=True, requires__isnull=True)
                | models.Q(mark__gt=0, mark__lt=1, purpose=Purpose.QUALIFICATION, requires__isnull=True)
                | models.Q(mark__isnull=True, purpose=Purpose.WORK),
                name="a_qualification_has_a_mark_and_work_may_ask_for_one",
            ),
            models.CheckConstraint(
                condition=models.Q(repeat_rate=0) | models.Q(repeat_rate__range=(0, 0.3), purpose=Purpose.WORK),
                name="only_work_is_repeated_and_little_of_it",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class QueueItem(PublicModel):
    """An item in a queue and how far it has come. `label` is the one that now stands."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="queue_items", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="queue_items")
    state = models.CharField(max_length=10, choices=QueueItemState, default=QueueItemState.COLLECTING)
    waits_for = models.CharField(max_length=12, choices=WaitsFor, blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True)
    decide_first = models.BooleanField(
        default=False, db_default=False, help_text="If it waits for a lead, it comes before the others."
    )
    to_weigh = models.BooleanField(
        default=False, db_default=False, help_text="Raters agree; how probable that is right has still to be found."
    )
    reopened_at = models.DateTimeField(null=True, blank=True, help_text="When a settled item began to collect again.")
    label = models.ForeignKey("reviews.Label", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    priority = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the rule, where one brought it.")
    rule = models.ForeignKey(
        "reviews.ArrivalRule", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "item"], name="one_item_per_queue")]
        indexes = [
            models.Index(fields=["queue", "state"], name="queueitem_by_state"),
            models.Index(fields=["queue"], name="queueitem_to_weigh", condition=models.Q(to_weigh=True)),
            models.Index(
                fields=["queue", "priority"], name="queueitem_by_priority", condition=models.Q(priority__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} in {self.queue}"

    @property
    def stage(self) -> str:
        """Its state in words, and of what was passed on whereto."""
        passed_on = self.state == QueueItemState.WAITING and self.waits_for in PASSED_ON
        return (self.get_waits_for_display() if passed_on else self.get_state_display()).lower()


class Slot(models.Model):
    """One wanted judgment of one item. `place` is its turn; queue and item stand here for the dealer's index."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="slots", db_index=False)
    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    place = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=SlotState, default=SlotState.OPEN)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue_item", "number"], name="one_slot_per_number")]
        indexes = [
            models.Index(fields=["queue", "place", "id"], name="open_slots", condition=models.Q(state=SlotState.OPEN)),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.queue_item_id}"


class SettlingMark(models.Model):
    """The worker has to look at this item. What raters do leaves one, whatever item it was, and changes no other row.

    `since` is the moment from which on a label made by rule is put to the test again.
    """

    queue_item = models.ForeignKey(QueueItem, on_delete=models.PROTECT, related_name="settling_marks")
    cause = models.CharField(max_length=10, choices=SettlingCause)
    since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.get_cause_display()}: {self.queue_item_id}"


class RaterCursor(models.Model):
    """How far a rater has come along a queue's slots, so that dealing never walks past what lies behind."""

    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="cursors")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    place = models.BigIntegerField(default=0)
    slot_id = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "rater"], name="one_cursor_per_rater")]

    def __str__(self) -> str:
        return f"cursor of {self.rater_id} in {self.queue_id}"
