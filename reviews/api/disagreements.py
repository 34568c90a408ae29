"""Where raters differ, and how a lead decides."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.adjudicating import adjudicate, adjudicate_alike, open_names
from reviews.api.base import AssayView, Text, Whole, allowed, queue_for
from reviews.api.judging import FailureOut, Payload, ValuesOut
from reviews.api.labels import LabelOut
from reviews.api.pages import RankedPages
from reviews.enums import ReasonCode, Role, WaitsFor
from reviews.errors import Invalid
from reviews.models import QueueItem
from reviews.queries.alike import MOST_ALIKE, Batch, batches
from reviews.queries.disagreements import FAILURE_STEP, STEP_LABELS, Filters, InboxRow, inbox
from reviews.queries.listings import label_by_id
from reviews.queries.waiting import (
    differing_keys,
    differing_steps,
    judgments_on,
    queue_item_by_uid,
    raters_of,
    text_keys,
)


class Said(Payload):
    rater = serializers.CharField(help_text="A letter, drawn anew for each item.")


class DisagreementsQuery(serializers.Serializer[Any]):
    """What of the inbox is wanted, and in which order."""

    criterion = serializers.CharField(
        required=False,
        max_length=100,
        help_text=f"On which raters differ; “{FAILURE_STEP}” or “{STEP_LABELS}” as well.",
    )
    gates = serializers.ChoiceField(["failed", "passed"], required=False, help_text="Whether a rater failed a gate.")
    family = serializers.CharField(required=False, max_length=100)
    waits_for = serializers.ChoiceField(
        WaitsFor.choices, required=False, help_text="Without it, all but what was passed on to raters or set apart."
    )
    order = serializers.ChoiceField(
        ["worth", "age"],
        required=False,
        help_text="`age`: the oldest first. Else what was put first, then failed "
        "gates, how many criteria differ, how undecided graders are, and age.",
    )


class DisagreementOut(serializers.Serializer[Any]):
    """An item that waits for a lead, with what it is ordered by."""

    uid = serializers.UUIDField(source="queue_item.uid", help_text="Names it in an adjudication.")
    item = serializers.UUIDField(source="queue_item.item.uid")
    title = serializers.CharField(source="queue_item.item.subject.title")
    family = serializers.CharField(source="queue_item.item.subject.family")
    waits_for = serializers.ChoiceField(WaitsFor.choices, source="queue_item.waits_for")
    waiting_since = serializers.DateTimeField(source="queue_item.waiting_since")
    first = serializers.BooleanField(source="queue_item.decide_first", help_text="Whether it was put before others.")
    failed_gates = serializers.SerializerMethodField(help_text="Keys of the gates that a rater failed.")
    failure_steps_differ = serializers.BooleanField(source="steps_differ")
    doubt = serializers.FloatField(help_text="How undecided graders are: 0 where they agree, 1 where halves differ.")
    differing = serializers.ListField(child=serializers.CharField(), required=False)
    differing_steps = serializers.ListField(child=serializers.IntegerField(), required=False)
    judgments = Said(many=True, required=False)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_failed_gates(self, row: InboxRow) -> list[str]:
        return [gate.key for gate in row.failed_gates]

    def to_representation(self, row: InboxRow) -> dict[str, Any]:
        said = self.context["judgments"].get(row.queue_item.pk, [])
        differing = {"differing": differing_keys(said, self.context["texts"]), "differing_steps": differing_steps(said)}
        return {**super().to_representation(row), **differing, "judgments": said}

    def get_fields(self) -> dict[str, Any]:
        """What was said is looked up once for the page, not once for each row."""
        fields = super().get_fields()
        if "judgments" in self.context:
            del fields["differing"], fields["differing_steps"], fields["judgments"]
        return fields


class Disagreements(AssayView):
    pagination_class = RankedPages

    @extend_schema(
        operation_id="disagreements_list",
        tags=["agreement"],
        parameters=[DisagreementsQuery],
        responses=DisagreementOut(many=True),
    )
    def get(self, request: Request, uid: str) -> Response:
        """The queue's items that wait for a lead, the most worth first, with what each rater said. For leads."""
        queue = queue_for(request.user, uid, "adjudicate")
        filters = Filters(**self.asked(DisagreementsQuery))
        paginator = self.pagination_class(lambda row: row.rank(filters))
        chosen = paginator.paginate_queryset(inbox(queue, request.user, filters=filters).rows, request, view=self)
        items = [row.queue_item for row in chosen]
        context = {"judgments": judgments_on(items, request.user), "texts": text_keys(queue, items)}
        return paginator.get_paginated_response(DisagreementOut(chosen, many=True, context=context).data)


class NameOut(serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="The letter, as among the disagreements.")
    name = serializers.CharField()


