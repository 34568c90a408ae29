"""Label Studio: exported tasks, `{"data", "annotations": [...], "predictions": [...]}`, as people move over.

The run, dialogue or text in `data` makes the steps. Annotations are kept as prior labels with the ids of their
authors, predictions as scores; both are outcome data, and so is everything in `data` that is no text to be judged.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from reviews.trajectories import jsontext, openai_chat, openhands, sharegpt, swe_agent, tau_bench
from reviews.trajectories.building import content_of, member, score, text_of, title_of
from reviews.trajectories.dialects import Place, unwrapped
from reviews.trajectories.schema import Attachment, ReadOptions, Role, RowError, Run, RunOutcome, Step

TITLE = "Label Studio task"
NEEDS = frozenset({"data", "annotation_id"})
INNER = (tau_bench, swe_agent, openhands, sharegpt, openai_chat)
SPEAKERS = ("author", "speaker", "role", "name", "user", "from", "sender")
WORDS = ("text", "content", "utterance", "message", "value")
ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "customer", "client", "requester", "patient", "caller", "person"), "user"),
    **dict.fromkeys(("assistant", "agent", "bot", "ai", "model", "gpt", "chatbot", "support"), "agent"),
    **dict.fromkeys(("system", "developer"), "system"),
}
ANSWERS = re.compile(r"^(answer|response|completion|output|reply|generat|assistant|candidate)", re.IGNORECASE)
QUESTIONS = re.compile(
    r"^(text|prompt|question|instruction|input|query|request|context|document|article|title|message|body)",
    re.IGNORECASE,
)


def recognise(value: Any) -> str:
    """Why this is Label Studio, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("data"), dict):
        name = next((name for name in ("annotations", "completions", "predictions") if _is_list(value, name)), "")
        return f"it has data with {name}" if name else ""
    return "it has annotation_id and annotator" if {"annotation_id", "annotator"} <= value.keys() else ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one task."""
    data = value.get("data")
    if not isinstance(data, dict):
        raise RowError("In Label Studio's JSON-MIN export, answers cannot be told from data. Export JSON instead.")
    run, shown = _run_in(data, options)
    hidden = {name: child for name, child in data.items() if name not in shown}
    outcome_data: dict[str, Any] = {
        "prior_labels": [_prior_label(child) for child in _dicts(value, "annotations") + _dicts(value, "completions")],
        "task": {
            name: child
            for name, child in value.items()
            if name not in {"data", "annotations", "completions", "predictions"}
        },
    }
    if scores := [_score(child) for child in _dicts(value, "predictions")]:
        outcome_data["scores"] = scores
    if hidden:
        outcome_data["data"] = hidden
    task_id = text_of(value.get("id"))
    project = text_of(value.get("project"))
    name = "-".join(part for part in ("label-studio", project, task_id) if part)
    return replace(
        run,
        key=run.key or (name if task_id else ""),
        title=run.title or title_of(list(run.steps)) or f"Task {task_id}".strip(),
        outcome=replace(run.outcome, data={**run.outcome.data, **outcome_data}),
        source_ref=run.source_ref or (f"task {task_id}" if task_id else ""),
    )


def _is_list(value: dict[str, Any], name: str) -> bool:
    return isinstance(value.get(name), list)


def _dicts(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    children = value.get(name)
    return [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []


def _run_in(data: dict[str, Any], options: ReadOptions) -> tuple[Run, set[str]]:
    """The run in a task's data, and the names of the members it was read from."""
    for known in INNER:
        if known.recognise(data):
            run = known.to_run(data, options)
            return replace(run, steps=tuple(_moved(step, "/data") for step in run.steps)), set(data)
    for name, child in data.items():
        turns, place = unwrapped(child, Place("/data").at(name))
        if isinstance(turns, list) and turns and isinstance(turns[0], dict) and (steps := _dialogue(turns, place)):
            return Run(steps=tuple(steps), outcome=RunOutcome(model=options.model)), {name}
    steps = []
    shown = set()
    for name, child in data.items():
        if isinstance(child, str) and child.strip() and (role := _role_of_member(name)):
            pointer = Place("/data").at(name).pointer
            steps.append(Step(role=role, text=child, note=f"This is the task's “{name}”.", pointer=pointer))
            shown.add(name)
    if not steps:
        names = ", ".join(list(data)[:8])
        raise RowError(f"Its data has no run, dialogue or text. Its members are: {names[:200] or 'none'}.")
    return Run(steps=tuple(steps), outcome=RunOutcome(model=options.model)), shown


def _moved(step: Step, base: str) -> Step:
    """The step with pointers into the task around it."""
    return replace(
        step,
        pointer=base + step.pointer if step.pointer or not step.result_pointer else "",
        result_pointer=base + step.result_pointer if step.result_pointer else "",
        attachments=tuple(
            replace(attachment, note=attachment.note.replace(" in the original at /", f" in the original at {base}/"))
            for attachment in step.attachments
        ),
    )


def _dialogue(turns: list[Any], place: Place) -> list[Step]:
    """The steps of turns with a speaker and words, however they call them; [] when they are no dialogue."""
    if openai_chat.is_message(turns[0]) or sharegpt.is_turn(turns[0]):
        located = [(place.at(number).pointer, turn) for number, turn in enumerate(turns)]
        return openai_chat.steps_of(located) if openai_chat.is_message(turns[0]) else sharegpt.steps_of_turns(located)
    steps = []
    for number, turn in enumerate(turns):
        words = next((name for name in WORDS if isinstance(member(turn, name), str)), "")
        speaker = next((text_of(turn[name]) for name in SPEAKERS if name != words and text_of(member(turn, name))), "")
        if not words or not speaker:
            return []
        role = ROLES.get(speaker.lower())
        note = "" if role else f"Spoken by {speaker[:60]}."
        where = place.at(number).pointer
        images = _images(turn, where)
        steps.append(Step(role=role or "user", text=turn[words], attachments=images, note=note, pointer=where))
    return steps


def _images(turn: dict[str, Any], pointer: str) -> tuple[Attachment, ...]:
    parts = [{"type": name, name: turn[name]} for name in ("image", "audio", "video") if turn.get(name)]
    return content_of(parts, pointer)[2]


def _role_of_member(name: str) -> Role | None:
    if ANSWERS.match(name):
        return "agent"
    return "user" if QUESTIONS.match(name) else None


def _prior_label(annotation: dict[str, Any]) -> dict[str, Any]:
    """What somebody said of the task there: author's id, answers by the name of their control, and how it was given."""
    author = annotation.get("completed_by")
    answers = [
        {"name": text_of(answer.get("from_name")), "type": text_of(answer.get("type")), "value": answer.get("value")}
        for answer in _dicts(annotation, "result")
    ]
    return {
        "author": text_of(member(author, "id") if isinstance(author, dict) else author),
        "answers": answers,
        "cancelled": annotation.get("was_cancelled") is True,
        "ground_truth": annotation.get("ground_truth") is True,
        "seconds": jsontext.number(annotation.get("lead_time")),
        "created_at": text_of(annotation.get("created_at")),
    }


def _score(prediction: dict[str, Any]) -> dict[str, Any]:
    number = jsontext.number(prediction.get("score"))
    answers = [answer.get("value") for answer in _dicts(prediction, "result")]
    return score(text_of(prediction.get("model_version")), answers if number is None else number)
