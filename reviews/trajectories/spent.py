"""What a run took: seconds from its start and tokens, read from what stands around each step in the original.

Every step points into its original, so one reader serves all formats: on the way to a step lie the message, event or
span that it was made from, with times and counts under the names that are known here. Sources give times as dates;
nothing a rater can reach may tell one, so only seconds from the first time in the run are kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from reviews.trajectories.building import member
from reviews.trajectories.schema import Run, Spent, Step

BEGINS = ("timestamp", "start_time", "startTime", "startTimeUnixNano", "start_timestamp")
ENDS = ("end_time", "endTime", "endTimeUnixNano", "end_timestamp", "completed")
RUNS = "execution_time"  # of a tool, beside what the agent thought before it
LASTS = ("generation_time_seconds", "duration", "total_time", "time")
USAGES = ("usage", "metrics", "usage_metadata", "usageDetails", "token_usage", "final_metrics", "model_stats")
READ = (
    "input_tokens", "prompt_tokens", "total_prompt_tokens", "input", "tokens_sent", "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
)  # fmt: skip
WRITTEN = (
    "output_tokens", "completion_tokens", "total_completion_tokens", "output", "tokens_received",
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
)  # fmt: skip
# Beside them where a provider counts what it had read before apart.
ALSO_READ = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
)
# Where the same stands one or two levels further in.
INSIDE = (
    ("extra",),
    ("extra", "invocation"),
    ("extra", "response"),
    ("tool_call_metadata", "model_response"),
    ("outputs",),
)
OF_RUN = (("timing",), ("info",), ("stats",))
LONGEST = 10**9  # seconds
MOST_TOKENS = 10**12
KNOWN = frozenset({*BEGINS, *ENDS, RUNS, *LASTS, *USAGES, "attributes"})
# One of these stands in every row that says anything of this.
SIGNS = (
    *(b'"timestamp"', b'_timestamp"', b'_time"', b'Time"', b"TimeUnixNano", b'"duration"', b'"timing"', b'"time"'),
    *(b'"usage', b'"metrics"', b'_metrics"', b"model_stats", b"token"),
)
# Of a span the beginning is known and what it holds was said before or after; no time between two spans is a call's.
SPANS = {"otlp", "langsmith", "langfuse"}
_DIGITS = re.compile(r"\d{1,20}(?:\.\d{1,12})?")


class _Found(msgspec.Struct):
    """What the source says around one place."""

    begin: float | None = None
    end: float | None = None
    seconds: float | None = None
    ran: float | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    owner: str = ""  # of the tokens: what the model wrote at once has one count, however many steps it became


def may_tell(original: bytes) -> bool:
    """Whether a row may say anything of this, told from its bytes: most rows say nothing and are not looked through."""
    return any(sign in original for sign in SIGNS)


def with_spent(run: Run, original: Any, source_format: str) -> Run:
    """The run with what its steps and the whole of it took, as far as the original says."""
    around = _Around(original)
    places = [(around(step.pointer), around(step.result_pointer)) for step in run.steps]
    moments = [time for pair in places for found in pair for time in (found.begin, found.end) if time is not None]
    start = min(moments, default=0.0)
    counted: set[str] = set()
    spans = source_format in SPANS
    steps = tuple(
        _with(step, _of_step(step, here, answer, start=start, counted=counted, spans=spans))
        if here is not NOTHING or answer is not NOTHING
        else step
        for step, (here, answer) in zip(run.steps, places, strict=True)
    )
    whole = _of_run(original, run.steps[0].pointer if run.steps else "")
    return replace(run, steps=steps, spent=_total(steps, whole, max(moments, default=start) - start))


def _with(step: Step, spent: Spent | None) -> Step:
    return replace(step, spent=spent) if spent else step


def _of_step(step: Step, here: _Found, answer: _Found, *, start: float, counted: set[str], spans: bool) -> Spent | None:
    if step.result and not step.call:
        here = answer
    begin = here.begin if here.begin is not None else here.end
    seconds, tokens = here.seconds, here.tokens
    # A model is asked once for all that it writes at once, so the first of these steps has the count.
    first = (step.role == "agent" or step.call is not None) and here.owner not in counted
    if not first:
        tokens = (None, None)
        seconds = None if spans else seconds
    elif tokens != (None, None) or spans:
        counted.add(here.owner)
    if step.call and not spans:
        seconds = _of_call(here, answer, begin)
    spent = Spent(
        at=_rounded(None if begin is None else begin - start),
        seconds=_rounded(seconds),
        tokens_in=tokens[0],
        tokens_out=tokens[1],
    )
    return None if spent == Spent() else spent


def _of_call(here: _Found, answer: _Found, begin: float | None) -> float | None:
    """How long a tool ran: as the source says it, or else from the call to its result."""
    for known in (here.ran, answer.ran, here.seconds):
        if known is not None:
            return known
    end = answer.end if answer.end is not None else answer.begin
    return end - begin if begin is not None and end is not None and end > begin else None


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _total(steps: tuple[Step, ...], whole: Spent, span: float) -> Spent | None:
    """What the source says of the whole run, or else what its steps come to."""
    each = [step.spent for step in steps if step.spent]
    lasted = [one.seconds for one in each if one.seconds is not None]
    total = Spent(
        seconds=_rounded(whole.seconds if whole.seconds is not None else span or sum(lasted) or None),
        tokens_in=_sum(whole.tokens_in, [one.tokens_in for one in each]),
        tokens_out=_sum(whole.tokens_out, [one.tokens_out for one in each]),
    )
    return None if total == Spent() else total


def _sum(whole: int | None, parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return whole if whole is not None else sum(known) if known else None


def spent_words(spent: Spent) -> list[str]:
    """What was taken as a reader sees it: when it began, how long it lasted, how many tokens went in and out."""
    words = [] if spent.at is None else [f"+{_clock(spent.at)}"]
    if spent.seconds is not None:
        words.append(_lasting(spent.seconds))
    counts = [
        f"{count:,} {way}" for count, way in ((spent.tokens_in, "in"), (spent.tokens_out, "out")) if count is not None
    ]
    return [*words, f"tokens {', '.join(counts)}"] if counts else words


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _lasting(seconds: float) -> str:
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


NOTHING = _Found()


# --- Around one place -------------------------------------------------------------------------------------------------
class _Around:
    """What the members of lists on the way to a place say, the nearest first. Every object is looked at once."""

    def __init__(self, original: Any) -> None:
        self.original = original
        self.beside = _events_by_id(original)
        self.known: dict[str, tuple[Any, bool, list[dict[str, Any]]]] = {}

    def __call__(self, pointer: str) -> _Found:
        found: _Found | None = None
        for place, sources in reversed(self._way(pointer)):
            found = found or _Found()
            for source in sources:
                _read(source, place, found)
        return found or NOTHING

    def _way(self, pointer: str) -> list[tuple[str, list[dict[str, Any]]]]:
        """What has something to say on the way, each with its place."""
        way = []
        value, listed, place = self.original, False, ""
        for part in pointer.split("/")[1:]:
            place = f"{place}/{part}"
            if place not in self.known:
                child = _child(value, part.replace("~1", "/").replace("~0", "~"))
                inside = listed or isinstance(value, list)
                self.known[place] = (child, inside, self._sources(child) if inside else [])
            value, listed, sources = self.known[place]
            if sources:
                way.append((place, sources))
        return way

    def _sources(self, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, dict):
            return []
        inner = [member(value, *names) for names in INSIDE if names[0] in value]
        beside = self.beside.get(str(value.get("id"))) if self.beside else None
        return [
            source for source in (value, *inner, beside) if isinstance(source, dict) and not KNOWN.isdisjoint(source)
        ]


def _child(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return value[int(name)] if name.isdigit() and int(name) < len(value) else None
    return member(value, name)


def _read(source: dict[str, Any], place: str, found: _Found) -> None:
    """Take what is not known yet. How long it lasted is taken from where it begins, if that is known."""
    if found.begin is None and found.end is None:
        found.begin, found.end = _first_moment(source, BEGINS), _first_moment(source, ENDS)
        found.seconds = found.seconds if found.seconds is not None else _lasted(source)
        if found.seconds is None and found.begin is not None and found.end is not None and found.end >= found.begin:
            found.seconds = found.end - found.begin
    if found.ran is None:
        found.ran = _seconds(source.get(RUNS))
    if found.tokens == (None, None):
        found.tokens = _tokens_of(source)
        found.owner = str(source.get("id") or place)


def _lasted(source: dict[str, Any]) -> float | None:
    return next((known for name in LASTS if (known := _seconds(source.get(name))) is not None), None)


def _tokens_of(source: dict[str, Any]) -> tuple[int | None, int | None]:
    for name in USAGES:
        if isinstance(source.get(name), dict) and (found := _tokens(source[name])) != (None, None):
            return found
    return _tokens(_plain_attributes(source.get("attributes")))


def _tokens(usage: dict[str, Any]) -> tuple[int | None, int | None]:
    read = next((known for name in READ if (known := _count(usage.get(name))) is not None), None)
    written = next((known for name in WRITTEN if (known := _count(usage.get(name))) is not None), None)
    if read is not None:
        read += sum(_count(usage.get(name)) or 0 for name in ALSO_READ)
    return (read, written) if read or written else (None, None)  # counts that are all zero were not counted


def _plain_attributes(attributes: Any) -> dict[str, Any]:
    """A span's attributes by name; OTLP lists them with their types."""
    if isinstance(attributes, dict):
        return attributes
    pairs = attributes if isinstance(attributes, list) else []
    return {pair["key"]: member(pair, "value", "intValue") for pair in pairs if isinstance(member(pair, "key"), str)}


