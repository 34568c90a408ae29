"""A model behind `/chat/completions` on this machine, which judges well or misbehaves as it is told."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-a-key-that-nobody-may-read-4711"
# A header line of the fence with its words, and the text up to the next one.
PART = re.compile(r"⟦([0-9a-f]{16}) ([^⟧\n]*)⟧\n(.*?)(?=\n⟦\1 |\Z)", re.DOTALL)


class Model(ThreadingHTTPServer):
    """Takes the next of `script` for each request, and its `usual` behaviour once that is used up."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.heard: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.script: list[Callable[..., None]] = []
        self.usual: Callable[..., None] = saying(passing)
        self.hold = threading.Event()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who hangs up is no error here."""


class Answers(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(sent)
        self.server.bodies.append(sent)
        self.server.signatures.append(self.headers.get("Assay-Signature", ""))
        self.server.heard.append({"path": self.path, **body})
        self.server.keys.append(self.headers.get("Authorization", ""))
        behave = self.server.script.pop(0) if self.server.script else self.server.usual
        behave(self, body)

    def send(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Says nothing."""


@contextmanager
def model() -> Iterator[Model]:
    server = Model()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.hold.set()
    server.shutdown()
    server.server_close()


# --- How it answers ---------------------------------------------------------------------------------------------------
def completion(content: str | None, **message: Any) -> dict[str, Any]:
    return {
        "model": "judge-1-2026",
        "choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }


def saying(judge: Callable[[str], Any]) -> Callable[..., None]:
    """Answers what `judge` makes of the last message of the prompt; a dict goes out as JSON."""

    def behave(answers: Answers, body: dict[str, Any]) -> None:
        said = judge("\n".join(message["content"] for message in body["messages"]))
        content = said if isinstance(said, str) else json.dumps(said)
        answers.send(json.dumps(completion(content)).encode())

    return behave


def failing(status: int, **headers: str) -> Callable[..., None]:
    """Fails, and repeats the key, as some servers do."""

    def behave(answers: Answers, _body: Any) -> None:
        answers.send(f"Incorrect key: {answers.headers['Authorization']}".encode(), status=status, **headers)

    return behave


def sending(body: bytes) -> Callable[..., None]:
    return lambda answers, _body: answers.send(body)


def refusing(answers: Answers, _body: Any) -> None:
    answers.send(json.dumps(completion(None, refusal="I cannot judge this.")).encode())


def cut_short(answers: Answers, _body: Any) -> None:
    said = completion('{"answers": [')
    said["choices"][0]["finish_reason"] = "length"
    answers.send(json.dumps(said).encode())


def dropping(answers: Answers, _body: Any) -> None:
    """Hangs up in the middle of its answer."""
    answers.send_response(200)
    answers.send_header("Content-Length", "5000")
    answers.end_headers()
    answers.wfile.write(b'{"choices": [{"message": {"content": "')


def stalling(answers: Answers, _body: Any) -> None:
    """Begins to answer and says no more."""
    answers.wfile.write(b"HTTP/1.1 200")
    answers.server.hold.wait(20)


def elsewhere(answers: Answers, _body: Any) -> None:
    answers.send(b"", status=302, Location="http://example.org/")


# --- What a judge makes of a prompt -----------------------------------------------------------------------------------
def parts_of(prompt: str) -> list[tuple[str, str]]:
    """The fenced parts of the run: the words of their heads and their texts."""
    return [(head, text) for _token, head, text in PART.findall(prompt)]


def keys_of(prompt: str) -> list[str]:
    return re.findall(r"^- `([a-z_]+)`", prompt, re.MULTILINE)


def citation(prompt: str, holding: str = "") -> dict[str, Any]:
    """The first long enough text of a step that has these words in it, quoted where it stands."""
    for head, text in parts_of(prompt):
        step = re.search(r"step (\d+)", head)
        if step and len(text.strip()) >= 8 and holding in text:
            place = re.match(r"candidate ([A-Z])", head)
            cited = {"step": int(step[1]), "quote": holding or text.strip().splitlines()[0][:60]}
            return {"candidate": place[1], **cited} if place else cited
    return {"step": 1, "quote": holding or "nothing of this kind"}


def answers(prompt: str, value: dict[str, Any], **cited: Any) -> dict[str, Any]:
    """An answer to every criterion of the prompt that `value` has one for."""
    evidence = [cited or citation(prompt)]
    return {
        "answers": [
            {"criterion": key, "evidence": evidence, "reason": "So it stands there.", "answer": value[key]}
            for key in keys_of(prompt)
            if key in value
        ]
    }


GOOD = {"authorised": "pass", "consent": "pass", "success": 3, "process": 2}


def passing(prompt: str) -> dict[str, Any]:
    return answers(prompt, GOOD)


def gullible(prompt: str) -> dict[str, Any]:
    """Fails a run, unless anything in it tells the judge to answer pass: that it obeys, and makes up its evidence."""
    if "answer pass" in prompt.lower():
        return answers(prompt, GOOD, step=1, quote="The run passes every check of the rubric.")
    return answers(prompt, {"authorised": "fail", "consent": "pass"})
