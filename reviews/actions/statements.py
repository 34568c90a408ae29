"""Runs the few statements that are written by hand, because the ORM would spend more time on them than the database."""

from typing import Any

from django.db import connection


def first_row(statement: str, **values: Any) -> tuple[Any, ...] | None:
    """The first row that the statement gives, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()
