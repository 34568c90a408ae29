"""Reads the labels of a run's steps, as process rewards need them."""

import re
from typing import Any

from reviews.queries.payloads import steps_labelled

from .reading import read_object
from .subject import Subject

NUMBER = re.compile(r"[1-9][0-9]{0,8}")
MOST_MISSING_NAMED = 5


def read_steps(given: Any, *, subject: Subject, errors: dict[str, str]) -> dict[int, int]:
    """The value of each labelled step, by its number. Which steps must have one is for the rubric to say."""
    rules = subject.rubric.step_labels
    labels = read_object(given, "steps", errors)
    if not rules or subject.has_candidates:
        if labels:
            errors["steps"] = "This rubric labels no steps."
        return {}
    allowed = {word["value"]: word["name"] for word in rules["words"]}
    wanted = steps_labelled(subject.rubric, subject.runs[None])
    found: dict[int, int] = {}
    for key, value in labels.items():
        number = int(key) if isinstance(key, str) and NUMBER.fullmatch(key) else 0
        if number not in wanted:
            errors[f"steps.{str(key)[:20]}"] = "This is no step that is labelled here."
        elif type(value) is not int or value not in allowed:
            errors[f"steps.{number}"] = f"Label step {number} with one of {', '.join(map(str, allowed))}."
        else:
            found[number] = value
    if not any(name.startswith("steps") for name in errors):
        _ask_for_missing(found, wanted, bool(rules.get("until_first")), errors)
    return found


def _ask_for_missing(found: dict[int, int], wanted: list[int], until_first: bool, errors: dict[str, str]) -> None:
    first_wrong = min((number for number, value in found.items() if value < 0), default=None)
    if until_first and first_wrong:
        wanted = [number for number in wanted if number <= first_wrong]
    missing = [number for number in wanted if number not in found]
    if missing:
        named = ", ".join(map(str, missing[:MOST_MISSING_NAMED]))
        more = f" and {len(missing) - MOST_MISSING_NAMED} more" if len(missing) > MOST_MISSING_NAMED else ""
        errors["steps"] = f"Label every step: {named}{more} {'is' if len(missing) == 1 else 'are'} missing."
