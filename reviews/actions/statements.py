"""Runs the few statements that are written by hand, because the ORM would spend more time on them than the database."""

from typing import Any

from django.db import connection


def first_row(statement: str, **values: Any) -> tuple[Any, ...] | None:
    """The first row that the statement gives, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def pairs(statement: str, **values: Any) -> dict[Any, Any]:
    """All rows of a statement with two columns, the second by the first.

    A list goes as one array (`= ANY(%(keys)s)`): the driver takes longer to cut a statement with a thousand
    placeholders into its pieces than the database to answer it.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return dict(cursor.fetchall())


def commit_soon() -> None:
    """Let the transaction that is open commit without waiting for the disk. What it wrote is never there in part, nor
    without what was committed before it; a server that crashes within the next second may lose it whole."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