# --- Of the whole run -------------------------------------------------------------------------------------------------
def _of_run(original: Any, pointer: str) -> Spent:
    """What the objects around all steps say: those on the way to the first step, before any list."""
    spent = Spent()
    for source in _around_all(original, pointer):
        seconds = _lasted(source)
        if seconds is None and (milliseconds := _seconds(source.get("generation_ms"))) is not None:
            seconds = milliseconds / 1000
        read, written = _tokens_of(source)
        by_model = source.get("model_usage")
        for usage in by_model.values() if isinstance(by_model, dict) else ():
            one, other = _tokens(usage) if isinstance(usage, dict) else (None, None)
            read, written = _added(read, one), _added(written, other)
        spent = Spent(
            seconds=spent.seconds if spent.seconds is not None else seconds,
            tokens_in=spent.tokens_in if spent.tokens_in is not None else read,
            tokens_out=spent.tokens_out if spent.tokens_out is not None else written,
        )
    return spent


def _around_all(original: Any, pointer: str) -> Iterator[dict[str, Any]]:
    value, found = original, []
    for part in pointer.split("/")[1:]:
        if not isinstance(value, dict):
            break
        found.append(value)
        value = value.get(part.replace("~1", "/").replace("~0", "~"))
    for source in reversed(found):
        yield source
        yield from (inner for names in OF_RUN if isinstance(inner := member(source, *names), dict))


