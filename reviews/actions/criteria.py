"""Reads the criteria of a rubric, or of one item, as somebody wrote them: every mistake is named at its field."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reviews.enums import Block, CriterionKind, EvidenceRule, PreferenceForm, Scope, Tie

MAX_CRITERIA = 40
MAX_LEVELS = 10
MAX_OPTIONS = 40
MAX_STRENGTH = 3
KEY = re.compile(r"^[a-z][a-z0-9_]{0,39}$")
TEXTS = ("key", "title", "question", "hint", "kind", "block", "evidence", "scope")
# What levels are called in each kind that has some, all and one, and how many it has.
LEVELS = {
    CriterionKind.ORDINAL: ("Ordered levels", "level", 2, MAX_LEVELS),
    CriterionKind.CHOICE: ("Options", "option", 2, MAX_OPTIONS),
    CriterionKind.MULTI_CHOICE: ("Options", "option", 1, MAX_OPTIONS),
    CriterionKind.PREFERENCE: ("Reasons", "reason", 0, MAX_OPTIONS),
}


def read_criteria(criteria: Any, errors: dict[str, str]) -> list[dict[str, Any]]:
    """The fields of each `Criterion`, with what is wrong in `errors`, named like "criteria.2.levels"."""
    if not isinstance(criteria, Sequence) or isinstance(criteria, str) or not 1 <= len(criteria) <= MAX_CRITERIA:
        errors["criteria"] = f"A rubric has 1 to {MAX_CRITERIA} criteria."
        return []
    rows = [_Criterion(f"criteria.{number}", row, errors).read() for number, row in enumerate(criteria)]
    for number, row in enumerate(rows):
        if row["key"] in [other["key"] for other in rows[:number]]:
            errors[f"criteria.{number}.key"] = f"The key “{row['key']}” is used twice."
        if row["condition"]:
            _check_condition(f"criteria.{number}.condition", row, rows[:number], errors)
    return rows


def _check_condition(name: str, row: dict[str, Any], before: list[dict[str, Any]], errors: dict[str, str]) -> None:
    """A condition looks at an earlier question of the same scope that has numbers for answers, and no gate."""
    key = row["condition"]["criterion"]
    asked = next((other for other in before if other["key"] == key and other["scope"] == row["scope"]), None)
    if asked is None:
        errors[name] = f"“{key}” is no question of the same scope that comes before this one."
        return
    levels = [level["value"] for level in asked["levels"]]
    possible = {CriterionKind.BINARY: [0, 1]}.get(asked["kind"], levels)
    if asked["kind"] in (CriterionKind.GATE, CriterionKind.PREFERENCE) or not possible:
        errors[name] = (
            "A condition looks at a yes-or-no question, levels or options; what a gate locks is locked anyway."
        )
    elif not set(row["condition"]["values"]) <= set(possible):
        errors[name] = f"“{key}” has the answers {', '.join(map(str, possible))}."


class _Criterion:
    """Reads one criterion."""

    def __init__(self, name: str, row: Any, errors: dict[str, str]):
        self.name, self.errors = name, errors
        if not isinstance(row, Mapping):
            errors[name] = "A criterion is an object."
            row = {}
        self.row = row

    def wrong(self, field: str, sentence: str) -> None:
        self.errors[f"{self.name}.{field}"] = sentence

    def read(self) -> dict[str, Any]:
        texts = {field: _text(self.row.get(field)) for field in TEXTS}
        texts["evidence"] = texts["evidence"] or EvidenceRule.NEVER
        texts["scope"] = texts["scope"] or Scope.ITEM
        self._check_texts(texts)
        kind = texts["kind"]
        levels: list[dict[str, Any]] = []
        if kind not in CriterionKind.values:
            self.wrong("kind", f"The kind must be one of {', '.join(CriterionKind.values)}.")
        elif kind == CriterionKind.GATE:
            self._check_gate()
            texts["block"] = ""
        else:
            levels = self._levels(CriterionKind(kind))
            self._check_block(texts)
        return {
            **texts,
            "levels": levels,
            "settings": self._settings(kind),
            "condition": self._condition(),
            "required": self._flag("required", otherwise=True),
            "weight": self._weight(kind),
            "principle": self._principle(),
        }

    def _check_texts(self, texts: dict[str, str]) -> None:
        if not KEY.match(texts["key"]):
            self.wrong("key", "A key has lower-case letters, digits and _, and starts with a letter.")
        if not 1 <= len(texts["title"]) <= 80:
            self.wrong("title", "Give a title of 1 to 80 characters.")
        for field, most in (("question", 300), ("hint", 500)):
            if len(texts[field]) > most:
                self.wrong(field, f"A {field} has at most {most} characters.")
        if texts["evidence"] not in EvidenceRule.values:
            self.wrong("evidence", f"Evidence must be one of {', '.join(EvidenceRule.values)}.")
        if texts["scope"] not in Scope.values:
            self.wrong("scope", f"The scope must be one of {', '.join(Scope.values)}.")

    def _check_gate(self) -> None:
        if self.row.get("levels"):
            self.wrong("levels", "A gate is passed or failed and has no levels.")
        if self.row.get("weight"):
            self.wrong("weight", "A gate is a veto and carries no weight.")
        if self.row.get("condition"):
            self.wrong("condition", "A gate is always asked.")
        if self.row.get("required") is False:
            self.wrong("required", "A gate is always asked.")

    def _check_block(self, texts: dict[str, str]) -> None:
        if texts["block"] and texts["block"] not in Block.values:
            self.wrong("block", f"The block is empty or one of {', '.join(Block.values)}.")

    def _levels(self, kind: CriterionKind) -> list[dict[str, Any]]:
        levels = self.row.get("levels") or []
        if kind not in LEVELS:
            if levels:
                self.wrong("levels", "This kind of question has no levels.")
            return []
        words, one, least, most = LEVELS[kind]
        if not isinstance(levels, Sequence) or isinstance(levels, str) or not least <= len(levels) <= most:
            self.wrong("levels", f"{words} are {least} to {most}, each with value, name and anchor.")
            return []
        read = [self._level(level, one) for level in levels]
        values: list[Any] = [level["value"] for level in read]
        if None not in values and values != sorted(set(values)):
            self.wrong("levels", f"{words} stand in ascending order, each value once.")
        return read

    def _level(self, level: Any, one: str) -> dict[str, Any]:
        level = level if isinstance(level, Mapping) else {}
        value, name, anchor = level.get("value"), _text(level.get("name")), _text(level.get("anchor"))
        example = _text(level.get("example"))
        if type(value) is not int or not 0 <= value <= 100:
            self.wrong("levels", f"Each {one} has a whole number from 0 to 100 as its value.")
            value = None
        elif not name or len(name) > 40 or len(anchor) > 500 or len(example) > 2000:
            self.wrong(
                "levels",
                f"Each {one} has a name of 1 to 40 characters, an anchor of up to 500, an example of up to 2,000.",
            )
        return {"value": value, "name": name, "anchor": anchor} | ({"example": example} if example else {})

    def _settings(self, kind: str) -> dict[str, Any]:
        given = self.row.get("settings") or {}
        if not isinstance(given, Mapping):
            self.wrong("settings", "The settings are an object.")
            return {}
        if kind == CriterionKind.NUMBER:
            return self._number_settings(given)
        if kind == CriterionKind.PREFERENCE:
            return self._preference_settings(given)
        if given:
            self.wrong("settings", "This kind of question has no settings.")
        return {}

    def _number_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for field in ("min", "max", "tolerance"):
            value = given.get(field)
            if value is None:
                continue
            if type(value) not in (int, float) or abs(value) > 1e15 or (field == "tolerance" and value < 0):
                self.wrong(f"settings.{field}", "This is a number; a tolerance is not below zero.")
            else:
                settings[field] = value
        if settings.get("min", -1e16) > settings.get("max", 1e16):
            self.wrong("settings.max", "The most is not less than the least.")
        if unit := _text(given.get("unit")):
            settings["unit"] = unit[:20]
        return settings

    def _preference_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        form, strength, ties = given.get("form"), given.get("strength", 0), given.get("ties", [])
        if form not in PreferenceForm.values:
            self.wrong("settings.form", f"The form must be one of {', '.join(PreferenceForm.values)}.")
        if type(strength) is not int or not 0 <= strength <= MAX_STRENGTH:
            self.wrong("settings.strength", f"The strength is a whole number from 0, for none, to {MAX_STRENGTH}.")
        elif strength and form != PreferenceForm.PAIR:
            self.wrong("settings.strength", "Only one of two is preferred with a strength.")
        offered = [Tie.EQUALLY_GOOD.value, Tie.EQUALLY_BAD.value]
        if not isinstance(ties, list) or any(tie not in offered for tie in ties) or len(set(ties)) < len(ties):
            self.wrong("settings.ties", f"Ties are any of {', '.join(offered)}, each once.")
        return {"form": form, "strength": strength, "ties": ties}

    def _condition(self) -> dict[str, Any] | None:
        given = self.row.get("condition")
        if not given:
            return None
        key = given.get("criterion") if isinstance(given, Mapping) else None
        values = given.get("values") if isinstance(given, Mapping) else None
        if (
            not isinstance(key, str)
            or not isinstance(values, list)
            or not values
            or any(type(v) is not int for v in values)
        ):
            self.wrong(
                "condition",
                'Say after which answers it is asked: a condition is {"criterion": key, "values": [numbers]}.',
            )
            return None
        return {"criterion": key, "values": values}

    def _principle(self) -> dict[str, Any] | None:
        """The name and version of a principle; whether there is such a one, the action says."""
        given = self.row.get("principle")
        if not given:
            return None
        name, version = (given.get("name"), given.get("version")) if isinstance(given, Mapping) else (None, None)
        if not isinstance(name, str) or type(version) is not int:
            self.wrong("principle", 'A principle is named by {"name": text, "version": number}.')
            return None
        return {"name": name, "version": version}

    def _flag(self, field: str, *, otherwise: bool) -> bool:
        value = self.row.get(field)
        if value is not None and not isinstance(value, bool):
            self.wrong(field, "This is true or false.")
        return value if isinstance(value, bool) else otherwise

    def _weight(self, kind: str) -> float | None:
        value = self.row.get("weight")
        if value is None or kind == CriterionKind.GATE:
            return None
        if type(value) not in (int, float) or not 0 <= value <= 1000:
            self.wrong("weight", "A weight is a number from 0 to 1,000; it counts in reports only.")
            return None
        return float(value)


# --- Labels of steps --------------------------------------------------------------------------------------------------
def read_step_labels(given: Any, errors: dict[str, str]) -> dict[str, Any]:
    """What `Rubric.step_labels` holds, {} where steps are not labelled."""
    if not given:
        return {}
    if not isinstance(given, Mapping):
        errors["step_labels"] = "Step labels are an object with words, of and until_first."
        return {}
    words = given.get("words")
    if not isinstance(words, list) or not 2 <= len(words) <= MAX_LEVELS:
        errors["step_labels.words"] = f"Steps are labelled with 2 to {MAX_LEVELS} words, each with value and name."
        return {}
    read = []
    for word in words:
        value, name = (word.get("value"), _text(word.get("name"))) if isinstance(word, Mapping) else (None, "")
        if type(value) is not int or not -9 <= value <= 9 or not 1 <= len(name) <= 40:
            errors["step_labels.words"] = "Each word has a whole number from -9 to 9 and a name of 1 to 40 characters."
            return {}
        read.append({"value": value, "name": name})
    if len({word["value"] for word in read}) < len(read):
        errors["step_labels.words"] = "Each word has a value of its own."
    of, until_first = given.get("of", "agent"), given.get("until_first", False)
    if of not in ("agent", "all"):
        errors["step_labels.of"] = "Labelled are the steps of the agent or all: agent, all."
    if not isinstance(until_first, bool):
        errors["step_labels.until_first"] = "This is true or false."
    return {"words": read, "of": of, "until_first": until_first}


# --- Marks ------------------------------------------------------------------------------------------------------------
def read_marks(given: Any, errors: dict[str, str]) -> list[dict[str, str]]:
    """What `Rubric.marks` holds."""
    if not given:
        return []
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MAX_LEVELS:
        errors["marks"] = f"Marks are a list of at most {MAX_LEVELS}, each with key, name and hint."
        return []
    read = [
        {field: _text(mark.get(field)) if isinstance(mark, Mapping) else "" for field in ("key", "name", "hint")}
        for mark in given
    ]
    for number, mark in enumerate(read):
        if not KEY.match(mark["key"]) or mark["key"] in [other["key"] for other in read[:number]]:
            errors[f"marks.{number}.key"] = "A mark has a key of its own: lower-case letters, digits and _."
        if not 1 <= len(mark["name"]) <= 40 or len(mark["hint"]) > 200:
            errors[f"marks.{number}.name"] = "A mark has a name of 1 to 40 characters and a hint up to 200."
    return read


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
