"""What happens on arrival: rules that put new items into queues, and what is redacted."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.redacting import set_redaction
from reviews.actions.routing import change_rule, create_rule, remove_rule, try_rule
from reviews.api.base import AssayView, Text, Whole, project_for
from reviews.arrival import OPERATORS
from reviews.enums import RedactionKind
from reviews.errors import Invalid, NotFound
from reviews.models import ArrivalRule, Project, Redaction
from reviews.models.arrival import MAX_PRIORITY
from reviews.queries.arrivals import redaction_of, rule_by_uid, rules_of
from reviews.queries.listings import queue_in


class RuleConditionOut(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="family, outcome.result, …, slice.NAME, score.NAME or versions.NAME.")
    op = serializers.ChoiceField(OPERATORS)
    value = serializers.JSONField(required=False, help_text="A text or a number; a list of them for in.")
    other = serializers.CharField(required=False, help_text="For parts: the other grader, as score.NAME.")


class RuleOut(serializers.ModelSerializer[ArrivalRule]):
    queue = serializers.UUIDField(source="queue.uid")
    conditions = RuleConditionOut(many=True)
    position = serializers.IntegerField()
    priority = serializers.IntegerField()

    class Meta:
        model = ArrivalRule
        fields = ["uid", "name", "queue", "conditions", "share", "priority", "position", "created_at"]


@extend_schema_field(RuleConditionOut(many=True))
class Conditions(serializers.Field[Any, Any, Any, Any]):
    """Conditions as they were sent; the action says what is wrong with them."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class TrialIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField(required=False)
    conditions = Conditions(required=False, help_text="All of them must hold. None: every item.")
    share = serializers.FloatField(required=False, help_text="Above 0, at most 1: drawn by content.")
    priority = Whole(required=False, min_value=0, max_value=MAX_PRIORITY)


class RuleIn(TrialIn):
    name = Text(max_length=80)
    queue = serializers.UUIDField()
    position = Whole(required=False, min_value=0, max_value=2**31 - 1)


class RuleChange(RuleIn):
    name = Text(required=False, max_length=80)
    queue = serializers.UUIDField(required=False)


class TrialOut(serializers.Serializer[Any]):
    fits = serializers.IntegerField(help_text="How many of the items that are there the rule would have taken.")
    looked_at = serializers.IntegerField(help_text="The latest so many were looked at.")


def _asked(view: AssayView, serializer: type[serializers.Serializer[Any]], project: Project) -> dict[str, Any]:
    asked = view.body(serializer)
    if "queue" in asked:
        asked["queue"] = queue_in(project, asked["queue"])
        if asked["queue"] is None:
            raise Invalid({"queue": "This project has no such queue."})
    return asked


class ArrivalRules(AssayView):
    @extend_schema(operation_id="arrival_rules_list", tags=["arrival"], responses=RuleOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The rules that are in force, the latest first; `position` says in which order they are tried. For leads."""
        return self.page(rules_of(project_for(request.user, slug, "manage_rules")), RuleOut)

    @extend_schema(operation_id="arrival_rules_create", tags=["arrival"], request=RuleIn, responses={201: RuleOut})
    def post(self, request: Request, slug: str) -> Response:
        """Make a rule for items that come in from now on. For leads."""
        project = project_for(request.user, slug, "manage_rules")
        rule = create_rule(actor=request.user, project=project, **_asked(self, RuleIn, project))
        return Response(RuleOut(rule).data, status=201)


class ArrivalTrial(AssayView):
    @extend_schema(operation_id="arrival_rules_try", tags=["arrival"], request=TrialIn, responses=TrialOut)
    def post(self, request: Request, slug: str) -> Response:
        """How many of the items that are there a rule would have taken. Nothing is written. For leads."""
        project = project_for(request.user, slug, "manage_rules")
        fits, looked_at = try_rule(actor=request.user, project=project, **_asked(self, TrialIn, project))
        return Response({"fits": fits, "looked_at": looked_at})


class ArrivalRuleDetail(AssayView):
    def _rule(self, slug: str, uid: str) -> tuple[Project, ArrivalRule]:
        project = project_for(self.request.user, slug, "manage_rules")
        rule = rule_by_uid(project, uid)
        if rule is None:
            raise NotFound("This project has no such rule.")
        return project, rule

    @extend_schema(operation_id="arrival_rules_change", tags=["arrival"], request=RuleChange, responses=RuleOut)
    def patch(self, request: Request, slug: str, uid: str) -> Response:
        """Change a rule. Items that it brought stay where they are. For leads."""
        project, rule = self._rule(slug, uid)
        return Response(RuleOut(change_rule(actor=request.user, rule=rule, **_asked(self, RuleChange, project))).data)

    @extend_schema(operation_id="arrival_rules_remove", tags=["arrival"], responses={204: None})
    def delete(self, request: Request, slug: str, uid: str) -> Response:
        """Let a rule end. Items that it brought stay where they are. For leads."""
        _project, rule = self._rule(slug, uid)
        remove_rule(actor=request.user, rule=rule)
        return Response(status=204)


class PatternOut(serializers.Serializer[Any]):
    name = Text(max_length=30, help_text="Stands in the mark: ⟦order 1⟧.")
    pattern = Text(max_length=500, help_text="A regular expression that RE2 can run in linear time.")


class RedactionOut(serializers.ModelSerializer[Redaction]):
    kinds = serializers.ListField(child=serializers.ChoiceField(RedactionKind.choices))
    own = PatternOut(many=True)

    class Meta:
        model = Redaction
        fields = ["kinds", "own", "region"]


class RedactionIn(serializers.Serializer[Any]):
    kinds = serializers.ListField(child=serializers.ChoiceField(RedactionKind.choices), max_length=10)
    own = PatternOut(many=True, required=False)
    region = Text(required=False, max_length=2, help_text="The country whose phone numbers need no prefix: US.")


class RedactionDetail(AssayView):
    @extend_schema(operation_id="redaction_read", tags=["arrival"], responses=RedactionOut)
    def get(self, request: Request, slug: str) -> Response:
        """What is replaced in runs as they come in. For leads and admins."""
        return Response(RedactionOut(redaction_of(project_for(request.user, slug, "manage_redaction"))).data)

    @extend_schema(operation_id="redaction_set", tags=["arrival"], request=RedactionIn, responses=RedactionOut)
    def put(self, request: Request, slug: str) -> Response:
        """Say what is replaced from now on, in place of what was before. For leads and admins."""
        project = project_for(request.user, slug, "manage_redaction")
        asked = self.body(RedactionIn)
        asked["own"] = [dict(each) for each in asked.get("own", [])]
        return Response(RedactionOut(set_redaction(actor=request.user, project=project, **asked)).data)
