"""Asks a grader at its own address: a run goes out as signed JSON, a score comes back."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from time import monotonic, time
from typing import Any

from goldsets.reviewing.chat import PASSING
from reviews.outgoing import NotSent, post, signature
from reviews.trajectories import jsontext

MOST_BYTES = 1_000_000
LONGEST_EXPLANATION = 4_000


@dataclass(frozen=True)
class Score:
    """What a grader said of a run; `value` is None where it said nothing, and `why` then says why."""

    value: float | None
    why: str = ""
    seconds: float = 0.0


def ask_hook(
    url: str,
    body: Mapping[str, Any],
    *,
    secret: str,
    private_allowed: bool,
    patience: float,
    tries: int,
    back_off: float,
    wait: Callable[[float], Any],
) -> Score:
    """The score in {"score": number, "explanation": text}. What passes by itself is tried again."""
    sent = json.dumps(body).encode()
    began, why = monotonic(), ""
    for number in range(1, tries + 1):
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Assay-Probes/1",
            "Assay-Signature": signature(secret, body=sent, at=int(time())),
        }
        try:
            answer = post(
                url,
                body=sent,
                headers=headers,
                private_allowed=private_allowed,
                patience=patience,
                most_bytes=MOST_BYTES,
            )
        except NotSent as error:
            why = str(error)
        else:
            if answer.taken:
                return _score(answer.body, monotonic() - began)
            why = f"It answered {answer.status}."
            if answer.status not in PASSING:
                break
        if number < tries:
            wait(back_off * 2 ** (number - 1))
    return Score(None, why, monotonic() - began)


def _score(body: bytes, seconds: float) -> Score:
    try:
        said = json.loads(body)
        value = said["score"]
        explanation = str(said.get("explanation") or "")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Score(None, "It answered with no JSON that has a score.", seconds)
    if isinstance(value, bool):
        value = float(value)
    if not isinstance(value, int | float) or not isfinite(value):
        return Score(None, "Its score is no number.", seconds)
    return Score(float(value), jsontext.clean(explanation)[:LONGEST_EXPLANATION], seconds)
