"""The rubric builder's form: reads what was entered, and adds, moves and takes away parts of it.

Fields are named `criteria-2-title` and `criteria-2-levels-0-name`; the button that was pressed is `do`, such as
`add-gate`, `up-2`, `move-4-0` or `drop-level-2-0`. Everything works by posting the whole form, so no script is needed
and nothing entered is ever lost: what is no number stays text, and the action says so at its field.
"""

import re
from typing import Any

from django.http import QueryDict

from reviews.actions.rubrics import read_rubric_file
from reviews.enums import CorrectionRule, CriterionKind, EvidenceRule, ItemKind, PreferenceForm, Scope, Tie
from reviews.models import Rubric
from reviews.queries.rubrics import rubric_as_written
from reviews.web.rubric_starts import new_criterion, step_words

TEXTS = ("key", "title", "question", "hint", "kind", "scope", "block", "evidence")
MOST = 60
ADD = re.compile(r"add-(gate|ordinal|binary|choice|multi_choice|number|text|preference)")
LEVELLED = (CriterionKind.ORDINAL, CriterionKind.CHOICE, CriterionKind.MULTI_CHOICE, CriterionKind.PREFERENCE)
# What a condition can look at, and what it can answer where it has no levels.
CONDITIONAL = (CriterionKind.ORDINAL, CriterionKind.BINARY, CriterionKind.CHOICE, CriterionKind.MULTI_CHOICE)
YES_NO = [{"value": 1, "name": "Yes"}, {"value": 0, "name": "No"}]


def empty() -> dict[str, Any]:
    """What a first rubric starts with."""
    return {
        "name": "",
        "item_kind": ItemKind.TRAJECTORY,
        "unsure_allowed": False,
        "step_labels": {},
        "correction": CorrectionRule.NEVER,
        "audits": False,
        "marks": [],
        "criteria": [new_criterion(CriterionKind.GATE), new_criterion(CriterionKind.ORDINAL)],
    }


def from_rubric(rubric: Rubric) -> dict[str, Any]:
    """What the next version of a rubric starts with."""
    return rubric_as_written(rubric)


def from_file(text: str) -> dict[str, Any]:
    """What a rubric's file holds. Raises Invalid with a sentence per field."""
    return read_rubric_file(text)


# --- What was entered -------------------------------------------------------------------------------------------------
def read(form: QueryDict) -> dict[str, Any]:
    """The rubric as it was entered, in the form that `write_rubric` takes."""
    kind = form.get("item_kind", "") or ItemKind.TRAJECTORY.value
    rows = [_criterion(form, number, kind) for number in _numbers(form, r"criteria-(\d+)-title")]
    return {
        "name": form.get("name", ""),
        "item_kind": kind,
        "unsure_allowed": form.get("unsure_allowed") == "yes",
        "step_labels": _step_labels(form) if kind == ItemKind.TRAJECTORY else {},
        "marks": _marks(form),
        "correction": form.get("correction") or CorrectionRule.NEVER.value,
        "audits": kind == ItemKind.TRAJECTORY and form.get("audits") == "yes",
        "criteria": rows,
    }


def _criterion(form: QueryDict, number: int, item_kind: str) -> dict[str, Any]:
    def text(name: str) -> str:
        return form.get(f"criteria-{number}-{name}", "").strip()

    row: dict[str, Any] = {name: text(name) for name in TEXTS}
    row["key"] = row["key"] or _key_from(row["title"])
    if item_kind == ItemKind.TRAJECTORY or row["kind"] == CriterionKind.PREFERENCE:
        row["scope"] = Scope.ITEM.value
    row["levels"] = [] if row["kind"] == CriterionKind.GATE else _levels(form, number)
    row["settings"] = _settings(form, number, row["kind"])
    version, _, name = text("principle").partition(" ")
    row["principle"] = {"name": name, "version": _whole(version)} if name else None
    if row["kind"] == CriterionKind.GATE:
        return row
    asked = text("condition-criterion")
    chosen = form.getlist(f"criteria-{number}-condition-values")
    row["condition"] = {"criterion": asked, "values": [_whole(value) for value in chosen]} if asked else None
    row["required"] = text("optional") != "yes"
    row["weight"] = _number(text("weight"))
    return row


def _settings(form: QueryDict, number: int, kind: str) -> dict[str, Any]:
    def text(name: str) -> str:
        return form.get(f"criteria-{number}-settings-{name}", "").strip()

    if kind == CriterionKind.NUMBER:
        given = {name: _number(text(name)) for name in ("min", "max", "tolerance")} | {"unit": text("unit")}
        return {name: value for name, value in given.items() if value not in (None, "")}
    if kind == CriterionKind.PREFERENCE:
        ties = form.getlist(f"criteria-{number}-settings-ties")
        return {"form": text("form"), "strength": _whole(text("strength") or "0"), "ties": ties}
    return {}


