"""How a run looks in the API: windows of steps, each by its citable fields."""

from typing import Any

from rest_framework import serializers

from reviews.enums import StepRole


class FieldOut(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="Names the field in evidence.")
    label = serializers.CharField()
    text = serializers.CharField(help_text="Evidence quotes it; `start` and `end` count its code points.")


class AttachmentOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    note = serializers.CharField()


class SpentOut(serializers.Serializer[Any]):
    """What was taken, as far as the source says it; never a date."""

    at = serializers.FloatField(required=False, help_text="Seconds from the run's start.")
    seconds = serializers.FloatField(required=False, help_text="How long it lasted.")
    tokens_in = serializers.IntegerField(required=False)
    tokens_out = serializers.IntegerField(required=False)


class StepOut(serializers.Serializer[Any]):
    """One message, or one tool call with its result."""

    number = serializers.IntegerField()
    role = serializers.ChoiceField(StepRole.choices)
    fields_ = FieldOut(many=True)
    tool = serializers.CharField(required=False)
    has_result = serializers.BooleanField(required=False)
    error = serializers.BooleanField(required=False)
    attachments = AttachmentOut(many=True, required=False)
    note = serializers.CharField(required=False)
    spent = SpentOut(required=False)

    def get_fields(self) -> dict[str, Any]:
        """`fields` is the name in the answer; on the class it would hide the serializer's own."""
        return {name.rstrip("_"): field for name, field in super().get_fields().items()}


class StepWindow(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="How many steps the run has.")
    rows = StepOut(many=True)
    next = serializers.IntegerField(required=False, help_text="Where the next window begins; absent at the end.")


class StepsQuery(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        """`from` is a reserved word and cannot be written as a field."""
        return {"from": serializers.IntegerField(min_value=1, max_value=2**31 - 1, default=1)}
