"""While Redis is away people go on: pages open, and what the cache would have known is had elsewhere."""

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import caches

pytestmark = pytest.mark.django_db


@pytest.fixture
def redis_away(settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "unix:///nowhere.sock"}}


def test_somebody_signed_in_stays_signed_in(client, settings):
    alice = get_user_model().objects.create_user("alice@example.org")
    client.force_login(alice)
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "unix:///nowhere.sock"}}
    page = client.get("/")
    assert page.status_code == 200
    assert page.context["user"] == alice


def test_somebody_can_sign_in(client, redis_away):
    get_user_model().objects.create_user("alice@example.org", "a long password")
    answer = client.post("/accounts/login/", {"login": "alice@example.org", "password": "a long password"})
    assert answer.status_code == 302


def test_it_forgets_and_does_not_fail(redis_away):
    cache = caches["default"]
    assert cache.set("key", 1) is None
    assert cache.get("key") is None
    assert cache.get("key", "otherwise") == "otherwise"
    assert cache.get_many(["key"]) == {}
    assert cache.set_many({"key": 1}) == []
    assert cache.has_key("key") is False
    assert cache.add("key", 1) is True
    assert cache.touch("key") is False
    assert cache.delete("key") is False
    assert cache.delete_many(["key"]) is None
    assert cache.incr("key", 2) == 2


def test_it_keeps_what_it_is_given_while_redis_is_there():
    cache = caches["default"]
    cache.set("key", 1)
    assert cache.get("key") == 1
    assert cache.incr("key") == 2
    assert cache.add("key", 5) is False
    assert cache.get_many(["key", "other"]) == {"key": 2}
    assert cache.has_key("key") is True
    assert cache.delete("key") is True
    assert cache.get("key") is None
