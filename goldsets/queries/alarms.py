"""Which graders have parted from the experts, by what was last told of them."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from goldsets.enums import GoldVerb
from goldsets.models import GraderScore, GraderVersion
from reviews.models import Event, Project

# A version that gave no score for so long is not looked at any more.
WATCHED_FOR = timedelta(days=30)
TOLD = [GoldVerb.GRADER_PARTED, GoldVerb.GRADER_REJOINED]


def watched_versions() -> QuerySet[GraderVersion]:
    """The versions that gave scores lately."""
    lately = GraderScore.objects.filter(version=OuterRef("pk"), created_at__gt=timezone.now() - WATCHED_FOR)
    return GraderVersion.objects.filter(Exists(lately)).select_related("grader__project").order_by("pk")


def rings(version: GraderVersion) -> bool:
    return version.pk in ringing(version.grader.project)


def ringing(project: Project) -> dict[int, Event]:
    """By version the Event with which its alarm began, of those whose alarm has not ended."""
    versions = GraderVersion.objects.filter(grader__project=project).values("pk")
    events = Event.objects.filter(target_type=GraderVersion._meta.model_name, target_id__in=versions, verb__in=TOLD)
    latest = events.order_by("target_id", "-pk").distinct("target_id")
    return {event.target_id: event for event in latest if event.verb == GoldVerb.GRADER_PARTED}
