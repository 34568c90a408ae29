"""A clock for the demo's past: while it runs, Django's `timezone.now` gives the moment that was set.

The demo's people have worked for three weeks before anybody looks. Their deeds go through the same actions as
everybody's, and these ask `timezone.now` for the time, also as the default of model fields. So the clock stands in for
the one thing that function calls.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from unittest import mock

from django.utils import timezone


class Clock:
    """The moment it is in the demo's past, in UTC."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self, tz: tzinfo | None = None) -> datetime:
        return self.moment.astimezone(tz or UTC)


@contextmanager
def running_from(moment: datetime) -> Iterator[Clock]:
    """Time stands at this moment until it is moved on by setting `clock.moment`."""
    clock = Clock(moment)
    with mock.patch.object(timezone, "datetime", clock):
        yield clock
