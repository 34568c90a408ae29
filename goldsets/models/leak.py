"""What exports are held against: benchmark lists; and what was found when, and who let it pass all the same."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.models.dataset import DatasetVersion
from reviews.models import Project
from reviews.models.base import PublicModel, append_only


class BenchmarkList(PublicModel):
    """Texts that nothing which leaves may come near, such as the prompts of a published benchmark."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="benchmarks", db_index=False)
    name = models.CharField(max_length=120)
    source = models.CharField(max_length=300, help_text="Where it was taken from: an address, a version.")
    licence = models.CharField(max_length=120)
    text_count = models.PositiveIntegerField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_benchmark_list_per_name")]
        triggers = append_only()

    def __str__(self) -> str:
        return self.name


class BenchmarkText(models.Model):
    """One text, or its hash alone where the text may not be copied; then only the very same words are found."""

    benchmark = models.ForeignKey(BenchmarkList, on_delete=models.PROTECT, related_name="texts", db_index=False)
    place = models.CharField(max_length=200, help_text="What the list calls it, or its line.")
    sha256 = models.CharField(max_length=64, help_text="Of its words, see `stats.near.text_hash`.")
    text = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "sha256"], name="one_benchmark_text_per_hash")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.benchmark_id}: {self.place}"


class LeakReport(PublicModel):
    """What was found when a version was about to be written. `findings` is `queries.leaks.Findings` as JSON."""

    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="leak_reports")
    findings = models.JSONField()
    leaks = models.PositiveIntegerField(help_text="Pairs for which the version was refused.")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.leaks} leaks of {self.version_id}"


class LeakSignature(models.Model):
    """One person's word that the pairs of a report may leave all the same. It takes two people."""

    report = models.ForeignKey(LeakReport, on_delete=models.PROTECT, related_name="signatures", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    signed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["report", "person"], name="one_signature_per_person_and_report"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="a_leak_is_let_pass_for_a_reason"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.person_id} on {self.report_id}"
