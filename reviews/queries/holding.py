"""What one process at a time does: it holds a key in the cache, which ends by itself should the process be killed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache


@contextmanager
def held(key: str, *, seconds: int) -> Iterator[bool]:
    """Whether nobody else holds it. Whoever is late, so that another holds it by now, leaves that one's alone."""
    mine = secrets.token_hex(16)
    taken = bool(cache.add(key, mine, seconds))
    try:
        yield taken
    finally:
        if taken and cache.get(key) == mine:
            cache.delete(key)
