"""Webhooks: addresses that hear of a project's events, and what went to them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.webhooks import change_webhook, create_webhook, replay
from reviews.api.base import AssayView, YesNo, allowed, project_for
from reviews.enums import DeliveryState
from reviews.models import Delivery, DeliveryTry, Webhook
from reviews.queries.webhooks import deliveries_of, delivery_by_uid, webhook_by_uid, webhooks_of


class WebhookOut(serializers.ModelSerializer[Webhook]):
    class Meta:
        model = Webhook
        fields = ["uid", "url", "events", "active", "created_at"]


class NewWebhookOut(WebhookOut):
    """With the secret by which its receiver checks signatures; it is told this once."""

    class Meta:
        model = Webhook
        fields = [*WebhookOut.Meta.fields, "secret"]


class WebhookIn(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500)
    events = serializers.ListField(child=serializers.CharField(max_length=40), max_length=20)


class WebhookChange(serializers.Serializer[Any]):
    events = serializers.ListField(child=serializers.CharField(max_length=40), max_length=20, required=False)
    active = YesNo(required=False)


class TryOut(serializers.ModelSerializer[DeliveryTry]):
    """One try: the status that came back, or why nothing did."""

    class Meta:
        model = DeliveryTry
        fields = ["number", "at", "status", "milliseconds", "problem"]


class DeliveryOut(serializers.ModelSerializer[Delivery]):
    event = serializers.CharField(source="name")
    state = serializers.ChoiceField(DeliveryState.choices)
    tries = TryOut(many=True)

    class Meta:
        model = Delivery
        fields = ["uid", "event", "state", "due_at", "created_at", "tries"]


NOTHING = "There is no such webhook, or you are not in its project."


def _webhook(user: Any, uid: Any) -> Webhook:
    return allowed(user, "manage_webhooks", webhook_by_uid(uid), NOTHING, project_of=lambda row: row.project)


class Webhooks(AssayView):
    @extend_schema(operation_id="webhooks_list", tags=["webhooks"], responses=WebhookOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's webhooks. For leads and engineers."""
        return self.page(webhooks_of(project_for(request.user, slug, "manage_webhooks")), WebhookOut)

    @extend_schema(operation_id="webhooks_create", tags=["webhooks"], request=WebhookIn, responses={201: NewWebhookOut})
    def post(self, request: Request, slug: str) -> Response:
        """Tell an address of some kinds of events from now on. The answer alone has its secret."""
        project = project_for(request.user, slug, "manage_webhooks")
        webhook = create_webhook(actor=request.user, project=project, **self.body(WebhookIn))
        return Response(NewWebhookOut(webhook).data, status=201)


class WebhookDetail(AssayView):
    @extend_schema(operation_id="webhooks_change", tags=["webhooks"], request=WebhookChange, responses=WebhookOut)
    def patch(self, request: Request, uid: str) -> Response:
        """Change what a webhook hears of, or switch it off or on."""
        webhook = change_webhook(actor=request.user, webhook=_webhook(request.user, uid), **self.body(WebhookChange))
        return Response(WebhookOut(webhook).data)


class Deliveries(AssayView):
    @extend_schema(operation_id="webhooks_deliveries", tags=["webhooks"], responses=DeliveryOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What went to a webhook or is to go, with every try."""
        return self.page(deliveries_of(_webhook(request.user, uid)), DeliveryOut)


class Replay(AssayView):
    @extend_schema(operation_id="webhooks_replay", tags=["webhooks"], request=None, responses={201: DeliveryOut})
    def post(self, request: Request, uid: str) -> Response:
        """Send an event once more, under the same id."""
        delivery = allowed(
            request.user,
            "manage_webhooks",
            delivery_by_uid(uid),
            "There is no such delivery, or you are not in its project.",
            project_of=lambda row: row.webhook.project,
        )
        return Response(DeliveryOut(replay(actor=request.user, delivery=delivery)).data, status=201)
