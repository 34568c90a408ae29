"""When a rater reads what was decided on what they judged: the rule by which nothing tells how an item was dealt.

PURE. The rule, with its reasons in docs/blindness.md:
1. A rater's judgments in a queue are cut into groups of ten, in the order in which they submitted them.
2. A group opens as a whole, once all of its items are settled: whether an item was settled before the rater judged it
   or long after makes no difference.
3. It opens one to four days after the rater's last judgment in it, drawn by a keyed hash, or where that is too soon for
   the last decision, whole steps of three days later. So the time tells of no single item.
4. Of what was decided otherwise about half is shown, drawn by a keyed hash: what is missing tells nothing either.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

GROUP = 10
FIRST_DELAY = timedelta(days=1)
MOST_DELAY = timedelta(days=4)
STEP = timedelta(days=3)
SHARE = 0.5


@dataclass(frozen=True)
class Judged:
    """One judgment of a rater: its key, the queue, when they submitted it, and when its item was settled, if it was."""

    key: Any
    queue: Any
    submitted_at: datetime
    settled_at: datetime | None


def readable(judged: Iterable[Judged], *, secret: bytes, now: datetime) -> Iterator[Any]:
    """The keys of the judgments whose decision the rater may read now, if it was another than theirs."""
    in_order = sorted(judged, key=lambda one: (one.queue, one.submitted_at, one.key))
    for _queue, rows in groupby(in_order, key=lambda one: one.queue):
        of_queue = list(rows)
        for first in range(0, len(of_queue), GROUP):
            group = of_queue[first : first + GROUP]
            opens = opens_at(group, secret=secret)
            if opens and opens <= now:
                yield from (one.key for one in group if drawn(secret, "shown", one.key) < SHARE)


def opens_at(group: list[Judged], *, secret: bytes) -> datetime | None:
    """When a group opens; None while it is not full or one of its items is not settled."""
    settled = [one.settled_at for one in group if one.settled_at]
    if len(settled) < GROUP:
        return None
    delay = FIRST_DELAY + (MOST_DELAY - FIRST_DELAY) * drawn(secret, "opens", group[0].key)
    opens = group[-1].submitted_at + delay
    late = max(max(settled) - opens, timedelta())
    return opens + STEP * -(-late // STEP)


def drawn(secret: bytes, what: str, key: Any) -> float:
    """A number from 0 to 1 that nobody without the secret can tell beforehand, the same every time."""
    digest = hmac.digest(secret, f"{what} {key}".encode(), hashlib.sha256)
    return int.from_bytes(digest[:8], "big") / 2**64


PEOPLE = re.compile(
    r"\b(?:raters?|annotators?|reviewers?)\b"
    r"|\b[A-Z](?:, [A-Z])* (?:and|or) [A-Z]\b"
    r"|\b[A-HJ-Z] (?:is|was|has|had|says?|said|missed|misread|overlooked|failed|passed|cites?|cited|gave|thinks?)\b"
)


def speaks_of_raters(note: str, names: Iterable[str]) -> bool:
    """Whether a lead's note is about those who judged, by name or by the letters under which a lead sees them."""
    return bool(PEOPLE.search(note)) or any(re.search(rf"\b{re.escape(name)}\b", note) for name in names)
