"""Rubrics with their criteria, and guidelines. A change is a new version; a version never changes."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.enums import Block, CorrectionRule, CriterionKind, EvidenceRule, ItemKind, Scope

from .base import PublicModel, append_only
from .project import Project


class Guideline(PublicModel):
    """The text that tells raters how to judge, in Markdown."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="guidelines")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="one_guideline_version")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Principle(PublicModel):
    """Why something is asked at all, in a sentence or a few: criteria refer to the version that they follow from."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="principles")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    text = models.CharField(max_length=1000)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="one_principle_version")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Rubric(PublicModel):
    """What is asked of each item of one kind.

    `step_labels` is {} where steps are not labelled, else {"words": [{"value": int, "name": str}], "of": "agent" or
    "all", "until_first": bool}: with `until_first`, steps behind the first one below zero may stay without a label.
    `marks` are what may be said of a place in the text alone: a list of {"key": str, "name": str, "hint": str}.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rubrics")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    item_kind = models.CharField(
        max_length=12, choices=ItemKind, default=ItemKind.TRAJECTORY, db_default=ItemKind.TRAJECTORY.value
    )
    unsure_allowed = models.BooleanField(default=False, help_text="Whether a gate may be answered with “unsure”.")
    correction = models.CharField(
        max_length=10, choices=CorrectionRule, default=CorrectionRule.NEVER, db_default=CorrectionRule.NEVER.value
    )
    audits = models.BooleanField(
        default=False, db_default=False, help_text="Whether raters check what graders said, after their own answer."
    )
    step_labels = models.JSONField(default=dict, blank=True, db_default={})
    marks = models.JSONField(default=list, blank=True, db_default=[])
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="one_rubric_version")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Criterion(models.Model):
    """One question of a rubric, or of one item alone, which brought it along.

    `levels` is a list of {"value": int, "name": str, "anchor": str}: the levels of an ordinal in ascending order, the
    options of a choice, the reasons of a preference. `settings` belongs to the kind: of a number {"min", "max", "unit",
    "tolerance"}, of a preference {"form": PreferenceForm, "strength": 0 to 3, "ties": [Tie]}. `condition` is None, or
    {"criterion": key, "values": [int]}: asked only where that criterion, in the same scope, has one of these values.
    """

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, null=True, blank=True, related_name="criteria")
    item = models.ForeignKey(
        "reviews.Item", on_delete=models.PROTECT, null=True, blank=True, related_name="own_criteria"
    )
    key = models.SlugField(max_length=40)
    title = models.CharField(max_length=80)
    question = models.CharField(max_length=300, blank=True)
    hint = models.CharField(max_length=500, blank=True)
    kind = models.CharField(max_length=12, choices=CriterionKind)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.ITEM, db_default=Scope.ITEM.value)
    block = models.CharField(max_length=20, choices=Block, blank=True)
    position = models.PositiveSmallIntegerField()
    levels = models.JSONField(default=list, blank=True)
    settings = models.JSONField(default=dict, blank=True, db_default={})
    condition = models.JSONField(null=True, blank=True)
    required = models.BooleanField(default=True, db_default=True)
    weight = models.FloatField(null=True, blank=True, help_text="For reports only; a gate has none.")
    evidence = models.CharField(max_length=10, choices=EvidenceRule, default=EvidenceRule.NEVER)
    principle = models.ForeignKey(
        Principle,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="criteria",
        help_text="Why it is asked.",
    )

    class Meta:
        verbose_name_plural = "criteria"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "key"], name="one_criterion_per_key"),
            models.UniqueConstraint(fields=["rubric", "position"], name="one_criterion_per_position"),
            models.UniqueConstraint(fields=["item", "key"], name="one_criterion_per_item_and_key"),
            models.CheckConstraint(
                condition=models.Q(rubric__isnull=True) ^ models.Q(item__isnull=True),
                name="a_criterion_is_of_a_rubric_or_an_item",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind=CriterionKind.GATE) | models.Q(weight__isnull=True),
                name="a_gate_has_no_weight",
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return self.title

    @property
    def is_gate(self) -> bool:
        return self.kind == CriterionKind.GATE

    @property
    def is_comparable(self) -> bool:
        """Whether two raters' answers can be the same; free text never is."""
        return self.kind != CriterionKind.TEXT

    @property
    def level_values(self) -> list[int]:
        return [level["value"] for level in self.levels]

    def level_name(self, value: int) -> str:
        """The name of an ordinal's level, or the value itself where the rubric has no such level."""
        return next((level["name"] for level in self.levels if level["value"] == value), str(value))
