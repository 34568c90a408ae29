"""Projects, who belongs to them in which role, and the links by which people are invited."""

import secrets
import uuid

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.utils import timezone

from reviews.enums import Role, Tier


def new_pseudonym() -> str:
    """The name under which a rater leaves in exports, drawn once per project."""
    return f"rater-{secrets.token_hex(5)}"


class Project(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    digest = models.BooleanField(
        default=True, db_default=True, help_text="Whether raters read where leads decided otherwise."
    )
    digest_key = models.UUIDField(
        default=uuid.uuid4, db_default=RandomUUID(), editable=False, help_text="Draws what the digest shows and when."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role in one project. People are deactivated, never removed."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    tier = models.CharField(max_length=10, choices=Tier, default=Tier.EXPERT)
    simulated = models.BooleanField(default=False, help_text="A program that plays a rater, shown as such.")
    active = models.BooleanField(default=True)
    pseudonym = models.CharField(max_length=30, default=new_pseudonym)
    credentials = models.CharField(max_length=200, blank=True)
    domains = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_person"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="one_pseudonym_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} in {self.project}"


class Invitation(models.Model):
    """A link that makes whoever opens it a member, once. Only the token's hash is kept."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role)
    tier = models.CharField(max_length=10, choices=Tier, default=Tier.EXPERT)
    note = models.CharField(max_length=200, blank=True)
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    def __str__(self) -> str:
        return f"invitation to {self.project} as {self.role}"
