"""Which graders have parted from the experts, by what was last told of them."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from goldsets.enums import GoldVerb
from goldsets.models import GraderScore, GraderVersion
from reviews.models import Event, Project

# A version that gave no score for so long is not looked at any more, unless its alarm has not ended.
WATCHED_FOR = timedelta(days=30)
TOLD = [GoldVerb.GRADER_PARTED, GoldVerb.GRADER_REJOINED]


def watched_versions() -> QuerySet[GraderVersion]:
    """The versions that gave scores lately, and those whose alarm has not ended."""
    lately = GraderScore.objects.filter(version=OuterRef("pk"), created_at__gt=timezone.now() - WATCHED_FOR)
    last_told = _told().filter(target_id=OuterRef("pk")).order_by("-pk").values("verb")[:1]
    versions = GraderVersion.objects.alias(last_told=Subquery(last_told))
    versions = versions.filter(Exists(lately) | Q(last_told=GoldVerb.GRADER_PARTED))
    return versions.select_related("grader__project").order_by("pk")


def rings(version: GraderVersion) -> bool:
    last = _told().filter(target_id=version.pk).order_by("-pk").first()
    return last is not None and last.verb == GoldVerb.GRADER_PARTED


def ringing(project: Project) -> dict[int, Event]:
    """By version the Event with which its alarm began, of those whose alarm has not ended."""
    versions = GraderVersion.objects.filter(grader__project=project).values("pk")
    latest = _told().filter(target_id__in=versions).order_by("target_id", "-pk").distinct("target_id")
    return {event.target_id: event for event in latest if event.verb == GoldVerb.GRADER_PARTED}


def _told() -> QuerySet[Event]:
    return Event.objects.filter(target_type=GraderVersion._meta.model_name, verb__in=TOLD)
