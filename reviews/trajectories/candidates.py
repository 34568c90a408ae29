"""Several answers to one prompt, with or without a word on which is better: `{"prompt", "responses": [...]}` and such.

Answers stand in a list (`responses`, `completions`, …), in lists of `chosen` and `rejected`, or under names that count
them (`response1`, `output_b`). Each gives a run of one task. What was preferred, and every score, is outcome data of
each; the order of the runs and all that raters see say nothing of it.
"""

from __future__ import annotations

import ast
import hashlib
from itertools import product, takewhile
from typing import Any, NamedTuple

from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import score, title_of, tools_of
from reviews.trajectories.records import is_talk, outcome_of, steps_of_talks, task_key, without_places
from reviews.trajectories.schema import ReadOptions, RowError, Run, Step

TITLE = "Answers compared"
PROMPTS = ("prompt", "instruction", "question", "context", "conversation", "messages", "input")
LISTS = ("responses", "completions", "candidates", "answers", "outputs")
TEXTS = ("text", "response", "content", "completion", "output", "answer", "messages")
LIST_SCORES = ("scores", "ratings", "rewards", "ranks", "ranking")
SCORES = ("score", "overall_score", "rating", "reward", "rank")
SIDES = ("chosen", "rejected")
WINNERS = {
    "model_a": list(SIDES),
    "model_b": list(SIDES[::-1]),
    "tie": ["tie", "tie"],
    "tie (bothbad)": ["tie", "tie"],
}
COUNTED = ("response", "output", "answer", "completion", "candidate", "conversation")
MARKS = ("12345678", "abcdefgh")
MOST_ANSWERS = 100
MOST_WRITTEN = 1_000_000  # characters of a conversation written as a text
TASK = {"instruction", "actions", "outputs"}  # of tau-bench: its outputs are what a run has to say, not answers
NEEDS = frozenset(
    {*LISTS, SIDES[0], *(f"{stem}{line}{mark[0]}" for stem in COUNTED for line in ("", "_") for mark in MARKS)}
)


class Answer(NamedTuple):
    """One answer: where it stands and what it says, its side ("" for none), what was said of it, and of it alone."""

    name: str
    talk: Any
    side: str = ""
    scores: tuple[dict[str, Any], ...] = ()
    more: dict[str, Any] = {}


def recognise(value: Any) -> str:
    """Why these are answers compared, or "" when they are not."""
    if not isinstance(value, dict) or value.keys() >= TASK:
        return ""
    answers = _answers(value)
    if len(answers) < 2 or not (_prompt(value, answers) or all(isinstance(answer.talk, list) for answer in answers)):
        return ""
    what = "a prompt and {} answers to it" if _prompt(value, answers) else "{} conversations"
    return f"it has {what.format(len(answers))}"


def to_runs(value: Any, options: ReadOptions) -> list[tuple[str, Run]]:
    """A run for each answer, in an order that follows from their words."""
    answers = _answers(value)
    if len(answers) > MOST_ANSWERS:
        raise RowError(f"It has {len(answers)} answers. At most {MOST_ANSWERS} can be compared.")
    prompt = _prompt(value, answers)
    read = {
        name.partition("/")[0]
        for name in (*(answer.name for answer in answers), *(place[1:] for place, _, _ in prompt))
    }
    key = task_key(value, [talk for _, _, talk in prompt] or _beginning(answers))
    found = []
    for answer in answers:
        steps = steps_of_talks(*prompt, (f"/{answer.name}", "assistant", answer.talk))
        if isinstance(value.get(answer.name), str):  # whatever it holds, a pointer leads no further than to the text
            steps = [_led_to(step, f"/{answer.name}") for step in steps]
        hidden = {"candidate": answer.name, "candidates": len(answers), **answer.more}
        hidden |= {"preference": answer.side} if answer.side else {}
        hidden |= {"scores": list(answer.scores)} if answer.scores else {}
        outcome = outcome_of(
            value | {"model": answer.more["model"]} if "model" in answer.more else value, hidden, read, options
        )
        run = Run(
            steps=tuple(steps),
            key=key,
            title=title_of(steps) or TITLE,
            tools=tools_of(value.get("tools")),
            outcome=outcome,
            compared=True,
        )
        found.append(
            (hashlib.sha256(jsontext.dump(answer.talk).encode("utf-8", "surrogatepass")).hexdigest(), answer, run)
        )
    return [(answer.name, without_places(run)) for _, answer, run in sorted(found, key=lambda each: each[0])]


def _led_to(step: Step, pointer: str) -> Step:
    """The step with pointers that led into what stands here leading here."""
    return replace(
        step,
        pointer=pointer if step.pointer.startswith(pointer) else step.pointer,
        result_pointer=pointer if step.result_pointer.startswith(pointer) else step.result_pointer,
    )


def _beginning(answers: list[Answer]) -> list[Any]:
    """What conversations without a prompt beside them have in common, or else all of them."""
    together = zip(*(answer.talk for answer in answers), strict=False)
    shared = [turns[0] for turns in takewhile(lambda turns: all(turn == turns[0] for turn in turns), together)]
    return shared or [answer.talk for answer in answers]


