"""Items, which are what is judged, and the imports that bring them in with a receipt."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from reviews.enums import AgentRole, ImportState, ItemKind, Provenance
from reviews.errors import Conflict

from .base import PublicModel, append_only
from .project import Project
from .task import TaskVersion
from .trajectory import ContextDocument, Task, Trajectory


class Item(PublicModel):
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="items")
    kind = models.CharField(max_length=12, choices=ItemKind, default=ItemKind.TRAJECTORY)
    trajectory = models.OneToOneField(Trajectory, on_delete=models.PROTECT, null=True, blank=True, related_name="item")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, null=True, blank=True, related_name="items")
    task_version = models.ForeignKey(TaskVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="items")
    content_hash = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Of what a comparison holds; empty for one run."
    )
    provenance = models.CharField(max_length=12, choices=Provenance, default=Provenance.MODEL)
    differs_in = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="Of a comparison, for leads: the one decision in which its runs part.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "content_hash"], condition=~Q(content_hash=""), name="one_item_per_content"
            ),
            models.CheckConstraint(
                condition=Q(kind=ItemKind.TRAJECTORY, trajectory__isnull=False)
                | (~Q(kind=ItemKind.TRAJECTORY) & Q(trajectory__isnull=True, task__isnull=False)),
                name="an_item_is_of_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(task_version__isnull=True) | Q(kind=ItemKind.TASK),
                name="only_a_task_review_has_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.uid}"

    @property
    def run(self) -> Trajectory:
        """The only run of an item that is one. Raises Conflict for an item with several, which has candidates."""
        if self.trajectory is None:
            raise Conflict(f"This item is a {self.get_kind_display().lower()} of several runs and is read as a whole.")
        return self.trajectory

    @property
    def runs(self) -> list[Trajectory]:
        """The run, or those of all candidates in the item's own order. Costs a query for several."""
        if self.trajectory:
            return [self.trajectory]
        return [row.trajectory for row in self.candidates.select_related("trajectory__task", "trajectory__policy")]

    @property
    def longest(self) -> int:
        """How many steps the longest of its runs has."""
        return max(run.step_count for run in self.runs)

    @property
    def content(self) -> str:
        """The hash of what is judged: of the run, or of all that stand beside each other."""
        return self.trajectory.content_hash if self.trajectory else self.content_hash

    @property
    def policy(self) -> ContextDocument | None:
        """The policy shown beside the item: of its run, or of its task where it has several runs."""
        return self.trajectory.policy if self.trajectory else self.subject.policy

    @property
    def subject(self) -> Task:
        """The task that the item is about. Costs queries unless it was fetched along."""
        return self.trajectory.task if self.trajectory else self.task  # type: ignore[return-value]


class Candidate(models.Model):
    """One of the runs that a comparison or a task review lays beside each other; `position` counts from 1.

    `shared` is how many of its first steps all candidates have in common: the conversation that they continue.
    `result` is what a task's verifier said of the run, shown where the task is reviewed and nowhere else:
    {"passed": bool or None, "score": number, "log": str, "checks": [{"name": str, "passed": bool}]}, {} if unknown.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    position = models.PositiveSmallIntegerField()
    trajectory = models.ForeignKey(Trajectory, on_delete=models.PROTECT, related_name="candidacies")
    shared = models.PositiveIntegerField(default=0, db_default=0)
    role = models.CharField(max_length=10, choices=AgentRole, blank=True, default="", db_default="")
    result = models.JSONField(default=dict, blank=True, db_default={})

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="one_candidate_per_position")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"candidate {self.position} of {self.item_id}"


class ImportJob(PublicModel):
    """One file on its way in: how far it got, and what became of each of its rows."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="imports")
    queue = models.ForeignKey("reviews.Queue", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    name = models.CharField(max_length=300, help_text="The file's name as its owner knows it.")
    path = models.CharField(max_length=500, help_text="Where the file lies on the server.")
    format = models.CharField(max_length=40, default="auto")
    options = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=ImportState, default=ImportState.WAITING)
    created = models.PositiveIntegerField(default=0)
    already_there = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    comparisons = models.PositiveIntegerField(
        default=0, db_default=0, help_text="New items that lay answers to one prompt beside each other."
    )
    tasks = models.PositiveIntegerField(default=0, db_default=0, help_text="New tasks to be reviewed.")
    scored = models.PositiveIntegerField(default=0, db_default=0, help_text="Scores of runs that were there before.")
    noted = models.PositiveIntegerField(default=0, db_default=0, help_text="Notes on rows that went in.")
    bytes_total = models.BigIntegerField(default=0)
    bytes_done = models.BigIntegerField(default=0)
    rows_done = models.PositiveIntegerField(default=0)
    redactions = models.JSONField(default=dict, blank=True, help_text="How much was replaced in new runs, by kind.")
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def percent(self) -> int:
        return 100 if not self.bytes_total else min(100, self.bytes_done * 100 // self.bytes_total)

    @property
    def ending(self) -> str:
        """How it stands, in words: an end that brought nothing is no plain success."""
        return self._ending()[0]

    @property
    def tone(self) -> str:
        """The class of the colour that goes with `ending`."""
        return self._ending()[1]

    def _ending(self) -> tuple[str, str]:
        if self.state != ImportState.FINISHED:
            return self.get_state_display().lower(), {"failed": "bad", "running": "info"}.get(self.state, "")
        refused = f", {self.refused:,} refused" if self.refused else ""
        if self.created or self.scored:
            return f"finished{refused}", "watch" if refused else "ok"
        if self.already_there:
            return f"nothing new{refused}", "watch" if refused else "info"
        return ("nothing taken, all refused" if refused else "nothing in it"), "bad"


class ImportNote(models.Model):
    """A row that was taken and of which something is to be known: where it stands in the file and what."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="notes")
    place = models.CharField(max_length=60)
    note = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.place}: {self.note}"


class ImportRefusal(models.Model):
    """A row that was not taken: where it stands in the file and why."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="refusals")
    place = models.CharField(max_length=60)
    reason = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"
