"""Tasks, the runs made on them step by step, their originals, and apart from these their hidden outcomes."""

from django.db import models
from django.utils import timezone

from reviews.enums import OutcomeResult, Split, StepRole

from .base import PublicModel, append_only
from .project import Project


class ContextDocument(models.Model):
    """A text shown beside runs, such as the policy the agent had to keep; kept once per content."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="documents")
    sha256 = models.CharField(max_length=64)
    title = models.CharField(max_length=120)
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "sha256"], name="one_document_per_content")]
        triggers = append_only()

    def __str__(self) -> str:
        return self.title


class Task(models.Model):
    """What a run was asked to do. `context` is what a rater may see: {"request": str, "requester": {label: value}}."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tasks")
    key = models.CharField(max_length=200)
    family = models.CharField(max_length=100, blank=True, db_index=True)
    title = models.CharField(max_length=200, blank=True)
    context = models.JSONField(default=dict, blank=True)
    slices = models.JSONField(default=dict, blank=True)
    split = models.CharField(max_length=10, choices=Split, default=Split.OPEN)
    policy = models.ForeignKey(ContextDocument, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_task_per_key")]

    def __str__(self) -> str:
        return self.title or self.key


class Trajectory(PublicModel):
    """One run of an agent in its normal form. `versions` names environment, tools and data, never the model."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="trajectories")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="trajectories")
    policy = models.ForeignKey(ContextDocument, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    content_hash = models.CharField(max_length=64)
    source_format = models.CharField(max_length=40)
    source_name = models.CharField(max_length=300)
    source_place = models.CharField(max_length=60, blank=True)
    source_id = models.CharField(
        max_length=100, blank=True, db_default="", default="", help_text="What its source calls the run, if anything."
    )
    step_count = models.PositiveIntegerField()
    outline = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="A mark per step, see `trajectories.outline`; empty for runs stored before it was kept.",
    )
    tools = models.JSONField(default=list, blank=True)
    spent = models.JSONField(
        null=True,
        blank=True,
        help_text="Seconds and tokens of the whole run, see `trajectories.schema.Spent`; none where unknown.",
    )
    versions = models.JSONField(default=dict, blank=True)
    redactions = models.JSONField(
        null=True, blank=True, help_text="How much was replaced, by kind; none where the project did not redact."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "trajectories"
        constraints = [models.UniqueConstraint(fields=["project", "content_hash"], name="one_run_per_content")]
        indexes = [
            models.Index(fields=["project", "source_id"], name="runs_by_source_id", condition=~models.Q(source_id=""))
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.task}, {self.step_count} steps"


class Original(models.Model):
    """The row exactly as it came in, compressed with zstd."""

    trajectory = models.OneToOneField(Trajectory, on_delete=models.PROTECT, related_name="original")
    compressed = models.BinaryField()

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"original of {self.trajectory_id}"


class Step(models.Model):
    """One message, or one tool call with its result. `body` is the JSON text of `trajectories.schema.Step`."""

    trajectory = models.ForeignKey(Trajectory, on_delete=models.PROTECT, related_name="steps", db_index=False)
    position = models.PositiveIntegerField(help_text="Counted from 1.")
    role = models.CharField(max_length=10, choices=StepRole)
    body = models.TextField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["trajectory", "position"], name="one_step_per_position")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"step {self.position} of {self.trajectory_id}"


class Outcome(models.Model):
    """What became of a run. No rater ever receives any of it.

    `result` is the run's own end and is never inferred from `reward`; `data` holds reference actions, hidden goals etc.
    """

    trajectory = models.OneToOneField(Trajectory, on_delete=models.PROTECT, related_name="outcome")
    result = models.CharField(max_length=10, choices=OutcomeResult, default=OutcomeResult.UNKNOWN)
    reward = models.FloatField(null=True, blank=True)
    model = models.CharField(max_length=200, blank=True)
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"outcome of {self.trajectory_id}"


class RunScore(models.Model):
    """What a grader or a user said of a run after it had come in; what came with it stands in its outcome.

    No rater receives any of it before their own answer, unless the queue shows it; see `VerdictsShown`.
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.PROTECT, related_name="later_scores", db_index=False)
    grader = models.CharField(max_length=200)
    value = models.JSONField()
    explanation = models.TextField(blank=True)
    evidence = models.JSONField(
        default=list, blank=True, db_default=[], help_text="Steps cited, each with the words quoted there."
    )
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trajectory", "content_hash"], name="one_score_per_content")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.grader}: {self.value}"
