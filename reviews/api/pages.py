"""Pages of a list by cursor: new rows never shift what was already read."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param


class Pages(CursorPagination):
    """50 rows a page, up to 500 with `page_size`; the latest come first unless the view says otherwise."""

    ordering = "-pk"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
    invalid_cursor_message = "This cursor is not one that this list gave out."
    cursor_query_description = "Where the page begins, as `next` or `previous` of another page gave it."

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        return (getattr(view, "ordering", self.ordering),)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """A position is the key of a row; anything else would only fail later, in the database."""
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and not _is_key(str(cursor.position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor


def _is_key(position: str) -> bool:
    return position.isascii() and position.isdigit() and len(position) < 19


class RankedPages(Pages):
    """The same of rows that were ranked in memory: a page goes on behind the rank of the last row that was read.

    So it does where that row is gone by now. `rank` gives a row's rank: numbers, truth values and times.
    """

    def __init__(self, rank: Callable[[Any], tuple[Any, ...]] = lambda row: ()) -> None:
        self.rank = rank

    def paginate_queryset(self, queryset: Sequence[Any], request: Request, view: Any = None) -> list[Any]:
        size = self.get_page_size(request) or self.page_size
        self.address = request.build_absolute_uri()
        backwards, rank = self._read(request.query_params.get(self.cursor_query_param))
        ranks = [_numbers(self.rank(row)) for row in queryset]
        if backwards:
            end = sum(each < rank for each in ranks)
            begin = max(0, end - size)
        else:
            begin = sum(each <= rank for each in ranks)
            end = begin + size
        chosen = list(queryset[begin:end])
        self.before = ranks[begin] if chosen and begin else None
        self.after = ranks[begin + len(chosen) - 1] if chosen and end < len(ranks) else None
        return chosen

    def get_next_link(self) -> str | None:
        return self._link("after", self.after)

    def get_previous_link(self) -> str | None:
        return self._link("before", self.before)

    def _link(self, way: str, rank: list[float] | None) -> str | None:
        if rank is None:
            return None
        cursor = urlsafe_b64encode(json.dumps([way, *rank]).encode()).decode()
        return replace_query_param(self.address, self.cursor_query_param, cursor)

    def _read(self, cursor: str | None) -> tuple[bool, list[float]]:
        """Whether the rows before are meant, and the rank they are before or behind; behind none at the start."""
        if cursor is None:
            return False, []
        try:
            way, *rank = json.loads(urlsafe_b64decode(cursor))
        except (ValueError, TypeError):
            raise NotFound(self.invalid_cursor_message) from None
        if way not in ("after", "before") or not all(type(part) in (int, float) for part in rank):
            raise NotFound(self.invalid_cursor_message)
        return way == "before", rank


def _numbers(rank: tuple[Any, ...]) -> list[float]:
    return [part.timestamp() if isinstance(part, datetime) else float(part) for part in rank]
