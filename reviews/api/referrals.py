"""Short of a decision: items passed on, a lead's own answer first, drafts, and decisions undone."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.adjudicating import answer_first, save_draft, undo
from reviews.actions.referring import answer_referral, put_first, refer, take_back
from reviews.api.base import AssayView, Text, Whole, allowed
from reviews.api.disagreements import DecisionIn
from reviews.api.labels import LabelOut
from reviews.enums import ReferralKind, Role
from reviews.errors import Invalid
from reviews.models import QueueItem, Referral
from reviews.queries.listings import label_by_id
from reviews.queries.referrals import asked_again, label_there, referrals_of
from reviews.queries.waiting import queue_item_by_uid


class ReferralAnswerOut(serializers.Serializer[Any]):
    """What a rater who was asked again said: in words, or by the revision of their judgment. Who it was is not told."""

    text = serializers.CharField()
    revision = serializers.IntegerField(required=False)
    at = serializers.DateTimeField()


class ReferralOut(serializers.ModelSerializer[Referral]):
    kind = serializers.ChoiceField(ReferralKind.choices)
    queue = serializers.UUIDField(source="queue.uid", allow_null=True, help_text="Where it is judged, if split out.")
    label = serializers.SerializerMethodField(help_text="The label that it has got there.")
    answers = ReferralAnswerOut(many=True)

    class Meta:
        model = Referral
        fields = ["uid", "kind", "text", "queue", "label", "at", "closed_at", "answers"]

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_label(self, referral: Referral) -> Any:
        label = label_there(referral)
        return label.uid if label else None


class ReferralIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(ReferralKind.choices)
    text = Text(max_length=2000, help_text="The question to the raters, or the reason.")
    queue = Text(max_length=120, required=False, help_text="For own_queue: the name of a queue, there or to be opened.")


class PutFirstIn(serializers.Serializer[Any]):
    first = serializers.BooleanField()


class UndoIn(serializers.Serializer[Any]):
    seen_revision = Whole(required=False, help_text="The label's revision that you looked at.")


class DecisionDraftIn(serializers.Serializer[Any]):
    given = serializers.DictField(help_text="What is entered so far, as an adjudication is written.")
    seen_revision = Whole(required=False, help_text="The label's revision that you looked at, 0 for none.")


class DecisionDraftOut(serializers.Serializer[Any]):
    given = serializers.DictField()
    saved_at = serializers.DateTimeField()


class LookAgainOut(serializers.Serializer[Any]):
    """A lead's question about an item that you judged."""

    uid = serializers.UUIDField(source="referral.uid")
    assignment = serializers.UUIDField(source="assignment.uid")
    title = serializers.CharField()
    text = serializers.CharField(source="referral.text")
    at = serializers.DateTimeField(source="referral.at")


class LookAgainAnswer(serializers.Serializer[Any]):
    text = Text(max_length=2000)


def _queue_item(user: Any, uid: Any) -> QueueItem:
    nothing = "There is no such item in a queue of yours."
    return allowed(user, "adjudicate", queue_item_by_uid(uid), nothing, project_of=lambda row: row.queue.project)


class Referrals(AssayView):
    pagination_class = None  # There are few; they come whole.

    @extend_schema(operation_id="referrals_of_item", tags=["agreement"], responses=ReferralOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """Whatever an item was passed on for, with the answers. For leads."""
        return Response(ReferralOut(referrals_of(_queue_item(request.user, uid)), many=True).data)

    @extend_schema(
        operation_id="referrals_create", tags=["agreement"], request=ReferralIn, responses={201: ReferralOut}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Send an item back to its raters, to a second lead, out of the way or into another queue. For leads."""
        queue_item = _queue_item(request.user, uid)
        referral = refer(actor=request.user, queue_item=queue_item, **self.body(ReferralIn))
        return Response(ReferralOut(referral).data, status=201)

    @extend_schema(operation_id="referrals_take_back", tags=["agreement"], responses={204: None})
    def delete(self, request: Request, uid: str) -> Response:
        """Let an item that was passed on wait as before. For leads."""
        take_back(actor=request.user, queue_item=_queue_item(request.user, uid))
        return Response(status=204)


class PutFirst(AssayView):
    @extend_schema(
        operation_id="disagreements_put_first", tags=["agreement"], request=PutFirstIn, responses={204: None}
    )
    def put(self, request: Request, uid: str) -> Response:
        """Say whether an item is decided before others, should it wait for a lead. For leads."""
        put_first(actor=request.user, queue_item=_queue_item(request.user, uid), **self.body(PutFirstIn))
        return Response(status=204)


class FirstAnswers(AssayView):
    @extend_schema(operation_id="first_answer_create", tags=["agreement"], request=DecisionIn, responses={204: None})
    def post(self, request: Request, uid: str) -> Response:
        """Answer an item before you see what its raters said; the body is that of an adjudication. For leads."""
        if not isinstance(request.data, dict):
            raise Invalid({"body": "An answer is a JSON object."})
        answer_first(actor=request.user, queue_item=_queue_item(request.user, uid), payload=request.data)
        return Response(status=204)


class DecisionDrafts(AssayView):
    @extend_schema(
        operation_id="decision_draft_save", tags=["agreement"], request=DecisionDraftIn, responses=DecisionDraftOut
    )
    def put(self, request: Request, uid: str) -> Response:
        """Keep what you have entered so far. For leads."""
        queue_item = _queue_item(request.user, uid)
        draft = save_draft(actor=request.user, queue_item=queue_item, **self.body(DecisionDraftIn))
        return Response(DecisionDraftOut(draft).data)


class Undo(AssayView):
    @extend_schema(
        operation_id="adjudications_undo", tags=["agreement"], request=UndoIn, responses={201: LabelOut, 204: None}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Take the last decision back by a new one: the label that stands then, or none where the item waits again."""
        queue_item = _queue_item(request.user, uid)
        label = undo(actor=request.user, queue_item=queue_item, **self.body(UndoIn))
        if label is None:
            return Response(status=204)
        row = label_by_id(label.pk, reader=request.user)
        return Response(LabelOut(row, context={"role": Role.LEAD}).data, status=201)


class OwnReferrals(AssayView):
    pagination_class = None  # There are few; they come whole.

    @extend_schema(operation_id="own_referrals", tags=["judging"], responses=LookAgainOut(many=True))
    def get(self, request: Request) -> Response:
        """What leads ask you about items you judged."""
        return Response(LookAgainOut(asked_again(request.user), many=True).data)


class AnswerReferral(AssayView):
    @extend_schema(
        operation_id="own_referrals_answer",
        tags=["judging"],
        request=LookAgainAnswer,
        responses={201: ReferralAnswerOut},
    )
    def post(self, request: Request, uid: str) -> Response:
        """Say why your judgment stands. A correction of it answers as well."""
        answer = answer_referral(actor=request.user, uid=uid, **self.body(LookAgainAnswer))
        return Response(ReferralAnswerOut(answer).data, status=201)
