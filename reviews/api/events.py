"""The audit log, for reading."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.base import AssayView, ProjectQuery, project_for
from reviews.models import Event
from reviews.queries.listings import events_of


class Target(serializers.Serializer[Any]):
    type = serializers.CharField(source="target_type")
    id = serializers.IntegerField(source="target_id")


class EventOut(serializers.ModelSerializer[Event]):
    """Who did what to what. `actor` is absent where a rule did it."""

    actor = serializers.CharField(source="actor.email", required=False)
    target = Target(source="*")
    data = serializers.DictField()

    class Meta:
        model = Event
        fields = ["at", "actor", "verb", "target", "data"]


class EventsQuery(ProjectQuery):
    verb = serializers.CharField(required=False, max_length=40)
    since = serializers.DateTimeField(required=False)


FILTERS = {"verb": "verb", "since": "at__gte"}


class Events(AssayView):
    @extend_schema(operation_id="events_list", tags=["events"], parameters=[EventsQuery], responses=EventOut(many=True))
    def get(self, request: Request) -> Response:
        """The project's audit log, the latest first. For leads and admins."""
        asked = self.asked(EventsQuery)
        project = project_for(request.user, asked.pop("project"), "view_events")
        conditions = {FILTERS[name]: value for name, value in asked.items()}
        return self.page(events_of(project, reader=request.user).filter(**conditions), EventOut)
