"""Graders' verdicts: shown to a rater after their own answer and checked by them; what leads read of it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.dealing import own_assignment
from reviews.api.base import AssayView, Text, YesNo, queue_for
from reviews.errors import NotFound
from reviews.models import VerdictsShown
from reviews.queries.auditing import checked, latest_audits, shown_to


class CitedOut(serializers.Serializer[Any]):
    step = serializers.IntegerField()
    quote = serializers.CharField(allow_blank=True)


class VerdictOut(serializers.Serializer[Any]):
    grader = serializers.CharField()
    value = serializers.JSONField()
    explanation = serializers.CharField(allow_blank=True)
    evidence = CitedOut(many=True)


class AuditOut(serializers.Serializer[Any]):
    grader = serializers.CharField()
    revision = serializers.IntegerField()
    right = serializers.BooleanField()
    evidence = serializers.ListField(child=serializers.BooleanField())
    note = serializers.CharField(allow_blank=True)


class VerdictsOut(serializers.Serializer[Any]):
    """What you were shown after your judgment, and what you said of it so far."""

    shown_at = serializers.DateTimeField()
    verdicts = VerdictOut(many=True)
    audits = AuditOut(many=True)


class AuditIn(serializers.Serializer[Any]):
    grader = Text(max_length=200)
    right = YesNo()
    evidence = serializers.ListField(child=YesNo(), required=False, max_length=50)
    note = Text(required=False, allow_blank=True, max_length=20_000)


class AuditsIn(serializers.Serializer[Any]):
    verdicts = serializers.ListField(child=AuditIn(), max_length=200)


def _told(shown: VerdictsShown) -> Response:
    audits = [
        {name: getattr(audit, name) for name in ("grader", "revision", "right", "evidence", "note")}
        for audit in latest_audits(shown)
    ]
    return Response({"shown_at": shown.shown_at, "verdicts": shown.verdicts, "audits": audits})


class Verdicts(AssayView):
    @extend_schema(operation_id="verdicts_read", tags=["judging"], responses=VerdictsOut)
    def get(self, request: Request, uid: str) -> Response:
        """The verdicts that you were shown. 404 before you asked for them."""
        shown = shown_to(own_assignment(actor=request.user, uid=uid))
        if shown is None:
            raise NotFound("You were shown no verdicts here.")
        return _told(shown)

    @extend_schema(operation_id="verdicts_show", tags=["judging"], request=None, responses=VerdictsOut)
    def post(self, request: Request, uid: str) -> Response:
        """Be shown what graders said of the run that you judged. Your judgment stays as it is from then on."""
        return _told(show_verdicts(actor=request.user, uid=uid))

    @extend_schema(operation_id="verdicts_audit", tags=["judging"], request=AuditsIn, responses=VerdictsOut)
    def put(self, request: Request, uid: str) -> Response:
        """Say of every verdict whether it is right, and of each place it cites whether that is valid evidence."""
        audits = audit_verdicts(actor=request.user, uid=uid, payload=self.body(AuditsIn))
        return _told(audits[0].shown)


class ShareOut(serializers.Serializer[Any]):
    """A share with Wilson's interval."""

    statistic = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_units = serializers.IntegerField()
    method = serializers.CharField()
    words = serializers.CharField(allow_blank=True)


class ObjectionOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    note = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=serializers.BooleanField())


class GraderCheckedOut(serializers.Serializer[Any]):
    grader = serializers.CharField()
    right = ShareOut(help_text="Of verdicts.")
    valid = ShareOut(help_text="Of the places cited.")
    wrong = ObjectionOut(many=True, help_text="The latest verdicts found wrong, or with evidence that is not valid.")


class GradersChecked(serializers.Serializer[Any]):
    n_shown = serializers.IntegerField()
    n_audited = serializers.IntegerField()
    graders = GraderCheckedOut(many=True)


class QueueVerdicts(AssayView):
    @extend_schema(operation_id="queues_verdicts", tags=["agreement"], responses=GradersChecked)
    def get(self, request: Request, uid: str) -> Response:
        """What raters found of graders' verdicts, after their own answers. For leads."""
        found = checked(queue_for(request.user, uid, "view_agreement"), reader=request.user)
        return Response(GradersChecked(found.as_dict()).data)
