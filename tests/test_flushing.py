"""What a test leaves behind is gone before the next, whatever is still at work."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db import OperationalError, connection, transaction
from django.test import TransactionTestCase

from annotator.models import User
from tests import factories as make
from tests.reviews.test_importing import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
HOLDS = "SELECT count(*) FROM pg_locks WHERE relation = '{}'::regclass AND granted"
WAITS = "SELECT count(*) FROM pg_locks WHERE relation = '{}'::regclass AND NOT granted"


def ask(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def last_request(first: str, last: str) -> None:
    """Holds the table that a flush takes last, and wants its first as soon as a flush waits."""
    with suppress(OperationalError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {last} IN ROW SHARE MODE")
        wait_until(lambda: ask(WAITS.format(last)))
        cursor.execute(f"LOCK TABLE {first} IN ROW SHARE MODE")
    connection.close()


def test_a_flush_that_a_page_s_last_request_made_fail_is_tried_anew():
    make.project()
    tables = re.findall(r'"(\w+)"', sql_flush(no_style(), connection)[0])
    before = ask(DEADLOCKS)
    with ThreadPoolExecutor(1) as elsewhere:
        page = elsewhere.submit(last_request, tables[0], tables[-1])
        wait_until(lambda: ask(HOLDS.format(tables[-1])))
        TransactionTestCase("run")._fixture_teardown()
        page.result()
    assert not User.objects.exists()
    wait_until(lambda: ask(DEADLOCKS) > before)
