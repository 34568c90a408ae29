"""A worker that is never late: what raters marked is settled as soon as the transaction that marked it stands.

Tests about labels need no word about the worker then. It is the worker's own action, on the same marks; only the second
that a beat takes is left out. `transaction.on_commit` would do, were the transaction of a test ever committed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models.signals import post_save

from reviews.actions.settling import settle_marked
from reviews.models import SettlingMark

leave = transaction.Atomic.__exit__


def note_mark(**_: Any) -> None:
    transaction.get_connection().has_marks = True


def settle_on_leaving(self: transaction.Atomic, *error: Any) -> None:
    """End a block; where it was the outermost but those of the test itself, and items were marked, settle them."""
    leave(self, *error)
    connection = transaction.get_connection(self.using)
    if connection.__dict__.get("has_marks") and _stands(connection):
        connection.has_marks = False
        settle_marked()


def _stands(connection: Any) -> bool:
    return not connection.atomic_blocks or connection.atomic_blocks[-1]._from_testcase


@contextmanager
def settled_at_once() -> Iterator[None]:
    post_save.connect(note_mark, sender=SettlingMark)
    transaction.Atomic.__exit__ = settle_on_leaving
    try:
        yield
    finally:
        transaction.Atomic.__exit__ = leave
        post_save.disconnect(note_mark, sender=SettlingMark)
