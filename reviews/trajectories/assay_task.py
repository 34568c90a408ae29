"""A task to be reviewed, with its runs: `{"task": {"prompt", "intent", …}, "runs": [{"role", "result", "messages"}]}`.

Each run is a row of another format with two members more: the role of the agent that made it, and what the task's
verifier said of it. Without these two it is the run that it would be alone.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from reviews.trajectories import (
    anthropic,
    atif,
    jsontext,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    openhands,
    sharegpt,
    swe_agent,
    tau_bench,
)
from reviews.trajectories.schema import ReadOptions, RowError, Run, TaskText, Verdict

TITLE = "Assay task"
NEEDS = frozenset({"task"})
# What a run may be written in, a more particular format before one that it contains.
RUN_FORMATS = (
    tau_bench,
    atif,
    sharegpt,
    swe_agent,
    mini_swe_agent,
    openhands,
    anthropic,
    openai_responses,
    openai_chat,
)
ROLES = ("solver", "hacker", "verifier", "reviewer")
VERIFIABILITY = ("exact", "partly", "judged")
PARTS = ("prompt", "world", "verifier", "intent")
LENGTHS = {"key": 200, "title": 200, "family": 100, "recipe": 100, "axis": 200}
MOST_RUNS = 26  # they are told apart by letters
MOST_PROMPTS = 20
MOST_CHARACTERS = 200_000
MOST_CHECKS = 200
OWN = ("role", "result")


def recognise(value: Any) -> str:
    """Why this is a task with its runs, or "" when it is not."""
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("task"), dict)
        or not isinstance(value.get("runs"), list)
    ):
        return ""
    return "it has a task and its runs" if {"prompt", "intent"} & value["task"].keys() else ""


def to_runs(value: Any, options: ReadOptions) -> list[tuple[str, Run]]:
    """The runs in their order, each with the task."""
    task, runs = read_task(value["task"]), value["runs"]
    if not 1 <= len(runs) <= MOST_RUNS:
        raise RowError(f"A task is reviewed with its runs: 1 to {MOST_RUNS} of them.")
    facts = task_facts(value["task"])
    found: dict[str, tuple[str, Run]] = {}
    for number, given in enumerate(runs, start=1):
        try:
            run = replace(run_of(given, options, facts), task=task, verdict=read_verdict(given))
        except RowError as refused:
            raise RowError(f"Run {number}: {refused}") from None
        same = jsontext.canonical_hash(jsontext.parse(run.original))
        if same in found:
            raise RowError(f"Run {number} is the same as one before it.")
        found[same] = (f"runs/{number - 1}", run)
    return list(found.values())


# --- The task ---------------------------------------------------------------------------------------------------------
def read_task(given: dict[str, Any]) -> TaskText:
    """The text of the task, or RowError with what is wrong with it."""
    for name in (*PARTS, *LENGTHS):
        if not isinstance(given.get(name, ""), str):
            raise RowError(f"The task's {name} is no text.")
        if len(given.get(name, "")) > LENGTHS.get(name, MOST_CHARACTERS):
            raise RowError(f"The task's {name} is longer than {LENGTHS.get(name, MOST_CHARACTERS):,} characters.")
    for name in ("prompt", "intent"):
        if not given.get(name, "").strip():
            raise RowError(f"The task has no {name}. It is what its other parts are held against.")
    if given.get("verifiability", "") not in ("", *VERIFIABILITY):
        raise RowError(f"The task's verifiability is one of {', '.join(VERIFIABILITY)}.")
    prompts = given.get("production_prompts", [])
    if not isinstance(prompts, list) or len(prompts) > MOST_PROMPTS or not all(isinstance(p, str) for p in prompts):
        raise RowError(f"The task's production_prompts are a list of at most {MOST_PROMPTS} texts.")
    if sum(map(len, prompts)) > MOST_CHARACTERS:
        raise RowError(f"The task's production_prompts are longer than {MOST_CHARACTERS:,} characters.")
    texts = {name: jsontext.clean(_lines(given.get(name, ""))) for name in (*PARTS, "recipe", "axis", "verifiability")}
    return TaskText(**texts, production_prompts=tuple(jsontext.clean(_lines(prompt)) for prompt in prompts))


def task_facts(given: dict[str, Any]) -> dict[str, Any]:
    """What the row says of its task beside the text: how it is called and counted, and what raters read with it."""
    facts = {name: jsontext.clean(given.get(name, "")).strip() for name in ("key", "title", "family")}
    facts["key"] = facts["key"] or f"task-{jsontext.canonical_hash(given.get('prompt', ''))[:16]}"
    facts["title"] = facts["title"] or given["prompt"].strip().partition("\n")[0][:100]
    slices = given["slices"] if isinstance(given.get("slices"), dict) else {}
    return {**facts, "slices": {name: value for name, value in slices.items() if isinstance(value, str | int | float)}}


def _lines(text: str) -> str:
    """The text with plain ends of lines, as pages send it back."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- Its runs ---------------------------------------------------------------------------------------------------------
def run_of(given: Any, options: ReadOptions, facts: dict[str, Any]) -> Run:
    """The run in one of the rows under a task; its `original` is the row without role and result."""
    if not isinstance(given, dict):
        raise RowError("It is no object.")
    alone = {name: child for name, child in given.items() if name not in OWN}
    known = next((module for module in RUN_FORMATS if module.recognise(alone)), None)
    if known is None:
        raise RowError("It fits no format that a run is written in.")
    original = jsontext.dump(alone).encode("utf-8", "surrogatepass")
    return replace(known.to_run(alone, options), original=original, **facts)


def read_verdict(given: dict[str, Any]) -> Verdict:
    """The role of the agent that made a run and what the verifier said of it, or RowError."""
    role, result = given.get("role", ""), given.get("result")
    if role not in ("", *ROLES):
        raise RowError(f"The role is one of {', '.join(ROLES)}.")
    if result is None:
        return Verdict(role)
    if isinstance(result, bool):
        return Verdict(role, {"passed": result})
    if not isinstance(result, dict):
        raise RowError("The result is true, false, or an object with passed, score, log and checks.")
    return Verdict(role, _result(result))


def _result(given: dict[str, Any]) -> dict[str, Any]:
    passed, score, log, checks = (given.get(name) for name in ("passed", "score", "log", "checks"))
    if unknown := set(given) - {"passed", "score", "log", "checks"}:
        raise RowError(f"The result knows no “{min(map(str, unknown))[:40]}”.")
    if passed is not None and not isinstance(passed, bool):
        raise RowError("Whether a run passed is true or false.")
    if score is not None and jsontext.number(score) is None:
        raise RowError("The score is a number.")
    if log is not None and (not isinstance(log, str) or len(log) > MOST_CHARACTERS):
        raise RowError(f"The log is text of at most {MOST_CHARACTERS:,} characters.")
    if checks is not None and not _are_checks(checks):
        raise RowError(f"The checks are a list of at most {MOST_CHECKS} objects with name and passed.")
    found: dict[str, Any] = {"passed": passed, "score": score, "log": jsontext.clean(_lines(log)) if log else None}
    if checks:
        found["checks"] = [{"name": jsontext.clean(each["name"])[:300], "passed": each["passed"]} for each in checks]
    return {name: value for name, value in found.items() if value is not None}


def _are_checks(checks: Any) -> bool:
    return (
        isinstance(checks, list)
        and len(checks) <= MOST_CHECKS
        and all(isinstance(each, dict) for each in checks)
        and all(isinstance(each.get("name"), str) and isinstance(each.get("passed"), bool) for each in checks)
    )