def _added(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _events_by_id(original: Any) -> dict[str, Any]:
    """What Inspect's events say of messages and calls, by the ids of these."""
    sample = member(original, "sample") or original
    events = member(sample, "events") or member(sample, "transcript", "events")
    found: dict[str, Any] = {}
    for event in events if isinstance(events, list) else []:
        if member(event, "event") == "tool" and isinstance(event.get("id"), str):
            found[event["id"]] = event
        choices = member(event, "output", "choices")
        answer = member(choices[0], "message", "id") if isinstance(choices, list) and choices else None
        if member(event, "event") == "model" and isinstance(answer, str):
            output = event["output"]
            found[answer] = {"id": answer, "timestamp": event.get("timestamp"), **_only(output, "usage", "time")}
    return found


def _only(source: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: source[name] for name in names if name in source}


# --- Values -----------------------------------------------------------------------------------------------------------
def _first_moment(source: dict[str, Any], names: tuple[str, ...]) -> float | None:
    return next((known for name in names if (known := moment(source.get(name))) is not None), None)


def moment(value: Any) -> float | None:
    """A time as seconds since 1970: ISO 8601, or a number of seconds, milliseconds, microseconds or nanoseconds."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return value[0] + value[1] / 1e9 if abs(value[0]) < 10**11 else None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = float(value)
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    number = _number(value)
    if number is None or not 0 <= number < 1e20:
        return None
    for least, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if number >= least:
            return number / unit
    return number


def _seconds(value: Any) -> float | None:
    number = _number(value)
    return round(number, 3) if number is not None and 0 <= number < LONGEST else None


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    number = _number(value)
    return int(number) if number is not None and 0 <= number < MOST_TOKENS else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e30 and math.isfinite(value) else None
