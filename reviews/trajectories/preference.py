"""Preference pairs: `{"prompt"?, "chosen", "rejected"}` as texts, messages or dialogues in one text (HH-RLHF), ShareGPT
pairs, and OpenAI's form.

A pair gives two runs of one task. Which was preferred, with margin and scores, is outcome data of each; the order of
the two and all that raters see say nothing of it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import member, title_of, tools_of
from reviews.trajectories.records import dialogue, is_talk, outcome_of, steps_of_talks, task_key, without_places
from reviews.trajectories.schema import ReadOptions, RowError, Run

TITLE = "Preference pair"
NEEDS = frozenset({"chosen", "preferred_output"})
SIDES = ("chosen", "rejected")
OPENAI_SIDES = {"chosen": "preferred_output", "rejected": "non_preferred_output"}


def recognise(value: Any) -> str:
    """Why this is a preference pair, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    if all(is_talk(value.get(side)) for side in SIDES):
        return "it has chosen and rejected"
    if all(is_talk(value.get(side)) for side in OPENAI_SIDES.values()):
        return "it has preferred_output and non_preferred_output"
    return ""


def to_runs(value: Any, options: ReadOptions) -> list[tuple[str, Run]]:
    """The two runs, in an order that follows from their words."""
    names = {side: side if side in value else OPENAI_SIDES[side] for side in SIDES}
    prompt = _prompt(value)
    runs = []
    for side, name in names.items():
        answer = value[name]
        before = [] if _repeats(prompt, _unrolled(answer)) else prompt
        steps = steps_of_talks(*before, (f"/{name}", "assistant", answer))
        key = task_key(value, [talk for _, _, talk in prompt] or _shared(value, names))
        run = Run(
            steps=tuple(steps),
            key=key,
            compared=True,
            title=title_of(steps) or "Preference pair",
            tools=tools_of(value.get("tools") or member(value, "input", "tools")),
            outcome=outcome_of(
                value,
                {"preference": side},
                {"conversations", "conversation", "messages", "input", *names.values()},
                options,
            ),
        )
        runs.append((hashlib.sha256(jsontext.dump(answer).encode("utf-8", "surrogatepass")).hexdigest(), side, run))
    return [(side, without_places(run)) for _, side, run in sorted(runs, key=lambda found: found[0])]


def _prompt(value: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """What comes before both answers."""
    talks: list[tuple[str, str, Any]] = []
    if isinstance(value.get("system"), str) and value["system"]:
        talks.append(("/system", "system", value["system"]))
    for name in ("prompt", "conversations", "conversation", "messages"):
        if value.get(name):
            if not is_talk(value[name]):
                raise RowError(f"Its {name} is no text and no list of messages.")
            return [*talks, (f"/{name}", "user", value[name])]
    messages = member(value, "input", "messages")
    return [*talks, ("/input/messages", "user", messages)] if messages else talks


def _repeats(prompt: list[tuple[str, str, Any]], answer: Any) -> bool:
    """Whether the answer begins with the prompt, as where whole conversations are compared."""
    if not prompt or not isinstance(answer, list):
        return False
    talk = _unrolled(prompt[-1][2])
    if isinstance(talk, list):
        return bool(talk) and answer[: len(talk)] == talk
    first = next((message for message in answer if member(message, "role") != "system"), None)
    return member(first, "role") == "user" and member(first, "content") == talk


def _shared(value: dict[str, Any], names: dict[str, str]) -> Any:
    """Where the prompt is inside both answers: the messages with which both begin."""
    chosen, rejected = (_unrolled(value[name]) for name in names.values())
    if isinstance(chosen, str) or isinstance(rejected, str):
        return [chosen, rejected] if jsontext.dump(chosen) < jsontext.dump(rejected) else [rejected, chosen]
    shared = []
    for one, other in zip(
        chosen if isinstance(chosen, list) else [], rejected if isinstance(rejected, list) else [], strict=False
    ):
        if one != other:
            break
        shared.append(one)
    return shared


def _unrolled(talk: Any) -> Any:
    """A dialogue written as one text as its messages; anything else as it is."""
    return (dialogue(talk) or talk) if isinstance(talk, str) else talk
