"""What training records share: a prompt and what follows it, as text, messages or ShareGPT turns; the task's name.

A record's labels are outcome data. Which of two answers was preferred shows neither in the steps nor in an order.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from msgspec.structs import replace

from reviews.trajectories import jsontext, openai_chat, sharegpt
from reviews.trajectories.building import text_of
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome, Step

SHOWN = {"prompt", "tools", "system"}
_SPEAKER = re.compile(r"(?:^\s*|\n\n)(Human|Assistant):")
_SPEAKERS = {"Human": "user", "Assistant": "assistant"}
NAMES = ("task_id", "prompt_id")  # a record's plain `id` counts records, and counts anew in each file


def is_talk(value: Any) -> bool:
    """Whether this can be a prompt or what follows it."""
    if isinstance(value, str) or sharegpt.is_turn(value):
        return True
    if isinstance(value, dict):
        return isinstance(value.get("role"), str)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def steps_of_talks(*talks: tuple[str, str, Any]) -> list[Step]:
    """The steps of talks that follow each other: (pointer, who speaks where it is a text, value)."""
    messages: list[tuple[str, Any]] = []
    turns: list[tuple[str, Any]] = []
    for pointer, role, value in talks:
        if isinstance(value, str) and (said := dialogue(value)):
            messages += [(pointer, message) for message in said]
            turns += [(pointer, message) for message in said]
        elif isinstance(value, str):
            messages.append((pointer, {"role": role, "content": value}))
            turns.append((pointer, {"from": {"assistant": "gpt", "user": "human"}.get(role, role), "value": value}))
        else:
            found = [(pointer, value)] if isinstance(value, dict) else _located(pointer, value)
            messages += found
            turns += found
    if any(not isinstance(value, str) for _, _, value in talks) and all(sharegpt.is_turn(turn) for _, turn in turns):
        return sharegpt.steps_of_turns(turns)
    return openai_chat.steps_of(messages)


def dialogue(text: str) -> list[dict[str, str]]:
    """The messages of a dialogue written as one text, as in HH-RLHF; none where the text is none.

    A prompt may end with the assistant's mark, behind which its answer is to follow.
    """
    if not text.lstrip().startswith("Human:") or "\n\nAssistant:" not in text:
        return []
    _, *parts = _SPEAKER.split(text)
    said = zip(parts[::2], parts[1::2], strict=True)
    messages = [{"role": _SPEAKERS[speaker], "content": words.strip()} for speaker, words in said]
    return messages if messages[-1]["content"] or messages[-1]["role"] == "user" else messages[:-1]


def _located(pointer: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, list):
        raise RowError(f"Its {pointer.rpartition('/')[2]} is no text and no list of messages.")
    return [(f"{pointer}/{number}", message) for number, message in enumerate(value)]


def task_key(value: dict[str, Any], prompt: Any) -> str:
    """The task's name: the one the record gives, or a mark taken from the prompt."""
    for name in NAMES:
        if found := text_of(value.get(name)):
            return found
    mark = hashlib.sha256(jsontext.dump(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"prompt-{mark}"


def outcome_of(value: dict[str, Any], hidden: dict[str, Any], read: set[str], options: ReadOptions) -> RunOutcome:
    """What the record says beside what is read as steps, and its label."""
    rest = {name: child for name, child in value.items() if name not in SHOWN | read}
    model = value.get("model")
    return RunOutcome(model=model if isinstance(model, str) and model else options.model, data={**rest, **hidden})


def without_places(run: Run) -> Run:
    """The run without words that tell where in the row a step lies: they would tell which answer was preferred."""
    steps = []
    for step in run.steps:
        attachments = tuple(
            replace(attachment, note=attachment.note.partition(", kept in the original")[0] + ", kept in the original")
            if attachment.note
            else attachment
            for attachment in step.attachments
        )
        steps.append(replace(step, attachments=attachments))
    return replace(run, steps=tuple(steps))
