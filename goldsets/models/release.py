"""Releases: terms written before a version, the checklist two people signed, and withdrawals."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.models.dataset import Dataset, DatasetVersion
from reviews.models import Project
from reviews.models.base import PublicModel, append_only


class ReleaseTerms(PublicModel):
    """What a version must reach to be released, see `stats.checklist.TERMS`. The latest before a version hold."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="release_terms", db_index=False)
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    terms = models.JSONField()
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "terms of release"
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="one_release_terms_per_number")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"terms {self.number}"


class Release(PublicModel):
    """The checklist of a version as it was when the first person signed it. The second signature releases it."""

    version = models.OneToOneField(DatasetVersion, on_delete=models.PROTECT, related_name="release")
    terms = models.ForeignKey(ReleaseTerms, on_delete=models.PROTECT, related_name="releases")
    checklist = models.JSONField()
    checklist_sha256 = models.CharField(max_length=64)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        triggers = [
            *append_only(),
            pgtrigger.Trigger(
                name="terms_come_first",
                operation=pgtrigger.Insert,
                when=pgtrigger.Before,
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM goldsets_releaseterms terms JOIN goldsets_datasetversion version
                        ON version.dataset_id = terms.dataset_id
                        WHERE terms.id = NEW.terms_id AND version.id = NEW.version_id
                          AND terms.written_at < version.created_at AND version.state = 'finished'
                    ) THEN RAISE EXCEPTION 'The terms of a release are written before its version is begun'; END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"release of {self.version}"


class ReleaseSignature(models.Model):
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="signatures", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    signed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["release", "person"], name="one_signature_per_person_and_release")
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.person} on {self.release}"


class Withdrawal(PublicModel):
    """A version that is to be used no more. Its files are kept and given out no more."""

    version = models.OneToOneField(DatasetVersion, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    withdrawn_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="a_version_is_withdrawn_for_a_reason")
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"withdrawal of {self.version}"


class SourceLicence(models.Model):
    """Under which licence runs of a source may be used. The latest word on a source holds."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="source_licences")
    source = models.CharField(max_length=300, help_text="The name of the file or system that runs came from.")
    licence = models.CharField(max_length=120)
    stated_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    stated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.source}: {self.licence}"
