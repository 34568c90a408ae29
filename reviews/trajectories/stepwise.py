"""Stepwise records: `{"prompt", "completions": [...], "labels": [...]}`. The labels are outcome data."""

from __future__ import annotations

from typing import Any

from reviews.trajectories.building import title_of, tools_of
from reviews.trajectories.records import is_talk, outcome_of, steps_of_talks, task_key
from reviews.trajectories.schema import ReadOptions, RowError, Run

TITLE = "Stepwise record"
NEEDS = frozenset({"completions"})


def recognise(value: Any) -> str:
    """Why this is a stepwise record, or "" when it is not."""
    if not isinstance(value, dict) or "prompt" not in value:
        return ""
    lists = all(isinstance(value.get(name), list) for name in ("completions", "labels"))
    return "it has prompt, completions and labels" if lists else ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one record. Labels are kept by the number of the step they are about."""
    prompt, completions, labels = value["prompt"], value["completions"], value["labels"]
    if not is_talk(prompt):
        raise RowError("Its prompt is no text and no list of messages.")
    if len(completions) != len(labels):
        raise RowError(f"It has {len(completions)} completions and {len(labels)} labels.")
    steps = steps_of_talks(("/prompt", "user", prompt))
    by_step = {}
    for number, completion in enumerate(completions):
        if not is_talk(completion):
            raise RowError(f"Completion {number + 1} is no text and no list of messages.")
        steps += steps_of_talks((f"/completions/{number}", "assistant", completion))
        by_step[str(len(steps))] = labels[number]
    return Run(
        steps=tuple(steps),
        key=task_key(value, prompt),
        title=title_of(steps) or "Stepwise record",
        tools=tools_of(value.get("tools")),
        outcome=outcome_of(value, {"labels": labels, "labels_by_step": by_step}, {"completions"}, options),
    )
