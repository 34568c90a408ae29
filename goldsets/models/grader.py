"""Graders: what each judges, its versions, and every score that a version gave to an item."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.enums import GraderKind, GraderScale, ScoreOrder
from reviews.models import Item, Project, Queue
from reviews.models.base import PublicModel, append_only

# What stands for “the whole of it” where a criterion's key may stand.
OVERALL = ""


class Grader(PublicModel):
    """Something that scores runs: a check, a judging model or a panel of people. Its versions do the scoring.

    `criterion` is the key of the rubric's criterion that it judges, or "" where it judges the run as a whole.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="graders", db_index=False)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=14, choices=GraderKind)
    criterion = models.CharField(max_length=40, blank=True, default=OVERALL, db_default=OVERALL)
    note = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_grader_per_name")]

    def __str__(self) -> str:
        return self.name


class GraderVersion(PublicModel):
    """One state of a grader: whatever changes its scores makes another version. Only threshold and cap are set later.

    A score of `threshold` or more passes; without one, a binary grader passes at its highest value and no other passes
    anything. `attempts_cap` is how often it may be asked of one item. `source` is the name under which scores that
    come in with runs, or are said of them later, are this version's.
    """

    grader = models.ForeignKey(Grader, on_delete=models.PROTECT, related_name="versions", db_index=False)
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    label = models.CharField(max_length=120, blank=True)
    fingerprint = models.CharField(max_length=128, blank=True, help_text="A hash of its prompt or code.")
    model = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    environment = models.CharField(max_length=200, blank=True)
    scale = models.CharField(max_length=8, choices=GraderScale, default=GraderScale.BINARY)
    lowest = models.FloatField(default=0)
    highest = models.FloatField(default=1)
    threshold = models.FloatField(null=True, blank=True)
    attempts_cap = models.PositiveIntegerField(null=True, blank=True)
    source = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["grader", "number"], name="one_grader_version_per_number"),
            models.CheckConstraint(
                condition=models.Q(lowest__lt=models.F("highest")), name="a_scale_has_a_lowest_and_a_highest"
            ),
            models.CheckConstraint(
                condition=models.Q(threshold__isnull=True)
                | models.Q(threshold__gte=models.F("lowest"), threshold__lte=models.F("highest")),
                name="a_threshold_is_on_its_scale",
            ),
            models.CheckConstraint(
                condition=models.Q(attempts_cap__isnull=True) | models.Q(attempts_cap__gte=1), name="a_cap_allows_one"
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="versions_stay", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="a_version_is_what_it_was", exclude=["threshold", "attempts_cap"]),
        ]

    def __str__(self) -> str:
        return f"{self.grader} {self.number}"

    @property
    def passes_from(self) -> float | None:
        """The value from which it passes, or None where that is not decided."""
        if self.threshold is None and self.scale == GraderScale.BINARY:
            return self.highest
        return self.threshold


class GraderScore(models.Model):
    """What a version said of an item, the first time or asked again. A project has millions.

    `criterion` is "" for the item as a whole. Of a comparison of two `value` is above 0 where the first *as shown* is
    better, below 0 for the second, and `order` says whether it was shown as the item has it. `parts` is
    {name: number} for partial credit; `evidence` [{"step": int, "quote": str}], with "candidate" where there are
    several runs; `meta` is what else is known: "checkpoint", "training_step", "kl", "split".
    """

    version = models.ForeignKey(GraderVersion, on_delete=models.PROTECT, related_name="scores", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="grader_scores")
    criterion = models.CharField(max_length=40, blank=True, default=OVERALL, db_default=OVERALL)
    attempt = models.PositiveIntegerField(default=1, help_text="Counted from 1.")
    order = models.CharField(max_length=8, choices=ScoreOrder, default=ScoreOrder.AS_SHOWN)
    value = models.FloatField()
    parts = models.JSONField(default=dict, blank=True, db_default={})
    explanation = models.TextField(blank=True, default="", db_default="")
    evidence = models.JSONField(default=list, blank=True, db_default=[])
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True, help_text="In US dollars.")
    seconds = models.FloatField(null=True, blank=True)
    tokens = models.PositiveIntegerField(null=True, blank=True)
    meta = models.JSONField(default=dict, blank=True, db_default={})
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "item", "criterion", "attempt", "order"], name="one_score_per_attempt"
            ),
            models.CheckConstraint(condition=models.Q(attempt__gte=1), name="attempts_count_from_1"),
        ]
        indexes = [models.Index(fields=["version", "-id"], name="scores_latest_first")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.value:g} by version {self.version_id}"


class GraderAudit(models.Model):
    """A queue in which raters check what a version said, each verdict after their own answer."""

    version = models.ForeignKey(GraderVersion, on_delete=models.PROTECT, related_name="audits")
    queue = models.OneToOneField(Queue, on_delete=models.PROTECT, related_name="grader_audit")
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"audit of {self.version} in {self.queue}"
