"""The common form of a run: the steps a reader sees, whatever format the run came in.

One step is one thing a reader sees: a message, or a tool call together with its result. An agent message with text
and two calls gives three steps. A result that belongs to no call is a step of its own, without a call and with a note.
The same run written in two formats gives the same steps (pointers apart).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "agent", "tool"]
Result = Literal["success", "failure", "timeout", "crash", "unknown"]


class RowError(ValueError):
    """This row cannot be taken. The message says why, in words a person who made the file can act on."""


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the file does not say about itself and the person importing it does.

    `format` is a name from `detect.FORMATS`, or "auto"; `name` is the file's name; `domain` and `model` are of the
    whole file. Nothing is guessed in their place.
    """

    format: str = "auto"
    name: str = ""
    domain: str = ""
    model: str = ""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent asked a tool to do; `arguments` is None when the text is not JSON."""

    id: str
    name: str
    arguments_text: str
    arguments: Any = None


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the tool answered; `error` only where the source says so."""

    text: str
    error: bool = False


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a message that is not text. It is never dropped: `raw` holds its JSON, or `pointer` leads to it."""

    kind: str
    note: str = ""
    raw: str = ""
    pointer: str = ""


class Spent(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a step or a run took, as far as its source says: seconds from the run's start, seconds it lasted, tokens.

    Never a date: nothing a rater can reach tells when a run was made.
    """

    at: float | None = None
    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing a reader sees. `pointer` and `result_pointer` are JSON pointers (RFC 6901) into the original row."""

    role: Role
    text: str = ""
    reasoning: str = ""
    call: ToolCall | None = None
    result: ToolResult | None = None
    attachments: tuple[Attachment, ...] = ()
    note: str = ""
    pointer: str = ""
    result_pointer: str = ""
    spent: Spent | None = None


class RunOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the run ended and what its source says of it. Kept apart from the steps; blind review never sees it."""

    result: Result = "unknown"
    reward: float | None = None
    model: str = ""
    data: dict[str, Any] = {}


class TaskText(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task as it is reviewed: its four parts, and what its makers say of it."""

    prompt: str
    intent: str
    world: str = ""
    verifier: str = ""
    recipe: str = ""
    axis: str = ""
    verifiability: str = ""
    production_prompts: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which agent made a run of a task that is reviewed, and what the task's verifier said of it.

    `result` has as far as known "passed", "score", "log" and "checks", which are [{"name": str, "passed": bool}].
    """

    role: str = ""
    result: dict[str, Any] = {}


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run, ready to be stored.

    Raters may see `title`, `policy_*`, `context`, `tools`, `spent` and `versions`, so none is ever made from the
    outcome. `key` names the task and `source_ref` says which attempt this is ("trial 3"). The policy is shown beside
    the run and is no step. `original` is the row as the file had it, and `content_hash` is taken from it. Runs of one
    row that are `compared` are answers to one prompt. `source_id` is what the source calls the run, and `notes` are for
    whoever imports it; raters see neither. Runs with a `task` come with its text, to be reviewed together with it.
    whoever imports it; raters see neither. `criteria` are asked of this run alone, as its row wrote them and unchecked;
    they are no part of what the hash is taken from.
    """

    steps: tuple[Step, ...]
    key: str = ""
    family: str = ""
    title: str = ""
    policy_text: str = ""
    policy_title: str = ""
    context: dict[str, Any] = {}
    slices: dict[str, Any] = {}
    versions: dict[str, str] = {}
    tools: list[dict[str, Any]] = []
    spent: Spent | None = None
    outcome: RunOutcome = RunOutcome()
    source_ref: str = ""
    source_format: str = ""
    original: bytes = b""
    content_hash: str = ""
    compared: bool = False
    source_id: str = ""
    notes: tuple[str, ...] = ()
    task: TaskText | None = None
    verdict: Verdict = Verdict()
    criteria: list[Any] | None = None


_steps = msgspec.json.Decoder(Step)


def encode_step(step: Step) -> bytes:
    """The step as JSON, as it is stored."""
    return msgspec.json.encode(step)


def decode_step(data: bytes | str) -> Step:
    """A step from its stored JSON."""
    return _steps.decode(data)


def step_to_builtins(step: Step) -> dict[str, Any]:
    """The step as plain dicts and lists, as a JSON column takes it."""
    return msgspec.to_builtins(step)


def step_from_builtins(body: dict[str, Any]) -> Step:
    """A step from what a JSON column gives back."""
    return msgspec.convert(body, Step)
