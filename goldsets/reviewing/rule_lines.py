"""Rules as people write them, a line each, and as a reviewer holds them.

    fail: contains unapproved
    fail: errors >= 3
    pass: contains receipt and calls >= 1

The first line whose conditions all hold gives the verdict. The measures are those of `scoring`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from goldsets.reviewing.scoring import MEASURES

VERDICTS = {"fail": 0, "pass": 1}
MOST_RULES = 100
MOST_CHARACTERS = 200
MOST_MEASURED = 1_000_000
MEASURED = re.compile(r"(\w+)\s*>=\s*(\d{1,7})")


class WrongRules(ValueError):
    """What is wrong with them, in a sentence."""


def rules_from_lines(text: str) -> list[dict[str, Any]]:
    """The rules in a text. Raises WrongRules with the number of the first line that is none."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    return check_rules([_rule(number, line) for number, line in lines if line])


def check_rules(rules: Any) -> list[dict[str, Any]]:
    """The rules as they came. Raises WrongRules for whatever `scoring` could not read."""
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise WrongRules("Rules are a list of objects.")
    if len(rules) > MOST_RULES:
        raise WrongRules(f"These are {len(rules)} rules; {MOST_RULES} are read at most.")
    for number, rule in enumerate(rules, start=1):
        if problem := _problem(rule):
            raise WrongRules(f"Rule {number}: {problem}")
    return rules


def line_of(rule: Mapping[str, Any]) -> str:
    """The rule as a line."""
    conditions = [f"contains {rule['contains']}"] if rule.get("contains") else []
    conditions += [f"{name} >= {least}" for name, least in rule.get("at_least", {}).items()]
    return f"{'pass' if rule['verdict'] else 'fail'}: {' and '.join(conditions) or 'always'}"


def _rule(number: int, line: str) -> dict[str, Any]:
    word, colon, said = line.partition(":")
    if not colon or word.strip().lower() not in VERDICTS:
        raise WrongRules(f"Line {number} begins with neither “pass:” nor “fail:”.")
    rule: dict[str, Any] = {"name": line, "verdict": VERDICTS[word.strip().lower()]}
    for condition in re.split(r"\s+and\s+", said.strip(), flags=re.IGNORECASE):
        if condition.lower().startswith("contains ") and "contains" not in rule:
            rule["contains"] = condition[len("contains ") :].strip()
        elif found := MEASURED.fullmatch(condition):
            rule.setdefault("at_least", {})[found[1].lower()] = int(found[2])
        elif condition.lower() != "always":
            raise WrongRules(f"Line {number}: “{condition}” is neither “contains WORDS” nor “MEASURE >= NUMBER”.")
    return rule


def _problem(rule: Mapping[str, Any]) -> str:
    name, words, least = rule.get("name"), rule.get("contains", ""), rule.get("at_least", {})
    if unknown := sorted(set(rule) - {"name", "contains", "at_least", "verdict"}):
        return f"“{unknown[0]}” is not a part of a rule."
    if not isinstance(name, str) or not name or len(name) > MOST_CHARACTERS:
        return f"its name is a text of 1 to {MOST_CHARACTERS} characters."
    if not isinstance(words, str) or len(words) > MOST_CHARACTERS or "\x00" in name + words:
        return f"“contains” is a text of at most {MOST_CHARACTERS} characters."
    if type(rule.get("verdict")) is not int or rule["verdict"] not in (0, 1):
        return "its verdict is 1 (pass) or 0 (fail)."
    if not isinstance(least, dict) or set(least) - set(MEASURES):
        return f"“at_least” is of these measures: {', '.join(MEASURES)}."
    if any(type(number) is not int or not 0 <= number <= MOST_MEASURED for number in least.values()):
        return "a measure is compared with a whole number."
    return ""


def lines_of(rules: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(line_of(rule) for rule in rules)
