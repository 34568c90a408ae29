"""Runs the few statements that are written by hand, because the ORM would spend more time on them than the database."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper
from django.db.models import Model


def _prepared() -> CursorWrapper:
    """A cursor that sends values apart from the statement, so that the connection can keep it prepared: reading and
    planning it takes the database as long as doing what it says.
    """
    connection.ensure_connection()
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return make(ServerBindingCursor(connection.connection))  # type: ignore[call-arg,arg-type]  # stubs of psycopg 2


def first_row(statement: str, **values: Any) -> tuple[Any, ...] | None:
    """The first row that the statement gives, or None."""
    with _prepared() as cursor:
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


def hash_long_lists() -> None:
    """Let the transaction that is open keep a list of some million keys in memory, by their hashes. In the 4 MB that a
    statement has otherwise it finds no room, and the database goes through it from end to end for each row it looks at.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '64MB'")


class ModelStatement:
    """A statement whose row is several models: `{columns}` in it stands for all columns of their tables, by alias."""

    def __init__(self, statement: str, **models: type[Model]):
        self.parts = [_Part(model) for model in models.values()]
        columns = [f"{alias}.{name}" for alias, part in zip(models, self.parts, strict=True) for name in part.columns]
        self.statement = statement.format(columns=", ".join(columns))

    def first(self, also: str = "", **values: Any) -> list[Any] | None:
        """The models of the first row, with None for one that an outer join has not found; None without any row.

        `also` goes behind the statement.
        """
        row = first_row(self.statement + also, **values)
        return self._made_of(row) if row else None

    def all(self, **values: Any) -> list[list[Any]]:
        with _prepared() as cursor:
            cursor.execute(self.statement, values)
            return [self._made_of(row) for row in cursor.fetchall()]

    def _made_of(self, row: tuple[Any, ...]) -> list[Any]:
        found, start = [], 0
        for part in self.parts:
            end = start + len(part.columns)
            found.append(part.made_of(row[start:end]))
            start = end
        return found


class _Part:
    """The columns of one model, and what makes a value of what the driver gives."""

    def __init__(self, model: type[Model]):
        self.model = model
        self.fields = model._meta.concrete_fields
        self.columns = [field.column for field in self.fields]
        self.names = [field.attname for field in self.fields]
        self.key = self.names.index(model._meta.pk.attname)
        self.converters: list[tuple[int, list[Callable[..., Any]]]] | None = None

    def made_of(self, values: tuple[Any, ...]) -> Model | None:
        if values[self.key] is None:
            return None
        if self.converters is None:
            each = [(place, field.get_db_converters(connection)) for place, field in enumerate(self.fields)]
            self.converters = [(place, converters) for place, converters in each if converters]
        changed = list(values)
        for place, converters in self.converters:
            for convert in converters:
                changed[place] = convert(changed[place], None, connection)
        return self.model.from_db(connection.alias, self.names, changed)
