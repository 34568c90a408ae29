"""A policy text as lines that can be cited by number: each list item and each paragraph is one line."""

import re
from dataclasses import dataclass

HEADING = re.compile(r"^#{1,6}\s+(?P<text>.*)$")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?P<text>.*)$")


@dataclass(frozen=True)
class PolicyLine:
    """One line; a heading has no number and cannot be cited."""

    number: int | None
    text: str


def policy_lines(text: str) -> list[PolicyLine]:
    """The text's headings and citable lines, numbered from 1 in reading order."""
    lines: list[PolicyLine] = []
    open_line = False
    count = 0
    for raw in text.splitlines():
        heading, item = HEADING.match(raw), LIST_ITEM.match(raw)
        if not raw.strip():
            open_line = False
        elif heading:
            lines.append(PolicyLine(None, heading["text"].strip()))
            open_line = False
        elif item or not open_line:
            count += 1
            lines.append(PolicyLine(count, (item["text"] if item else raw).strip()))
            open_line = True
        else:
            lines[-1] = PolicyLine(count, f"{lines[-1].text} {raw.strip()}")
    return lines
