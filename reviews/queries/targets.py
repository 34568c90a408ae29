"""What events are about, as far as it has a page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps

from reviews.models import Event


@dataclass(frozen=True)
class Place:
    """Where a kind of target is shown: in words, the page, the fields its address is made of, and who may open it."""

    words: str
    page: str
    fields: tuple[str, ...]
    permission: str


Target = tuple[str, int]


def fields_of_targets(events: Iterable[Event], places: Mapping[str, Place]) -> dict[Target, tuple[Any, ...]]:
    """By type and id, the fields that the address of a target's page is made of. One query for each type."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for event in events:
        if event.target_type in places:
            wanted[event.target_type].add(event.target_id)
    models = {model._meta.model_name: model for model in apps.get_models()}
    return {
        (name, pk): tuple(fields)
        for name, pks in wanted.items()
        for pk, *fields in models[name]._default_manager.filter(pk__in=pks).values_list("pk", *places[name].fields)
    }
