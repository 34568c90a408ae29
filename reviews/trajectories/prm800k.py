"""PRM800K, both phases: a problem, and its solution step by step as somebody rated it. Ratings are outcome data.

Of the alternatives of a step the one that the labeler went on with is shown; all of them, with their ratings, are kept
in the outcome. Nothing that raters see tells whether a person or a model wrote a step, or why the labeler stopped.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories.building import member, title_of
from reviews.trajectories.records import task_key
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome, Step

TITLE = "PRM800K"
NEEDS = frozenset({"label"})


def recognise(value: Any) -> str:
    """Why this is PRM800K, or "" when it is not."""
    if isinstance(member(value, "question", "problem"), str) and isinstance(member(value, "label", "steps"), list):
        return "it has a question with its problem and a label with steps"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one labelled solution. Ratings are kept by the number of the step they are about."""
    problem = value["question"]["problem"]
    steps = [Step(role="user", text=problem, pointer="/question/problem")]
    ratings: dict[str, Any] = {}
    for place, labelled in enumerate(value["label"]["steps"]):
        chosen = _chosen(labelled, f"/label/steps/{place}")
        if chosen is None:
            raise RowError(f"Step {place + 1} of its label has no completion with a text.")
        pointer, completion = chosen
        steps.append(Step(role="agent", text=completion["text"], pointer=f"{pointer}/text"))
        if completion.get("rating") is not None:
            ratings[str(len(steps))] = completion["rating"]
    return Run(
        steps=tuple(steps),
        key=task_key(value, problem),
        title=title_of(steps),
        outcome=RunOutcome(model=options.model, data={**value, "labels_by_step": ratings}),
    )


def _chosen(labelled: Any, pointer: str) -> tuple[str, dict[str, Any]] | None:
    """The completion of a step that was gone on with: the one chosen, or the labeler's own, or else the first."""
    completions = member(labelled, "completions")
    completions = completions if isinstance(completions, list) else []
    number = member(labelled, "chosen_completion")
    places = [(f"{pointer}/completions/{place}", completion) for place, completion in enumerate(completions)]
    if isinstance(number, int) and 0 <= number < len(places):
        places.insert(0, places[number])
    else:
        places.insert(0, (f"{pointer}/human_completion", member(labelled, "human_completion")))
    return next((found for found in places if isinstance(member(found[1], "text"), str)), None)
