"""Reads JSON bodies from strangers: within limits, and refused where the database could not hold what they say."""

import json
import math
from collections.abc import Iterator
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from reviews.actions.payloads import storable
from reviews.errors import Invalid

MAX_DEPTH = 60
MAX_INTEGER = 2**63 - 1
NAME_LENGTH = 100


class StrictJSONParser(BaseParser):
    """JSON as the API takes it.

    A body that is no JSON, says a key twice, or is nested too deep raises ParseError; one with text or numbers that
    cannot be stored raises Invalid with the place of each. No view ever sees such values.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise RequestDataTooBig
        value = _read(body)
        errors = dict(_unstorable(value))
        if errors:
            raise Invalid(errors)
        return value


def _read(body: bytes) -> Any:
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_members)
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except RecursionError:
        raise ParseError(f"The body is nested more than {MAX_DEPTH} levels deep.") from None
    except ValueError as error:
        raise ParseError(f"The body is not valid JSON: {error}.") from None
    if _depth_exceeds(value):
        raise ParseError(f"The body is nested more than {MAX_DEPTH} levels deep.")
    return value


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _depth_exceeds(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for parent in level if isinstance(parent, dict | list) for child in _children(parent)]
        if not level:
            return False
    return True


def _children(parent: dict[str, Any] | list[Any]) -> Iterator[Any]:
    return iter(parent.values() if isinstance(parent, dict) else parent)


def _unstorable(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each place that PostgreSQL could not hold, as ("evidence.0.quote", sentence)."""
    place = path or "body"
    if isinstance(value, str) and not storable(value):
        yield place, "The text has characters that cannot be stored (NUL, or half of a surrogate pair)."
    elif isinstance(value, bool):
        return
    elif isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        yield place, "The number has more than 64 bits."
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, "The number is too large."
    elif isinstance(value, dict):
        for name, child in value.items():
            if not storable(name):
                yield place, "A key has characters that cannot be stored."
            else:
                yield from _unstorable(child, f"{path}.{name[:NAME_LENGTH]}" if path else name[:NAME_LENGTH])
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _unstorable(child, f"{path}.{number}" if path else str(number))
