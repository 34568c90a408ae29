"""A small client of Assay's API, for training loops and scripts: one file, nothing but Python's own library.

    from assay_client import Assay

    assay = Assay("https://assay.example.org", token="assay_…")
    for receipt in assay.post_runs("support-desk", [{"messages": [...], "outcome": {"result": "failure"}}]):
        print(receipt["status"], receipt.get("reason", ""))

Posting is idempotent by content and submitting by its key, so both are tried again when the network or the server
fails. Everything else that is refused is raised as `Refused`, with the status and the sentence that says why.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from typing import Any, TypedDict
from urllib.error import HTTPError
from urllib.parse import unquote, urlencode
from urllib.request import Request, urlopen

MOST_RUNS = 500
MOST_BYTES = 8 * 1024 * 1024
AGAIN = frozenset({429, 502, 503, 504})


class InQueue(TypedDict, total=False):
    queue: str
    rule: str


class Receipt(TypedDict, total=False):
    """What became of one run: `status` is created, already_there or refused; a refused one has a `reason`."""

    place: str
    status: str
    item: str
    reason: str
    queues: list[InQueue]
    redactions: dict[str, int]


class Refused(Exception):
    """The server said no. `errors` names each field at fault, where there are some."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or f"The server answered {status}."))
        self.status = status
        self.errors: dict[str, str] = problem.get("errors") or {}
        self.problem = problem


class NothingToDo(Exception):
    """There is no item for this rater now; the message says why."""


class Assay:
    def __init__(self, base: str, token: str, *, timeout: float = 60, attempts: int = 4, pause: float = 1) -> None:
        self.base = base.rstrip("/") + "/api/v1/"
        self.token = token
        self.timeout = timeout
        self.attempts = attempts
        self.pause = pause

    # --- Runs ---------------------------------------------------------------------------------------------------------
    def post_runs(self, project: str, runs: Iterable[Any], **options: str) -> Iterator[Receipt]:
        """Post runs of any known format and give their receipts, in order. Nothing is sent until these are read.

        `options` hold for all of them: source_format, queue, family, domain, model, environment, tools, data,
        prompt, reset, stochasticity.
        However many there are, they go in parts; the server keeps each as it is written here.
        """
        for lines in _parts(runs):
            answer = self._ask(
                "POST", f"projects/{project}/runs/", query=options, body=b"\n".join(lines), kind="application/x-ndjson"
            )
            yield from answer["runs"]

    # --- Judging ------------------------------------------------------------------------------------------------------
    def claim(self, queue: str) -> dict[str, Any]:
        """The next item in a queue, leased to you, with everything needed to judge it. Raises NothingToDo."""
        assignment: dict[str, Any] = self._ask("POST", f"queues/{queue}/claim/")
        return assignment

    def submit_judgment(self, assignment: str, judgment: dict[str, Any], *, key: str = "") -> dict[str, Any]:
        """Submit a judgment. The same `key` again gives the same receipt and no second judgment."""
        headers = {"Idempotency-Key": key or f"client-{assignment}"}
        place = f"assignments/{assignment}/judgment/"
        receipt: dict[str, Any] = self._ask("POST", place, body=_json(judgment), headers=headers)
        return receipt

    # --- Labels -------------------------------------------------------------------------------------------------------
    def labels(self, project: str, **filters: str) -> Iterator[dict[str, Any]]:
        """The project's labels, page by page: filtered by queue, item, basis, and stands ("false": superseded ones)."""
        page = self._ask("GET", "labels/", query={"project": project, "page_size": "500", **filters})
        while True:
            yield from page["results"]
            if not page.get("next"):
                return
            page = self._ask("GET", page["next"])

    # --- HTTP ---------------------------------------------------------------------------------------------------------
    def _ask(
        self,
        method: str,
        place: str,
        *,
        query: dict[str, str] | None = None,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        kind: str = "application/json",
    ) -> Any:
        address = place if place.startswith(("http://", "https://")) else self.base + place
        if query:
            address += "?" + urlencode(query)
        if not address.startswith(self.base):
            raise ValueError(f"The token is for {self.base} and is not sent to {address}.")
        request = Request(address, data=b"" if method == "POST" and body is None else body, method=method)  # noqa: S310
        request.add_header("Authorization", f"Token {self.token}")
        request.add_header("Content-Type", kind)
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        for attempt in range(1, self.attempts + 1):
            last = attempt == self.attempts
            try:
                return self._answer(request)
            except Refused as refused:
                if last or refused.status not in AGAIN:
                    raise
            except (OSError, HTTPException):
                if last:
                    raise
            time.sleep(self.pause * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _answer(self, request: Request) -> Any:
        try:
            with urlopen(request, timeout=self.timeout) as answer:  # noqa: S310  the address was checked
                if answer.status == 204:
                    raise NothingToDo(unquote(answer.headers.get("X-Assay-Reason", "There is nothing now.")))
                return json.loads(answer.read())
        except HTTPError as error:
            with error:
                raise Refused(error.code, _problem(error.read())) from None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _parts(runs: Iterable[Any]) -> Iterator[list[bytes]]:
    """Runs as lines of JSON, as many together as one request takes."""
    lines: list[bytes] = []
    size = 0
    for run in runs:
        line = _json(run)
        if lines and (len(lines) >= MOST_RUNS or size + len(line) > MOST_BYTES):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _problem(body: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
