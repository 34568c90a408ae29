"""The cache, which may be away without stopping anybody: what it keeps can be had again, or done without."""

from typing import Any

import structlog
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


class ForgivingRedisCache(RedisCache):
    """Redis, or, while Redis does not answer, a cache that forgets everything.

    Sessions are then read from the database, and attempts and API requests are not counted. People can go on judging.
    """

    def get(self, key: Any, default: Any = None, version: Any = None) -> Any:
        return self._or(default, super().get, key, default, version)

    def get_many(self, keys: Any, version: Any = None) -> dict[Any, Any]:
        return self._or({}, super().get_many, keys, version)

    def has_key(self, key: Any, version: Any = None) -> bool:
        return self._or(False, super().has_key, key, version)

    def add(self, key: Any, value: Any, *rest: Any, **named: Any) -> bool:
        return self._or(True, super().add, key, value, *rest, **named)

    def set(self, key: Any, value: Any, *rest: Any, **named: Any) -> None:
        self._or(None, super().set, key, value, *rest, **named)

    def set_many(self, data: Any, *rest: Any, **named: Any) -> list[Any]:
        return self._or([], super().set_many, data, *rest, **named)

    def touch(self, key: Any, *rest: Any, **named: Any) -> bool:
        return self._or(False, super().touch, key, *rest, **named)

    def delete(self, key: Any, version: Any = None) -> bool:
        return self._or(False, super().delete, key, version)

    def delete_many(self, keys: Any, version: Any = None) -> None:
        self._or(None, super().delete_many, keys, version)

    def incr(self, key: Any, delta: int = 1, version: Any = None) -> int:
        return self._or(delta, super().incr, key, delta, version)

    @staticmethod
    def _or(otherwise: Any, ask: Any, *positional: Any, **named: Any) -> Any:
        try:
            return ask(*positional, **named)
        except RedisError as error:
            log.warning("cache_away", error=type(error).__name__)
            return otherwise
