"""The first page of a run costs the same whatever the run's length, and stays small."""

import statistics
import time

import pytest
from django.test import Client

from reviews.actions.dealing import claim
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.bench.test_flat import statements_of

pytestmark = pytest.mark.django_db

TOOLS = tuple({"name": f"tool_{number}", "access": "write" if number % 3 else "read"} for number in range(20))


def run_of(project, length):
    """A run whose steps are like each other: messages, and calls with a result of some lines."""
    steps = [
        Step(role="agent", text=f"Message {number}: " + "some words of it " * 20)
        if number % 2
        else Step(
            role="tool",
            call=ToolCall(id=str(number), name=f"tool_{number % 20}", arguments_text='{"account_id": "A-5071"}'),
            result=ToolResult(text="a row of a result\n" * 12, error=number % 7 == 0),
        )
        for number in range(length)
    ]
    return make.item(project, steps=tuple(steps), tools=TOOLS)


def median_of(function, number=9):
    times = []
    for _ in range(number):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def beside_the_session(statements):
    """Whether the session comes from the cache or the database is not about the run."""
    return [sql for sql in statements if "django_session" not in sql]


@pytest.fixture
def reading():
    """A reader of the first page of a run, by the run's length."""
    project = make.project()
    alice = make.expert(project, "Alice")
    client = Client()
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")

    def reader(length):
        mine = claim(actor=alice, queue=make.queue(project, items=[run_of(project, length)], overlap=1))
        return lambda: client.get(f"/assignments/{mine.uid}/")

    return reader


def test_the_first_page_of_ten_thousand_steps_costs_as_much_as_that_of_forty(reading):
    short, long = reading(40), reading(10_000)
    short_page, short_sent = statements_of(short)
    long_page, long_sent = statements_of(long)
    assert len(beside_the_session(long_sent)) == len(beside_the_session(short_sent))
    assert len(long_page.content) < 100_000
    assert len(long_page.content) - len(short_page.content) < 40_000  # the outline, and nothing else
    ratio = median_of(long) / median_of(short)
    print(f"\n10,000 steps: {ratio:.2f} times the time of 40, {len(long_page.content):,} bytes")
    assert ratio < 2