def _levels(form: QueryDict, number: int) -> list[dict[str, Any]]:
    rows = []
    for level in _numbers(form, rf"criteria-{number}-levels-(\d+)-name"):
        prefix = f"criteria-{number}-levels-{level}-"
        row = {name: form.get(f"{prefix}{name}", "").strip() for name in ("name", "anchor", "example")}
        if not row["example"]:
            del row["example"]
        rows.append({"value": _whole(form.get(f"{prefix}value", "").strip()), **row})
    return rows


def _step_labels(form: QueryDict) -> dict[str, Any]:
    words = [
        {"value": _whole(form.get(f"words-{at}-value", "").strip()), "name": form.get(f"words-{at}-name", "").strip()}
        for at in _numbers(form, r"words-(\d+)-name")
    ]
    if not words and not form.get("words_of"):
        return {}
    return {"words": words, "of": form.get("words_of", "agent"), "until_first": form.get("until_first") == "yes"}


def _marks(form: QueryDict) -> list[dict[str, str]]:
    rows = []
    for at in _numbers(form, r"marks-(\d+)-name"):
        row = {name: form.get(f"marks-{at}-{name}", "").strip() for name in ("key", "name", "hint")}
        rows.append(row | {"key": row["key"] or _key_from(row["name"])})
    return rows


def _numbers(form: QueryDict, pattern: str) -> list[int]:
    found = (re.fullmatch(pattern, name, re.ASCII) for name in form)
    return sorted(int(match[1][:6]) for match in found if match)[:MOST]


def _whole(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,6}", text, re.ASCII) else text


def _number(text: str) -> int | float | str | None:
    """The number a text says, None where nothing was entered, and else the text itself."""
    if not text:
        return None
    if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text, re.ASCII):
        return float(text) if "." in text else int(text)
    return text


