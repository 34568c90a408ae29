"""Versions of a task: prompt, world, verifier and intent, which are reviewed together. A change is a new version."""

from django.db import models
from django.utils import timezone

from reviews.enums import TaskPart, Verifiability

from .base import PublicModel, append_only
from .trajectory import Task


class TaskVersion(PublicModel):
    """One state of a task's four parts. The same again is the version that is there.

    `recipe` names the version of the recipe that made it, `axis` that along which it was made harder.
    `production_prompts` are prompts of real use, to compare the prompt with. `content_hash` is of all
    of it but the number.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    prompt = models.TextField()
    world = models.TextField(blank=True)
    verifier = models.TextField(blank=True, help_text="The text of its program.")
    intent = models.TextField(help_text="What a run that passes is to show.")
    recipe = models.CharField(max_length=100, blank=True)
    axis = models.CharField(max_length=200, blank=True)
    verifiability = models.CharField(max_length=10, choices=Verifiability, blank=True)
    production_prompts = models.JSONField(default=list, blank=True, help_text="Texts of real use to compare with.")
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="one_task_version_per_number"),
            models.UniqueConstraint(fields=["task", "content_hash"], name="one_task_version_per_content"),
            models.CheckConstraint(condition=~models.Q(intent=""), name="a_task_version_has_an_intent"),
            models.CheckConstraint(condition=~models.Q(prompt=""), name="a_task_version_has_a_prompt"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.task}, version {self.number}"

    def part(self, name: str) -> str:
        """The text of one of the four parts."""
        return str(getattr(self, TaskPart(name).value))
