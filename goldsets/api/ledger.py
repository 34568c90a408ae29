"""What judgement costs: work, labels and kept items, by kind, recipe and week, at a list of prices."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.pricing import write_prices
from goldsets.api.statistics import EstimateOut
from goldsets.queries import ledger as queries
from goldsets.stats.ledger import CURRENCY, PRICES
from reviews.api.base import AssayView, project_for
from reviews.errors import NotFound
from reviews.queries.projects import queue_by_slug


class LedgerQuery(serializers.Serializer[Any]):
    queue = serializers.SlugField(required=False, help_text="Only the work of this queue.")
    prices = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="The latest if left out."
    )


class LedgerLineOut(serializers.Serializer[Any]):
    """`money` is null where a price is missing; `unpriced` then says which."""

    key = serializers.CharField(allow_blank=True, help_text="The recipe, the Monday of the week, or total.")
    title = serializers.CharField()
    minutes = serializers.FloatField(help_text="Of experts and leads.")
    pieces = serializers.IntegerField(help_text="Assignments and decisions.")
    untimed = serializers.IntegerField(help_text="How many of these have no time, and count as nothing.")
    simulated_minutes = serializers.FloatField()
    money = serializers.FloatField(allow_null=True)
    unpriced = serializers.CharField(allow_blank=True)
    labels = serializers.IntegerField()
    kept = serializers.IntegerField()
    checked = EstimateOut(help_text="The share of its labels that rest on judgments.")
    minutes_per_label = EstimateOut()
    minutes_per_kept = EstimateOut()
    cost_per_label = EstimateOut()
    cost_per_kept = EstimateOut()
    kept_per_dollar = EstimateOut()


class WorkKindOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    title = serializers.CharField()
    minutes = serializers.FloatField()
    pieces = serializers.IntegerField()
    untimed = serializers.IntegerField()
    share = serializers.FloatField(help_text="Of all minutes.")
    money = serializers.FloatField(allow_null=True)


class RungOut(serializers.Serializer[Any]):
    """What one rung of the ladder took. `unpriced` says why there is no money."""

    rung = serializers.CharField(help_text="experts, human_panel, judge, classifier or rules.")
    title = serializers.CharField()
    verdicts = serializers.IntegerField(help_text="Pieces of work or scores.")
    untold = serializers.IntegerField(help_text="How many of these do not say what they took.")
    minutes = serializers.FloatField(help_text="Of people.")
    tokens = serializers.IntegerField()
    seconds = serializers.FloatField(help_text="Of computing, where no cost was said.")
    money = serializers.FloatField(allow_null=True)
    unpriced = serializers.CharField(allow_blank=True)
    cost = EstimateOut(help_text="Per label of the experts, per 1,000 verdicts of the others.")


class SavingOut(serializers.Serializer[Any]):
    decided = EstimateOut(help_text="The share of items it would decide alone, as certified.")
    minutes = EstimateOut(help_text="What an item takes people now, in minutes or in US dollars.")
    waiting = serializers.IntegerField(help_text="Items that still collect judgments.")
    per_item = EstimateOut()
    ahead = EstimateOut(help_text="Of all that wait.")


class SavingsOut(serializers.Serializer[Any]):
    reviewer = serializers.UUIDField()
    title = serializers.CharField()
    minutes = SavingOut()
    money = SavingOut()


class PricesIn(serializers.Serializer[Any]):
    prices = serializers.DictField(help_text=f"US dollars by name; what is left out has none. {', '.join(PRICES)}.")


class PricesOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    prices = serializers.DictField(child=serializers.FloatField())
    written_by = serializers.CharField()
    written_at = serializers.DateTimeField()


class LedgerOut(serializers.Serializer[Any]):
    currency = serializers.CharField()
    prices = PricesOut(allow_null=True, help_text="What it is reckoned at.")
    total = LedgerLineOut()
    kinds = WorkKindOut(many=True)
    rungs = RungOut(many=True)
    recipes = LedgerLineOut(many=True)
    weeks = LedgerLineOut(many=True)
    forecasts = SavingsOut(many=True, help_text="Of proven reviewers; nothing is certified of others.")


class LedgerOfProject(AssayView):
    @extend_schema(operation_id="ledger_read", tags=["ledger"], parameters=[LedgerQuery], responses=LedgerOut)
    def get(self, request: Request, slug: str) -> Response:
        """What judgement cost and what came of it. For leads, engineers and admins."""
        project = project_for(request.user, slug, "view_costs")
        asked = self.asked(LedgerQuery)
        queue = queue_by_slug(project, asked["queue"]) if "queue" in asked else None
        prices = queries.price_list(project, asked["prices"]) if "prices" in asked else None
        if ("queue" in asked and queue is None) or ("prices" in asked and prices is None):
            raise NotFound("The project has no such queue or list of prices.")
        found = queries.ledger(project, queue=queue, prices=prices)
        return Response(LedgerOut({**vars(found), "currency": CURRENCY}).data)


class Prices(AssayView):
    @extend_schema(operation_id="prices_list", tags=["ledger"], responses=PricesOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every list of prices, the latest first. For leads, engineers and admins."""
        return self.page(queries.price_lists(project_for(request.user, slug, "view_costs")), PricesOut)

    @extend_schema(operation_id="prices_write", tags=["ledger"], request=PricesIn, responses={201: PricesOut})
    def post(self, request: Request, slug: str) -> Response:
        """Write what an hour costs from now on; earlier lists stay. For leads."""
        project = project_for(request.user, slug, "manage_prices")
        made = write_prices(actor=request.user, project=project, **self.body(PricesIn))
        return Response(PricesOut(made).data, status=201)
