"""What raters submitted: judgments, each with one rating per criterion and the evidence it cites. Never changed."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.enums import CorrectionKind, FailureCause, FailureWho, TaskPart

from .assignment import Assignment
from .base import AnyValue, PublicModel, append_only
from .item import Item
from .queue import Queue
from .rubric import Criterion, Guideline, Rubric


class FailurePoint(models.Model):
    """The first decisive step of a failed run, who caused it and how."""

    failure_step = models.PositiveIntegerField(null=True, blank=True)
    failure_who = models.CharField(max_length=10, choices=FailureWho, blank=True)
    failure_cause = models.CharField(max_length=30, choices=FailureCause, blank=True)
    failure_note = models.TextField(blank=True)

    class Meta:
        abstract = True


class Judgment(PublicModel, FailurePoint):
    """One rater's answer to one item; a correction is a new revision. `confidence` runs from 1 (low) to 3 (high)."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgments")
    revision = models.PositiveSmallIntegerField(default=1)
    occasion = models.PositiveSmallIntegerField(default=1, db_default=1)
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="judgments", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgments")
    rater = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="judgments", db_index=False
    )
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    confidence = models.PositiveSmallIntegerField()
    rationale = models.TextField(blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    prelabel = models.JSONField(
        null=True, blank=True, help_text="What of graders was shown before the answer; none where the queue shows none."
    )
    idempotency_key = models.CharField(max_length=80)
    submitted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "item", "rater", "occasion", "revision"],
                name="one_judgment_per_rater_item_and_occasion",
            ),
            models.CheckConstraint(condition=models.Q(confidence__range=(1, 3)), name="confidence_1_to_3"),
        ]
        indexes = [models.Index(fields=["rater", "submitted_at"], name="judgments_by_rater")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"judgment {self.uid}"


class Rating(AnyValue):
    """One criterion's value in a judgment, with a note where the rater left one."""

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="ratings", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="ratings")
    note = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment", "criterion", "candidate"], name="one_value_per_criterion", nulls_distinct=False
            )
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.value}"


class Evidence(models.Model):
    """Where a value is shown: a step, a span of a step's field or of a part of the task, or a line of the policy.

    `start` and `end` are code points in the text as it is read. `mark` is one of the rubric's marks, such as "hint".
    Without a criterion it is only a mark, or belongs to the failure point.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="evidence", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    position = models.PositiveSmallIntegerField()
    candidate = models.PositiveSmallIntegerField(null=True, blank=True)
    step = models.PositiveIntegerField(null=True, blank=True)
    field = models.CharField(max_length=300, blank=True)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    policy_line = models.PositiveSmallIntegerField(null=True, blank=True)
    part = models.CharField(max_length=10, choices=TaskPart, blank=True, default="", db_default="")
    mark = models.CharField(max_length=40, blank=True, default="", db_default="")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["judgment", "position"], name="one_evidence_per_position"),
            models.CheckConstraint(
                condition=models.Q(step__isnull=False) | models.Q(policy_line__isnull=False) | ~models.Q(part=""),
                name="evidence_points_somewhere",
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return self.quote or f"step {self.step}"


class CandidateFailure(FailurePoint):
    """The first decisive step of a candidate that failed a gate."""

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="candidate_failures", db_index=False)
    candidate = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judgment", "candidate"], name="one_failure_per_candidate")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"failure of candidate {self.candidate} in {self.judgment_id}"


class StepLabel(models.Model):
    """A rater's word for one step: one of the values of the rubric's step labels."""

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="step_labels", db_index=False)
    step = models.PositiveIntegerField()
    value = models.SmallIntegerField()

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["judgment", "step"], name="one_label_per_step")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"step {self.step}: {self.value}"


class Correction(models.Model):
    """What the agent should have done at a step, written by a rater; the run itself stays as it was.

    `steps` are the steps in its place, as `trajectories.schema.Step` writes them: one for a rewritten step, one or more
    where the rater goes another way on from there.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="corrections", db_index=False)
    step = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=CorrectionKind)
    steps = models.JSONField()
    reason = models.TextField()

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["judgment", "step"], name="one_correction_per_step")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"step {self.step}, {self.get_kind_display().lower()}"