class Names(AssayView):
    pagination_class = None

    @extend_schema(
        operation_id="disagreements_open_names", tags=["agreement"], request=None, responses=NameOut(many=True)
    )
    def post(self, request: Request, uid: str) -> Response:
        """Open the names of an item's raters before deciding; the audit log says that it was done. For leads."""
        queue_item = allowed(
            request.user,
            "adjudicate",
            queue_item_by_uid(uid),
            "There is no such item in a queue of yours.",
            project_of=lambda row: row.queue.project,
        )
        open_names(actor=request.user, queue_item=queue_item)
        named = [{"rater": letter, "name": str(rater)} for letter, rater in raters_of(queue_item, request.user)]
        return Response(NameOut(named, many=True).data)


class AlikeOut(serializers.Serializer[Any]):
    """Items on which raters differ in one criterion alone, between the same values: one answer settles all."""

    criterion = serializers.CharField(source="criterion.key")
    said = serializers.ListField(child=serializers.CharField(), help_text="The values given, in words.")
    queue_items = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_queue_items(self, batch: Batch) -> list[Any]:
        return [row.queue_item.uid for row in batch.rows]


class AlikeIn(serializers.Serializer[Any]):
    """One value for several items that are alike."""

    queue_items = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MOST_ALIKE)
    criterion = serializers.CharField()
    value = serializers.JSONField(help_text="As in a judgment.")
    reason = serializers.ChoiceField(ReasonCode.choices)
    note = Text(required=False, default="")


class DisagreementsAlike(AssayView):
    pagination_class = None  # There are few; they come whole.

    @extend_schema(operation_id="disagreements_alike", tags=["agreement"], responses=AlikeOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What can be settled several at a time, the largest batch first. For leads."""
        queue = queue_for(request.user, uid, "adjudicate")
        return Response(AlikeOut(batches(queue, inbox(queue, request.user).rows), many=True).data)

    @extend_schema(
        operation_id="disagreements_settle_alike",
        tags=["agreement"],
        request=AlikeIn,
        responses={201: LabelOut(many=True)},
    )
    def post(self, request: Request, uid: str) -> Response:
        """Settle several items of one batch by one value: all of them or none. For leads."""
        queue = queue_for(request.user, uid, "adjudicate")
        given = self.body(AlikeIn)
        labels = adjudicate_alike(actor=request.user, queue=queue, items=given.pop("queue_items"), **given)
        rows = [label_by_id(label.pk, reader=request.user) for label in labels]
        return Response(LabelOut(rows, many=True, context={"role": Role.LEAD}).data, status=201)


class DecisionIn(serializers.Serializer[Any]):
    """A lead's decision: a value for each criterion, and a reason where the raters differ."""

    gates = serializers.DictField(child=serializers.ChoiceField(["pass", "fail"]), required=False)
    criteria = serializers.DictField(required=False, help_text="As in a judgment, without answers in words.")
    candidates = ValuesOut(many=True, required=False, help_text="In the order of the item.")
    steps = serializers.DictField(child=serializers.IntegerField(), required=False, help_text="Labels of steps.")
    failure = FailureOut(required=False, help_text="Needed when a gate fails.")
    reasons = serializers.DictField(child=serializers.ChoiceField(ReasonCode.choices), required=False)
    notes = serializers.DictField(child=serializers.CharField(), required=False)
    note = serializers.CharField(required=False, help_text="Becomes the label's rationale.")
    ambiguous = serializers.BooleanField(
        required=False, help_text="true: no value is right, and the label has none. Needs a note, and nothing else."
    )


class AdjudicationIn(DecisionIn):
    """A decision with the item that it is about."""

    queue_item = serializers.UUIDField(help_text="The `uid` of the disagreement.")
    seen_revision = Whole(required=False, help_text="The label's revision that you looked at, 0 for none.")


class Adjudications(AssayView):
    @extend_schema(
        operation_id="adjudications_create", tags=["agreement"], request=AdjudicationIn, responses={201: LabelOut}
    )
    def post(self, request: Request) -> Response:
        """Settle an item that waits, or decide a settled one anew. The answer is the label. For leads."""
        queue_item, seen, payload = self._read()
        label = adjudicate(actor=request.user, queue_item=queue_item, payload=payload, seen_revision=seen)
        return Response(
            LabelOut(label_by_id(label.pk, reader=request.user), context={"role": Role.LEAD}).data, status=201
        )

    def _read(self) -> tuple[QueueItem, int, dict[str, Any]]:
        """The item, the label's revision that was looked at, the latest where it is not said, and the decision."""
        if not isinstance(self.request.data, dict):
            raise Invalid({"body": "A decision is a JSON object."})
        payload = dict(self.request.data)
        try:
            named = serializers.UUIDField().run_validation(payload.pop("queue_item", None))
        except serializers.ValidationError:
            raise Invalid({"queue_item": "Name the item by its `uid` among the disagreements."}) from None
        nothing = "There is no such item in a queue of yours."
        queue_item = allowed(
            self.request.user,
            "adjudicate",
            queue_item_by_uid(named),
            nothing,
            project_of=lambda row: row.queue.project,
        )
        seen = payload.pop("seen_revision", None)
        if seen is None:
            seen = queue_item.label.revision if queue_item.label else 0
        elif type(seen) is not int:
            raise Invalid({"seen_revision": "The revision is a whole number."})
        return queue_item, seen, payload
