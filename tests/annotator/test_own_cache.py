"""Tests that run side by side share no cache: what one keeps, no other throws away."""

import os

from django.core.cache import cache


def test_each_worker_has_a_redis_database_of_its_own():
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    number = int(worker.removeprefix("gw")) + 1 if worker else 0
    assert cache._cache.get_client().connection_pool.connection_kwargs["db"] == number
