"""The judge page over HTTP: submit and get the next item's page in one answer, from gunicorn, eight raters at once."""

from contextlib import ExitStack
from statistics import median
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client as TestClient
from knox.models import AuthToken

from annotator.embedded.servers import Servers
from reviews.models import Queue
from tests.bench.figures import Figure, count, milliseconds, ratio
from tests.bench.http import Answer, Client, assay, at_once, expect
from tests.bench.seeding import World, fill
from tests.bench.servers import in_process, make_database

SIZES = (1_000, 100_000)
RATERS, ROUNDS, TURNS = 8, 4, 5
CSRF = "c" * 32
FORM = {
    "gates.authorised": "pass",
    "gates.consent": "pass",
    "criteria.success": "3",
    "criteria.process": "2",
    "rationale": "Done as asked.",
    "confidence": "3",
    "evidence": '[{"criterion": "success", "step": 3, "field": "arguments/account_id", "start": 0, "end": 6,'
    ' "quote": "A-5071"}]',
}


def run(servers: Servers) -> list[Figure]:
    """Both sizes are served at once and measured in turn, so that a busy machine slows both."""
    with ExitStack() as sites:
        raters = {size: _raters(servers, sites, size) for size in SIZES}
        rounds: dict[int, list[list[Answer]]] = {size: [] for size in SIZES}
        for round_ in range(ROUNDS + 1):
            for size in SIZES:
                answers = at_once([rater.turns for rater in raters[size]])
                if round_:  # the first round warms up
                    rounds[size].append(answers)
        alone = [answer.seconds for _ in range(ROUNDS) for answer in raters[SIZES[0]][0].turns()]
    medians = {size: [median(answer.seconds for answer in answers) for answers in rounds[size]] for size in SIZES}
    small, large = SIZES
    bytes_sent = [len(answer.body) for answers in rounds[large] for answer in answers]
    return [
        *(
            milliseconds(f"page: submit and next, {size:,} items, {RATERS} raters at once", medians[size])
            for size in SIZES
        ),
        milliseconds(f"page: submit and next, {small:,} items, one rater", alone),
        ratio(f"page: {large:,} items / {small:,} items", medians[large], medians[small], at_most=1.5),
        count("page: size of the answer", median(bytes_sent) / 1000, unit="KB"),
    ]


def _raters(servers: Servers, sites: ExitStack, size: int) -> list["PageRater"]:
    """Raters of a queue of that size on a site and database of its own."""
    database = make_database(servers, f"pages_{size}")
    world = in_process(database, fill, size, 3, RATERS, 200, 0)
    queue, access = in_process(database, access_of, world)
    port = sites.enter_context(assay(servers, database))
    return [PageRater(port, queue, person["session"]) for person in access]


def access_of(world: World) -> tuple[str, list[dict[str, Any]]]:
    """The queue's public id, and for each rater a session cookie and an API token."""
    people = get_user_model().objects.in_bulk(world.raters)
    access = []
    for pk in world.raters:
        browser = TestClient()
        browser.force_login(people[pk], backend="sesame.backends.ModelBackend")
        session = browser.cookies["sessionid"].value
        access.append({"session": session, "token": AuthToken.objects.create(user=people[pk])[1]})
    return str(Queue.objects.get(pk=world.queue).uid), access


class PageRater:
    """A rater in a browser: starts the queue, then sends the form again and again."""

    def __init__(self, port: int, queue: str, session: str) -> None:
        cookie = f"sessionid={session}; csrftoken={CSRF}"
        self.client = Client(port, {"Cookie": cookie, "X-CSRFToken": CSRF, "HX-Request": "true"})
        started = expect(self.client.post_form(f"/queues/{queue}/judge/", {}), 302)
        self.address = started.headers["location"]
        if not self.address.startswith("/assignments/"):
            raise RuntimeError(f"The queue did not start; it led to {self.address}")

    def turns(self) -> list[Answer]:
        return [self.submit() for _ in range(TURNS)]

    def submit(self) -> Answer:
        answer = expect(self.client.post_form(f"{self.address}submit/", FORM), 200)
        self.address = answer.headers["hx-push-url"]
        return answer