def _prompt(value: dict[str, Any], answers: list[Answer]) -> list[tuple[str, str, Any]]:
    """What comes before the answers: a system prompt, and one prompt; an instruction may have its input behind it."""
    named = {answer.name.partition("/")[0] for answer in answers}
    system = [(f"/{name}", "system", value[name]) for name in ("system", "system_prompt") if _is_text(value.get(name))]
    names = [name for name in PROMPTS if name not in named and value.get(name) and is_talk(value[name])]
    if not names:
        return []
    both = names[0] == "instruction" and _is_text(value.get("input"))
    return [*system[:1], *((f"/{name}", "user", value[name]) for name in (names[0], *(["input"] if both else [])))]


def _answers(value: dict[str, Any]) -> list[Answer]:
    if all(_is_side(value.get(side)) for side in SIDES):
        return [
            Answer(f"{side}/{place}" if isinstance(value[side], list) else side, talk, side)
            for side in SIDES
            for place, talk in enumerate(value[side] if isinstance(value[side], list) else [value[side]])
        ]
    for name in LISTS:
        if isinstance(value.get(name), list):
            return _listed(value, name)
    return _counted(value)


def _is_side(talks: Any) -> bool:
    """One text, or several: a list of messages would be one talk, and is a preference pair's."""
    return _is_text(talks) or (isinstance(talks, list) and bool(talks) and all(map(_is_text, talks)))


def _listed(value: dict[str, Any], name: str) -> list[Answer]:
    """Answers in a list: none, if one of its elements is no answer."""
    answers = []
    scored = {each: value[each] for each in LIST_SCORES if _is_parallel(value.get(each), value[name])}
    models = value.get("models") if _is_parallel(value.get("models"), value[name]) else None
    for place, element in enumerate(value[name]):
        talk_at = _talk_in(element)
        if talk_at is None:
            return []
        pointer, talk = talk_at
        said = element if pointer else {}
        scores = [score(each, scores[place]) for each, scores in scored.items()]
        scores += [score(each, said[each]) for each in SCORES if isinstance(said.get(each), int | float)]
        more = {key: child for key, child in said.items() if f"/{key}" != pointer}
        more |= {"model": models[place]} if models else {}
        answers.append(Answer(f"{name}/{place}{pointer}", talk, scores=tuple(scores), more=more))
    return answers


def _is_parallel(values: Any, answers: list[Any]) -> bool:
    return isinstance(values, list) and len(values) == len(answers)


def _talk_in(element: Any) -> tuple[str, Any] | None:
    """What an element of the list says, and where in it."""
    if isinstance(element, dict) and "role" not in element:
        name = next((name for name in TEXTS if is_talk(element.get(name))), "")
        return (f"/{name}", element[name]) if name else None
    if isinstance(element, dict) and element["role"] != "assistant":
        return None
    return ("", element) if is_talk(element) else None


def _counted(value: dict[str, Any]) -> list[Answer]:
    """Answers under names that count them."""
    for stem, line, marks in product(COUNTED, ("", "_"), MARKS):
        names = (f"{stem}{line}{mark}" for mark in marks)
        named = [(name, talk) for name in names if (talk := _said(value.get(name), stem)) is not None]
        if len(named) > 1 and any(is_talk(value[name]) for name, _ in named):
            sides = _sides(value, len(named))
            return [
                Answer(name, talk, side, more=_model_of(value, name[-1]))
                for (name, talk), side in zip(named, sides, strict=True)
            ]
    return []


def _model_of(value: dict[str, Any], mark: str) -> dict[str, Any]:
    """Which model wrote the answer of this mark, where the record names one for each."""
    model = value.get(f"model_{mark}")
    return {"model": model} if isinstance(model, str) else {}


def _said(talk: Any, stem: str) -> Any:
    """What stands under a counted name: a talk, a number or yes and no, or a conversation written as a text. None for
    what says nothing."""
    if stem == "conversation" and isinstance(talk, str):
        return _written(talk)
    if isinstance(talk, bool | int | float):
        return jsontext.dump(talk)
    return talk if is_talk(talk) else None


def _written(text: str) -> Any:
    """The messages in a text that holds them as JSON, or as Python writes them, which copies of MT-Bench do."""
    value = jsontext.parse_text(text)
    if value is None and text.startswith("[{") and len(text) <= MOST_WRITTEN:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            value = None
    return value if isinstance(value, list) and is_talk(value) else text


def _sides(value: dict[str, Any], count: int) -> list[str]:
    """Which of two is preferred, where the record says so in a way that is known: HelpSteer's scale, the number, or
    MT-Bench's winner."""
    scale, label, winner = value.get("overall_preference"), value.get("label"), value.get("winner")
    if count == 2 and isinstance(scale, int | float):
        return ["tie", "tie"] if scale == 0 else list(SIDES) if scale < 0 else list(SIDES[::-1])
    if count == 2 and label in (1, 2) and not isinstance(label, bool):
        return list(SIDES) if label == 1 else list(SIDES[::-1])
    if count == 2 and isinstance(winner, str) and winner in WINNERS:
        return WINNERS[winner]
    return [""] * count


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
