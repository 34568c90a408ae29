"""Runs posted as they finish, without a file: a receipt for each."""

from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.importing import VERSION_SETTINGS
from reviews.actions.ingesting import MOST_BYTES, STATUSES, RunReceipt, ingest_runs
from reviews.api.base import AssayView, Text, project_for
from reviews.errors import Invalid
from reviews.queries.listings import queue_in
from reviews.trajectories.detect import AUTO, FORMATS


class AsSent(BaseParser):
    """The body's bytes, so that each row is kept as it was sent. A byte too many is kept to be refused in words."""

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> bytes:
        return stream.read(MOST_BYTES + 1)


class LinesAsSent(AsSent):
    media_type = "application/x-ndjson"


class RunsQuery(serializers.Serializer[Any]):
    """What holds for all runs of the request; what a run says of itself goes before it."""

    source_format = serializers.ChoiceField([AUTO, *FORMATS], required=False, help_text="Told by content if left out.")
    queue = serializers.UUIDField(required=False, help_text="Put the items into this queue, besides what rules do.")
    family = Text(required=False)
    domain = Text(required=False)
    model = Text(required=False, help_text="The model that made the runs; hidden from raters.")
    environment = Text(required=False, help_text="Versions that raters see, as are tools, data and prompt.")
    tools = Text(required=False)
    data_ = Text(required=False)
    prompt = Text(required=False)
    reset = Text(required=False, help_text="How the environment is put back before a run.")
    stochasticity = Text(required=False, help_text="What in the environment is left to chance.")

    def get_fields(self) -> dict[str, Any]:
        """`data` is the name in the address; on the class it would hide the serializer's own."""
        return {name.rstrip("_"): field for name, field in super().get_fields().items()}


class InQueue(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    rule = serializers.CharField(required=False, help_text="The rule on arrival that brought it, if one did.")


class RunReceiptOut(serializers.Serializer[Any]):
    """What became of one run. A refused one has a reason instead of an item."""

    place = serializers.CharField(help_text="Where it stands in the body: `line 2` from 1, `index 0` from 0.")
    status = serializers.ChoiceField(STATUSES)
    item = serializers.UUIDField(required=False)
    reason = serializers.CharField(required=False)
    queues = InQueue(many=True)
    redactions = serializers.DictField(child=serializers.IntegerField(), required=False)


class RunsOut(serializers.Serializer[Any]):
    created = serializers.IntegerField()
    already_there = serializers.IntegerField()
    refused = serializers.IntegerField()
    runs = RunReceiptOut(many=True)


class Runs(AssayView):
    parser_classes = [AsSent, LinesAsSent]

    @extend_schema(
        operation_id="runs_post",
        tags=["imports"],
        parameters=[RunsQuery],
        request={"application/json": OpenApiTypes.ANY},
        responses=RunsOut,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Post up to 500 runs in any known format: one, a list, or one per line. For leads and engineers.

        Each has its receipt, in order. The same run again is there already and changes nothing, so a request whose
        answer was lost is simply sent again.
        """
        project = project_for(request.user, slug, "import")
        asked = self.asked(RunsQuery)
        if "queue" in asked:
            asked["queue"] = queue_in(project, asked["queue"])
            if asked["queue"] is None:
                raise Invalid({"queue": "This project has no such queue."})
        settings = {name: asked.pop(name) for name in VERSION_SETTINGS if name in asked}
        body: Any = request.data
        receipts = ingest_runs(
            actor=request.user,
            project=project,
            body=body if isinstance(body, bytes) else b"",  # DRF parses no empty body
            format=asked.pop("source_format", AUTO),
            settings=settings,
            **asked,
        )
        counts = {status: sum(receipt.status == status for receipt in receipts) for status in STATUSES}
        return Response({**counts, "runs": [_said(receipt) for receipt in receipts]})


def _said(receipt: RunReceipt) -> dict[str, Any]:
    if receipt.item is None:
        return {"place": receipt.place, "status": receipt.status, "reason": receipt.reason, "queues": []}
    queues = [{"queue": rule.queue.uid, "rule": rule.name} for rule in receipt.rules]
    if receipt.queue and receipt.queue.uid not in {each["queue"] for each in queues}:
        queues.append({"queue": receipt.queue.uid})
    row = {"place": receipt.place, "status": receipt.status, "item": receipt.item.uid, "queues": queues}
    return row | ({"redactions": receipt.redactions} if receipt.redactions else {})
