"""Two runs step by step: which steps answer each other, where the runs part, and what differs in each pair."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.base import AssayView
from reviews.api.items import readable_item
from reviews.queries.comparing import pair_of, rows_from
from reviews.trajectories.alignment import Relation


class ComparedRunOut(serializers.Serializer[Any]):
    uid = serializers.UUIDField()
    step_count = serializers.IntegerField()


class SpanOut(serializers.Serializer[Any]):
    """Characters of a field's text, counted in code points."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class ChangeOut(serializers.Serializer[Any]):
    """What differs in one part of two steps; what no span covers is the same text on both sides."""

    path = serializers.CharField(help_text="The field, or error, attachments or note.")
    label = serializers.CharField()
    left = SpanOut(many=True)
    right = SpanOut(many=True)


class AlignedRowOut(serializers.Serializer[Any]):
    """A step beside the one that answers it; a side that has none is absent."""

    number = serializers.IntegerField()
    relation = serializers.ChoiceField([relation.value for relation in Relation])
    left = serializers.IntegerField(required=False, help_text="The number of the step in the left run.")
    right = serializers.IntegerField(required=False, help_text="The number of the step in the right run.")
    changes = ChangeOut(many=True, required=False, help_text="Where the two differ.")


class RelationsOut(serializers.Serializer[Any]):
    same = serializers.IntegerField()
    differs = serializers.IntegerField()
    only_left = serializers.IntegerField()
    only_right = serializers.IntegerField()


class AlignmentOut(serializers.Serializer[Any]):
    left = ComparedRunOut()
    right = ComparedRunOut()
    count = serializers.IntegerField(help_text="How many rows there are.")
    relations = RelationsOut(help_text="How many rows there are of each kind.")
    diverges = serializers.IntegerField(required=False, help_text="The first row that differs; absent where none does.")
    rows = AlignedRowOut(many=True)
    next = serializers.IntegerField(required=False, help_text="Where the next window begins; absent at the end.")


class AlignmentQuery(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        """`with` and `from` are reserved words and cannot be written as fields."""
        return {
            "with": serializers.UUIDField(help_text="The item to set beside this one."),
            "from": serializers.IntegerField(min_value=1, max_value=2**31 - 1, default=1, help_text="The first row."),
        }


class ItemAlignment(AssayView):
    @extend_schema(operation_id="items_alignment", tags=["items"], parameters=[AlignmentQuery], responses=AlignmentOut)
    def get(self, request: Request, uid: str) -> Response:
        """An item's run beside another of the project, a window of rows at a time. For leads and engineers."""
        item, _role = readable_item(request.user, uid)
        asked = self.asked(AlignmentQuery)
        left, right = pair_of(item.project, uid, asked["with"], reader=request.user)
        return Response(rows_from(left, right, first=asked["from"]))
