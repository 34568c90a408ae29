"""Rules on arrival: what of a run a rule can ask about, whether it fits, and how a condition is written in a line.

A condition is {"field": …, "op": …, "value": …}; "exists" has no value, and "parts" has the other grader in "other":
two graders part when their scores lie further apart than the value. A rule fits where all of its conditions do.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

Facts = Mapping[str, Any]
Condition = Mapping[str, Any]

FIELDS = ("family", "outcome.result", "outcome.reward", "step_count", "source_format", "verifiability", "recipe")
# Followed by a name of the project's own, such as `slice.turns` or `score.helpful`.
NAMED = ("slice.", "score.", "versions.")
SCORE = "score."
COMPARISONS = ("=", "!=", "<=", ">=", "<", ">")
OPERATORS = (*COMPARISONS, "in", "exists", "parts")
MOST_CONDITIONS = 20
MOST_CHARACTERS = 200
MOST_VALUES = 100
_LINE = re.compile(
    r"^(?P<field>\S+?)\s*(?:(?P<exists>\s+exists)|\s+parts\s+(?P<other>\S+)\s+(?P<apart>\S+)"
    r"|\s+in\s+(?P<many>\S.*)|(?P<op><=|>=|!=|=|<|>)\s*(?P<value>\S.*))$"
)


# --- Whether a rule fits ----------------------------------------------------------------------------------------------
def facts_of(
    *,
    family: str = "",
    result: str = "unknown",
    reward: float | None = None,
    slices: Mapping[str, Any] | None = None,
    versions: Mapping[str, Any] | None = None,
    scores: Iterable[Any] = (),
    step_count: int = 0,
    source_format: str = "",
    verifiability: str = "",
    recipe: str = "",
) -> dict[str, Any]:
    """What rules can ask about one item, by the names that conditions use. What is not known is not in it."""
    facts: dict[str, Any] = {
        "family": family,
        "outcome.result": result,
        "outcome.reward": reward,
        "step_count": step_count,
        "source_format": source_format,
        "verifiability": verifiability,
        "recipe": recipe,
        **{f"slice.{name}": value for name, value in (slices or {}).items()},
        **{f"versions.{name}": value for name, value in (versions or {}).items()},
    }
    for score in scores:
        if isinstance(score, dict) and isinstance(score.get("grader"), str):
            facts.setdefault(f"score.{score['grader']}", score.get("value"))
    return {name: value for name, value in facts.items() if value is not None and value != ""}


def fits(conditions: Iterable[Condition], facts: Facts) -> bool:
    """Whether all of the conditions hold. A field that is not known fits nothing but "!="."""
    return all(_holds(condition, facts) for condition in conditions)


def in_share(content_hash: str, share: float, salt: str) -> bool:
    """Whether an item is among the share of a rule: always the same answer, and what is in at 5% is in at 10%.

    `salt` names the rule, so that two rules of 5% do not take the same items.
    """
    if share >= 1:
        return True
    drawn = int.from_bytes(hashlib.sha256(f"{salt}:{content_hash}".encode()).digest()[:8], "big")
    return drawn < share * 2**64


def _holds(condition: Condition, facts: Facts) -> bool:
    known, op = facts.get(condition["field"]), condition["op"]
    if op == "exists":
        return known is not None
    if op == "parts":
        return _part(known, facts.get(condition["other"]), condition["value"])
    if op == "in":
        return any(_same(known, value) for value in condition["value"])
    if op in ("=", "!="):
        return _same(known, condition["value"]) == (op == "=")
    here, there = _number(known), _number(condition["value"])
    if here is None or there is None:
        return False
    return {"<": here < there, "<=": here <= there, ">": here > there, ">=": here >= there}[op]


def _part(one: Any, other: Any, apart: Any) -> bool:
    """Whether both graders said something and lie further apart; words part as soon as they differ."""
    if one is None or other is None:
        return False
    here, there = _number(one), _number(other)
    if here is None or there is None:
        return _text(one) != _text(other)
    return abs(here - there) > float(apart)


def _same(known: Any, value: Any) -> bool:
    if known is None:
        return False
    here, there = _number(known), _number(value)
    return here == there if here is not None and there is not None else _text(known) == _text(value)


def _number(value: Any) -> float | None:
    """A value as a number: yes and no are 1 and 0, and texts count as what they say."""
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) < 2**63 else None
    if not isinstance(value, str):
        return None
    if value.strip().lower() in ("true", "false"):
        return float(value.strip().lower() == "true")
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < 2**63 else None


def _text(value: Any) -> str:
    return str(value).strip().casefold()


# --- Whether a condition is one ---------------------------------------------------------------------------------------
def problem_with(conditions: Any) -> str:
    """Why these are no conditions, naming the first at fault; "" when they are."""
    if not isinstance(conditions, list):
        return "Conditions are a list."
    if len(conditions) > MOST_CONDITIONS:
        return f"A rule has at most {MOST_CONDITIONS} conditions."
    for number, condition in enumerate(conditions, start=1):
        if problem := _problem(condition):
            return f"Condition {number}: {problem}"
    return ""


def _problem(condition: Any) -> str:
    if not isinstance(condition, dict):
        return "It is an object with field, op and value."
    field, op, value = condition.get("field"), condition.get("op"), condition.get("value")
    if not _is_field(field):
        known = ", ".join((*FIELDS, *(f"{name}NAME" for name in NAMED)))
        return f"There is no field “{str(field)[:60]}”. Known are {known}."
    if op not in OPERATORS:
        return f"“{str(op)[:20]}” is no way to compare. Known are {', '.join(OPERATORS)}."
    if unknown := set(condition) - {"field", "op"} - ({"value"} if op != "exists" else set()) - _more(op):
        return f"“{op}” knows no “{min(map(str, unknown))[:40]}”."
    if op == "exists":
        return ""
    if op == "parts":
        if not all(_is_field(name) and str(name).startswith(SCORE) for name in (field, condition.get("other"))):
            return "Two graders part: both are named as score.NAME."
        return "" if _is_number(value) and float(str(value)) >= 0 else "Say how far apart, as a number from 0."
    if op == "in":
        good = isinstance(value, list) and 0 < len(value) <= MOST_VALUES and all(map(_is_value, value))
        return "" if good else f"“in” takes a list of 1 to {MOST_VALUES} values."
    if op not in ("=", "!=") and not (_is_value(value) and _number(value) is not None):
        return f"“{op}” compares with a number."
    return "" if _is_value(value) else f"The value is a text of at most {MOST_CHARACTERS} characters, or a number."


def _more(op: Any) -> set[str]:
    return {"other"} if op == "parts" else set()


def _is_field(name: Any) -> bool:
    if not isinstance(name, str) or len(name) > MOST_CHARACTERS:
        return False
    return name in FIELDS or any(name.startswith(start) and len(name) > len(start) for start in NAMED)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


def _is_value(value: Any) -> bool:
    return isinstance(value, bool) or _is_number(value) or (isinstance(value, str) and len(value) <= MOST_CHARACTERS)


def fields_of(condition: Condition) -> tuple[str, ...]:
    """What a condition asks about."""
    return (condition["field"], condition["other"]) if condition["op"] == "parts" else (condition["field"],)


# --- Conditions as people write them ----------------------------------------------------------------------------------
def read_conditions(text: str) -> list[dict[str, Any]]:
    """Conditions from lines such as `outcome.reward < 0.5`, one each. Raises ValueError with the line at fault."""
    conditions = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.match(line.strip())
        if found is None:
            raise ValueError(f"Line {number} is no condition: write a field, a comparison and a value.")
        conditions.append(_condition(found))
    return conditions


def _condition(found: re.Match[str]) -> dict[str, Any]:
    field = found["field"]
    if found["exists"]:
        return {"field": field, "op": "exists"}
    if found["other"]:
        return {"field": field, "op": "parts", "other": found["other"], "value": _value(found["apart"])}
    if found["many"]:
        return {
            "field": field,
            "op": "in",
            "value": [_value(part) for part in found["many"].split(",") if part.strip()],
        }
    return {"field": field, "op": found["op"], "value": _value(found["value"])}


def _value(text: str) -> Any:
    """A number where the text is one, so that it is kept as one."""
    text = text.strip()
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{0,15}\.\d{1,15}", text) else text


def in_a_line(condition: Condition) -> str:
    """A condition as `read_conditions` takes it."""
    field, op = condition["field"], condition["op"]
    if op == "exists":
        return f"{field} exists"
    if op == "parts":
        return f"{field} parts {condition['other']} {condition['value']}"
    value = condition["value"]
    return f"{field} {op} {', '.join(map(str, value)) if op == 'in' else value}"
