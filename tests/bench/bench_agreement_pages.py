"""Leads' pages of agreement over HTTP: reading costs the same for a thousand judgments as for a hundred thousand.

The worker counts; a page reads what was counted. How long counting takes is measured beside it, and how long after a
submit the page has it. With `--million` also in a queue of a million ratings.
"""

import re
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter, sleep

from django.contrib.auth import get_user_model
from django.test import Client as TestClient
from knox.models import AuthToken

from annotator.embedded.servers import Servers
from goldsets.queries.agreement import count_agreement, queue_by_id
from reviews.models import Rating
from tests import factories as make
from tests.bench.figures import Figure, milliseconds, ratio
from tests.bench.http import Client, assay, expect, worker
from tests.bench.seeding import judge_in_full
from tests.bench.servers import in_process, make_database

JUDGMENTS = (1_000, 100_000)
# So many judgments have a million ratings.
MILLION = 303_000
OVERLAP, ROUNDS, SUBMITS = 5, 12, 10
PAGES = {"agreement": "agreement/", "report": "agreement/report/", "raters": "raters/"}
PASSING = {**make.passing(), "steps": {"2": 1, "3": 1, "4": 1}}
# A page that has a submit later than this is not fresh.
FRESH_SECONDS = 5
# How often the lead loads the page.
PAUSE = 0.2
# Longer than any worker takes: then there is none.
GIVEN_UP_SECONDS = 120


@dataclass(frozen=True)
class Desk:
    """A queue of a size, who may read and judge in it, and what counting it took."""

    queue: str
    session: str
    token: str
    n_ratings: int
    counting: list[float]


def run(servers: Servers, *, million: bool = False) -> list[Figure]:
    """Two sizes are served at once and read in turn, so that a busy machine slows both."""
    with ExitStack() as sites:
        desks, readers = {}, {}
        for size in JUDGMENTS:
            database = make_database(servers, f"agreement_{size}")
            desks[size] = in_process(database, _desk, size)
            readers[size] = Client(sites.enter_context(assay(servers, database)), _cookie(desks[size]))
        seconds: dict[tuple[str, int], list[float]] = {(page, size): [] for page in PAGES for size in JUDGMENTS}
        for round_ in range(ROUNDS + 2):
            for page, path in PAGES.items():
                for size, client in readers.items():
                    answer = expect(client.get(f"/queues/{desks[size].queue}/{path}"), 200)
                    if round_ >= 2:  # the first warm up
                        seconds[page, size].append(answer.seconds)
    small, large = JUDGMENTS
    found = [
        *(milliseconds(f"{page}, {size:,} judgments", seconds[page, size]) for page in PAGES for size in JUDGMENTS),
        *(
            ratio(f"{page}: {large:,} / {small:,} judgments", seconds[page, large], seconds[page, small], at_most=1.5)
            for page in PAGES
        ),
        *_freshness(servers, f"agreement_{large}", desks[large]),
    ]
    if million:
        database = make_database(servers, "agreement_million")
        found += _freshness(servers, database, in_process(database, _desk, MILLION))
    return found


def _desk(judgments: int) -> Desk:
    queue = queue_by_id(judge_in_full(judgments // OVERLAP, OVERLAP, still_open=SUBMITS + 1))
    times = []
    for _ in range(3):
        start = perf_counter()
        count_agreement(queue)
        times.append(perf_counter() - start)
    lead = get_user_model().objects.get(pk=make.lead_of(queue.project).pk)
    browser = TestClient()
    browser.force_login(lead, backend="sesame.backends.ModelBackend")
    session = browser.cookies["sessionid"].value
    token = AuthToken.objects.create(user=make.expert(queue.project, "Rater last"))[1]
    return Desk(str(queue.uid), session, token, Rating.objects.count(), times)


def _freshness(servers: Servers, database: str, desk: Desk) -> list[Figure]:
    """A rater submits now and then, a lead loads the page again and again: how long until it has the judgment?"""
    with assay(servers, database) as port, worker(servers, database):
        rater, lead = Client(port, {"Authorization": f"Token {desk.token}"}), Client(port, _cookie(desk))
        waited = [_seconds_until_seen(rater, lead, desk.queue) for _ in range(SUBMITS + 1)][1:]
    name = f"{desk.n_ratings:,} ratings"
    slowest = max(waited)
    return [
        milliseconds(f"counting in the worker, {name}", desk.counting),
        milliseconds(f"a submit is on the page, {name}", waited),
        Figure(
            f"the slowest of {SUBMITS}, {name}",
            slowest,
            unit="s",
            goal=f"<= {FRESH_SECONDS}",
            met=slowest <= FRESH_SECONDS,
        ),
    ]


def _seconds_until_seen(rater: Client, lead: Client, queue: str) -> float:
    """From the answer to a submit to a page that has one judgment more."""
    before = _judgments_on_page(lead, queue)
    claimed = expect(rater.post(f"/api/v1/queues/{queue}/claim/", {}), 201).json()
    address = f"/api/v1/assignments/{claimed['uid']}/judgment/"
    expect(rater.post(address, PASSING, **{"Idempotency-Key": claimed["uid"]}), 201)
    submitted = perf_counter()
    while _judgments_on_page(lead, queue) == before:
        if perf_counter() - submitted > GIVEN_UP_SECONDS:
            raise RuntimeError(f"The page has not had the judgment for {GIVEN_UP_SECONDS} seconds.")
        sleep(PAUSE)
    return perf_counter() - submitted


def _judgments_on_page(lead: Client, queue: str) -> int:
    page = expect(lead.get(f"/queues/{queue}/agreement/"), 200).body.decode()
    shown = re.search(r"([\d,]+) judgments", page)
    if shown is None:
        raise RuntimeError("The page does not say how many judgments it rests on.")
    return int(shown[1].replace(",", ""))


def _cookie(desk: Desk) -> dict[str, str]:
    return {"Cookie": f"sessionid={desk.session}"}
