"""The whole demo is killed without warning while people work, and nothing that was promised is lost."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from annotator.demo.supervisor import is_healthy
from annotator.embedded import process

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240
RUNS = [
    {
        "messages": [
            {"role": "user", "content": f"Please close ticket {number}."},
            {"role": "assistant", "content": "Done."},
        ]
    }
    for number in range(200)
]


class Demo:
    """`make demo` as somebody meets it, without the building of the environment."""

    def __init__(self, data: Path) -> None:
        self.data = data
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.supervisor: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # The tests' own settings are not the demo's.
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.supervisor = subprocess.Popen(
            [sys.executable, "-m", "annotator.demo", "--port", str(self.port), "--data", str(self.data)],
            cwd=ROOT,
            env=kept,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        wait_until(self.is_well, ended=lambda: self.supervisor.poll() is not None, say=self.said)

    def said(self) -> str:
        self.supervisor.kill()
        return self.supervisor.communicate()[0].decode()

    def is_well(self) -> bool:
        return is_healthy(f"http://127.0.0.1:{self.port}")

    def kill_everything(self) -> None:
        """As a power cut would: all processes at once, none with a chance to tidy up."""
        for each in [self.supervisor, *process.left_behind(self.data)]:
            # One of them may end by itself meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        self.supervisor.communicate()

    def kill(self, name: str) -> None:
        """One process that the demo watches over, found by a word of its command."""
        wait_until(lambda: self.watched(name) is not None)
        found = self.watched(name)
        orphans = found.children(recursive=True)
        found.kill()
        found.wait(timeout=20)
        # An orphan of gunicorn goes on answering for a moment, and resets the connections that it leaves behind.
        psutil.wait_procs(orphans, timeout=20)

    def watched(self, name: str) -> psutil.Process | None:
        for each in process.left_behind(self.data):
            # One that ends while we look was not the one.
            with suppress(psutil.Error):
                if each.ppid() == self.supervisor.pid and any(name in word for word in each.cmdline()):
                    return each
        return None

    def interrupt(self) -> int:
        self.supervisor.send_signal(signal.SIGINT)
        self.supervisor.communicate(timeout=60)
        return self.supervisor.returncode

    def call(self, role: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """A request to the API as the role's person; a `body` of bytes goes as it is, anything else as JSON."""
        token = json.loads((self.data / "demo.json").read_text())["roles"][role]["api_token"]
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/{path}",
            method=method,
            data=data,
            headers={"Authorization": f"Token {token}", "Content-Type": "application/json", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 (our own address)
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def upload(self, project: str) -> tuple[int, Any]:
        boundary = uuid.uuid4().hex
        lines = "\n".join(json.dumps(run) for run in RUNS)
        body = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="runs.jsonl"\r\n'
            f"Content-Type: application/x-ndjson\r\n\r\n{lines}\r\n--{boundary}--\r\n"
        )
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.call("engineer", "POST", f"projects/{project}/imports/", body.encode(), **kind)


def wait_until(
    true: Callable[[], bool], *, ended: Callable[[], bool] = lambda: False, say: Callable[[], str] = str
) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if ended() or time.monotonic() > deadline:
            pytest.fail(f"It did not come to pass. {say()}", pytrace=False)
        time.sleep(0.3)


@pytest.fixture
def demo() -> Iterator[Demo]:
    place = Path(tempfile.mkdtemp(prefix="assay-demo-"))
    demo = Demo(place / "data")
    yield demo
    if demo.supervisor and demo.supervisor.poll() is None:
        demo.supervisor.kill()
        demo.supervisor.communicate()
    process.end_all(demo.data)
    shutil.rmtree(place, ignore_errors=True)


def failing_judgment(assignment: dict[str, Any]) -> dict[str, Any]:
    """The first gate fails at the first step, shown there."""
    gates = [criterion["key"] for criterion in assignment["item"]["rubric"]["criteria"] if criterion["kind"] == "gate"]
    return {
        "gates": {key: "fail" if key == gates[0] else "pass" for key in gates},
        "failure": {"step": 1, "who": "agent", "cause": "fabrication", "note": "It claims what it did not do."},
        "evidence": [{"criterion": key, "step": 1} for key in (*gates, None)],
        "rationale": "The claim has nothing behind it.",
        "confidence": 3,
    }


@pytest.mark.slow
def test_judgments_and_tasks_outlive_a_kill_of_everything(demo):
    demo.start()
    first = json.loads((demo.data / "demo.json").read_text())
    assert set(first["roles"]) == {"expert", "lead", "engineer", "admin"}
    assert (demo.data / "demo.json").stat().st_mode & 0o777 == 0o600

    _, queues = demo.call("expert", "GET", "queues/")
    queue = next(queue["uid"] for queue in queues["results"] if queue["name"] == "Support runs")
    status, claimed = demo.call("expert", "POST", f"queues/{queue}/claim/")
    assert status == 201, claimed
    key = {"Idempotency-Key": str(uuid.uuid4())}
    judgment = failing_judgment(claimed)
    status, receipt = demo.call("expert", "POST", f"assignments/{claimed['uid']}/judgment/", judgment, **key)
    assert status == 201, receipt
    status, in_hand = demo.call("expert", "POST", f"queues/{queue}/claim/")
    assert status == 201
    _, projects = demo.call("engineer", "GET", "projects/")
    project = projects["results"][0]["slug"]
    status, job = demo.upload(project)
    assert status == 202, job

    # One after the other dies and comes back by itself.
    for name in ("postgres", "valkey", "gunicorn", "worker"):
        demo.kill(name)
        wait_until(demo.is_well)
    assert demo.call("expert", "GET", f"assignments/{in_hand['uid']}/")[0] == 200

    demo.kill_everything()
    demo.start()

    # The same submission again gets the same receipt, and the item in hand is still in hand.
    again = demo.call("expert", "POST", f"assignments/{claimed['uid']}/judgment/", judgment, **key)
    assert again == (200, receipt) or again == (201, receipt)
    status, same = demo.call("expert", "POST", f"queues/{queue}/claim/")
    assert same["uid"] == in_hand["uid"]

    # The import that was accepted is worked off, each run once.
    def imported() -> bool:
        return demo.call("engineer", "GET", f"projects/{project}/imports/{job['uid']}/")[1]["state"] == "finished"

    wait_until(imported)
    _, done = demo.call("engineer", "GET", f"projects/{project}/imports/{job['uid']}/")
    assert (done["created"] + done["already_there"], done["refused"]) == (len(RUNS), 0)

    assert demo.interrupt() == 0
    assert process.left_behind(demo.data) == []
