"""Which format a row is in, by its content, and the run it becomes.

`MODULES` is the whole list: a format is a module with `TITLE`, `recognise` and `to_run` (or `to_runs`, where a row may
hold several), and a line here. `NEEDS` names members of which an object of the format has at least one; it only spares
the asking, row by row, of formats that cannot be meant.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from reviews.trajectories import (
    anthropic,
    assay_task,
    atif,
    candidates,
    coding_agent,
    inspect_log,
    jsontext,
    kto,
    label_studio,
    langfuse,
    langsmith,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    openhands,
    openhands_v1,
    otlp,
    preference,
    prm800k,
    sft,
    sharegpt,
    stepwise,
    swe_agent,
    tau2_bench,
    tau_bench,
    verifiers,
    who_and_when,
)
from reviews.trajectories.building import joined
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome, Step
from reviews.trajectories.spent import may_tell, with_spent

REPLACED_NOTE = "Some characters cannot be stored and were replaced: NUL by ␀, broken Unicode by �."


class Format(NamedTuple):
    """A format that can be imported."""

    title: str
    recognise: Callable[[Any], str]
    needs: frozenset[str] | None  # None: an object with any members may be of it
    to_runs: Callable[[Any, ReadOptions], list[tuple[str, Run]]]  # each with the name of its part of the row


def _format_of(module: Any) -> Format:
    needs = getattr(module, "NEEDS", None)
    if hasattr(module, "to_runs"):
        return Format(module.TITLE, module.recognise, needs, module.to_runs)
    return Format(module.TITLE, module.recognise, needs, lambda value, options: [("", module.to_run(value, options))])


# The order matters: a more particular format comes before one that it contains.
MODULES = (
    assay_task,
    label_studio,
    tau_bench,
    tau2_bench,
    inspect_log,
    atif,
    verifiers,
    preference,
    kto,
    stepwise,
    prm800k,
    candidates,
    sft,
    sharegpt,
    who_and_when,
    swe_agent,
    mini_swe_agent,
    openhands,
    openhands_v1,
    otlp,
    langsmith,
    langfuse,
    coding_agent,
    anthropic,
    openai_responses,
    openai_chat,
)
FORMATS: dict[str, Format] = {module.__name__.rpartition(".")[2]: _format_of(module) for module in MODULES}
AUTO = "auto"

# What holds several runs or is part of one: the file around it says what a row is.
NO_ROW: list[tuple[frozenset[str], str]] = [
    (frozenset({"simulations", "tasks"}), "a whole tau2-bench file"),
    (frozenset({"eval", "samples"}), "a whole Inspect log"),
    (frozenset({"uuid", "sessionId"}), "one line of a coding agent's session"),
    (frozenset({"id", "source", "timestamp"}), "one event of OpenHands"),
]


class Detected(NamedTuple):
    """A format's name in `FORMATS` and, in words, why."""

    name: str
    reason: str


def detect(value: Any) -> Detected:
    """The format of a row's value, or RowError with what it seems to be instead."""
    if not isinstance(value, dict | list):
        raise RowError("It is no object and no list, so it is no run.")
    for name in _possible(frozenset(value)) if isinstance(value, dict) else FORMATS:
        if reason := FORMATS[name].recognise(value):
            return Detected(name, f"{FORMATS[name].title}: {reason}")
    if isinstance(value, dict):
        for members, what in NO_ROW:
            if members <= value.keys():
                raise RowError(f"It looks like {what}. Import the file itself.")
        names = ", ".join(list(value)[:8])
        raise RowError(f"It fits no known format. Its members are: {names[:200] or 'none'}.")
    raise RowError("It fits no known format: a list, but not of messages with roles.")


@lru_cache(maxsize=256)
def _possible(members: frozenset[str]) -> tuple[str, ...]:
    """The formats an object with these members may be of, in their order. Rows of one file mostly have the same."""
    return tuple(name for name, known in FORMATS.items() if known.needs is None or known.needs & members)


def read_runs(original: bytes, options: ReadOptions) -> list[Run]:
    """The runs in a row's bytes, with format, hash and every text fit for storage; or RowError. Most rows hold one."""
    value = jsontext.parse(original)
    criteria = _own_criteria(value)
    name = detect(value).name if options.format == AUTO else options.format
    if name not in FORMATS:
        raise RowError(f"There is no format called {name}. Known are: {', '.join(FORMATS)}.")
    known = FORMATS[name]
    if not known.recognise(value):
        raise RowError(f"It is not {known.title}, the format chosen for this file.")
    row_hash = jsontext.canonical_hash(value)
    parts = known.to_runs(value, options)
    unstorable = jsontext.may_hold_unstorable(original)
    tells = may_tell(original)
    runs = []
    for part, run in parts:
        own = jsontext.parse(run.original) if run.original else None  # the part of the row that is this run
        if run.original:
            content_hash = jsontext.canonical_hash(own)
        else:
            content_hash = row_hash if len(parts) == 1 else jsontext.canonical_hash([row_hash, part])
        if tells:
            run = with_spent(run, own if run.original else value, name)
        if unstorable:
            run = _storable(run)
        kept = run.original or original
        runs.append(replace(run, source_format=name, original=kept, content_hash=content_hash, criteria=criteria))
    if criteria is not None and len(runs) != 1:
        raise RowError(f"assay.criteria are of one run, and this row holds {len(runs)}.")
    return runs


def _own_criteria(value: Any) -> list[Any] | None:
    """What a row asks of its run alone, as `{"assay": {"criteria": [...]}}`, taken out of the row; None for nothing."""
    if not isinstance(value, dict) or not isinstance(value.get("assay"), dict) or "criteria" not in value["assay"]:
        return None
    criteria = value.pop("assay")["criteria"]
    if not isinstance(criteria, list):
        raise RowError("assay.criteria is a list of criteria.")
    return jsontext.clean_value(criteria)


def read_run(original: bytes, options: ReadOptions) -> Run:
    """The run of a row that holds one."""
    runs = read_runs(original, options)
    if len(runs) != 1:
        raise RowError(f"It holds {len(runs)} runs.")
    return runs[0]


def _storable(run: Run) -> Run:
    outcome = jsontext.clean_value(msgspec.to_builtins(run.outcome))
    return replace(
        run,
        steps=tuple(_storable_step(step) for step in run.steps),
        key=jsontext.clean(run.key),
        title=jsontext.clean(run.title),
        family=jsontext.clean(run.family),
        policy_text=jsontext.clean(run.policy_text),
        policy_title=jsontext.clean(run.policy_title),
        context=jsontext.clean_value(run.context),
        slices=jsontext.clean_value(run.slices),
        versions=jsontext.clean_value(run.versions),
        tools=jsontext.clean_value(run.tools),
        outcome=msgspec.convert(outcome, RunOutcome),
        source_ref=jsontext.clean(run.source_ref),
        source_id=jsontext.clean(run.source_id),
        notes=tuple(jsontext.clean(note) for note in run.notes),
    )


def _storable_step(step: Step) -> Step:
    cleaned = msgspec.convert(jsontext.clean_value(msgspec.to_builtins(step)), Step)
    return step if cleaned == step else replace(cleaned, note=joined(step.note, REPLACED_NOTE))
