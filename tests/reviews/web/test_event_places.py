"""Every kind of target that an event leads to is looked up by fields it has, and its page by an address that fits."""

import uuid

import pytest
from django.apps import apps
from django.conf import settings
from django.db.models import UUIDField
from django.urls import reverse
from django.utils.module_loading import import_string

from reviews.queries.targets import Place

PLACES = {name: place for path in settings.EVENT_PLACES for name, place in import_string(path).items()}
MODELS = {model._meta.model_name: model for model in apps.get_models()}


@pytest.mark.django_db
@pytest.mark.parametrize("name", PLACES)
def test_the_page_of_every_kind_of_target_is_found(name):
    place: Place = PLACES[name]
    query = MODELS[name]._default_manager.values_list(*place.fields)
    assert list(query) == []
    fields = [column.field for column in query.query.select]
    some = [uuid.uuid4() if isinstance(field, UUIDField) else 1 for field in fields]
    assert reverse(place.page, args=some)
