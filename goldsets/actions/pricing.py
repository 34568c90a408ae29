"""Prices: what an hour costs, written anew whenever it changes."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from goldsets.enums import GoldVerb
from goldsets.models import PriceList
from goldsets.stats.ledger import wrong_prices
from reviews.actions.events import record
from reviews.errors import Invalid
from reviews.models import Project
from reviews.rules import check


@transaction.atomic
def write_prices(*, actor: Any, project: Project, prices: Mapping[str, Any]) -> PriceList:
    """A new list of prices in US dollars; what it leaves out has no price. Earlier lists stay and can be reckoned with.

    Raises Forbidden, or Invalid with every price at fault.
    """
    check(actor, "manage_prices", project)
    if errors := wrong_prices(prices):
        raise Invalid(errors)
    if not prices:
        raise Invalid({"prices": "Name at least one price."})
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    latest = PriceList.objects.filter(project=project).aggregate(latest=Max("number"))["latest"] or 0
    said = {name: float(price) for name, price in prices.items()}
    made = PriceList.objects.create(project=project, number=latest + 1, prices=said, written_by=actor)
    record(project=project, actor=actor, verb=GoldVerb.PRICES_WRITTEN, target=made, number=made.number, prices=said)
    return made