def _key_from(title: str) -> str:
    """A key for a title, where none was given."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40]


# --- What a button does -----------------------------------------------------------------------------------------------
def edit(rubric: dict[str, Any], do: str) -> str:
    """Do what a button says to the rubric; the answer is the id of the field to go on in."""
    criteria = rubric["criteria"]
    if added := ADD.fullmatch(do):
        criteria.append(new_criterion(added[1]))
        return f"criteria-{len(criteria) - 1}-title"
    verb, *numbers = re.split(r"-(?=\d)", do)
    places = [int(number) for number in numbers if re.fullmatch(r"\d{1,4}", number, re.ASCII)]
    if verb in ("label-steps", "add-word", "drop-word", "drop-words"):
        return _edit_words(rubric, verb, *places[:1])
    if verb in ("add-mark", "drop-mark"):
        return _edit_marks(rubric["marks"], verb, *places[:1])
    if not places or places[0] >= len(criteria):
        return ""
    return _edit_one(criteria, verb, *places[:2])


def _edit_words(rubric: dict[str, Any], verb: str, place: int = -1) -> str:
    labels = rubric["step_labels"]
    if verb == "label-steps":
        rubric["step_labels"] = step_words()
        return "words-0-name"
    if verb == "drop-words":
        rubric["step_labels"] = {}
    elif verb == "add-word" and labels:
        labels["words"].append({"value": "", "name": ""})
        return f"words-{len(labels['words']) - 1}-value"
    elif verb == "drop-word" and labels and 0 <= place < len(labels["words"]):
        del labels["words"][place]
    return "words-0-name" if rubric["step_labels"] else ""


def _edit_marks(marks: list[dict[str, str]], verb: str, place: int = -1) -> str:
    if verb == "add-mark":
        marks.append({"key": "", "name": "", "hint": ""})
    elif 0 <= place < len(marks):
        del marks[place]
    return f"marks-{len(marks) - 1}-name" if marks else ""


def _edit_one(criteria: list[dict[str, Any]], verb: str, place: int, other: int = -1) -> str:
    levels = criteria[place]["levels"]
    if verb == "drop":
        del criteria[place]
        return f"criteria-{min(place, len(criteria) - 1)}-title" if criteria else ""
    if verb == "copy":
        criteria.insert(place + 1, _copy_of(criteria, place))
        return f"criteria-{place + 1}-title"
    if verb in ("up", "down", "move"):
        to = other if verb == "move" else place + (1 if verb == "down" else -1)
        if 0 <= to < len(criteria):
            criteria.insert(to, criteria.pop(place))
            return f"criteria-{to}-title"
    elif verb == "add-level":
        values = [row["value"] for row in levels if isinstance(row["value"], int)]
        first = 1 if criteria[place]["kind"] != CriterionKind.ORDINAL else 0
        levels.append({"value": max(values, default=first - 1) + 1, "name": "", "anchor": ""})
        return f"criteria-{place}-levels-{len(levels) - 1}-name"
    elif verb == "drop-level" and 0 <= other < len(levels):
        del levels[other]
        return f"criteria-{place}-title"
    return ""


def _copy_of(criteria: list[dict[str, Any]], place: int) -> dict[str, Any]:
    """A criterion once more, under a key that is free."""
    row = criteria[place]
    keys = {other["key"] for other in criteria}
    key = next(key for number in range(2, MOST * 2) if (key := f"{row['key'][:36]}_{number}") not in keys)
    return {**row, "key": key, "levels": [dict(level) for level in row["levels"]]}


def told_once(rubric: dict[str, Any], errors: dict[str, str]) -> dict[str, str]:
    """The mistakes without those about the key of what has no title: it is made from the title once there is one."""
    keys = {
        f"criteria.{number}.key" for number, row in enumerate(rubric["criteria"]) if not (row["key"] or row["title"])
    }
    return {name: sentence for name, sentence in errors.items() if name not in keys}


# --- What the page needs beside it ------------------------------------------------------------------------------------
def furnished(rubric: dict[str, Any], *, errors: dict[str, str], focus: str = "") -> list[dict[str, Any]]:
    """Each criterion with its errors, the keys of its options, what it may depend on, and where to go on."""
    rows = []
    for number, row in enumerate(rubric["criteria"]):
        prefix = f"criteria.{number}."
        levels = [
            {**level, "key": key, "focus": focus == f"criteria-{number}-levels-{place}-name"}
            for place, (level, key) in enumerate(zip(row["levels"], keys_of(row), strict=True))
        ]
        own = {name.removeprefix(prefix): text for name, text in errors.items() if name.startswith(prefix)}
        before = [other for other in rubric["criteria"][:number] if other["kind"] in CONDITIONAL and other["key"]]
        rows.append(
            {
                **row,
                "levels": levels,
                "errors": own,
                "focus": focus == f"criteria-{number}-title",
                "kind_name": _name_of(row["kind"]),
                "may_depend_on": [other for other in before if other["scope"] == row["scope"]],
                "depends": _depends(row, before),
                "has_levels": row["kind"] in LEVELLED,
                "more": _has_more(row, own),
            }
        )
    return rows


def keys_of(row: dict[str, Any]) -> list[str]:
    """The digit that chooses each level: its own number, or an option's place; of more than ten options none has one.

    No two can be the same: values are told apart, and so are places.
    """
    if row["kind"] == CriterionKind.ORDINAL:
        return [str(level["value"]) if level["value"] in range(10) else "" for level in row["levels"]]
    if row["kind"] == CriterionKind.PREFERENCE or len(row["levels"]) > 10:
        return [""] * len(row["levels"])
    return [str(place % 10) for place, _level in enumerate(row["levels"], start=1)]


def _name_of(kind: str) -> str:
    return CriterionKind(kind).label.lower() if kind in CriterionKind.values else kind


def _depends(row: dict[str, Any], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers after which a question may be asked, each with whether it was chosen."""
    condition = row.get("condition")
    asked = next((other for other in before if condition and other["key"] == condition["criterion"]), None)
    if not condition or not asked:
        return []
    answers = YES_NO if asked["kind"] == CriterionKind.BINARY else asked["levels"]
    return [{**answer, "chosen": answer["value"] in condition["values"]} for answer in answers]


def _has_more(row: dict[str, Any], errors: dict[str, str]) -> bool:
    """Whether what is seldom needed has something in it, and so stands open."""
    used = row.get("condition") or row.get("weight") is not None or row.get("required") is False
    return bool(used or {"condition", "weight", "required"} & set(errors))


OPTIONS = {
    "item_kinds": ItemKind.choices,
    "corrections": CorrectionRule.choices,
    "kinds": CriterionKind.choices,
    "scopes": Scope.choices,
    "evidence_rules": EvidenceRule.choices,
    "forms": PreferenceForm.choices,
    "ties": [(tie.value, tie.label) for tie in (Tie.EQUALLY_GOOD, Tie.EQUALLY_BAD)],
}
