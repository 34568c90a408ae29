"""Reads what a form says of gates, criteria of every kind and steps, as judgments and decisions are written.

The form says of each criterion its kind (`kind.KEY`) and, where it is asked only after some answers, which they are
(`when.KEY`, the key and the numbers of its answers). What is not asked is left out: a page without script shows it all.
"""

import re
from collections.abc import Callable
from typing import Any

from django.http import QueryDict

from reviews.enums import CriterionKind
from reviews.trajectories import jsontext
from reviews.web.pages import group

YES_OR_NO = {"yes": True, "no": False}


def gates_in(form: QueryDict) -> dict[str, str]:
    return group(form, "gates.")


def all_pass(form: QueryDict) -> bool:
    """Whether every gate of the form passes; where it has none, nothing is locked."""
    answers, kinds = gates_in(form), group(form, "kind.")
    asked = {key for key, kind in kinds.items() if kind == CriterionKind.GATE}
    return bool(answers or kinds) and all(answers.get(key) == "pass" for key in {*answers, *asked})


def criteria_in(form: QueryDict) -> dict[str, Any]:
    """The values of the criteria that are asked and answered, each as its kind is written."""
    values = _values(form)
    asked = asked_after(form, values)
    return {key: value for key, value in values.items() if value not in ("", []) and asked(key)}


def notes_in(form: QueryDict, shown: set[str]) -> dict[str, str]:
    """The notes on the criteria that are shown."""
    notes = {key: text.replace("\r\n", "\n") for key, text in group(form, "notes.").items()}
    return {key: text for key, text in notes.items() if key in shown and text.strip()}


def shown_in(form: QueryDict) -> set[str]:
    """The keys of the gates, and of the criteria that are asked where every gate passes."""
    kinds = group(form, "kind.")
    gates = {key for key, kind in kinds.items() if kind == CriterionKind.GATE} | set(gates_in(form))
    if not all_pass(form):
        return gates
    values = _values(form)
    asked = asked_after(form, values)
    return gates | {key for key in (*kinds, *values) if asked(key)}


def steps_in(form: QueryDict) -> dict[str, Any]:
    """The labels of steps: those the script keeps in one field, and those chosen at the steps where there is none."""
    kept = jsontext.clean_value(jsontext.parse_text(form.get("steps") or "{}"))
    labels = {str(number): value for number, value in kept.items()} if isinstance(kept, dict) else {}
    return labels | {number: whole(value) for number, value in group(form, "step.").items()}


def whole(text: str) -> int | str:
    """The number a text says, or the text itself, so that a mistake is named and not lost."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else text


def _values(form: QueryDict) -> dict[str, Any]:
    keys = [name.removeprefix("criteria.") for name in form if name.startswith("criteria.")]
    return {key: _value(form, key) for key in keys}


def _value(form: QueryDict, key: str) -> Any:
    name, kind = f"criteria.{key}", form.get(f"kind.{key}", "")
    text = str(form.get(name, ""))
    if kind == CriterionKind.MULTI_CHOICE:
        return [whole(str(option)) for option in form.getlist(name)]
    if kind == CriterionKind.BINARY:
        return YES_OR_NO.get(text, text)
    if kind == CriterionKind.NUMBER:
        return _number(text.strip())
    return text.replace("\r\n", "\n") if kind == CriterionKind.TEXT else whole(text)


def _number(text: str) -> float | str:
    if not re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text, re.ASCII):
        return text
    return float(text) if "." in text else int(text)


def asked_after(form: QueryDict, values: dict[str, Any]) -> Callable[[str], bool]:
    """Tells of a key whether its question is asked after these values. A question of one that is not asked is not."""
    conditions = {key: words.split() for key, words in group(form, "when.").items()}

    def asked(key: str, depth: int = 0) -> bool:
        if key not in conditions or depth > len(conditions):
            return key not in conditions
        on, *numbers = conditions[key] or [""]
        value = values.get(on, "")
        given = value if isinstance(value, list) else [value]
        return asked(on, depth + 1) and any(str(int(one)) in numbers for one in given if isinstance(one, int))

    return asked
