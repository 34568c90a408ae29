"""KTO records: `{"prompt", "completion", "label"}` or `{"messages", "label"}`. The label is outcome data."""

from __future__ import annotations

from typing import Any

from reviews.trajectories.building import title_of, tools_of
from reviews.trajectories.records import is_talk, outcome_of, steps_of_talks, task_key
from reviews.trajectories.schema import ReadOptions, Run

TITLE = "KTO record"
NEEDS = frozenset({"label", "kto_tag"})
# Members beside the messages with which a row is still a KTO record; with others it is a logged conversation.
BESIDE_MESSAGES = {"messages", "label", "tools", "system", "id", "prompt_id", "images"}
LABELS = ("label", "kto_tag")


def recognise(value: Any) -> str:
    """Why this is a KTO record, or "" when it is not."""
    label = _label_of(value)
    if not label:
        return ""
    if is_talk(value.get("prompt")) and is_talk(value.get("completion")):
        return f"it has prompt, completion and a {label} of true or false"
    if is_talk(value.get("messages")) and value.keys() <= BESIDE_MESSAGES | set(LABELS):
        return f"it has messages and a {label} of true or false"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one record."""
    talks = [("/system", "system", value["system"])] if isinstance(value.get("system"), str) else []
    if is_talk(value.get("completion")):
        prompt = value["prompt"]
        talks += [("/prompt", "user", prompt), ("/completion", "assistant", value["completion"])]
    else:
        messages = value["messages"]
        prompt = messages[:-1] if isinstance(messages, list) else messages
        talks.append(("/messages", "user", messages))
    steps = steps_of_talks(*talks)
    return Run(
        steps=tuple(steps),
        key=task_key(value, prompt),
        title=title_of(steps) or "KTO record",
        tools=tools_of(value.get("tools")),
        outcome=outcome_of(value, {"label": value[_label_of(value)]}, {"completion", "messages"}, options),
    )


def _label_of(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return next((name for name in LABELS if isinstance(value.get(name), bool)), "")
