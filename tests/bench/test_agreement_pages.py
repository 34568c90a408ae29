"""A page of agreement reads what was counted: as many statements, and as long, for many judgments as for few."""

import re
import statistics
import time

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from goldsets.queries import agreement as kept
from tests import factories as make
from tests.bench.seeding import settle

pytestmark = pytest.mark.django_db(transaction=True)


class Reader:
    """A lead who opens pages of a queue that was counted."""

    def __init__(self, judgments: int, first: int) -> None:
        self.queue = kept.queue_by_id(settle(judgments // 4, 4, first=first, differing=True))
        kept.count_agreement(self.queue)
        self.client = Client()
        self.client.force_login(make.lead_of(self.queue.project))

    def read(self, page: str) -> list[str]:
        """The beginnings of the statements it took, whatever the numbers in them."""
        with CaptureQueriesContext(connection) as sent:
            assert self.client.get(reverse(f"goldsets:{page}", args=[self.queue.uid])).status_code == 200
        return [re.sub(r"\d+", "0", query["sql"] or "")[:70] for query in sent]

    def seconds(self, page: str) -> float:
        start = time.perf_counter()
        self.read(page)
        return time.perf_counter() - start


def test_reading_costs_the_same_for_two_hundred_and_for_eight_thousand_judgments():
    small, large = Reader(200, first=1), Reader(8_000, first=1_000)
    for page in ("agreement", "agreement_report", "raters"):
        assert small.read(page) == large.read(page), page
        ratios = [large.seconds(page) / small.seconds(page) for _ in range(5)]
        assert statistics.median(ratios) < 2.5, page


def test_many_judgments_that_were_never_counted_are_said_to_be_counted(monkeypatch):
    reader = Reader(200, first=1)
    monkeypatch.setattr(kept, "FEW_JUDGMENTS", 100)
    kept.cache.clear()
    pages = ("agreement", "agreement_report", "behind", "raters")
    for address in (reverse(f"goldsets:{page}", args=[reader.queue.uid]) for page in pages):
        assert "being counted for the first time" in reader.client.get(address).content.decode()
    for name in ("agreement/", "agreement/report/", "agreement/consensus/?criterion=success", "standing/"):
        answer = reader.client.get(f"/api/v1/queues/{reader.queue.uid}/{name}")
        assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    kept.count_agreement(reader.queue)
    answer = reader.client.get(f"/api/v1/queues/{reader.queue.uid}/agreement/").json()
    assert (answer["n_judgments"], answer["stale"]) == (200, False)
