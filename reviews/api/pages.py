"""Pages of a list by cursor: new rows never shift what was already read."""

from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request


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
