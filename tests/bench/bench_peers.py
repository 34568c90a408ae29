"""Assay beside Label Studio 1.23 over HTTP: the next item, and submit and next, with as many tasks, raters and overlap.

Label Studio comes from PyPI into an environment of its own under .data/peers; nothing of it touches Assay's. Both sites
run under gunicorn with two processes of four threads, each with a database of its own on the same PostgreSQL server,
and are measured in turn. It is driven through its public API; its people are made through its own models.
"""

import json
import os
import time
from typing import Any

from annotator.embedded.servers import Servers
from tests import factories as make
from tests.bench import label_studio
from tests.bench.bench_pages import FORM, PageRater, access_of
from tests.bench.figures import Figure, milliseconds, ratio
from tests.bench.http import Answer, Client, assay, at_once, expect
from tests.bench.label_studio import say
from tests.bench.seeding import fill
from tests.bench.servers import in_process, make_database

TASKS = int(os.environ.get("PEER_TASKS", "100000"))
RATERS, OVERLAP, ROUNDS, TURNS = 8, 3, 3, 3
# So many tasks come in by the peer's API; they are then copied in its table, which takes seconds instead of an hour.
BATCH = 1000
CHOICES = {"authorised": ("pass", "fail"), "consent": ("pass", "fail"), "success": "0123", "process": "0123"}
LABEL_CONFIG = (
    '<View><Paragraphs name="run" value="$run" layout="dialogue" nameKey="role" textKey="text"/>'
    + "".join(
        f'<Choices name="{name}" toName="run">{"".join(f"<Choice value={value!r}/>" for value in values)}</Choices>'
        for name, values in CHOICES.items()
    )
    + '<TextArea name="rationale" toName="run"/></View>'
).replace("'", '"')
RUN = {"run": [{"role": step.role, "text": step.text or str(step.call)} for step in make.STEPS]}
RESULT = [
    {"from_name": name, "to_name": "run", "type": "choices", "value": {"choices": [values[-1]]}}
    for name, values in CHOICES.items()
] + [{"from_name": "rationale", "to_name": "run", "type": "textarea", "value": {"text": ["Done as asked."]}}]


def run(servers: Servers) -> list[Figure]:
    started = time.monotonic()
    assay_database = make_database(servers, "peers_assay")
    world = in_process(assay_database, fill, TASKS, OVERLAP, 2 * RATERS, 0, 0)
    queue, access = in_process(assay_database, access_of, world)
    with assay(servers, assay_database) as port, label_studio.running(servers, RATERS) as (peer_port, tokens):
        project = _make_project(Client(peer_port, _token(tokens[0])))
        label_studio.copy_tasks(servers, project, TASKS // BATCH - 1)
        say(f"{TASKS:,} tasks are in; {time.monotonic() - started:.0f} s so far")
        peers = [PeerRater(peer_port, project, token) for token in tokens]
        apis = [ApiRater(port, queue, person["token"]) for person in access[:RATERS]]
        # A rater holds one item at a time, so those of the page are others than those of the API.
        pages = [PageRater(port, queue, person["session"]) for person in access[RATERS:]]
        return _measure(peers, apis, pages)


def _measure(peers: list["PeerRater"], apis: list["ApiRater"], pages: list[PageRater]) -> list[Figure]:
    """All raters of a side at once, the sides in turn."""
    sides = {"peer": peers, "api": apis, "page": pages}
    rounds: dict[str, list[list[tuple[float, float]]]] = {side: [] for side in sides}
    for round_ in range(ROUNDS + 1):
        for side, raters in sides.items():
            turns = at_once([lambda rater=rater: [_turn(rater) for _ in range(TURNS)] for rater in raters])
            if round_:  # the first round warms up
                rounds[side].append(turns)
    nexts = {side: [_median([turn[0] for turn in turns]) for turns in found] for side, found in rounds.items()}
    wholes = {side: [_median([sum(turn) for turn in turns]) for turns in found] for side, found in rounds.items()}
    return [
        ratio(f"next: Label Studio {label_studio.VERSION} / Assay, API", nexts["peer"], nexts["api"], at_least=20),
        ratio("submit and next: Label Studio / Assay, API", wholes["peer"], wholes["api"], at_least=10),
        ratio("submit and next: Label Studio's API / Assay's page", wholes["peer"], wholes["page"], at_least=10),
        milliseconds("  Label Studio: next", nexts["peer"], note=f"{TASKS:,} tasks, overlap {OVERLAP}"),
        milliseconds("  Label Studio: submit and next", wholes["peer"]),
        milliseconds("  Assay, API: claim", nexts["api"]),
        milliseconds("  Assay, API: submit and claim", wholes["api"]),
        milliseconds("  Assay, page: submit and next page", wholes["page"]),
    ]


def _turn(rater: Any) -> tuple[float, float]:
    """Seconds for the next item and for the submit; a page does both in one answer, which counts as the submit."""
    if isinstance(rater, PageRater):
        return 0.0, rater.submit().seconds
    following = rater.next()
    return following.seconds, rater.submit(following).seconds


def _median(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]


class ApiRater:
    """A rater of Assay's API."""

    def __init__(self, port: int, queue: str, token: str) -> None:
        self.client, self.queue = Client(port, _token(token)), queue
        self.payload = make.passing(evidence=json.loads(FORM["evidence"]))

    def next(self) -> Answer:
        return expect(self.client.post(f"/api/v1/queues/{self.queue}/claim/", {}), 201)

    def submit(self, claimed: Answer) -> Answer:
        uid = claimed.json()["uid"]
        return expect(
            self.client.post(f"/api/v1/assignments/{uid}/judgment/", self.payload, **{"Idempotency-Key": uid}), 200, 201
        )


class PeerRater:
    """A rater of Label Studio's API, as its own page uses it."""

    def __init__(self, port: int, project: int, token: str) -> None:
        self.client, self.project = Client(port, _token(token)), project

    def next(self) -> Answer:
        return expect(self.client.get(f"/api/projects/{self.project}/next"), 200)

    def submit(self, dealt: Answer) -> Answer:
        body = {"result": RESULT, "lead_time": 20.0, "project": self.project}
        return expect(self.client.post(f"/api/tasks/{dealt.json()['id']}/annotations/", body), 201)


def _token(key: str) -> dict[str, str]:
    return {"Authorization": f"Token {key}"}


def _make_project(client: Client) -> int:
    """A project with the first tasks, each wanted by as many raters as in Assay."""
    settings = {"title": "Bench", "label_config": LABEL_CONFIG, "maximum_annotations": OVERLAP}
    project = expect(client.post("/api/projects/", settings), 201).json()["id"]
    expect(client.post(f"/api/projects/{project}/import", [RUN] * BATCH), 201)
    return project
