"""What of a run may please a judge without being better: how it is formatted, and whose model made it."""

import re

# Headings, list marks, tables, bold and code, one each for every line or span that has them.
MARKS = re.compile(r"^ {0,3}#{1,6} |^ *(?:[-*+]|\d{1,3}[.)]) |^ *\|.*\| *$|\*\*[^*\n]+\*\*|```|`[^`\n]+`", re.MULTILINE)
NAME = re.compile(r"[a-z]+")


def formatting(text: str) -> int:
    """How many marks of Markdown stand in a text."""
    return sum(1 for _ in MARKS.finditer(text))


def family(model: str) -> str:
    """The word by which a model's family goes: "gpt" of "openai/gpt-4o-mini"; "" where there is none."""
    found = NAME.search(model.lower().rsplit("/", 1)[-1])
    return found.group() if found else ""
