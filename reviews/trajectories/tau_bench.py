"""tau-bench: `{"task_id", "reward", "info", "traj": [chat messages], "trial"}`.

The reward, the hidden instruction, the reference actions and outputs, the costs and the traceback are outcome data:
none of it reaches a step, the title or the key. The leading system message is the policy. The file names no domain
and no model: they are options, and nothing is guessed in their place.
"""

from __future__ import annotations

import hashlib
from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import NO_STEPS_NOTE, title_of, with_note
from reviews.trajectories.openai_chat import steps_of
from reviews.trajectories.schema import ReadOptions, Result, RowError, Run, RunOutcome, Step

TITLE = "tau-bench"
NEEDS = frozenset({"traj"})
END_MARK = "###STOP###"
END_NOTE = (
    f"{END_MARK} is the mark with which the simulated requester ends the run; they are not the requester's words."
)


def recognise(value: Any) -> str:
    """Why this is tau-bench, or "" when it is not."""
    if isinstance(value, dict) and {"traj", "task_id", "reward"} <= value.keys():
        return "it has traj, task_id and reward"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one row."""
    trajectory, info = value["traj"], value.get("info")
    if not isinstance(trajectory, list):
        raise RowError("Its traj is not a list of messages.")
    info = info if isinstance(info, dict) else {}
    messages = [(f"/traj/{place}", message) for place, message in enumerate(trajectory)]
    policy_text = _policy_text(trajectory)
    if policy_text:
        messages = messages[1:]
    steps = [_marked(step) for step in steps_of(messages)] if messages else [Step(role="system", note=NO_STEPS_NOTE)]
    trial = value.get("trial")
    return Run(
        steps=tuple(steps),
        key=_task_key(value["task_id"], policy_text, options),
        title=title_of(steps) or f"Task {value['task_id']}",
        policy_text=policy_text,
        outcome=RunOutcome(
            result=_result(value.get("reward"), info),
            reward=jsontext.number(value.get("reward")),
            model=options.model,
            data={key: child for key, child in value.items() if key != "traj"},
        ),
        source_ref="" if trial is None else f"trial {trial}",
    )


def _policy_text(trajectory: list[Any]) -> str:
    first = trajectory[0] if trajectory else None
    if isinstance(first, dict) and first.get("role") == "system" and isinstance(first.get("content"), str):
        return first["content"]
    return ""


def _marked(step: Step) -> Step:
    if step.role == "user" and END_MARK in step.text:
        return with_note(step, END_NOTE)
    return step


def _task_key(task_id: Any, policy_text: str, options: ReadOptions) -> str:
    """The task's name across files: "retail-12" where the domain was given.

    Without a domain, task 12 of two domains must not become one task. The policy tells domains apart and the file's
    name often holds the model, so the key carries a mark taken from the policy: "task-12-3fa9c1d2".
    """
    if isinstance(task_id, bool) or not isinstance(task_id, str | int):
        raise RowError("Its task_id is neither a number nor a text.")
    if options.domain:
        return f"{options.domain}-{task_id}"
    mark = hashlib.sha256((policy_text or options.name).encode("utf-8", "replace")).hexdigest()[:8]
    return f"task-{task_id}-{mark}"


def _result(reward: Any, info: dict[str, Any]) -> Result:
    """What became of the run. A crash with reward 0 is no failure of the agent; a run without a reward record never
    came to its end."""
    if info.get("error"):
        return "crash"
    if reward == 1:
        return "success"
    return "failure" if info.get("reward_info") else "timeout"
