"""Asks a model over the protocol of `/chat/completions`, or a service that answers typed decisions, with patience: what
fails in passing is tried again.

The key never leaves this module but in the header of a request: whatever the other side says is searched for it before
it is handed on, and bodies of refused requests, which may repeat parts of it, are not handed on at all.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any

from reviews.outgoing import Answer, NotSent, post
from reviews.trajectories import jsontext

# What passes by itself: too early, too many requests, an overloaded or restarting server.
PASSING = {408, 425, 429, 500, 502, 503, 504, 529}
# What no further item would fare better with: the key, the address or the model is wrong.
HOPELESS = {401: "The endpoint does not accept the key.", 403: "The endpoint refuses this key.", 402: "It wants money."}
NOT_FOUND = "The endpoint knows no such address or model."
LONGEST_PAUSE = 60.0
# So many answers may have been paid for and not have arrived, then no further one is asked for.
MOST_LOST = 2
MOST_BYTES = 2_000_000
HIDDEN = "…"

Message = Mapping[str, str]


@dataclass(frozen=True)
class Endpoint:
    """Where to ask. `base_url` is what stands before `/chat/completions`, or the whole address of a service;
    `patience` is seconds for one answer.

    `back_off` is the first pause between two tries in seconds; each further one is twice as long, less a random part.
    """

    base_url: str
    key: str = field(default="", repr=False)
    patience: float = 120
    tries: int = 5
    back_off: float = 1.0

    @property
    def host(self) -> str:
        """The server's name, as people read it."""
        return self.base_url.split("://")[-1].split("/")[0].rpartition("@")[2]


@dataclass(frozen=True)
class Reply:
    """What the model said. `refusal` is set where it would not; `whole` is false where it was cut short.

    `lost` counts tries on which an answer may have been begun and paid for that never arrived.
    """

    content: str
    refusal: str = ""
    whole: bool = True
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    tries: int = 1
    lost: int = 0


class NoAnswer(Exception):
    """No answer came of all tries; the message says why. `hopeless` where asking about other items is no use either."""

    def __init__(self, message: str, *, tries: int, lost: int, hopeless: bool = False):
        super().__init__(message)
        self.tries, self.lost, self.hopeless = tries, lost, hopeless


def ask(
    endpoint: Endpoint,
    *,
    model: str,
    messages: Sequence[Message],
    parameters: Mapping[str, Any],
    wait: Callable[[float], Any],
) -> Reply:
    """The model's reply. `wait` sleeps for seconds between tries. Raises NoAnswer."""
    asked = {"model": model, "messages": list(messages), **parameters}
    return _tried(endpoint, f"{endpoint.base_url.rstrip('/')}/chat/completions", asked, _reply, wait)


def decide(endpoint: Endpoint, question: Mapping[str, Any], *, wait: Callable[[float], Any]) -> Reply:
    """What a service that answers typed decisions says, to be read as a model's answer is. Raises NoAnswer."""
    return _tried(endpoint, endpoint.base_url, question, _decision, wait)


def _tried(
    endpoint: Endpoint,
    url: str,
    asked: Mapping[str, Any],
    read: Callable[[Answer, str], Reply | None],
    wait: Callable[[float], Any],
) -> Reply:
    """The reply to the first try that brings one."""
    body = json.dumps(asked).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "Assay-Judge/1"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    began, lost = monotonic(), 0
    for number in range(1, endpoint.tries + 1):
        pause = endpoint.back_off * 2 ** (number - 1) * random.uniform(0.5, 1)  # noqa: S311
        try:
            answer = post(
                url,
                body=body,
                headers=headers,
                private_allowed=True,
                patience=endpoint.patience,
                most_bytes=MOST_BYTES,
            )
        except NotSent as error:
            problem, lost = str(error), lost + error.begun
        else:
            if answer.taken:
                reply = read(answer, endpoint.key)
                if reply:
                    return replace(reply, seconds=monotonic() - began, tries=number, lost=lost)
                problem, lost = "What it answered is not of the form that was asked for.", lost + 1
            else:
                problem = _refused(answer, number, lost)
                pause = max(pause, _asked_to_wait(answer))
        if lost == MOST_LOST:
            raise NoAnswer(f"{problem} Tried {number} times.", tries=number, lost=lost)
        if number < endpoint.tries and pause > LONGEST_PAUSE:
            raise NoAnswer(f"{problem} It asks to wait for {pause:.0f} seconds.", tries=number, lost=lost)
        if number < endpoint.tries:
            wait(pause)
    raise NoAnswer(f"{problem} Tried {endpoint.tries} times.", tries=endpoint.tries, lost=lost)


def _refused(answer: Answer, tries: int, lost: int) -> str:
    """Why an answer is none, where it may be another the next time. Raises NoAnswer where it will not."""
    if answer.status in PASSING:
        return f"It answered {answer.status}."
    if answer.status in HOPELESS or answer.status == 404:
        raise NoAnswer(HOPELESS.get(answer.status, NOT_FOUND), tries=tries, lost=lost, hopeless=True)
    if 300 <= answer.status < 400:
        words = "It answered with a redirect, which is not followed."
        raise NoAnswer(words, tries=tries, lost=lost, hopeless=True)
    raise NoAnswer(f"It answered {answer.status}: the request is refused.", tries=tries, lost=lost)


def _asked_to_wait(answer: Answer) -> float:
    """Seconds from the header Retry-After, which is a number or a date; 0 without one that makes sense."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        until = parsedate_to_datetime(said)
    except (ValueError, TypeError):
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _reply(answer: Answer, key: str) -> Reply | None:
    """The reply in a chat completion; None where it is not one."""
    try:
        said = json.loads(answer.body)
        choice = said["choices"][0]
        message = choice["message"]
        content, refusal = _text(message.get("content")), _text(message.get("refusal"))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    usage = said.get("usage") if isinstance(said.get("usage"), dict) else {}
    ending = choice.get("finish_reason")
    if ending == "content_filter":
        refusal = refusal or "Its content filter stopped the answer."
    return Reply(
        content=_safe(content, key),
        refusal=_safe(refusal, key),
        whole=ending != "length",
        model=_safe(str(said.get("model") or ""), key)[:200],
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
    )


def _decision(answer: Answer, key: str) -> Reply | None:
    """The decision as it came; None where it is no JSON object. Such a service counts no tokens."""
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    return Reply(content=_safe(json.dumps(said), key), tokens_in=0, tokens_out=0)


def _text(content: Any) -> str:
    """A message's content, also where it comes in parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError("no text")
    return content


def _count(said: Any) -> int | None:
    return said if type(said) is int and 0 <= said < 2**31 else None


def _safe(text: str, key: str) -> str:
    """The text as a database can hold it, and without the key."""
    text = jsontext.clean(text)
    return text.replace(key, HIDDEN) if key else text
