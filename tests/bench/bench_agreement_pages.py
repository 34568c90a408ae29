"""Leads' pages of agreement over HTTP: reading costs the same for a thousand judgments as for a hundred thousand.

The worker counts; a page reads what was counted. How long counting takes is measured beside it.
"""

from contextlib import ExitStack
from time import perf_counter, sleep

from django.contrib.auth import get_user_model
from django.test import Client as TestClient

from annotator.embedded.servers import Servers
from goldsets.queries.agreement import count_agreement, queue_by_id
from goldsets.queries.keeping import SETTLED_AFTER
from tests import factories as make
from tests.bench.figures import Figure, milliseconds, ratio
from tests.bench.http import Client, assay, expect
from tests.bench.seeding import settle
from tests.bench.servers import in_process, make_database

JUDGMENTS = (1_000, 100_000)
OVERLAP, ROUNDS = 5, 12
PAGES = {"agreement": "agreement/", "report": "agreement/report/", "raters": "raters/"}


def run(servers: Servers) -> list[Figure]:
    """Both sizes are served at once and read in turn, so that a busy machine slows both."""
    with ExitStack() as sites:
        readers, counting = {}, {}
        for size in JUDGMENTS:
            database = make_database(servers, f"agreement_{size}")
            queue = in_process(database, settle, size // OVERLAP, OVERLAP)
            uid, session, counting[size] = in_process(database, _counted, queue)
            client = Client(sites.enter_context(assay(servers, database)), {"Cookie": f"sessionid={session}"})
            readers[size] = client, uid
        seconds: dict[tuple[str, int], list[float]] = {(page, size): [] for page in PAGES for size in JUDGMENTS}
        for round_ in range(ROUNDS + 2):
            for page, path in PAGES.items():
                for size, (client, uid) in readers.items():
                    answer = expect(client.get(f"/queues/{uid}/{path}"), 200)
                    if round_ >= 2:  # the first warm up
                        seconds[page, size].append(answer.seconds)
    small, large = JUDGMENTS
    return [
        *(milliseconds(f"{page}, {size:,} judgments", seconds[page, size]) for page in PAGES for size in JUDGMENTS),
        *(
            ratio(f"{page}: {large:,} / {small:,} judgments", seconds[page, large], seconds[page, small], at_most=1.5)
            for page in PAGES
        ),
        *(milliseconds(f"counting in the worker, {size:,} judgments", counting[size]) for size in JUDGMENTS),
    ]


def _counted(queue_id: int) -> tuple[str, str, list[float]]:
    """The queue's public id, a lead's session, and how long counting took, after it was counted."""
    queue = queue_by_id(queue_id)
    # Until then a deed may be under way, and what was counted counts as old after a moment.
    sleep(SETTLED_AFTER.total_seconds())
    times = []
    for _ in range(3):
        start = perf_counter()
        count_agreement(queue)
        times.append(perf_counter() - start)
    lead = get_user_model().objects.get(pk=make.lead_of(queue.project).pk)
    browser = TestClient()
    browser.force_login(lead, backend="sesame.backends.ModelBackend")
    return str(queue.uid), browser.cookies["sessionid"].value, times
