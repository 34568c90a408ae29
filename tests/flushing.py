"""Empties the database after a test even where the last request of a page is still at work."""

import functools
import time
from typing import Any

from django.core.management import CommandError
from django.test import TransactionTestCase

ATTEMPTS = 5
PAUSE_SECONDS = 1


def flush_patiently() -> None:
    """From now on flushing is tried anew where it fails.

    A page that closes may leave a request behind, say the last save of a draft. It and the flush lock the same tables
    in different order; of two that wait for each other Postgres lets one fail, and that may be the flush.
    """
    flush = TransactionTestCase._fixture_teardown

    @functools.wraps(flush)
    def again(case: Any) -> None:
        for _ in range(ATTEMPTS - 1):
            try:
                return flush(case)
            except CommandError:
                time.sleep(PAUSE_SECONDS)
        return flush(case)

    TransactionTestCase._fixture_teardown = again
