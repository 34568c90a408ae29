"""Data sets: a saved definition of what leaves, its immutable versions, and which labels are in each."""

from typing import Any

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from goldsets.enums import DatasetPurpose, DatasetState
from reviews.models import Label, Project, Queue, QueueItem, Task
from reviews.models.base import PublicModel, append_only


class Dataset(PublicModel):
    """Which labels leave, what for, in which formats, and what becomes of the doubtful ones.

    Without a queue, the labels of every queue of the project. `filter` narrows them and `policies` says what becomes of
    ties, neutral steps, duplicates and rater rows; see `goldsets.actions.defining`.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="datasets")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, null=True, blank=True, related_name="datasets")
    name = models.CharField(max_length=120)
    purpose = models.CharField(
        max_length=12,
        choices=DatasetPurpose,
        default=DatasetPurpose.TRAIN,
        db_default=DatasetPurpose.TRAIN.value,
    )
    formats = ArrayField(
        models.CharField(max_length=30), default=list, help_text="Members of `goldsets.enums.DatasetFormat`."
    )
    filter = models.JSONField(default=dict, blank=True, db_default={})
    policies = models.JSONField(default=dict, blank=True, db_default={})
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_dataset_per_name")]

    def __str__(self) -> str:
        return self.name


class DatasetVersion(PublicModel):
    """One export. `path` is its folder on the server; `manifest` holds counts, versions and each file's sha256.

    `definition` is what its data set said when it was started, and `previous` the version it is told apart from.
    `drawn` is {source: {"fit": int, "drawn": int}} where quotas draw how many of each source leave.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    previous = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    definition = models.JSONField(default=dict, blank=True, db_default={})
    state = models.CharField(max_length=10, choices=DatasetState, default=DatasetState.WAITING)
    path = models.CharField(max_length=500, blank=True)
    rows_done = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(default=0)
    drawn = models.JSONField(default=dict, blank=True, db_default={})
    manifest = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="one_dataset_version_per_number")]
        triggers = [
            pgtrigger.Protect(
                name="finished_is_final",
                operation=pgtrigger.Update | pgtrigger.Delete,
                condition=pgtrigger.Q(old__state=DatasetState.FINISHED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.number}"

    @property
    def files(self) -> list[dict[str, Any]]:
        """As the manifest names them; one of a format that no label fits says so in `empty_because`."""
        formats, files = self.manifest.get("formats", {}), self.manifest.get("files", ())
        return [file | self._empty(file, formats.get(file.get("format"))) for file in files]

    @staticmethod
    def _empty(file: dict[str, Any], made: dict[str, Any] | None) -> dict[str, str]:
        if made is None or file["rows"]:
            return {}
        left_out = ", ".join(f"{why} ({count:,})" for why, count in made["left_out"].items())
        return {"empty_because": left_out or "no label was there"}


class DatasetRow(models.Model):
    """One label in one version, in the order in which it leaves: chosen once, before anything is written.

    A version has as many as labels leave, a million or more. Labels and queue items are never deleted, so their keys go
    unchecked: checking them would lock every one of those rows, and take longer than writing the files.
    """

    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="rows", db_index=False)
    position = models.PositiveIntegerField(help_text="Counted from 1.")
    queue_item = models.ForeignKey(
        QueueItem, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="one_dataset_row_per_position"),
            models.UniqueConstraint(fields=["version", "queue_item"], name="one_dataset_row_per_item"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"row {self.position} of version {self.version_id}"


class DatasetGroup(models.Model):
    """The runs of one task in a version, where a format has groups: how many, and how many of them pass every gate.

    `first` is the position of the first of them. Keys go unchecked, as with `DatasetRow`.
    """

    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="groups", db_index=False)
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    first = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    passing = models.PositiveIntegerField()

    class Meta:
        ordering = ["first"]
        constraints = [models.UniqueConstraint(fields=["version", "task"], name="one_dataset_group_per_task")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.size} runs of task {self.task_id} in version {self.version_id}"
