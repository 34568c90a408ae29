"""Fine-tuning records: `{"prompt", "completion"}` as texts or messages. (`{"messages"}` alone is OpenAI chat.)"""

from __future__ import annotations

from typing import Any

from reviews.trajectories.building import title_of, tools_of
from reviews.trajectories.records import is_talk, outcome_of, steps_of_talks, task_key
from reviews.trajectories.schema import ReadOptions, Run

TITLE = "Fine-tuning record"
NEEDS = frozenset({"completion"})


def recognise(value: Any) -> str:
    """Why this is a fine-tuning record, or "" when it is not."""
    if isinstance(value, dict) and is_talk(value.get("prompt")) and is_talk(value.get("completion")):
        return "it has prompt and completion"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one record."""
    talks = [("/system", "system", value["system"])] if isinstance(value.get("system"), str) else []
    talks += [("/prompt", "user", value["prompt"]), ("/completion", "assistant", value["completion"])]
    steps = steps_of_talks(*talks)
    return Run(
        steps=tuple(steps),
        key=task_key(value, value["prompt"]),
        title=title_of(steps) or "Fine-tuning record",
        tools=tools_of(value.get("tools")),
        outcome=outcome_of(value, {}, {"completion"}, options),
    )
